"""The studies' cells and reports, small: paired samples, proved optima, and verdicts computed from the rows."""

from __future__ import annotations

import numpy as np
import pytest

from optbn.data.dataset import Categorical, Dataset
from optbn.data.write import write
from optbn.experiments import intersection, recovery, runner
from optbn.experiments.spec import Experiment


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
