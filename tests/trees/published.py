"""The published study of smoothed trees, data set by data set, and what it takes to reproduce it.

The published code's conventions, none of which is in the product, are

unknown values   are divided among the branches where trees grow and predict, but count in full on each of them
empty branches   answer with the raw frequencies of the node above
M-branch         goes path by path and starts each from the leaf before
near values      less than 1e-5 apart are not cut apart (`resolution=1e-5`, a setting of the product)

`python -m tests.trees.published --write` writes results/trees/published/README.md: all data sets that are there, on the
study's folds where they are known, otherwise on random ones, several times.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from optbn.classifiers.trees.estimator import ProbabilityTree
from optbn.classifiers.trees.member import TreeMember
from optbn.evaluate.cross_validation import cross_validate, stratified_folds
from optbn.report.tables import table
from optbn.smoothing.gradient import Gradient
from optbn.smoothing.protocol import Estimate
from optbn.smoothing.tree import CountTree
from results.classifiers.datasets import labelled
from tests.folds import read_folds
from tests.paths import shared_data, shared_neighbour

FILES = {
    "statlog-image-segmentation": "segment", "letter-recog": "letter", "breast-cancer-wisconsin": "breast-w",
    "page-blocks": "page-blocks-classification", "turkiye-student": "turkiye-student-evaluation",
    "house-votes-84": "vote",
}  # fmt: skip
"""Files that have another name here."""


@dataclass(frozen=True)
class PublishedMBranch:
    """M-branch as the published code has it: path by path, last leaf first, and what the root is pulled to is the
    estimate of the leaf before (of the first one: uniform); the height of a node is one more than its last child's."""

    M: float = 4.0

    def fit(self, tree: CountTree, generator: np.random.Generator) -> Estimate:
        below = [list(range(tree.first_child[u], tree.first_child[u + 1])) for u in range(len(tree.parent))]
        p = np.array(m_branch(tree.counts.tolist(), tree.parent.tolist(), below, self.M))
        return Estimate(p, p)


def m_branch(counts: list, parent: list[int], below: list[list[int]], M: float) -> list[list[float]]:
    height = [1] * len(parent)
    for u in reversed(range(len(parent))):  # parents come before their children
        if below[u]:
            height[u] = 1 + height[below[u][-1]]
    estimates = [[0.0] for _ in parent]
    before = [1 / len(counts[0])] * len(counts[0])
    waiting = [0]
    while waiting:
        u = waiting.pop()
        waiting += below[u]
        if below[u]:
            continue
        path = [u]
        while path[-1]:
            path.append(parent[path[-1]])
        for v in reversed(path):
            m = M * (1 + (1 - 1 / height[v]) * math.sqrt(sum(counts[0])))
            before = [(n + m * q) / (sum(counts[v]) + m) for n, q in zip(counts[v], before, strict=True)]
            estimates[v] = before
    return estimates


class AsPublished(ProbabilityTree):
    """As the published code: a row with an unknown value counts in full on every branch (but is divided where trees
    grow and predict), and branches without training rows get the raw frequencies of the node above."""

    def _grown(self, values, classes, weights, prepared, seed):
        tree = super()._grown(values, classes, weights, prepared, seed)
        if not np.isnan(values).any():
            return tree
        counts = np.zeros_like(tree.counts)
        for r in np.flatnonzero(weights):
            for node, _ in tree.path(values[:, r].tolist()):
                counts[node, classes[r]] += weights[r]
        return replace(tree, counts=counts)

    def _learn(self, source, smoother, seed):
        [member], weights = super()._learn(source, smoother, seed)
        counts = member.tree.counts
        inner = member.tree.children[:, None] > 0
        raw = np.where(inner, counts / counts.sum(axis=1, keepdims=True), member.probabilities)
        return [TreeMember(**{**vars(replace(member)), "probabilities": raw})], weights


SMOOTHERS = {
    "MLE": "mle",
    "Laplace": "laplace",
    "M-est": "m_estimate",
    "HGS": Gradient(alpha=1.0),
    "M-branch": PublishedMBranch(),
}


