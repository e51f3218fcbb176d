"""Discriminative parameters shrunk down the tree of contexts (h) against one ridge for all of them (d, w).

A cell is one method on one data set, two stratified folds, once. All penalties are chosen by five folds of the training
rows, of h with the decay from one parent to the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.experiments.verdicts import Claim, Finding, summary, verdicts
from optbn.experiments.verdicts import findings as judged
from optbn.report.tables import table
from results.classifiers.datasets import by_method, labelled, not_done

Row = Mapping[str, Any]


def cell(dataset: str, method: str, most: int, data: str, seed: int = 0) -> dict[str, Any]:
    """Scores and CPU seconds of one method on one data set."""
    from optbn.classifiers.discriminative.estimator import DiscriminativeBN
    from optbn.evaluate.cross_validation import cross_validate, stratified_folds

    X, y = labelled(dataset, data)
    if len(y) > most:
        rows = np.sort(np.random.default_rng(seed).choice(len(y), most, replace=False))
        X, y = X.iloc[rows], y[rows]
    structure, kind = method.split("-")
    found = cross_validate(DiscriminativeBN(structure, kind), X, y, stratified_folds(y, 2, seed, 1))
    own = found.probabilities[0][np.arange(len(y)), np.unique(y, return_inverse=True)[1]]
    scores = found.scores()
    return {
        "rmse": float(scores["rmse"]),
        "zero_one": float(scores["zero_one"]),
        "log_loss": float(-np.log(np.maximum(own, 1e-4)).mean()),
        "train_seconds": found.train_seconds / 2,
        "rows": len(y),
    }


CLAIMS = [
    Claim(f"A hierarchical penalty has a smaller {name} than one ridge, {structure}", score,
          [(f"{structure}-h", f"{structure}-d"), (f"{structure}-h", f"{structure}-w")])
    for structure in ("tan", "kdb2")
    for score, name in (("rmse", "RMSE"), ("log_loss", "log loss"), ("zero_one", "0/1 loss"))
]  # fmt: skip


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The claims, judged."""
    return judged("Hierarchical penalty (ours)", by_method(rows), CLAIMS)


def report(rows: Sequence[Row], folder: Path) -> str:
    """Everything from the finished rows."""
    results = by_method(rows)
    sets = list(dict.fromkeys(row["cell"]["dataset"] for row in rows))
    parts = not_done(rows)
    parts.append(
        "## Claims\n\nTwo-tailed sign tests over data sets; differences of at most .0001 are draws.\n\n"
        f"{summary(findings(rows))}\n{verdicts(results, CLAIMS)}"
    )
    scores = ("rmse", "log_loss", "zero_one", "train_seconds")
    body = [
        [method, *(f"{np.mean([result[s] for result in found.values()]):.4f}" for s in scores)]
        for method, found in results.items()
    ]
    parts.append("## Averages\n\n" + table(["method", "RMSE", "log loss", "0/1 loss", "CPU seconds per fold"], body))
    body = [[m, *(f"{found[s]['rmse']:.4f}" if s in found else "" for s in sets)] for m, found in results.items()]
    parts.append("## RMSE\n\n" + table(["method", *sets], body))
    return "\n".join(parts)
