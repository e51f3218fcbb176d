"""The study's cells and report, on tiny data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
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


def test_xgboost_with_few_rows_of_a_class(folder: Path) -> None:
    pytest.importorskip("xgboost")
    X, y = mixed(0, 24)
    y[:3] = "rare"  # in every fold too few for ten folds, in some none
    X.drop(columns=["job", "age"]).assign(**{"class": y}).to_parquet(folder / "small.parquet")
    for method in ("XGB", "XGB-tuned"):
        assert 0 < study.cell("small", method, str(folder), rounds=1)["rmse"] < 0.8


def test_the_score_of_the_tuning_is_minus_the_brier_score() -> None:
    class Fixed:
        classes_ = np.array(["a", "c"])

        def predict_proba(self, X: object) -> np.ndarray:
            return np.array([[0.75, 0.25], [0.5, 0.5], [0.0, 1.0]])

    brier = [(0.25**2 + 0.25**2), (0.5**2 + 0.5**2 + 1), 1 + 1]  # the classes are a, b (unknown), d (unknown)
    assert study._minus_brier(Fixed(), None, ["a", "b", "d"]) == pytest.approx(-np.mean(brier))
