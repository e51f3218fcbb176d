"""The predictor that needs only numpy: the same probabilities from the same file, without optbn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from optbn.classifiers import CLASSIFIERS, load_classifier
from optbn.classifiers import portable as module
from optbn.classifiers.portable import Model
from optbn.classifiers.saved import save_classifier
from tests.classifiers.examples import mixed


def columns_of(X: pd.DataFrame) -> dict[str, list[object]]:
    return {name: [None if pd.isna(v) else v for v in X[name]] for name in X.columns}


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name != "optimal"])
@pytest.mark.parametrize("classes", [2, 3])
def test_it_says_what_the_classifier_says(name: str, classes: int, tmp_path: Path) -> None:
    X, y = mixed(0)
    X["flag"] = X["hours"] > 2
    if classes == 3:
        y = y.where(X["hours"] != 2, "some")
    settings = {"missing": "fractional"} if name in ("tree", "forest") else {}
    fitted = load_classifier(name, **settings).fit(X, y)
    save_classifier(fitted, tmp_path / "model.json")
    fresh = mixed(9)[0].assign(flag=lambda f: f["hours"] < 2)
    fresh.loc[::5, "job"] = "astronaut"
    fresh.loc[::4, "hours"] = np.nan
    model = Model(tmp_path / "model.json")
    assert model.predict_proba(columns_of(fresh)) == pytest.approx(fitted.predict_proba(fresh), abs=1e-6)
    assert model.features == list(X.columns) and model.classes == list(fitted.classes_)


def test_it_runs_alone(tmp_path: Path) -> None:
    X, y = mixed(0)
    fitted = load_classifier("skdb").fit(X, y)
    save_classifier(fitted, tmp_path / "model.json")
    X.to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "alone.py").write_text(Path(module.__file__).read_text())
    program = (
        "import sys, runpy; sys.argv = ['alone.py', 'model.json', 'rows.csv'];"
        "runpy.run_path('alone.py', run_name='__main__'); assert not {'optbn', 'numba'} & set(sys.modules)"
    )
    command = [sys.executable, "-c", program]
    out = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    assert out[0] == "class,P(no),P(yes)" and len(out) == 201
    found = np.array([[float(p) for p in line.split(",")[1:]] for line in out[1:]])
    assert found == pytest.approx(fitted.predict_proba(X), abs=2e-6)
    assert [line.split(",")[0] for line in out[1:]] == list(fitted.predict(X))


def test_what_it_does_not_read_is_named(tmp_path: Path) -> None:
    X, y = mixed(0, 60)
    path = tmp_path / "model.json"
    save_classifier(load_classifier("optimal").fit(X, y), path)
    with pytest.raises(ValueError, match="a member of kind 'bayesian_network' needs optbn itself"):
        Model(path).predict_proba(columns_of(X))
    with pytest.raises(ValueError, match="the column 'age' is not there"):
        Model(path).predict_proba({})
    path.write_text("{}")
    with pytest.raises(ValueError, match="is not a classifier of version 1"):
        Model(path)
