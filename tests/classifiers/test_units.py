"""Classifiers in other units: each real column with another unit and zero, the same probabilities to the bit."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from optbn.classifiers import CLASSIFIERS, load_classifier

SMALLER = {"n_members": 3, "n_trees": 20, "n_counted": 2}
"""Of ensembles, so that they take no time."""


def fitted(name: str, X: pd.DataFrame, y: np.ndarray) -> Any:
    model = load_classifier(name)
    return model.set_params(**{key: n for key, n in SMALLER.items() if key in model.get_params()}).fit(X, y)


@cache
def rows() -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers in steps of 1/1024, so that adding 10^9 loses nothing, one with gaps, and a column of levels."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    numbers = y + rng.normal(size=200), rng.exponential(size=200), (y == 1) * rng.normal(size=200)
    X = pd.DataFrame({name: np.round(x * 1024) / 1024 for name, x in zip("abc", numbers, strict=True)})
    X.loc[::7, "b"] = np.nan
    X["k"] = np.array(list("uvw"))[(y + rng.integers(0, 2, 200)) % 3]
    return X, y


@cache
def in_its_units(name: str) -> np.ndarray:
    X, y = rows()
    return fitted(name, X, y).predict_proba(X)


@pytest.mark.parametrize(("factor", "offset"), [(2.0**-20, 0.0), (1e6, -3e7), (1.0, 1e9)])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_units_do_not_matter(name: str, factor: float, offset: float) -> None:
    X, y = rows()
    moved = X.assign(**{column: X[column] * factor + offset for column in "abc"})
    p = fitted(name, moved, y).predict_proba(moved)
    assert np.array_equal(p, in_its_units(name)) and np.ptp(p[:, 0]) > 0.2
