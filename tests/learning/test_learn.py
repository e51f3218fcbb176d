"""The main job: the steps in one call give what the steps give, limits are kept, and what was left out is said."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path

import numpy as np
import pytest

import optbn
from optbn.cli import main
from optbn.data.dataset import Categorical, Dataset
from optbn.learning.affordable import affordable_table
from optbn.learning.structure import learn_structure
from optbn.network.cpds import BinnedTableCPD, TreeCPD
from optbn.report.report import from_json
from optbn.scores import load_score


@pytest.fixture(scope="module")
def asia() -> Dataset:
    return optbn.load_network("asia").sample(400, 3)


@pytest.fixture(scope="module")
def csv(asia, tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("learn") / "asia.csv"
    optbn.write(asia, path)
    return str(path)


def test_learning_is_its_steps(asia):
    found = optbn.learn(asia, score="bdeu", max_parents=2, smoother="bdeu", ess=2.0, seed=5)
    scores = optbn.score_table(asia, "bdeu", 2, ess=2.0)
    solution = optbn.solve(scores)
    assert found.scores == scores and found.solution.score == solution.score
    assert found.network == optbn.fit(optbn.structure_of(scores, found.solution), asia, "bdeu")
    report = found.report
    assert report.outcome.proved and report.settings["max parents"] == 2 and report.families_scored == 8 * 29
    assert [phase.name for phase in report.phases] == ["read", "score", "solve", "fit"]
    assert {(a.parent, a.child) for a in report.arcs} == set(found.network.structure.arcs)
    assert all(sum(report.counts[name]) == asia.n_rows for name in asia.names)
    assert report.model() == found.network


def test_strengths_are_the_score_lost_without_the_arc(asia):
    found = learn_structure(asia, "bdeu", 3)
    everything = {
        name: {
            frozenset(found.scores.names[u] for u in found.scores.parents(row)): found.scores.scores[row]
            for row in found.scores.rows(v)
        }
        for v, name in enumerate(found.scores.names)
    }
    for (parent, child), lost in found.strengths().items():
        own = frozenset(found.structure.parents(child))
        subsets = (frozenset(s) for k in range(len(own)) for s in itertools.combinations(sorted(own - {parent}), k))
        best = max(everything[child][s] for s in subsets if s in everything[child])
        assert lost == pytest.approx(everything[child][own] - best) and lost > 0


def test_mixed_data_get_the_local_models_of_the_score():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 300)
    frame = {"group": np.array(["a", "b", "c"])[group], "x": group * 4.0 + rng.normal(size=300)}
    pandas = pytest.importorskip("pandas")
    found = optbn.learn(pandas.DataFrame(frame), max_parents=1, smoother="m_estimate")
    assert found.network.n_arcs == 1
    assert any(isinstance(cpd, TreeCPD) for cpd in found.network.cpds)
    assert "iframe" in found._repr_html_() and "Learned(" in repr(found)
    tables = optbn.learn(pandas.DataFrame(frame), score="ft", max_parents=1, smoother="m_estimate")
    assert any(isinstance(cpd, BinnedTableCPD) for cpd in tables.network.cpds)
    data = optbn.Dataset.from_frame(pandas.DataFrame(frame))
    plain = optbn.learn(data.select(["group"]), score="ft", smoother="m_estimate")
    gain = found.network.log_likelihood(data) - plain.network.log_likelihood(data.select(["group"]))
    assert gain > -300 * 3.0  # x is known to about its noise, entropy 1.42 nats, given the group or the group given x


def test_constraints_reach_the_answer(asia):
    found = optbn.learn(
        asia, score="bic", max_parents=2, smoother="mle",
        constraints={"forbidden": [("bronc", "dysp"), ("dysp", "bronc")], "required": [("asia", "xray")]},
    )  # fmt: skip
    arcs = set(found.network.structure.arcs)
    assert ("asia", "xray") in arcs and not {("bronc", "dysp"), ("dysp", "bronc")} & arcs
    assert next(a for a in found.report.arcs if (a.parent, a.child) == ("asia", "xray")).strength is None


def test_a_size_that_cannot_be_afforded_is_left_out_and_said(asia):
    scored = affordable_table(asia, load_score("bic"), 7, 0.0)
    assert scored.size == 1 and "at most 1 members, not 7" in scored.note
    assert scored.table == optbn.score_table(asia, "bic", 1)
    whole = affordable_table(asia, load_score("bic"), 3, 600.0)
    assert whole.size == 3 and whole.note == "" and whole.table == optbn.score_table(asia, "bic", 3)


def test_a_time_limit_covers_everything(asia):
    optbn.learn(asia, score="bic", smoother="m_estimate")  # compiled code is not what is measured
    start = time.monotonic()
    found = optbn.learn(asia, score="bic", smoother="m_estimate", time_limit=20.0, max_parents=5)
    assert time.monotonic() - start < 20.0
    assert found.report.settings["max parents"] == 5 and found.report.outcome.proved


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    out, err = capsys.readouterr()
    return end.value.code or 0, out, err


def test_the_command_writes_network_page_and_record(csv, tmp_path, capsys):
    files = [str(tmp_path / name) for name in ("a.bif", "a.html", "a.json")]
    common = ("learn", csv, "--score", "bdeu", "--smoother", "bdeu", "--target", "dysp")
    code, out, err = run(capsys, *common, "-o", files[0], "--report", files[1])
    assert (code == 0 and err == "" and "Proved optimal" in out) or "Optimal by" in out
    assert "Markov blanket of dysp: " in out and "bronc" in out
    assert optbn.read_network(files[0]).n_variables == 8
    assert Path(files[1]).read_text().startswith("<!doctype html>")
    code, out, _ = run(capsys, *common, "--report", files[2], "--json")
    assert code == 0 and from_json(out).data.rows == 400
    assert json.loads(Path(files[2]).read_text())["format"] == "optbn-report 1"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.csv"], "nothing.csv"),
        (["CSV", "--target", "dyps"], "did you mean 'dysp'"),
        (["CSV", "-o", "model.xyz"], "xyz"),
        (["CSV", "-o", "no/such/folder.bif"], "there is no folder"),
        (["CSV", "--score", "bdue"], "did you mean 'bdeu'"),
        (["CSV", "--smoother", "hpd"], "did you mean 'hdp'"),
        (["CSV", "--solver", "ipl"], "did you mean"),
        (["CSV", "--store", "s"], "--store goes with --max-parents"),
        (["CSV", "--forbid", "a->dysp"], "'a'"),
        (["CSV", "--require", "asia->dysp", "--forbid", "asia->dysp"], "asia"),
    ],
)
def test_mistakes_are_one_line_and_exit_with_2(csv, capsys, arguments, words):
    code, out, err = run(capsys, "learn", *(csv if a == "CSV" else a for a in arguments))
    assert code == 2 and words in err and err.count("\n") == 1 and out == ""


def test_unusual_shapes():
    two = Categorical(("0", "1"))
    one = Dataset(("a",), (two,), (np.array([0, 1, 1], dtype=np.uint8),))
    assert optbn.learn(one, score="bic", smoother="mle").network.n_arcs == 0
    constant = Dataset(("a", "b"), (two, two), (np.zeros(9, dtype=np.uint8), np.zeros(9, dtype=np.uint8)))
    assert optbn.learn(constant, smoother="m_estimate").network.n_arcs == 0
