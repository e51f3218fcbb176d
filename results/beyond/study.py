"""The study of soft networks: probabilities against forests of 500, tuned boosting and ESKDB.

A cell is one method on one data set, `rounds` times two stratified folds; of sets with more than `most` rows that many
are drawn once. A class that is a number of many values is whether it is above its median. Boosting is XGBoost with step
.1, whose depth (2, 4, 6, 8) and rounds (up to 1,000, early stopping after 30) are chosen by log loss on a fifth of the
training rows; it is then fitted to all of them. All have one thread; times are CPU seconds.

The report compares by RMSE over rows and classes, log loss (probabilities of at least .0001) and 0/1 loss, with exact
two-tailed sign tests over data sets; sets that are there once more with all rows are only listed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from optbn.evaluate.significance import sign_test
from optbn.experiments.verdicts import Claim, Finding
from optbn.experiments.verdicts import findings as judged
from optbn.report.tables import table
from results.classifiers.datasets import halved, labelled

Row = Mapping[str, Any]

OURS = {"Blend": "blend", "SoftESKDB": "softeskdb", "ESKDB": "eskdb"}
FLOOR = 1e-4
LOSSES = ("rmse", "log_loss", "zero_one")
DRAW = 1e-6


def cell(dataset: str, method: str, most: int, data: str, rounds: int = 5) -> dict[str, Any]:
    """Losses and CPU seconds of one method on one data set, means over the rounds."""
    from optbn.evaluate.cross_validation import stratified_folds

    X, y = halved(*labelled(dataset, data))
    if len(y) > most:
        rows = np.sort(np.random.default_rng(0).choice(len(y), most, replace=False))
        X, y = X.iloc[rows], y[rows]
    codes = np.unique(y, return_inverse=True)[1]
    some = np.random.default_rng(1).choice(len(y), min(len(y), 60), replace=False)
    made(method, X).fit(X.iloc[some], y[some])  # compiled code is loaded before the clock starts
    each = [_round(method, X, y, np.asarray(fold)) for fold in stratified_folds(codes, 2, 0, rounds)]
    return {name: float(np.mean([one[name] for one in each])) for name in each[0]} | {"rows": len(y)}


def _round(method: str, X: Any, y: Any, fold: Any) -> dict[str, float]:
    classes, codes = np.unique(y, return_inverse=True)
    p = np.zeros((len(y), len(classes)))
    seconds = [0.0, 0.0]
    for out in (fold == 0, fold == 1):
        begin = time.process_time()
        fitted = made(method, X).fit(X[~out], y[~out])
        between = time.process_time()
        p[np.ix_(out, np.searchsorted(classes, fitted.classes_))] = fitted.predict_proba(X[out])
        seconds = [seconds[0] + between - begin, seconds[1] + time.process_time() - between]
    own = p[np.arange(len(y)), codes]
    away = p - np.eye(len(classes))[codes]
    return {
        "rmse": float(np.sqrt((away * away).mean())),
        "log_loss": float(-np.log(np.maximum(own, FLOOR)).mean()),
        "zero_one": float((p.argmax(axis=1) != codes).mean()),
        "fit_seconds": seconds[0] / 2,
        "predict_seconds": seconds[1] / 2,
    }


def made(method: str, X: Any) -> Any:
    """An unfitted classifier; the trees of others take numbers, texts as indicators or as numbers in some order."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

    from optbn.classifiers import load_classifier

    if method in OURS:
        return load_classifier(OURS[method])
    texts = [name for name in X.columns if X[name].dtype.kind not in "iuf"]
    indicators = OneHotEncoder(handle_unknown="ignore")
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer(
        (indicators if method == "RF500" else ordinal, texts), remainder="passthrough", sparse_threshold=0.0
    )
    model = RandomForestClassifier(500, random_state=0) if method == "RF500" else TunedBoosting()
    return make_pipeline(columns, model)


class TunedBoosting(ClassifierMixin, BaseEstimator):
    """XGBoost, its depth and rounds chosen by log loss on a fifth of the rows."""

    def fit(self, X: Any, y: Any) -> TunedBoosting:
        from optbn.evaluate.cross_validation import stratified_folds

        self.classes_, codes = np.unique(y, return_inverse=True)
        fold = np.asarray(stratified_folds(codes, 5, 0, 1)[0])
        out = np.flatnonzero(fold == 0)
        inside = np.union1d(np.flatnonzero(fold > 0), np.unique(codes, return_index=True)[1])  # every class is there
        best = (np.inf, 4, 50)
        for depth in (2, 4, 6, 8):
            model = self._model(1000, depth, early_stopping_rounds=30)
            model.fit(X[inside], codes[inside], eval_set=[(X[out], codes[out])], verbose=False)
            best = min(best, (float(model.best_score), depth, int(model.best_iteration) + 1))
        self.model_ = self._model(best[2], best[1]).fit(X, codes)
        return self

    def _model(self, rounds: int, depth: int, **more: Any) -> Any:
        from xgboost import XGBClassifier

        return XGBClassifier(
            n_estimators=rounds, max_depth=depth, learning_rate=0.1, n_jobs=1, random_state=0, **more,
            eval_metric="logloss" if len(self.classes_) <= 2 else "mlogloss",
        )  # fmt: skip

    def predict_proba(self, X: Any) -> Any:
        p = np.asarray(self.model_.predict_proba(X), dtype=np.float64)
        return p / p.sum(axis=1, keepdims=True)


