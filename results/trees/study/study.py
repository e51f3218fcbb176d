"""The study of probability trees: smoothing, pruning, forests.

A cell is one method on one data set, by ten stratified folds as in the published experiments (Zhang 2020). `tree-mle`,
`tree-hdp`, ... are C4.5 trees (missing values as fractions of rows) with that smoother; `gradient1` is hierarchical
gradient smoothing as published, all strengths 1, `gradient` its strengths learned with shrinkage, `cv` their strength
chosen by folds, `-held` counts of a third of the rows that did not grow the tree. `pruned-` and `reduced-` are cut back
first. `forest7-mle` is a forest of 7 trees. Missing values are a level where a smoother needs whole counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from optbn.experiments.verdicts import Claim, Finding, Results, paired, ranks, summary, verdicts
from optbn.experiments.verdicts import findings as judged
from optbn.report.tables import Series, curves, table
from results.classifiers.datasets import by_method, labelled, not_done

Row = Mapping[str, Any]

SIZES = (1, 3, 5, 7, 10, 20, 30)
SINGLE = ("mle", "laplace", "m_estimate", "m_branch", "hdp", "gradient1", "gradient", "cv")


def cell(dataset: str, method: str, data: str, folds: int, sweeps: int = 500, seed: int = 0) -> dict[str, Any]:
    """Scores, size and CPU seconds of one method on one data set; `data` is the folder of the parquet files."""
    from optbn.evaluate.cross_validation import cross_validate, stratified_folds

    X, y = labelled(dataset, data)
    made = classifier(method, sweeps)
    warm = np.random.default_rng(0).choice(len(y), min(len(y), 60), replace=False)
    made.fit(X.iloc[warm], y[warm])  # compiled code is loaded before the clock starts
    found = cross_validate(made, X, y, stratified_folds(y, min(folds, len(y)), seed))
    whole = made.fit(X, y)
    scores = {name: value if np.isfinite(value) else None for name, value in found.scores().items()}
    return {
        **scores,
        "train_seconds": found.train_seconds / folds,
        "nodes": float(np.mean([member.tree.size for member in whole.members_])),
        "rows": len(y),
    }


def classifier(method: str, sweeps: int) -> Any:
    """What "tree-mle", "forest7-gradient1" and the like stand for."""
    from optbn.base.registry import unknown
    from optbn.classifiers.trees.estimator import ProbabilityTree
    from optbn.classifiers.trees.forest import ProbabilityForest
    from optbn.smoothing.gradient import Gradient
    from optbn.smoothing.hdp import HDP

    kind, smoother, *how = method.split("-")
    chosen: Any = smoother
    if smoother == "hdp":
        chosen = HDP(sweeps=sweeps, chains=1)
    elif smoother == "gradient1":
        chosen = Gradient(alpha=1.0)
    missing = "level" if smoother in ("hdp", "gradient") else "fractional"
    if forest := re.fullmatch(r"forest(\d+)", kind):
        return ProbabilityForest(int(forest[1]), smoother=chosen, missing=missing)
    pruning = {"tree": None, "pruned": "pessimistic", "reduced": "reduced"}
    if kind not in pruning:
        raise unknown("kind of tree", kind, [*pruning, "forest7"])
    held = 1 / 3 if how == ["held"] else 0.0
    return ProbabilityTree(smoother=chosen, missing=missing, pruning=pruning[kind], validation=held)


CLAIMS = (
    Claim("HGS as published beats the other smoothers", "rmse",
          [("tree-gradient1", f"tree-{s}") for s in ("mle", "laplace", "m_estimate", "m_branch", "hdp")]),
    Claim("Strengths learned with shrinkage beat those fixed at 1", "rmse", [("tree-gradient", "tree-gradient1")]),
    Claim("One strength chosen by folds is better", "rmse",
          [("tree-cv", "tree-gradient1"), ("tree-cv", "tree-gradient")]),
    Claim("Every smoother beats none", "rmse", [(f"tree-{s}", "tree-mle") for s in SINGLE[1:]]),
    Claim("Smoothing beats pruning", "rmse",
          [("tree-gradient1", "pruned-mle"), ("tree-gradient1", "reduced-mle"), ("tree-m_branch", "pruned-mle"),
           ("tree-gradient1", "pruned-gradient1")]),
    Claim("Pruning is still of use to a smoothed tree", "rmse", [("pruned-gradient1", "tree-gradient1")]),
    Claim("Counts of rows that did not grow the tree are better", "rmse",
          [("tree-gradient1-held", "tree-gradient1"), ("tree-m_estimate-held", "tree-m_estimate")]),
    Claim("Smoothing hurts forests", "rmse",
          [(f"forest{k}-mle", f"forest{k}-{s}") for k in (7, 10, 30) for s in ("gradient1", "m_estimate")]),
    Claim("A smoothed tree beats a forest", "rmse",
          [(f"tree-{s}", f"forest{k}-mle") for s in ("gradient1", "cv") for k in SIZES]),
)  # fmt: skip


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The claims of the literature, judged."""
    return judged("HGS", by_method(rows), CLAIMS)


