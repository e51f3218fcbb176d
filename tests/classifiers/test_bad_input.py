"""Input that is hard to bear, for every classifier: finite probabilities that sum to 1, or an error that names it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from optbn.base.errors import OptbnError, UnsupportedError
from optbn.classifiers import CLASSIFIERS, load_classifier
from optbn.classifiers.saved import from_json

N = 90
random = np.random.default_rng(0)
Y = random.integers(0, 2, N)
X = pd.DataFrame(
    {"a": random.normal(Y), "b": random.normal(size=N), "c": np.array(["u", "v", "w"])[random.integers(0, 3, N)]}
)
MANY = [f"n{i}" for i in range(100_000)]
WIDE = pd.DataFrame({"name": pd.Categorical.from_codes(random.integers(0, 100_000, N), MANY), "a": X["a"]})
NULLS = pd.DataFrame({"a": X["a"], "none": [None] * N})

Case = tuple[pd.DataFrame, Any, Any, pd.DataFrame]
CASES: dict[str, Case] = {  # rows, classes, weights, rows to predict
    "a class of one row": (X, np.where(np.arange(N) == 5, "rare", np.array(["no", "yes"])[Y]), None, X),
    "columns all missing": (X.assign(b=np.nan, c=None), Y, None, X),
    "nothing but missing values": (X.assign(a=np.nan, b=np.nan, c=None), Y, None, X.assign(a=np.nan)),
    "texts where nothing was known": (NULLS, Y, None, NULLS.assign(none="text")),
    "numbers where nothing was known": (NULLS, Y, None, NULLS.assign(none=1.5)),
    "unseen values": (X, Y, None, X.assign(a=1e300, b=-1e300, c="never")),
    "extreme numbers": (X.assign(a=np.where(Y, 1e308, -1e308), b=np.where(Y, 5e-324, 0)), Y, None, X),
    "a class of weight 0": (X, Y, (Y == 0).astype(float), X),
    "one row of positive weight": (X, Y, (np.arange(N) == 3).astype(float), X),
    "weights far apart": (X, Y, np.where(np.arange(N) % 2, 1e-300, 1e300), X),
    "weights that are small": (X, Y, random.random(N) * 1e-9, X),
    "one row": (X[:1], Y[:1], None, X),
    "two rows": (X[:2], np.array([0, 1]), None, X),
    "constant classes": (X, np.zeros(N, dtype=int), None, X),
    "constant attributes": (X.assign(a=1.0, b=2.0, c="z"), Y, None, X),
    "a class for each row": (X, np.array([f"c{i}" for i in range(N)]), None, X),
    "a hundred thousand levels": (WIDE, Y, None, WIDE.assign(name="new")),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_probabilities_or_a_reason(name: str, case: str) -> None:
    rows, classes, weights, others = CASES[case]
    if name == "optimal" and ("far apart" in case or "small" in case or "thousand" in case):
        with pytest.raises(UnsupportedError, match=r"must be whole numbers|'name' has 100000 levels"):
            load_classifier(name).fit(rows, classes, sample_weight=weights)
        return
    fitted = load_classifier(name).fit(rows, classes, sample_weight=weights)
    p = fitted.predict_proba(others)
    assert np.isfinite(p).all() and (p >= 0).all() and np.abs(p.sum(axis=1) - 1).max() <= 1e-12
    assert from_json(fitted.to_json(), "model.json").predict_proba(others) == pytest.approx(p, abs=1e-12)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_two_columns_of_a_hundred_thousand_levels(name: str) -> None:
    rows = WIDE.assign(other=WIDE["name"].cat.rename_categories([f"m{i}" for i in range(100_000)]))
    try:
        p = load_classifier(name).fit(rows, Y).predict_proba(rows)
    except OptbnError as problem:
        assert "'name' has 100" in str(problem) and ("leave" in str(problem) and "merge" in str(problem))
        return
    assert np.isfinite(p).all() and np.abs(p.sum(axis=1) - 1).max() <= 1e-12


@pytest.mark.parametrize("name", ["nb", "aode", "skdb"])
def test_a_column_whose_kind_is_known_later(name: str) -> None:
    for later in (1.5, "text"):
        rows = NULLS.assign(none=later)
        fitted = load_classifier(name).partial_fit(NULLS, Y, classes=[0, 1]).partial_fit(rows, Y)
        both = load_classifier(name).fit(pd.concat([NULLS, rows]), np.tile(Y, 2))
        assert fitted.predict_proba(rows) == pytest.approx(both.predict_proba(rows), abs=1e-12)
