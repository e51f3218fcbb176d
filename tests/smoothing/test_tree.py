"""Count trees: what is counted, in which order, and where rows end up."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from optbn.smoothing import counting
from optbn.smoothing.counting import FamilyCounts
from optbn.smoothing.order import information_order
from optbn.smoothing.tree import CountTree
from tests.naive import smoothing as naive


def random_rows(seed, n=200, sizes=(3, 4, 2), n_levels=3):
    generator = np.random.default_rng(seed)
    rows = np.stack([generator.integers(0, s, n) for s in sizes], axis=1)
    child = (rows[:, 0] * rows[:, -1] + generator.integers(0, 2, n)) % n_levels
    return rows, child


def counted(rows, child, sizes, n_levels, batch=10_000, weights=None):
    counts = FamilyCounts(sizes, n_levels)
    for b in range(0, len(rows), batch):
        part = slice(b, b + batch)
        columns = [rows[part, j].astype(np.uint8) for j in range(len(sizes))]
        counts.add(columns, child[part].astype(np.uint8), None if weights is None else weights[part])
    return counts


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dense", [True, False])
def test_tree_is_the_dictionary_of_prefixes(seed, dense, monkeypatch):
    if not dense:
        monkeypatch.setattr(counting, "DENSE_CELLS", 0)
    sizes = (3, 4, 2)
    rows, child = random_rows(seed)
    order = tuple(np.random.default_rng(seed).permutation(3))
    tree = counted(rows, child, sizes, 3, batch=37).tree(order)
    wanted = naive.count_tree(rows, child, 3, order)
    found = dict(zip(naive.paths(tree), tree.counts, strict=True))
    assert found.keys() == wanted.keys()
    assert all(np.array_equal(found[p], wanted[p]) for p in wanted)
    assert tree.sizes == tuple(sizes[i] for i in order)
    assert (np.diff(tree.depth) >= 0).all()
    assert np.array_equal(tree.is_leaf, tree.depth == 3)
    assert tree.span[0] == 24 and (tree.span[tree.is_leaf] == 1).all()


@pytest.mark.parametrize("n", [pytest.param(200, marks=pytest.mark.twin), 3000])
def test_a_trie_grows_with_many_variables(n):
    generator = np.random.default_rng(0)
    rows = generator.integers(0, 5, (n, 40))  # 5^40 configurations
    child = generator.integers(0, 2, n)
    tree = counted(rows, child, (5,) * 40, 2, batch=n // 3).tree(range(40))
    wanted = naive.count_tree(rows, child, 2, range(40))
    assert len(wanted) == len(tree.parent)
    assert np.array_equal(tree.counts[-1], wanted[naive.paths(tree)[-1]])
    assert tree.is_leaf[tree.locate(list(rows.T))].all()


@pytest.mark.parametrize("first", [0, 1])
def test_order_is_by_falling_information(first):
    rows, child = random_rows(3, n=300, sizes=(3, 4, 2, 5))
    configurations, counts = counted(rows, child, (3, 4, 2, 5), 3).configurations()
    order = information_order(configurations, counts, (3, 4, 2, 5), first)
    said = [naive.information(rows, child, i, tuple(range(first))) for i in order[first:]]
    assert order[:first] == tuple(range(first))
    assert sorted(order) == [0, 1, 2, 3]
    assert all(a >= b - 1e-9 for a, b in itertools.pairwise(said))


@pytest.mark.twin
def test_rows_and_cells_find_their_deepest_node():
    rows, child = random_rows(1, n=30)
    tree = counted(rows, child, (3, 4, 2), 3).tree()
    at = {p: u for u, p in enumerate(naive.paths(tree))}
    every = np.array(list(itertools.product(range(3), range(4), range(2))))
    wanted = []
    for row in every:
        path = tuple(int(row[i]) for i in tree.order)
        wanted.append(max(at[path[:d]] for d in range(4) if path[:d] in at))
    assert np.array_equal(tree.locate(list(every.T)), wanted)
    assert np.array_equal(tree.cells(), wanted)


def test_without_rows_and_without_variables():
    empty = FamilyCounts((3, 2), 4).tree()
    assert empty.counts.tolist() == [[0.0] * 4] and not empty.is_leaf[0]
    assert np.array_equal(empty.cells(), np.zeros(6))
    alone = counted(np.zeros((5, 0), dtype=int), np.array([0, 1, 1, 2, 1]), (), 3).tree()
    assert alone.counts.tolist() == [[1, 3, 1]] and alone.is_leaf[0] and alone.cells().tolist() == [0]


@pytest.mark.parametrize("dense", [True, False])
def test_weights_count_and_zero_weights_do_not_exist(dense, monkeypatch):
    if not dense:
        monkeypatch.setattr(counting, "DENSE_CELLS", 0)
    rows, child = random_rows(2, n=60)
    weights = np.random.default_rng(0).integers(0, 3, 60).astype(float)
    weighted = counted(rows, child, (3, 4, 2), 3, weights=weights).tree((0, 1, 2))
    times = weights.astype(int)
    repeated = counted(rows.repeat(times, axis=0), child.repeat(times), (3, 4, 2), 3).tree((0, 1, 2))
    assert np.array_equal(weighted.counts, repeated.counts)
    assert np.array_equal(weighted.branch, repeated.branch)


def test_a_decision_tree_keeps_its_shape_and_points_past_empty_leaves():
    #        0
    #     1     2
    #   3   4 5   6     leaves 3, 4, 5, 6; 4 is empty
    counts = np.array([[5, 4], [3, 0], [2, 4], [3, 0], [0, 0], [1, 1], [1, 3]], dtype=float)
    tree, where = CountTree.from_splits([-1, 0, 0, 1, 1, 2, 2], counts)
    assert where.tolist() == [0, 1, 2, 3, 1, 4, 5]
    assert tree.counts.tolist() == counts[[0, 1, 2, 3, 5, 6]].tolist()
    assert tree.parent.tolist() == [-1, 0, 0, 1, 2, 2]
    assert tree.branch[where].tolist() == [0, 1, 2, 3, 1, 5, 6]
    assert tree.span.tolist() == [4, 2, 2, 1, 1, 1]


def test_reweighted_sums_leaves_upward():
    rows, child = random_rows(4)
    tree = counted(rows, child, (3, 4, 2), 3).tree()
    assert np.array_equal(tree.reweighted(tree.counts).counts, tree.counts)
    assert np.array_equal(tree.reweighted(2 * tree.counts).counts, 2 * tree.counts)
