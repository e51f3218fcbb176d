"""The headline claims of the papers, on at most `most` rows of a data set.

A cell is one method on one data set, `rounds` times two stratified folds, the same for all methods. A class that is a
number of many values is whether it is above its median. `-m` is the m-estimate with m = 1, `-cv` with m chosen
on a holdout as the HDP paper does, `-hdp` HDP with 500 sweeps (`-hdp50`, `-hdp5000`), concentrations tied by level
(`-single`, `-same_parent`, `-none`: otherwise). `SKDB5-zero_one` and the like select by that loss, `-own` by the final
smoother on folds. `-leak` has cut points found in all rows, test rows too (Table 11 of the thesis). `ESKDB10` is the
published ensemble, `-cuts` with drawn cuts only, `-order` with drawn orders only. `RF` is a forest of 100, `RF-codes`
the same on MDLP's codes of the training fold; `HGB` histogram boosting without the early stopping that needs more
validation rows than these sets have. `ESKDB` is optbn's ensemble, `-raw` uncalibrated, `-sigmoid`, `-isotonic` and
`-dirichlet` (logistic regression on logarithms) calibrated by five folds of the training rows through scikit-learn;
they are compared by log loss with probabilities of at least .0001 (`clipped`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.experiments.verdicts import Claim, Finding, summary, verdicts
from optbn.experiments.verdicts import findings as judged
from optbn.report.tables import table
from results.classifiers.datasets import by_method, halved, labelled, not_done

Row = Mapping[str, Any]

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "NB": ("nb", {}),
    "TAN": ("tan", {}),
    "KDB1": ("kdb", {"k": 1}),
    "KDB3": ("kdb", {"k": 3}),
    "KDB5": ("kdb", {"k": 5}),
    "SKDB5": ("skdb", {"k": 5}),
    "AODE": ("aode", {}),
    "A2DE": ("a2de", {}),
    "KDF2": ("kdf", {"k": 2}),
    "ESKDB10": ("eskdb", {"discretizer": "random_mdlp", "weights": "uniform", "calibrate": False}),
    "ESKDB": ("eskdb", {}),
    "tree": ("tree", {}),
}
TYINGS = ("single", "same_parent", "none")
MORE: dict[str, dict[str, Any]] = {
    "ESKDB10-cuts": {"sample_order": False},
    "ESKDB10-order": {"discretizer": "mdlp"},
    "ESKDB-raw": {"calibrate": False},
    "SKDB5-zero_one": {"select": "zero_one"},
    "SKDB5-log_loss": {"select": "log_loss"},
}
SMOOTHED = ("TAN", "KDB1", "KDB3", "KDB5", "SKDB5")
SCORES = ("rmse", "log_loss", "zero_one", "ece")


def cell(dataset: str, method: str, most: int, data: str, rounds: int = 1, seed: int = 0) -> dict[str, Any]:
    """Scores of one method on one data set over all rounds, and its CPU seconds per fold."""
    from optbn.evaluate.cross_validation import cross_validate, stratified_folds

    X, y = halved(*labelled(dataset, data))
    if len(y) > most:
        rows = np.sort(np.random.default_rng(seed).choice(len(y), most, replace=False))
        X, y = X.iloc[rows], y[rows]
    if method.endswith("-leak"):
        from optbn.data.discretise import load_discretizer

        X = load_discretizer("mdlp").set_output(transform="pandas").fit(X, y).transform(X).astype(str)
    found = cross_validate(made(method, X), X, y, stratified_folds(y, 2, seed, rounds))
    scores = found.scores()
    own = found.probabilities[:, np.arange(len(y)), found.y]
    return {
        **{name: float(scores[name]) for name in SCORES if name in scores and np.isfinite(scores[name])},
        "clipped": float(-np.log(np.maximum(own, 1e-4)).mean()),
        "train_seconds": found.train_seconds / (2 * rounds),
        "rows": len(y),
    }


def made(method: str, X: Any) -> Any:
    """An unfitted classifier."""
    from optbn.classifiers import load_classifier

    kind, _, how = method.partition("-")
    if kind in ("RF", "HGB"):
        return other(method, X)
    if how in ("sigmoid", "isotonic", "dirichlet"):
        return recalibrated(load_classifier("eskdb", calibrate=False), how)
    name, settings = KINDS[kind]
    settings = {**settings, **MORE.get(method, {})}
    smoother = smoother_of(how)
    if smoother is not None:
        settings["smoother"] = smoother
    if how == "own":
        settings["select_by"] = "smoother"
    if how == "curtail":
        settings["curtail"] = 20
    return load_classifier(name, **settings)


def smoother_of(how: str) -> Any:
    """The smoother that a method's name ends in; None for the default."""
    from optbn.smoothing.gradient import Gradient
    from optbn.smoothing.hdp import HDP
    from optbn.smoothing.m_estimate import MEstimate

    if how in TYINGS:
        return HDP(tying=how, sweeps=500, chains=1)
    if how.startswith("hdp") or how == "own":
        return HDP(sweeps=int(how[3:] or 500) if how != "own" else 100, chains=1)
    named = {"cv": MEstimate("cv"), "hgs": Gradient(1.0), "mbranch": "m_branch", "curtail": MEstimate()}
    return named.get(how)