def published() -> dict[str, Any]:
    """RMSE of every smoother and the number of rows, by data set."""
    text = shared_neighbour("golden", "bnc", "hgs_raw_results.json").read_text()
    found: dict[str, Any] = json.loads(text)["sheets"]["HGS"]
    return found


def rows(name: str) -> tuple[Any, Any]:
    """Attributes and classes."""
    return labelled(FILES.get(name, name), str(shared_data("datasets")))


def its_folds(name: str) -> Any:
    """The study's."""
    return read_folds(shared_neighbour("golden", "bnc", "folds10", f"{name}.json"))


def rmse(smoother: Any, X: Any, y: Any, folds: Any) -> float:
    """Of ten folds."""
    return cross_validate(AsPublished(smoother, missing="fractional", resolution=1e-5), X, y, folds).scores()["rmse"]


NOT_COMPARABLE = {
    "soybean-large": "the study has the 307 rows of the original training file, here are all 683",
    "splice-c4": "the study has 3,177 rows, here are all 3,190",
}
REMARKS = {
    "house-votes-84": "1.3 if unknown values are a third answer, which they are in these data",
    "ionosphere": "not explained: neither collapsing nor MDL correction nor two columns as texts bring it nearer",
    "nursery": "not explained",
}
"""What is known of data sets that are further away than two standard deviations."""


def lines() -> Iterator[list[str]]:
    """A line per data set: published and ours by smoother, and how they agree."""
    for name, known in published().items():
        try:
            X, y = rows({"soybean-large": "soybean", "splice-c4": "splice"}.get(name, name))
        except FileNotFoundError:
            continue
        if name in NOT_COMPARABLE:
            yield [name, str(len(y)), "", *[""] * len(SMOOTHERS), NOT_COMPARABLE[name]]
            continue
        given = (shared_neighbour("golden", "bnc", "folds10") / f"{name}.json").exists()
        repeats = 1 if given or len(y) > 40_000 else 10 if len(y) <= 5_000 or name == "nursery" else 3
        found = {
            label: np.array(
                [rmse(smoother, X, y, its_folds(name) if given else stratified_folds(y, 10, r)) for r in range(repeats)]
            )
            for label, smoother in SMOOTHERS.items()
        }
        away = {label: abs(float(values.mean()) - known[label]["rmse"]) for label, values in found.items()}
        spread = {label: float(values.std(ddof=1)) if repeats > 1 else 0.0 for label, values in found.items()}
        furthest = max(away[label] / max(spread[label], 5e-5) if repeats > 1 else 0.0 for label in SMOOTHERS)
        said = f"{furthest:.1f} standard deviations" if repeats > 1 else ""
        if max(away.values()) < 6e-5:
            said = "4 decimals"
        elif max(away.values()) <= 3e-3:
            said = "within .003" + (f", {said}" if said else "")
        elif furthest > 2:
            said += f" ({REMARKS[name]})" if name in REMARKS else ""
        cells = [
            f"{known[label]['rmse']:.4f} / {values.mean():.4f}" + (f" ± {spread[label]:.4f}" if repeats > 1 else "")
            for label, values in found.items()
        ]
        yield [name, str(len(y)), "its" if given else f"{repeats} x random", *cells, said]


def page(body: list[list[str]]) -> str:
    """The lines as a report."""
    within = sum(line[-1].startswith(("4", "within")) for line in body)
    return f"""# The published study of smoothed trees, reproduced

Written by `python -m tests.trees.published --write`: RMSE by ten folds, published / ours, with the published code's
conventions switched on; they live in `tests/trees/published.py`, not in the product, and
[differences](../../../docs/differences.md#probability-trees) explains them. {within} of {len(body)} data sets agree to
four decimals or within .003 for all smoothers. Where the study's folds are not known, ours are the mean of random
stratified ones ± the standard deviation from one division into folds to another, and the largest distance is told in
such deviations: the published number is one draw.

{table(["data set", "rows", "folds", *SMOOTHERS, "agreement"], body)}"""


def main() -> None:
    body = []
    for line in lines():
        body.append(line)
        print(*line, sep=" | ", flush=True)
    if "--write" in sys.argv:
        path = Path(__file__).parents[2] / "results" / "trees" / "published" / "README.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(page(body))


if __name__ == "__main__":
    main()
