"""The study's cells and report, on tiny data."""

from __future__ import annotations

from pathlib import Path

import pytest

from optbn.classifiers import study
from optbn.errors import UnknownNameError
from tests.classifiers.examples import mixed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for i in range(3):
        X, y = mixed(i, 80)
        X["job"] = X["job"].fillna("none")
        X["age"] = X["age"].fillna(40.0)
        X.assign(**{"class": y}).to_parquet(tmp_path / f"set{i}.parquet")
    return tmp_path


def test_cells_and_report(folder: Path) -> None:
    rows = []
    for i in range(3):
        for method in ("NB-m", "NB-hdp", "SKDB5-gradient", "RF"):
            result = study.cell(f"set{i}", method, str(folder), rounds=2, sweeps=50)
            assert 0 < result["rmse"] < 0.6 and result["bias"] + result["variance"] == pytest.approx(result["zero_one"])
            rows.append({"cell": {"dataset": f"set{i}", "method": method}, "status": "done", "result": result})
    rows.append({"cell": {"dataset": "set0", "method": "XGB"}, "status": "failed", "error": "not installed"})
    text = study.report(rows, folder)
    assert "| HDP beats the m-estimate in every structure | NB-hdp against NB-m |" in text
    assert "Not done: XGB: not installed" in text
    assert "By RMSE on 3 data sets" in text and (folder / "ranks.svg").exists()


def test_unknown_methods(folder: Path) -> None:
    with pytest.raises(UnknownNameError, match="no method 'NBB'"):
        study.cell("set0", "NBB-m", str(folder), rounds=1)
    with pytest.raises(UnknownNameError, match="no smoother 'hpd'"):
        study.cell("set0", "NB-hpd", str(folder), rounds=1)