CLAIMS = [
    Claim(f"{first} has a smaller {name} than {second}", score, [(first, second)])
    for first in ("Blend", "SoftESKDB")
    for second in ("RF500", "XGB-tuned", "ESKDB")
    for score, name in (("rmse", "RMSE"), ("log_loss", "log loss"), ("zero_one", "0/1 loss"))
]


def _results(rows: Sequence[Row]) -> dict[str, dict[str, dict[str, Any]]]:
    """method -> data set (with its rows where it is whole) -> result, of sets that all methods have finished."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["status"] == "done":
            cell = row["cell"]
            name = cell["dataset"] if cell["most"] == 4000 else f"{cell['dataset']}, {row['result']['rows']:,} rows"
            found.setdefault(name, {})[cell["method"]] = row["result"]
    methods = {method for results in found.values() for method in results}
    whole = {name: results for name, results in found.items() if results.keys() == methods}
    return {method: {name: results[method] for name, results in whole.items()} for method in methods}


def _apart(sets: Iterable[str]) -> list[str]:
    """The data sets in order. A name that ends in " rows" is a second run of one, with all its rows: left out."""
    return sorted(name for name in sets if not name.endswith(" rows"))


def findings(rows: Sequence[Row]) -> list[Finding]:
    """What is claimed of soft networks, judged on these rows."""
    results = {m: {d: found[d] for d in _apart(found)} for m, found in _results(rows).items()}
    return judged("Soft networks", results, CLAIMS, DRAW)


def report(rows: Sequence[Row], folder: Path) -> str:
    """Markdown."""
    results = _results(rows)
    order = [method for method in (*OURS, "RF500", "XGB-tuned") if method in results]
    everything = sorted(results[order[0]]) if order else []
    sets = _apart(everything)
    failed = [row for row in rows if row["status"] != "done"]
    parts = [
        f"{len(sets)} data sets with all methods, {len(everything) - len(sets)} of them also whole; "
        f"{len(failed)} cells failed.\n"
    ]
    mean = {m: {s: float(np.mean([results[m][d][s] for d in sets])) for s in results[m][sets[0]]} for m in order}
    parts.append("## Means\n")
    head = ["method", "RMSE", "log loss", "0/1", "fit, s", "over RF500", "predict, s", "over RF500"]
    body = []
    for m in order:
        ratio = [
            float(np.exp(np.mean([np.log(results[m][d][s] / results["RF500"][d][s]) for d in sets])))
            for s in ("fit_seconds", "predict_seconds")
        ]
        body.append([m, *(f"{mean[m][s]:.4f}" for s in LOSSES), f"{mean[m]['fit_seconds']:.2f}", f"{ratio[0]:.2f}",
                     f"{mean[m]['predict_seconds']:.3f}", f"{ratio[1]:.2f}"])  # fmt: skip
    parts.append(table(head, body))
    parts.append("Times over those of the forest are geometric means.\n\n## Wins, draws, losses; p of the sign test\n")
    body = []
    for first in order[:2]:
        for second in order[2:]:
            tests = []
            for s in LOSSES:
                losses = [[results[m][d][s] for d in sets] for m in (first, second)]
                test = sign_test(*losses, DRAW)
                tests.append(f"{test} ({test.p:.2g})")
            body.append([first, second, *tests])
    parts.append(table(["method", "against", "RMSE", "log loss", "0/1"], body))
    for s, name in zip(LOSSES, ("RMSE", "Log loss", "0/1 loss"), strict=True):
        parts.append(f"## {name}\n")
        body = []
        for d in everything:
            least = min(results[m][d][s] for m in order)
            body.append([d, *(f"{'**' if results[m][d][s] == least else ''}{results[m][d][s]:.4f}"
                              f"{'**' if results[m][d][s] == least else ''}" for m in order)])  # fmt: skip
        parts.append(table(["data set", *order], body))
    return "\n".join(parts)
