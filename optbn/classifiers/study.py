"""The study of classifiers: structures x smoothers and their competitors, by folds, on many data sets.

A cell is one method on one data set: 5 rounds of two stratified folds (or fewer on large sets), scored on all of them
together. Structures use MDLP cut points found in the training fold, ensembles draw theirs. Competitors are
scikit-learn's random forest and histogram gradient boosting, and XGBoost where it is installed, with its defaults and
with depth and rounds chosen by 10 folds of the training fold (depth 2, 4, 6, 8; rounds 10, 50, 100).

The report compares by RMSE and 0/1 loss: averages, ranks, win-draw-loss with sign tests, critical differences, times;
and says of each claim of the literature whether it is reproduced, from the numbers alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.experiments.tables import table

Row = Mapping[str, Any]

STRUCTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "NB": ("nb", {}),
    "TAN": ("tan", {}),
    "KDB1": ("kdb", {"k": 1}),
    "KDB3": ("kdb", {"k": 3}),
    "KDB5": ("kdb", {"k": 5}),
    "SKDB5": ("skdb", {"k": 5}),
    "AODE": ("aode", {}),
    "KDF2": ("kdf", {"k": 2}),
    "ESKDB1": ("eskdb", {"n_members": 1}),
    "ESKDB10": ("eskdb", {"n_members": 10}),
    "ESKDB20": ("eskdb", {"n_members": 20}),
    "ESKDB30": ("eskdb", {"n_members": 30}),
    "OptimalBN": ("optimal", {"max_parents": 3, "time_limit": 60.0}),
    "OptimalANB": ("optimal", {"optimal": "augmented", "max_parents": 3, "time_limit": 60.0}),
}
SMOOTHERS = ("m", "hdp", "hierarchical", "gradient", "hdp-single", "hdp-none")


def cell(dataset: str, method: str, data: str, rounds: int, seed: int = 0, sweeps: int = 500) -> dict[str, Any]:
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


def labelled(dataset: str, data: str) -> tuple[Any, Any]:
    """Attributes and classes of the complete file `dataset`.parquet in the folder `data`."""
    import os

    import pyarrow.parquet as pq

    frame = pq.read_table(Path(os.path.expandvars(data)) / f"{dataset}.parquet").to_pandas()
    target = _target(frame.columns)
    frame = frame.dropna(subset=[target])
    return frame.drop(columns=target), np.asarray(frame[target].astype(str))


def _target(names: Sequence[str]) -> str:
    known = ("class", "income", "contact-lenses")
    found = [name for name in names if name.lower() in known]
    return found[-1] if found else names[-1]


def classifier(method: str, sweeps: int) -> Any:
    """What "SKDB5-hdp" and the like stand for."""
    from optbn.classifiers import load_classifier
    from optbn.registry import unknown
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


CLAIMS: tuple[tuple[str, str, Sequence[tuple[str, str]]], ...] = (
    ("HDP beats the m-estimate in every structure", "rmse", [(f"{s}-hdp", f"{s}-m") for s in STRUCTURES]),
    ("ESKDB beats random forest", "rmse", [("ESKDB10-hdp", "RF"), ("ESKDB10-m", "RF"), ("ESKDB30-m", "RF")]),
    ("ESKDB beats XGBoost", "rmse", [("ESKDB10-hdp", "XGB"), ("ESKDB10-m", "XGB"), ("ESKDB10-hdp", "XGB-tuned")]),
    ("ESKDB beats histogram gradient boosting", "rmse", [("ESKDB10-hdp", "HGB"), ("ESKDB10-m", "HGB")]),
    (
        "Tying concentrations by level is best",
        "rmse",
        [("SKDB5-hdp", "SKDB5-hdp-single"), ("SKDB5-hdp", "SKDB5-hdp-none")],
    ),
    (
        "More members are better",
        "rmse",
        [("ESKDB10-m", "ESKDB1-m"), ("ESKDB20-m", "ESKDB10-m"), ("ESKDB30-m", "ESKDB20-m")],
    ),
)


def report(rows: Sequence[Row], folder: Path) -> str:
    """Everything from the finished rows."""
    done = [row for row in rows if row["status"] == "done"]
    losses: dict[str, dict[str, Any]] = {}
    for row in done:
        losses.setdefault(row["cell"]["method"], {})[row["cell"]["dataset"]] = row["result"]
    methods = list(losses)
    sets = list(dict.fromkeys(row["cell"]["dataset"] for row in done))
    parts = []
    failed = [row for row in rows if row["status"] != "done"]
    if failed:
        reasons = sorted({f"{row['cell']['method']}: {row['error']}" for row in failed})
        parts.append("Not done: " + "; ".join(reasons[:10]) + "\n")
    parts.append(_claims(losses))
    for score in ("rmse", "zero_one"):
        parts.append(f"## {score}\n\nThe best of a column is bold.\n")
        least = {name: min(losses[m][name][score] for m in methods if name in losses[m]) for name in sets}
        body = []
        for m in methods:
            values = [_bold(losses[m][name][score], least[name]) if name in losses[m] else "" for name in sets]
            body.append([m, *values])
        parts.append(table(["method", *sets], body))
    parts.append(_ranks(losses, folder))
    parts.append("## CPU seconds per fold\n\nMeans over the data sets of each method.\n")
    timed = [
        [m, f"{_mean(losses[m], 'train_seconds'):.3f}", f"{_mean(losses[m], 'predict_seconds'):.3f}"] for m in methods
    ]
    parts.append(table(["method", "training", "prediction"], timed))
    return "\n".join(parts)


def _claims(losses: Mapping[str, Mapping[str, Any]]) -> str:
    """Win-draw-loss and the sign test of each claim, on the data sets that both methods have."""
    from optbn.evaluate.significance import sign_test

    body = []
    for text, score, pairs in CLAIMS:
        for first, second in pairs:
            both = [name for name in losses.get(first, {}) if name in losses.get(second, {})]
            if not both:
                continue
            a, b = ([losses[m][name][score] for name in both] for m in (first, second))
            test = sign_test(a, b, 1e-4)
            verdict = "not decided (p > .05)"
            if test.p <= 0.05:
                verdict = "reproduced" if test.wins > test.losses else "the opposite"
            means = f"{np.mean(a):.4f} / {np.mean(b):.4f}"
            body.append([text, f"{first} against {second}", str(test), f"{test.p:.3g}", means, verdict])
    if not body:
        return ""
    head = ["claim", "methods", "win-draw-loss", "p", "averages", "here"]
    return f"## Claims\n\nTwo-tailed sign tests on RMSE; differences of at most .0001 are draws.\n\n{table(head, body)}"


def _ranks(losses: Mapping[str, Mapping[str, Any]], folder: Path) -> str:
    """Friedman ranks on the data sets that are finished, of the methods that have them all, and the diagram."""
    from optbn.evaluate.significance import difference_diagram, friedman

    tried = {name: sum(name in found for found in losses.values()) for found in losses.values() for name in found}
    most = max(tried.values())
    shared = sorted(name for name, methods in tried.items() if methods >= most - 1)  # one method may fail somewhere
    whole = [m for m in losses if all(name in losses[m] for name in shared)]
    if len(whole) < 2 or len(shared) < 3:
        return ""
    test = friedman({m: [losses[m][name]["rmse"] for name in shared] for m in whole})
    body = [
        [m, f"{rank:.2f}", f"{np.mean([losses[m][name]['rmse'] for name in shared]):.4f}"]
        for m, rank in sorted(zip(test.methods, test.ranks, strict=True), key=lambda item: item[1])
    ]
    text = f"## Ranks\n\nBy RMSE on {len(shared)} data sets; Friedman p = {test.p:.2g}, critical difference "
    text += f"{test.critical_difference:.2f}.\n\n{table(['method', 'rank', 'average RMSE'], body)}"
    try:
        difference_diagram(test, str(folder / "ranks.svg"))
    except ImportError:
        return text
    return text + "\n![critical differences](ranks.svg)\n"


def _mean(found: Mapping[str, Any], key: str) -> float:
    return float(np.mean([result[key] for result in found.values()]))


def _bold(value: float, least: float) -> str:
    return f"**{value:.4f}**" if value <= least + 5e-5 else f"{value:.4f}"