def report(rows: Sequence[Row], folder: Path) -> str:
    """Everything from the finished rows."""
    results = by_method(rows)
    sets = list(dict.fromkeys(row["cell"]["dataset"] for row in rows))
    parts = not_done(rows)
    parts.append(
        "## Claims\n\nTwo-tailed sign tests on RMSE; differences of at most .0001 are draws.\n\n"
        + f"{summary(findings(rows))}\n{verdicts(results, CLAIMS)}"
    )
    parts.append("## How large a forest is one smoothed tree?\n\n" + _worth(results, folder))
    single = [f"tree-{s}" for s in SINGLE] + ["pruned-mle", "pruned-gradient1", "reduced-mle"]
    parts.append("## Ranks of single trees\n\n" + ranks(results, single, "rmse", folder, "ranks.svg"))
    least = {s: min((found[s]["rmse"] for found in results.values() if s in found), default=1.0) for s in sets}
    body = [
        [m, *(_bold(found[s]["rmse"], least[s]) if s in found else "" for s in sets)] for m, found in results.items()
    ]
    parts.append("## RMSE\n\nThe best of a column is bold.\n\n" + table(["method", *sets], body))
    effort = [
        [m, f"{_mean(found, 'nodes'):.0f}", f"{_mean(found, 'train_seconds'):.4f}", f"{_mean(found, 'zero_one'):.4f}",
         f"{_mean(found, 'rmse'):.4f}"]
        for m, found in results.items()
    ]  # fmt: skip
    head = ["method", "nodes of a tree", "CPU seconds per fold", "0/1 loss", "RMSE"]
    parts.append("## Averages\n\n" + table(head, effort))
    return "\n".join(parts)


def _worth(results: Results, folder: Path) -> str:
    """The smallest forest with at most the smoothed tree's average RMSE, and the curve over sizes."""
    body: list[list[str]] = []
    series: Series = {}
    for smoother in ("mle", "m_estimate", "gradient1"):
        points: list[tuple[float, ...]] = []
        for k in SIZES:
            pairs = [paired(results, one, f"forest{k}-{smoother}", "rmse") for one in ("tree-gradient1", "tree-cv")]
            if all(len(a) for a, _ in pairs):
                forest = float(np.mean(pairs[0][1]))
                body.append([f"{k} trees, {smoother}", f"{forest:.4f}", *(f"{np.mean(a):.4f}" for a, _ in pairs),
                             str(len(pairs[0][0]))])  # fmt: skip
                points.append((float(k), forest))
        series["all data sets", f"forest, {smoother}"] = points
    if not body:
        return "Nothing to compare yet.\n"
    text = ""
    for one in ("tree-gradient1", "tree-cv"):
        level = float(np.mean([found["rmse"] for found in results[one].values()]))
        series["all data sets", one] = [(1.0, level), (float(SIZES[-1]), level)]
        enough = None
        for k in SIZES:
            a, b = paired(results, one, f"forest{k}-mle", "rmse")
            if enough is None and len(a) and np.mean(b) <= np.mean(a):
                enough = k
        said = f"{enough} trees" if enough else f"more than {SIZES[-1]} trees"
        verdict = "reproduced" if enough in (7, 10) else "not reproduced"
        text += f"By average RMSE {one} is reached by an unsmoothed forest of {said}; "
        text += f"the claim of 7 to 10 trees: {verdict}.\n\n"
    curves(folder / "forests.svg", series, "trees", "RMSE")
    head = ["forest", "average RMSE", "of tree-gradient1", "of tree-cv", "data sets"]
    return text + table(head, body) + "\n![forests](forests.svg)\n"


def _mean(found: Mapping[str, Any], key: str) -> float:
    return float(np.mean([result[key] for result in found.values()]))


def _bold(value: float, least: float) -> str:
    return f"**{value:.4f}**" if value <= least + 5e-5 else f"{value:.4f}"
