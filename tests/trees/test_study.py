"""The studies of trees and of discriminative parameters, in miniature."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from optbn.experiments.verdicts import Claim, paired, verdicts
from results.discriminative.study import study as discriminative
from results.trees.study import study as trees

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(("one", "two", "three")):
        random = np.random.default_rng(seed)
        y = random.integers(0, 2, 60)
        frame = pd.DataFrame({"a": np.where(random.random(60) < 0.8, y, 1 - y).astype(str), "b": random.normal(y, 1.0)})
        frame.assign(**{"class": y.astype(str)}).to_parquet(folder / f"{name}.parquet")
    return str(folder)


@pytest.mark.parametrize("task", [trees, discriminative])
def test_cells_and_report(task, data: str, tmp_path) -> None:
    settings = {"folds": 3} if task is trees else {"rounds": 2, "iterations": 30}
    methods = ("tree-mle", "tree-gradient1", "tree-cv", "forest7-mle", "reduced-mle", "tree-mle-held")
    if task is discriminative:
        methods = ("nb-m", "nb-w-I", "nb-d-I", "nb-e-0", "nb-w-cv", "nb-w-cvg")
    rows = []
    for name in ("one", "two", "three"):
        for method in methods:
            result = json.loads(json.dumps(task.cell(name, method, data, **settings), allow_nan=False))
            assert 0 < result["rmse"] < 0.8
            rows.append({"cell": {"dataset": name, "method": method}, "status": "done", "result": result})
    rows.append({"cell": {"dataset": "one", "method": "x"}, "status": "failed", "error": "E: why"})
    text = task.report(rows, tmp_path)
    assert "## Claims" in text and "Not done: x: E: why" in text and "| one | two | three |" in text
    assert "cannot be told" in text


@pytest.mark.parametrize(("room", "task"), [("trees", trees), ("discriminative", discriminative)])
def test_every_declared_method_exists(room: str, task) -> None:
    spec = tomllib.loads((RESULTS / room / "study" / "spec.toml").read_text())
    for method in spec["grid"][0]["method"]:
        assert task.classifier(method, 10).get_params()
    declared = set(spec["grid"][0]["method"])
    named = {m for claim in task.CLAIMS for pair in claim.pairs for m in pair}
    assert named <= declared


def test_verdicts_are_computed() -> None:
    results = {
        "a": {f"s{i}": {"rmse": 0.1} for i in range(10)},
        "b": {f"s{i}": {"rmse": 0.2} for i in range(10)},
        "c": {f"s{i}": {"rmse": 0.1 + 0.1 * (i % 2)} for i in range(10)},
        "d": {"s0": {"rmse": None}},
    }
    text = verdicts(results, [Claim("x", "rmse", [("a", "b"), ("b", "a"), ("c", "a"), ("d", "a")])])
    lines = text.splitlines()[2:]
    assert [line.split(" | ")[-1].strip(" |") for line in lines] == ["agrees", "the opposite", "cannot be told"]
    assert "10-0-0" in lines[0] and "0-5-5" in lines[2]
    assert len(paired(results, "d", "a", "rmse")[0]) == 0
    assert verdicts({}, []) == "Nothing to compare yet.\n"
