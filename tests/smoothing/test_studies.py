"""The studies' cells measure what they say, and their reports are made from rows alone."""

from __future__ import annotations

import json

import pytest

from optbn.experiments.runner import report, run
from optbn.experiments.spec import Experiment
from results.smoothing.methods import METHODS
from tests.paths import study


@pytest.mark.parametrize(
    ("task", "fixed", "grid"),
    [
        (
            "simulation",
            {"rows": [20, 2000], "repeats": 2},
            {"truth": ("related", "unrelated"), "levels": (2,), "contexts": (4,)},
        ),
        (
            "density",
            {"held_out": 2000, "max_parents": 2, "solve_seconds": 60.0},
            {"network": ("asia",), "rows": (50, 2000), "structure": ("optimal", "true"), "repeat": (0,)},
        ),
    ],
)
def test_a_small_run(task, fixed, grid, tmp_path):
    experiment = Experiment(study(f"smoothing-{task}"), (grid,), fixed, "A title")
    tally = run(experiment, tmp_path)
    assert tally.done == tally.cells and tally.failed == 0
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    text = report(experiment, tmp_path).read_text()
    assert all(name in text for name in METHODS)
    if task == "density":
        divergence = {(r["cell"]["rows"], r["cell"]["structure"]): r["result"]["divergence"] for r in rows}
        assert divergence[50, "true"]["mle"] is None  # something did not occur
        assert 0 < divergence[2000, "true"]["hdp"] < divergence[50, "true"]["hdp"]
        assert all(r["result"]["evidence"] in ("proved", None) for r in rows)
        assert "The default follows: " in text
    else:
        for row in rows:
            few, many = row["result"]["20"], row["result"]["2000"]
            assert all(many[name]["mse"] < few[name]["mse"] for name in METHODS)
            assert few["hierarchical, exact"]["mse"] < few["mle"]["mse"]
