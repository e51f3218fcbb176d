"""Rows held out, and what is lost without each arc, as parts of `learn`."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import optbn
from optbn.learning.held_out import fold_rows, held_out


@pytest.fixture(scope="module")
def asia() -> optbn.Dataset:
    return optbn.load_network("asia").sample(500, 2)


def test_folds_cover_every_row_once() -> None:
    parts = list(fold_rows(23, 4, 7))
    assert sorted(row for _, left in parts for row in left) == list(range(23))
    assert all(sorted([*kept, *left]) == list(range(23)) for kept, left in parts)
    with pytest.raises(optbn.OptbnError, match="24 folds of 23 rows"):
        list(fold_rows(23, 24, 0))


def test_held_out_is_what_cross_validate_says(asia) -> None:
    found = optbn.learn(asia, score="bic", smoother="bdeu", held_out=3, target="dysp")
    expected = optbn.cross_validate(asia, "bic", 3, smoother="bdeu")
    lines = {line.model: line for line in found.report.held_out}
    assert lines["networks like this one"].per_row == pytest.approx(expected.mean, abs=1e-9)
    assert lines["networks like this one"].error == pytest.approx(expected.standard_error, abs=1e-9)
    assert lines["networks like this one"].per_row > lines["one parent at most"].per_row > lines["no arcs"].per_row
    assert set(lines) == {
        *("networks like this one", "one parent at most", "no arcs", "naive Bayes"),
        *("logistic regression", "boosted trees"),
    }
    assert lines["naive Bayes"].per_row is None and 0 < lines["naive Bayes"].log_loss < np.log(2)


def test_a_model_that_knows_nothing_scores_what_chance_does() -> None:
    random = np.random.default_rng(0)
    data = optbn.Dataset.from_frame(pd.DataFrame({"a": random.choice(["x", "y"], 400), "b": random.normal(size=400)}))
    lines = {line.model: line for line in optbn.learn(data, held_out=4, target="a").report.held_out}
    assert all(line.log_loss == pytest.approx(np.log(2), abs=0.15) for line in lines.values())
    numbers = {line.model: line for line in optbn.learn(data, held_out=4, target="b").report.held_out}
    assert numbers["no arcs"].rmse == pytest.approx(1.0, abs=0.1) and numbers["no arcs"].right is None


def test_models_are_learned_without_the_rows_they_are_judged_by(asia) -> None:
    seen = []

    def learner(rows, size):
        seen.append(rows.n_rows)
        return optbn.learn(rows, score="bic", max_parents=size, smoother="bdeu").network

    assert len(held_out(asia, 5, 0, learner, 0)) == 1
    assert seen == [400] * 5


def test_losses_of_arcs_are_those_of_edges(asia) -> None:
    found = optbn.learn(asia, score="bic", max_parents=2, edges=True)
    rows = {(row["from"], row["to"]): row for row in optbn.edges(asia, "bic", 2).rows()}
    for arc in found.report.arcs:
        row = rows.get((arc.parent, arc.child))
        if row is not None and row["present"]:
            assert arc.apart == pytest.approx(row["without_adjacency"], abs=1e-9)
            assert arc.turned == pytest.approx(row["turned"], abs=1e-9)
            assert arc.proved == row["proved"]
        assert arc.loss == min(arc.turned, arc.apart) and arc.loss <= arc.strength + 1e-9


def test_what_cannot_be_compared_is_said(asia) -> None:
    found = optbn.learn(asia, score="bic", max_parents=1, edges=True, constraints={"max_arcs": 3})
    assert all(arc.loss is None for arc in found.report.arcs)
    assert any("without each arc is not known" in note for note in found.report.notes)
    short = optbn.learn(asia, score="bic", max_parents=1, held_out=5, time_limit=0.5)
    assert short.report.held_out or any("no time to hold rows out" in note for note in short.report.notes)


ONE_THREAD = """
from threadpoolctl import threadpool_info
import optbn
from optbn.learning import held_out

def threads(networks, train, test, target):
    print(*(library["num_threads"] for library in threadpool_info() if library["user_api"] == "openmp"))
    return {name: (0.0, 0.0) for name in networks}

held_out._judged = threads
data = optbn.load_network("cancer").sample(60, 1)
held_out.held_out(data, 3, 0, lambda rows, size: optbn.fit({name: [] for name in data.names}, rows), 0, "Cancer")
"""


def test_trees_of_others_have_one_thread_from_the_first_fold_on():
    """In a process of its own: scikit-learn brings its threads when it is loaded, and a limit must come after."""
    done = subprocess.run([sys.executable, "-c", ONE_THREAD], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"1"}
