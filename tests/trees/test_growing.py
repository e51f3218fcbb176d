"""Trees against a recursion over lists of rows, and against trees of the published code."""

from __future__ import annotations

import json

import numpy as np
import pytest

from optbn.classifiers.trees.estimator import ProbabilityTree
from optbn.classifiers.trees.growing import Growth, Prepared, columns_of, useless, values_of
from optbn.classifiers.trees.tree import Tree
from optbn.data.discretise.table import Values as Column
from results.classifiers.datasets import labelled
from tests.naive import trees as naive
from tests.paths import shared_data, shared_neighbour

LEVELS = (0, 3, 0, 4)


def table(seed: int, n: int, missing: float) -> tuple[list[Column], np.ndarray, np.ndarray]:
    """Two numeric and two nominal columns that tell something of three classes."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, n)
    y[:3] = np.arange(3)
    numbers = [np.round(random.normal(y * (1 + j), 1.5), 1 - j) for j in range(2)]
    codes = [np.where(random.random(n) < 0.5, y % size, random.integers(0, size, n)) for size in (3, 4)]
    for column in numbers:
        column[random.random(n) < missing] = np.nan
    for column in codes:
        column[random.random(n) < missing] = -1
    names = [tuple(f"v{v}" for v in range(size)) for size in (3, 4)]
    columns = [
        Column("a", numbers[0]),
        Column("b", codes[0], names[0]),
        Column("c", numbers[1]),
        Column("d", codes[1], names[1]),
    ]
    return columns, y, random.integers(1, 4, n).astype(float)


def same(tree: Tree, node: int, expected: naive.Node, points: tuple) -> None:
    assert tree.counts[node] == pytest.approx(expected.counts, abs=1e-9)
    assert tree.totals[node] == pytest.approx(sum(expected.counts), abs=1e-9)
    assert tree.attribute[node] == expected.attribute
    inside = list(range(tree.first[node], tree.first[node] + tree.children[node]))
    assert [int(tree.branch[k]) for k in inside] == sorted(expected.children)
    if expected.children and tree.kind[expected.attribute] and np.isfinite(expected.cut):
        assert tree.cut[node] >= expected.cut and tree.cut[node] in points[expected.attribute]
    for k in inside:
        assert tree.parent[k] == node
        same(tree, k, expected.children[int(tree.branch[k])], points)


def lists(values: np.ndarray, y: np.ndarray, w: np.ndarray) -> list[naive.Row]:
    return [
        (tuple(None if np.isnan(v) else float(v) for v in values[:, r]), int(y[r]), float(w[r])) for r in range(len(y))
    ]


@pytest.mark.twin
@pytest.mark.parametrize("missing", ["level", "fractional"])
@pytest.mark.parametrize(("share", "minimum", "mdl"), [(0.0, 2.0, True), (0.15, 2.0, True), (0.3, 1.0, False)])
@pytest.mark.parametrize("seed", range(3))
def test_grow_and_walk_twins(seed: int, share: float, minimum: float, mdl: bool, missing: str) -> None:
    columns, y, w = table(seed, 70, share)
    if seed == 2:
        w = w / 3  # weights that are no whole numbers
        minimum /= 3
    criterion = ("gain_ratio", "gain", "gain_ratio")[seed]
    coded = columns_of(columns, w, missing)
    values = values_of(coded, columns)
    prepared = Prepared.of(coded, values, y, 3)
    tree = prepared.grow(w, Growth(minimum, mdl, False, criterion=criterion), np.zeros(1, dtype=np.uint64))
    levels = [0 if c.levels is None else c.n_levels for c in coded]
    third = [c.levels is None and c.missing is not None for c in coded]
    expected = naive.grow(lists(values, y, w), levels, third, 3, minimum, mdl, criterion == "gain")
    same(tree, 0, expected, prepared.points)
    assert tree.size > 5

    frequencies = tree.counts / tree.counts.sum(axis=1, keepdims=True)
    other, _, _ = table(seed + 50, 40, 0.3)
    new = values_of(coded, other)
    found = tree.predict(new, frequencies)
    cuts(tree, 0, expected)
    for r in range(40):
        row = [None if np.isnan(v) else float(v) for v in new[:, r]]
        p = naive.posterior(expected, row, levels, third, lambda node: [c / sum(node.counts) for c in node.counts])
        assert found[r] == pytest.approx(p, abs=1e-9)
        path = tree.path(new[:, r].tolist())
        ends = [
            (u, s)
            for u, s in path
            if not any(k in dict(path) for k in range(tree.first[u], tree.first[u] + tree.children[u]))
        ]
        assert sum(s for _, s in ends) == pytest.approx(1.0)
        assert sum(s * frequencies[u] for u, s in ends) == pytest.approx(p, abs=1e-9)
    assert tree.tally(values, y, w) == pytest.approx(tree.counts, abs=1e-9)


def cuts(tree: Tree, node: int, expected: naive.Node) -> None:
    """The twin cuts at the value below, the tree at the training value below the midpoint: use that one to walk."""
    expected.cut = float(tree.cut[node])
    for k in range(tree.first[node], tree.first[node] + tree.children[node]):
        cuts(tree, k, expected.children[int(tree.branch[k])])


@pytest.mark.parametrize("seed", range(3))
def test_collapsed_trees_make_no_more_errors(seed: int) -> None:
    columns, y, w = table(seed, 80, 0.1)
    coded = columns_of(columns, w, "level")
    prepared = Prepared.of(coded, values_of(coded, columns), y, 3)
    whole, short = (prepared.grow(w, Growth(collapse=c), np.zeros(1, dtype=np.uint64)) for c in (False, True))

    def errors(tree: Tree) -> float:
        leaves = tree.children == 0
        return float((tree.totals - tree.counts.max(axis=1))[leaves].sum())

    assert errors(short) == pytest.approx(errors(whole)) and short.size <= whole.size
    assert not useless(short).any()


def test_near_values_may_be_kept_together() -> None:
    x = np.array([1.0, 1.0, 1.000001, 1.000001])
    for resolution, leaves in ((0.0, 2), (1e-5, 1)):
        fitted = ProbabilityTree("mle", resolution=resolution).fit(x[:, None], [0, 0, 1, 1])
        assert (fitted.tree_.children == 0).sum() == leaves


@pytest.mark.parametrize("name", ["iris", "glass", "tic-tac-toe"])
def test_published_trees_and_estimates(name: str) -> None:
    """Node by node from the top; the published code also lists branches without rows, which have no node here."""
    from optbn.smoothing.gradient import Gradient

    known = json.loads(shared_neighbour("golden", "bnc", "c45_trees_smoothing.json").read_text())
    X, y = labelled(name, str(shared_data("datasets")))
    smoothers = {"None": "mle", "LAPLACE": "laplace", "M_estimation": "m_estimate", "HGS": Gradient(alpha=1.0)}
    for published, smoother in smoothers.items():
        fitted = ProbabilityTree(smoother, missing="fractional", resolution=1e-5).fit(X, y)
        compare(fitted, known[f"{name}|{published}"], 1e-4 if published == "HGS" else 1e-12)


def compare(fitted: ProbabilityTree, listed: list[dict], tolerance: float) -> None:
    """The one step of the published descent moves its strengths by 1e-5: hence a tolerance."""
    tree = fitted.tree_
    nodes = {node["id"]: node for node in listed if sum(node["n"])}
    root, theirs = tree.counts[0].tolist(), nodes[0]["n"]  # their classes are in the order of the file, as levels are
    classes = [root.index(n) for n in theirs] if root != theirs else list(range(len(root)))
    below: dict[int, list[int]] = {}
    for node in nodes.values():
        below.setdefault(node["parent"], []).append(node["id"])
    expected = ordered(0, lambda u: below.get(u, []), lambda u: tuple(nodes[u]["n"]))
    found = ordered(
        0, lambda u: range(tree.first[u], tree.first[u] + tree.children[u]), lambda u: tuple(tree.counts[u][classes])
    )
    assert [tree.counts[u][classes].tolist() for u in found] == [nodes[u]["n"] for u in expected]
    for u, v in zip(found, expected, strict=True):
        assert (tree.children[u] == 0) == nodes[v]["leaf"]
        if nodes[v]["leaf"]:
            p = fitted.members_[0].probabilities[u][classes]
            assert p == pytest.approx(nodes[v]["p"], abs=tolerance)


def ordered(node: int, children, counts) -> list[int]:
    """The nodes from the top, siblings by the counts in their subtrees."""

    def key(u: int) -> tuple:
        return (counts(u), *sorted(key(k) for k in children(u)))

    return [node, *(u for k in sorted(children(node), key=key) for u in ordered(k, children, counts))]
