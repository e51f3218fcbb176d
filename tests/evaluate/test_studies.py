"""The studies' cells and reports, small: paired samples, proved optima, and verdicts computed from the rows."""

from __future__ import annotations

import numpy as np
import pytest

from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.write import write
from optbn.experiments import intersection, learning, recovery, runner
from optbn.experiments.spec import Experiment
from optbn.network.catalog import load_network
from optbn.scores.pipeline import score_table


def test_recovery_runs_reports_and_pairs_the_samples(tmp_path):
    grid = {"network": ("asia",), "rows": (60,), "repeat": (0, 1), "score": ("pcartp", "bdeu:1")}
    experiment = Experiment("recovery", (grid,), {"max_parents": 2}, "Small", 120)
    assert runner.run(experiment, tmp_path).failed == 0
    rows = runner.rows(experiment, tmp_path)
    assert all(row["result"]["optimal"] and row["result"]["families"] == 8 * 29 for row in rows)
    text = runner.report(experiment, tmp_path).read_text()
    assert "| 60 |" in text and "4 of 4 networks are proved optimal" in text
    again = recovery.cell("asia", 60, 1, "bdeu:1", max_parents=2)
    kept = next(row["result"] for row in rows if (row["cell"]["repeat"], row["cell"]["score"]) == (1, "bdeu:1"))
    assert {k: v for k, v in again.items() if "cpu" not in k} == {k: v for k, v in kept.items() if "cpu" not in k}


def rows_of(network: str, size: int, distances: dict[str, list[int]]) -> list[dict]:
    result = {"shd_cpdag": 0, "optimal": True, "gap": 0.0, "score_cpu": 1.0, "solve_cpu": 1.0, "kept": 5}
    return [
        {
            "status": "done",
            "cell": {"network": network, "rows": size, "repeat": repeat, "score": score},
            "result": {**result, "shd_dag": value},
        }
        for score, values in distances.items()
        for repeat, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("pcartp", "word"), [([1] * 6, "agrees."), ([9] * 6, "does not agree."), ([5] * 6, "does not agree.")]
)
def test_the_verdict_on_a_claim_follows_from_the_rows(tmp_path, pcartp, word):
    text = recovery.report(rows_of("insurance", 400, {"pcartp": pcartp, "ftp": [5] * 6}), tmp_path)
    assert f"PCARTp is below FTp on insurance for N <= 400: {word}" in text


def test_intersection_study_reads_agreement_from_its_rows(tmp_path):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 80).astype(np.uint8)
    b = np.where(rng.random(80) < 0.95, a, 1 - a).astype(np.uint8)
    two = Categorical(("0", "1"))
    write(Dataset(("a", "b"), (two, two), (a, b)), tmp_path / "d.csv")
    grid = {"data": (str(tmp_path / "d.csv"),), "part": (1, 2), "repeat": (0, 1), "score": ("bic", "bdeu:1")}
    experiment = Experiment("intersection", (grid,), {"max_parents": 1})
    runner.run(experiment, tmp_path / "r")
    text = runner.report(experiment, tmp_path / "r").read_text()
    assert "All methods agree on 1 edges" in text and "Caution" in text
    assert intersection.cell(str(tmp_path / "d.csv"), 1, 1, "bic") == {"same as": 0}


@pytest.mark.parametrize(("score", "plain"), [("pcartp", "pcart"), ("ftp", "ft")])
def test_a_penalised_table_follows_from_the_plain_one(score, plain):
    data = load_network("sachs").sample(150, 2)
    found = learning.learn(data, score, 4, "auto", 60.0, {})
    expected = score_table(data, score, 4, jobs=1)
    assert 0 < len(expected) < len(score_table(data, plain, 4, jobs=1))
    assert found.families == 11 * (1 + 10 + 45 + 120 + 210)
    for child in range(11):
        rows = {found.scores.parents(row): found.scores.scores[row] for row in found.scores.rows(child)}
        direct = {expected.parents(row): expected.scores[row] for row in expected.rows(child)}
        assert rows == pytest.approx(direct, abs=1e-9)


def test_a_penalty_that_does_not_fall_throughout_is_scored_directly():
    assert not learning.falls(8, 5)  # binom(7, 5) < binom(7, 4)
    data = load_network("asia").sample(80, 2)
    found = learning.learn(data, "ftp", 5, "auto", 60.0, {})
    assert found.scores.digest == score_table(data, "ftp", 5, jobs=1).digest


def test_levels_are_merged_and_reals_standardised_before_sampling():
    four = Categorical(("a", "b", "c", "d"))
    data = Dataset(
        ("x", "y"),
        (four, Real(0.0, 100.0)),
        (np.array([3, 0, 3, 1, 3, 0], dtype=np.uint8), np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
    )
    made = intersection.prepared(data, standardise=True, most_levels=3)
    assert made.domains[0] == Categorical(("a", "d", "others"))
    assert made.columns[0].tolist() == [1, 0, 1, 2, 1, 0]
    assert made.columns[1].mean() == pytest.approx(0.0) and made.columns[1].std() == pytest.approx(1.0)
    assert intersection.prepared(data, standardise=False, most_levels=4) == data
