"""The study of classifiers: structures x smoothers and their competitors, by folds, on many data sets.

A cell is one method on one data set: 5 rounds of two stratified folds (`rounds` in the grid: fewer on large sets),
scored on all of them together. Structures use MDLP cut points found in the training fold, ensembles draw theirs.
Competitors are scikit-learn's random forest and histogram gradient boosting, and XGBoost where it is installed, with
its defaults and with depth and rounds chosen by 10 folds of the training fold (depth 2, 4, 6, 8; rounds 10, 50, 100).

The report (`claims`) compares by RMSE and 0/1 loss: averages, ranks, win-draw-loss with sign tests, critical
differences, times; and says of each claim of the literature whether it is reproduced, from the numbers alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.experiments.verdicts import Finding
from results.classifiers.datasets import labelled

Row = Mapping[str, Any]

AS_PUBLISHED = {"discretizer": "random_mdlp", "weights": "uniform", "calibrate": False}
"""The ensemble as published, but for its seeds; "ESKDB" is optbn's, with its defaults and ten members."""

STRUCTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "NB": ("nb", {}),
    "TAN": ("tan", {}),
    "KDB1": ("kdb", {"k": 1}),
    "KDB3": ("kdb", {"k": 3}),
    "KDB5": ("kdb", {"k": 5}),
    "SKDB5": ("skdb", {"k": 5}),
    "AODE": ("aode", {}),
    "KDF2": ("kdf", {"k": 2}),
    "ESKDB1": ("eskdb", {"n_members": 1, **AS_PUBLISHED}),
    "ESKDB10": ("eskdb", {"n_members": 10, **AS_PUBLISHED}),
    "ESKDB20": ("eskdb", {"n_members": 20, **AS_PUBLISHED}),
    "ESKDB30": ("eskdb", {"n_members": 30, **AS_PUBLISHED}),
    "ESKDB": ("eskdb", {}),
    "OptimalBN": ("optimal", {"max_parents": 3, "time_limit": 60.0}),
    "OptimalANB": ("optimal", {"optimal": "augmented", "max_parents": 3, "time_limit": 60.0}),
}
SMOOTHERS = ("m", "hdp", "hierarchical", "gradient", "hdp-single", "hdp-none")


def cell(dataset: str, method: str, data: str, rounds: int = 5, seed: int = 0, sweeps: int = 500) -> dict[str, Any]:
    """Scores and CPU seconds of one method on one data set; `data` is the folder of the parquet files."""
    from optbn.evaluate.cross_validation import cross_validate, stratified_folds

    X, y = labelled(dataset, data)
    made = competitor(method, X) if method in COMPETITORS else classifier(method, sweeps)
    warm = np.random.default_rng(0).choice(len(y), min(len(y), 60), replace=False)
    if method not in COMPETITORS:
        made.fit(X.iloc[warm], y[warm])  # compiled code is loaded before the clock starts
    found = cross_validate(made, X, y, stratified_folds(y, 2, seed, rounds))
    folds = 2 * rounds
    scores = {name: value if np.isfinite(value) else None for name, value in found.scores().items()}
    variation = found.bias_variance() if rounds > 1 else None
    return {
        **scores,
        "bias": variation.bias if variation else None,
        "variance": variation.variance if variation else None,
        "train_seconds": found.train_seconds / folds,
        "predict_seconds": found.predict_seconds / folds,
        "rows": len(y),
        "classes": len(found.classes),
    }


def classifier(method: str, sweeps: int) -> Any:
    """What "SKDB5-hdp" and the like stand for."""
    from optbn.base.registry import unknown
    from optbn.classifiers import load_classifier
    from optbn.smoothing.hdp import HDP

    structure, _, smoother = method.partition("-")
    if structure not in STRUCTURES:
        raise unknown("method", structure, [*STRUCTURES, *COMPETITORS])
    if smoother not in SMOOTHERS:
        raise unknown("smoother", smoother, SMOOTHERS)
    kind, settings = STRUCTURES[structure]
    tying = {"hdp": "level", "hdp-single": "single", "hdp-none": "none"}
    chosen: Any = {"m": "m_estimate"}.get(smoother, smoother)
    if smoother in tying:
        chosen = HDP(tying=tying[smoother], sweeps=sweeps, chains=1)
    return load_classifier(kind, smoother=chosen, **settings)


def competitor(method: str, X: Any) -> Any:
    """Trees that take numbers; categories become numbers in some order, or indicators for the forest."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

    texts = [name for name in X.columns if X[name].dtype.kind not in "iuf"]
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    encoder = OneHotEncoder(handle_unknown="ignore") if method == "RF" else ordinal
    columns = make_column_transformer((encoder, texts), remainder="passthrough", sparse_threshold=0.0)
    return make_pipeline(columns, COMPETITORS[method]())


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(100, random_state=0)


def _boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


def _xgboost() -> Any:
    return Labelled(_xgboost_of(100, 6))


def _xgboost_tuned() -> Any:
    from sklearn.model_selection import GridSearchCV

    grid = {"model__n_estimators": [10, 50, 100], "model__max_depth": [2, 4, 6, 8]}
    model = Labelled(_xgboost_of(100, 6))
    return GridSearchCV(model, grid, cv=TenFolds(), scoring=_minus_brier, error_score="raise")


def _minus_brier(model: Any, X: Any, y: Any) -> float:
    """What the tuning maximises; a class that the training part lacks has probability 0."""
    p, y = model.predict_proba(X), np.asarray(y)
    place = np.minimum(np.searchsorted(model.classes_, y), len(model.classes_) - 1)
    own = np.where(model.classes_[place] == y, p[np.arange(len(y)), place], 0.0)
    return float((2.0 * own - (p * p).sum(axis=1)).mean() - 1.0)


class TenFolds:
    """Ten stratified folds, or as many as the largest class has rows."""

    def get_n_splits(self, X: Any, y: Any, groups: Any = None) -> int:
        return min(10, int(np.unique(y, return_counts=True)[1].max()))

    def split(self, X: Any, y: Any, groups: Any = None) -> Any:
        from sklearn.model_selection import StratifiedKFold

        return StratifiedKFold(self.get_n_splits(X, y), shuffle=True, random_state=0).split(X, y)


def _xgboost_of(rounds: int, depth: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=rounds, max_depth=depth, n_jobs=1, random_state=0)


class Labelled:
    """Text classes for a classifier that takes only 0, 1, ..."""

    _estimator_type = "classifier"

    def __init__(self, model: Any) -> None:
        self.model = model

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        inner = {f"model__{k}": v for k, v in self.model.get_params().items()} if deep else {}
        return {"model": self.model, **inner}

    def set_params(self, **settings: Any) -> Labelled:
        self.model = settings.pop("model", self.model)
        self.model.set_params(**{name.removeprefix("model__"): value for name, value in settings.items()})
        return self

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()

    def fit(self, X: Any, y: Any) -> Labelled:
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.model.fit(X, codes)
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Any:
        p = np.asarray(self.model.predict_proba(X), dtype=np.float64)
        return p / p.sum(axis=1, keepdims=True)


COMPETITORS = {"RF": _forest, "HGB": _boosting, "XGB": _xgboost, "XGB-tuned": _xgboost_tuned}


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The claims of the literature, judged."""
    from results.classifiers.study.claims import findings

    return findings(rows)


def report(rows: Sequence[Row], folder: Path) -> str:
    """Everything from the finished rows."""
    from results.classifiers.study.claims import report

    return report(rows, folder)
