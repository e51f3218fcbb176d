"""The study's cells and report, on tiny data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from optbn.base.errors import UnknownNameError
from results.classifiers.datasets import rounds_said
from results.classifiers.study import claims, study
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
        for method in ("NB-m", "NB-hdp", "SKDB5-gradient", "SKDB5-m", "RF"):
            result = study.cell(f"set{i}", method, str(folder), rounds=2, sweeps=50)
            assert 0 < result["rmse"] < 0.6 and result["bias"] + result["variance"] == pytest.approx(result["zero_one"])
            rows.append({"cell": {"dataset": f"set{i}", "method": method}, "status": "done", "result": result})
    rows.append({"cell": {"dataset": "set0", "method": "XGB"}, "status": "failed", "error": "not installed"})
    text = study.report(rows, folder)
    assert (
        "| HDP beats the m-estimate in every structure | NB-hdp against NB-m |" in text and "**cannot be told**" in text
    )
    assert "| NB | " in text.split("## Smoothers")[1] and "| SKDB5 | " in text.split("## Smoothers")[1]
    averages = text.split("## Averages")[1]
    assert "Means over 3 data sets, of bias and variance over the 3 with several rounds" in averages
    assert f"| NB-m | {np.mean([row['result']['rmse'] for row in rows[:15:5]]):.4f} |" in averages
    assert "Two folds, five rounds.\n" in text
    assert "Not done: XGB: not installed" in text
    assert "5 methods by RMSE on 3 data sets" in text and (folder / "ranks.svg").exists()


def test_gains_with_the_number_of_parents() -> None:
    rmse = {"KDB1-m": 0.3, "KDB1-hdp": 0.29, "KDB3-m": 0.3, "KDB3-hdp": 0.27, "KDB5-m": 0.4, "KDB5-hdp": 0.38}
    rows = [
        {"cell": {"dataset": f"d{i}", "method": m, "rounds": 1}, "status": "done", "result": {"rmse": v + i / 100}}
        for m, v in rmse.items()
        for i in range(8)
    ]
    text = claims._claims(rows, {m: {f"d{i}": {"rmse": v + i / 100} for i in range(8)} for m, v in rmse.items()})
    assert "more parents there are | **agrees in part** | 2 of 3 comparisons |" in text
    assert "| KDB5: hdp - m against KDB3: hdp - m | 0-0-8 |" in text and "-0.0300 / -0.0100" in text
    assert rounds_said(rows[:3]) == "Two folds, five rounds; 1 round on d0, d1, d2.\n"


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


def test_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rows(**rmse: list[float]) -> list[dict]:
        names = {"hdp": "SKDB5-hdp", "single": "SKDB5-hdp-single", "none": "SKDB5-hdp-none", "ten": "ESKDB10-hdp"}
        result = {"zero_one": 0.5, "train_seconds": 1.0, "predict_seconds": 0.5}
        return [
            {
                "cell": {"dataset": f"s{i}", "method": names.get(m, m)},
                "status": "done",
                "result": {"rmse": v, **result},
            }
            for m, values in rmse.items()
            for i, v in enumerate(values)
        ]

    monkeypatch.setattr(claims, "published", lambda: {"ESKDB10-hdp": known(0.1), "RF": known(0.2)})

    def known(value: float) -> dict:
        return {f"s{i}": {"rmse": value} for i in range(8)}

    low, high, mixed = [0.1] * 8, [0.2] * 8, [0.05, 0.3] * 4
    text = claims.report(rows(hdp=low, single=high, none=high, ten=low, RF=mixed), tmp_path)
    assert "| Tying concentrations by level is best | **agrees** |" in text
    assert "| ESKDB with HDP beats random forest | **cannot be told** |" in text
    assert "ESKDB10-hdp against RF | 4-0-4 | 0.64 | 0.1000 / 0.1750 | 8-0-0 | 0.0039 |" in text
    assert "SKDB5-hdp against SKDB5-hdp-none | 8-0-0 | 0.0039 | 0.1000 / 0.2000 |" in text
    text = claims.report(rows(hdp=low, single=high, none=mixed), tmp_path)
    assert "| **agrees in part** | 1 of 2 comparisons |" in text
    text = claims.report(rows(hdp=high, single=low, none=mixed), tmp_path)
    assert "**the opposite**" in text
