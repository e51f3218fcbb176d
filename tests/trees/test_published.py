"""RMSE of the published study of smoothed trees: four smoothers, on its folds where they are known."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from optbn.classifiers.study import labelled
from optbn.evaluate.cross_validation import cross_validate, read_folds, stratified_folds
from optbn.smoothing.gradient import Gradient
from optbn.smoothing.protocol import Estimate
from optbn.smoothing.tree import CountTree
from optbn.trees.estimator import ProbabilityTree
from optbn.trees.member import TreeMember
from tests.paths import shared_data, shared_neighbour

FILES = {
    "statlog-image-segmentation": "segment", "letter-recog": "letter", "breast-cancer-wisconsin": "breast-w",
    "page-blocks": "page-blocks-classification", "turkiye-student": "turkiye-student-evaluation",
}  # fmt: skip

ON_ITS_FOLDS = ("car-evaluation", "german", "glass", "hepatitis", "iris", "spambase", "statlog-image-segmentation",
                "tic-tac-toe", "vehicle")  # fmt: skip

EXACT = ("car-evaluation", "german", "hepatitis", "iris", "tic-tac-toe", "vehicle")
"""All four decimals."""

NUMBERS_ONLY = ("iris", "spambase", "statlog-image-segmentation", "vehicle")
"""All four decimals of M-branch, which depends on the order of the branches, which only nominal columns leave open."""

ON_OTHER_FOLDS = ("balance-scale", "breast-cancer-wisconsin", "mushroom", "page-blocks", "pendigits", "turkiye-student",
                  "yeast")  # fmt: skip
"""Also within .003 on chance folds: magic, letter-recog, shuttle, which take longer."""


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


@pytest.mark.parametrize("name", ["iris", "glass", "tic-tac-toe"])
def test_estimates_of_published_m_branch(name: str) -> None:
    """To the last bit, with M = 1, which these trees were made with; the study's tables have M = 4."""
    nodes = json.loads(shared_neighbour("golden", "bnc", "c45_trees_smoothing.json").read_text())[f"{name}|MBranch"]
    below: list[list[int]] = [[] for _ in nodes]
    for u, node in enumerate(nodes):
        assert node["id"] == u and node["parent"] < u
        if u:
            below[node["parent"]].append(u)
    found = m_branch([node["n"] for node in nodes], [node["parent"] for node in nodes], below, 1.0)
    assert np.array(found) == pytest.approx(np.array([node["p"] for node in nodes]), rel=1e-12)


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


@pytest.mark.parametrize("name", [*ON_ITS_FOLDS, *ON_OTHER_FOLDS])
def test_rmse(name: str) -> None:
    known = json.loads(shared_neighbour("golden", "bnc", "hgs_raw_results.json").read_text())["sheets"]["HGS"][name]
    X, y = labelled(FILES.get(name, name), str(shared_data("datasets")))
    if name in ON_ITS_FOLDS:
        folds = read_folds(shared_neighbour("golden", "bnc", "folds10", f"{name}.json"))
    else:
        folds = stratified_folds(y, 10, 1)
    assert len(y) == known["size"]
    for published, smoother in SMOOTHERS.items():
        made = AsPublished(smoother, missing="fractional", resolution=1e-5)
        found = cross_validate(made, X, y, folds).scores()["rmse"]
        exact = name in (NUMBERS_ONLY if published == "M-branch" else EXACT)
        assert found == pytest.approx(known[published]["rmse"], abs=6e-5 if exact else 3e-3)
