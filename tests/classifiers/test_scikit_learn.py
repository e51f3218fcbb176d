"""Among scikit-learn's own: weights routed, settings searched, frames out of discretisers, many threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, cross_validate

from optbn.classifiers import KDB, load_classifier
from optbn.data.discretise import DISCRETIZERS, load_discretizer
from tests.classifiers.examples import mixed


def test_weights_and_their_scale_are_routed() -> None:
    X, y = mixed(0, 120)
    w = np.where(y == "yes", 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        made = load_classifier("nb").set_fit_request(sample_weight=True, weight_scale=True)
        made.set_score_request(sample_weight=False)
        params = {"sample_weight": w, "weight_scale": "counts"}
        found = cross_validate(made, X, y, cv=2, params=params, return_estimator=True, return_indices=True)
    for fitted, rows in zip(found["estimator"], found["indices"]["train"], strict=True):
        assert fitted.counts_.classes.sum() == w[rows].sum()


def test_settings_are_searched_by_joblib() -> None:
    X, y = mixed(0, 120)
    with joblib.parallel_backend("threading"):
        search = GridSearchCV(KDB(), {"k": [0, 2], "discretizer": ["mdlp", "equal_width"]}, cv=2, n_jobs=2).fit(X, y)
    alone = GridSearchCV(KDB(), {"k": [0, 2], "discretizer": ["mdlp", "equal_width"]}, cv=2).fit(X, y)
    assert search.best_params_ == alone.best_params_ and search.best_score_ == alone.best_score_


@pytest.mark.parametrize("name", DISCRETIZERS)
def test_discretisers_give_frames(name: str) -> None:
    X, y = mixed(0, 120)
    made = load_discretizer(name).set_output(transform="pandas")
    found = made.fit(X, y).transform(X)
    assert isinstance(found, pd.DataFrame) and list(found.columns) == list(X.columns)


@pytest.mark.parametrize("name", ["nb", "eskdb", "blend", "forest"])
def test_threads_do_not_meet(name: str) -> None:
    X, y = mixed(0, 120)
    fitted = load_classifier(name).fit(X, y)
    expected = fitted.predict_proba(X)
    with ThreadPoolExecutor(4) as pool:
        predicted = list(pool.map(fitted.predict_proba, [X] * 8))
        again = list(pool.map(lambda _: load_classifier(name).fit(X, y).predict_proba(X), range(3)))
    assert all(np.array_equal(p, expected) for p in predicted + again)


@pytest.mark.parametrize("name", ["skdb", "eskdb", "blend"])
def test_a_hundred_thousand_levels(name: str) -> None:
    random = np.random.default_rng(0)
    n = 3000
    y = random.integers(0, 2, n)
    levels = pd.CategoricalDtype([f"n{i}" for i in range(100_000)])
    X = pd.DataFrame({"name": pd.Series(pd.Categorical.from_codes(random.integers(0, 100_000, n), dtype=levels))})
    X["a"], X["gone"] = random.normal(2.0 * y), np.nan
    p = load_classifier(name).fit(X, y).predict_proba(X.assign(name="new"))
    assert np.isfinite(p).all() and np.abs(p.sum(axis=1) - 1).max() < 1e-12 and (p.argmax(axis=1) == y).mean() > 0.7