def other(method: str, X: Any) -> Any:
    """Forest and boosting on numbers; texts, and codes, as indicators or as numbers in some order."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

    from optbn.data.discretise import load_discretizer

    indicators = OneHotEncoder(handle_unknown="ignore")
    if method == "RF-codes":
        return make_pipeline(load_discretizer("mdlp"), indicators, RandomForestClassifier(100, random_state=0))
    texts = [name for name in X.columns if X[name].dtype.kind not in "iuf"]
    ordinal = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer(
        (indicators if method == "RF" else ordinal, texts), remainder="passthrough", sparse_threshold=0.0
    )
    forest = RandomForestClassifier(100, random_state=0)
    boosting = HistGradientBoostingClassifier(early_stopping=False, random_state=0)
    return make_pipeline(columns, forest if method == "RF" else boosting)


def recalibrated(classifier: Any, how: str) -> Any:
    """Through scikit-learn, by five folds of the training rows (fewer where a class has fewer rows)."""
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    class Recalibrated(ClassifierMixin, BaseEstimator):
        def __init__(self, classifier: Any, how: str) -> None:
            self.classifier = classifier
            self.how = how

        def fit(self, X: Any, y: Any) -> Any:
            folds = StratifiedKFold(max(2, min(5, int(np.unique(y, return_counts=True)[1].min()))))
            if self.how != "dirichlet":
                self.model_ = CalibratedClassifierCV(self.classifier, method=self.how, cv=folds, ensemble=False)
                self.classes_ = self.model_.fit(X, y).classes_
                return self
            left_out = cross_val_predict(self.classifier, X, y, cv=folds, method="predict_proba")
            self.model_, self.classes_ = self.classifier.fit(X, y), np.unique(y)
            self.map_ = LogisticRegression(max_iter=1000).fit(self._logs(left_out), y)
            return self

        def _logs(self, p: Any) -> Any:
            return np.log(np.maximum(p, 1e-6))

        def predict_proba(self, X: Any) -> Any:
            p = self.model_.predict_proba(X)
            return p if self.how != "dirichlet" else self.map_.predict_proba(self._logs(p))

    return Recalibrated(classifier, how)


CLAIMS = (
    Claim("HDP beats the m-estimate with m tuned on a holdout", "rmse", [(f"{s}-hdp", f"{s}-cv") for s in SMOOTHED]),
    Claim("m = 1 beats m tuned on a holdout", "rmse", [(f"{s}-m", f"{s}-cv") for s in SMOOTHED]),
    Claim("HDP beats m = 1", "rmse", [(f"{s}-hdp", f"{s}-m") for s in SMOOTHED]),
    Claim("TAN with HDP beats a forest on the same discretised data", "rmse", [("TAN-hdp", "RF-codes")]),
    Claim("SKDB with HDP beats a forest on the same discretised data", "rmse", [("SKDB5-hdp", "RF-codes")]),
    Claim("TAN with HDP beats a forest on raw data", "rmse", [("TAN-hdp", "RF")]),
    Claim("SKDB with HDP beats a forest on raw data", "rmse", [("SKDB5-hdp", "RF")]),
    Claim("KDB5 with HDP does not overfit: less than SKDB5 with HDP", "rmse", [("KDB5-hdp", "SKDB5-hdp")]),
    Claim("KDB with five parents and HDP is better than with one", "rmse", [("KDB5-hdp", "KDB1-hdp")]),
    Claim("ESKDB beats every single classifier", "rmse",
          [("ESKDB10-m", f"{s}-m") for s in ("NB", "TAN", "KDB1", "KDB3", "KDB5", "SKDB5", "KDF2", "AODE", "A2DE")]),
    Claim("Tying by level beats other tyings", "rmse", [("SKDB5-hdp", f"SKDB5-{t}") for t in TYINGS]),
    Claim("More sweeps are better: 50, 500, 5,000", "rmse",
          [("SKDB5-hdp", "SKDB5-hdp50"), ("SKDB5-hdp5000", "SKDB5-hdp")]),
    Claim("Drawn cuts and orders together beat either alone", "rmse",
          [("ESKDB10-m", "ESKDB10-cuts"), ("ESKDB10-m", "ESKDB10-order")]),
    Claim("Drawn cuts are worth more than drawn orders", "rmse", [("ESKDB10-cuts", "ESKDB10-order")]),
    Claim("Cuts from all rows flatter", "rmse", [("SKDB5-leak", "SKDB5-m"), ("NB-leak", "NB-m")]),
    Claim("Selection by the final smoother is better", "rmse", [("SKDB5-own", "SKDB5-hdp")]),
    Claim("Selection by 0/1 loss has less 0/1 loss", "zero_one", [("SKDB5-zero_one", "SKDB5-m")]),
    Claim("Selection by log loss has less log loss", "log_loss", [("SKDB5-log_loss", "SKDB5-m")]),
    Claim("A2DE beats AODE", "rmse", [("A2DE-m", "AODE-m")]),
    Claim("HGS (strengths 1) beats M-branch on trees", "rmse", [("tree-hgs", "tree-mbranch")]),
    Claim("HGS (strengths 1) beats HDP with one concentration on trees", "rmse", [("tree-hgs", "tree-single")]),
    Claim("One concentration beats others on trees", "rmse",
          [("tree-single", "tree-hdp"), ("tree-single", "tree-same_parent")]),
    Claim("HGS (strengths 1) beats curtailment", "rmse", [("tree-hgs", "tree-curtail")]),
    Claim("ESKDB's own calibration has a smaller log loss than scikit-learn's", "clipped",
          [("ESKDB", f"ESKDB-{how}") for how in ("sigmoid", "isotonic", "dirichlet")]),
    Claim("ESKDB's own calibration has a smaller RMSE than scikit-learn's", "rmse",
          [("ESKDB", f"ESKDB-{how}") for how in ("sigmoid", "isotonic", "dirichlet")]),
    Claim("ESKDB's own calibration has a smaller log loss than none", "clipped", [("ESKDB", "ESKDB-raw")]),
)  # fmt: skip


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The claims of the literature, judged."""
    return judged("Headlines", by_method(rows), CLAIMS, tails=1)


def report(rows: Sequence[Row], folder: Path) -> str:
    """Everything from the finished rows."""
    results = by_method(rows)
    sets = list(dict.fromkeys(row["cell"]["dataset"] for row in rows))
    parts = not_done(rows)
    parts.append(
        "## Claims\n\nOne-tailed sign tests over data sets, as in the thesis; differences of at most .0001 are "
        "draws.\n\n"
        f"{summary(findings(rows))}\n{verdicts(results, CLAIMS, tails=1)}"
    )
    body = []
    for method, found in results.items():
        means = [np.mean([result[s] for result in found.values() if s in result]) for s in (*SCORES, "train_seconds")]
        body.append([method, str(len(found)), *(f"{mean:.4f}" for mean in means)])
    head = ["method", "data sets", "RMSE", "log loss", "0/1 loss", "ECE", "CPU seconds per fold"]
    parts.append("## Averages\n\nOf each method's own data sets.\n\n" + table(head, body))
    body = [[m, *(f"{found[s]['rmse']:.4f}" if s in found else "" for s in sets)] for m, found in results.items()]
    parts.append("## RMSE\n\n" + table(["method", *sets], body))
    return "\n".join(parts)
