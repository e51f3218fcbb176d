"""The studies of headline claims, hierarchical penalties and learning curves: their cells and reports, small."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from results.classifiers.curves import study as curves
from results.classifiers.headlines import study as headlines
from results.discriminative.hierarchy import study as hierarchy
from tests.classifiers.examples import mixed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for i in range(2):
        X, y = mixed(i, 70)
        X.assign(**{"class": y}).to_parquet(tmp_path / f"set{i}.parquet")
    return tmp_path


def declared(study: object, grid: int = 0) -> list[str]:
    spec = tomllib.loads((Path(str(study.__file__)).parent / "spec.toml").read_text())
    return list(spec["grid"][grid]["method"])


@pytest.mark.parametrize("grid", [0, 1, 2])
def test_every_declared_method_of_the_headlines_exists(grid: int) -> None:
    X, _ = mixed(0, 20)
    for method in declared(headlines, grid):
        assert headlines.made(method, X).get_params()


def test_headlines(folder: Path) -> None:
    rows = []
    for name in ("set0", "set1"):
        for method in ("NB-m", "NB-leak", "SKDB5-cv", "SKDB5-own", "ESKDB10-cuts", "RF-codes", "tree-curtail",
                       "ESKDB-raw", "ESKDB", "ESKDB-dirichlet"):  # fmt: skip
            result = headlines.cell(name, method, 60, str(folder))
            assert 0 < result["rmse"] < 0.7 and result["rows"] == 60 and 0 < result["clipped"] < 2
            rows.append({"cell": {"dataset": name, "method": method}, "status": "done", "result": result})
    text = headlines.report(rows, folder)
    assert "| Cuts from all rows flatter | **cannot be told** |" in text and "| ESKDB-dirichlet | 2 |" in text


def test_hierarchies(folder: Path) -> None:
    rows = [
        {"cell": {"dataset": name, "method": m}, "status": "done", "result": hierarchy.cell(name, m, 50, str(folder))}
        for name in ("set0", "set1")
        for m in ("tan-d", "tan-h")
    ]
    text = hierarchy.report(rows, folder)
    assert "| A hierarchical penalty has a smaller RMSE than one ridge, tan | **cannot be told** |" in text


def test_curves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curves, "TEST", 400)
    monkeypatch.setattr(curves, "BLOCK", 150)
    rows = []
    for problem in ("child", "waveform"):
        for method, size in (("NB-m", 100), ("RF", 100), ("NB-m", 1000)):
            monkeypatch.setattr(curves, "FROM_FILE", 500)
            cell = {"problem": problem, "method": method, "rows": size, "seed": 0}
            rows.append({"cell": cell, "status": "done", "result": curves.cell(**cell)})
    few, _, many = (row["result"]["rmse"] for row in rows[:3])
    assert many < few
    text = curves.report(rows, tmp_path)
    assert f"| NB-m | {few:.4f} | {many:.4f} |" in text and (tmp_path / "curves.svg").exists()
