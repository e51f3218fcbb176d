"""The acyclicity checker, stuck sets and the dual ascent against their slow twins."""

from __future__ import annotations

import numpy as np
import pytest

from optbn_solvers.base.kernels.masks import pack_sets
from optbn_solvers.base.table import mask_members
from optbn_solvers.relaxation.ascent import dual_ascent, reduced_costs
from optbn_solvers.relaxation.kernels.clusters import collect_free, grow_prefix, shrink_stuck
from tests.naive.clusters import all_choices, stuck_set


def random_rows(rng: np.random.Generator, n: int, most: int, spread: int, empty: bool = True):
    """offsets, masks, costs with a 0 per child, and the same as the twin's rows."""
    children, sets, costs = [], [], []
    for v in range(n):
        others = [u for u in range(n) if u != v]
        seen = {frozenset(rng.choice(others, size=rng.integers(0, min(3, n - 1) + 1), replace=False).tolist())
                for _ in range(rng.integers(1, most + 1))}  # fmt: skip
        if empty:
            seen.add(frozenset())
        prices = rng.integers(0, spread, size=len(seen))
        prices -= prices.min()
        for parents, price in zip(sorted(seen, key=sorted), prices, strict=True):
            children.append(v)
            sets.append(sorted(parents))
            costs.append(int(price))
    offsets = np.searchsorted(children, np.arange(n + 1)).astype(np.int64)
    rows = [(c, frozenset(s), k) for c, s, k in zip(children, sets, costs, strict=True)]
    return offsets, pack_sets(sets, n), np.array(costs, dtype=np.int64), rows


@pytest.mark.twin
@pytest.mark.parametrize("n", [1, 2, 4, 7, 70])
def test_the_checker_and_minimal_stuck_sets_match_the_twin(n):
    rng = np.random.default_rng(n)
    for _ in range(40 if n < 70 else 6):
        offsets, masks, costs, rows = random_rows(rng, n, 4, 3)
        free, counts = np.empty(len(costs), dtype=np.int64), np.empty(n, dtype=np.int64)
        collect_free(offsets, costs, free, counts)
        placed, left = np.zeros(masks.shape[1], dtype=np.uint64), pack_sets([range(n)], n)[0]
        expected = stuck_set(rows, frozenset(range(n)), frozenset())
        assert grow_prefix(offsets, masks, free, counts, placed, left) == len(expected)
        assert frozenset(mask_members(left)) == expected
        assert frozenset(mask_members(placed)) == frozenset(range(n)) - expected
        if expected:
            shrink_stuck(offsets, masks, free, counts, rng.permutation(n), left)
            cluster = frozenset(mask_members(left))
            assert cluster <= expected
            everything = frozenset(range(n))
            assert stuck_set(rows, cluster, everything - cluster) == cluster
            for v in cluster:  # minimal: without any one member the rest can be placed
                smaller = cluster - {v}
                assert not stuck_set(rows, smaller, everything - smaller)


@pytest.mark.twin
def test_ascent_never_cuts_off_a_graph_and_keeps_its_books():
    rng = np.random.default_rng(5)
    raised = 0
    for case in range(120):
        n = int(rng.integers(1, 6))
        offsets, masks, costs, rows = random_rows(rng, n, 4, 12, empty=case % 3 > 0)
        result = dual_ascent(offsets, masks, costs, rng.permutation(n))
        graphs = list(all_choices(rows, n))
        if not graphs:
            assert not result.feasible
            continue
        assert result.feasible
        assert result.complete
        raised += result.raised > 0
        assert (result.costs >= 0).all()
        # the evidence: costs re-derived from the clusters, and the bound that goes with them
        left = costs.copy()
        for cluster, y in zip(result.clusters, result.multipliers, strict=True):
            inside = (masks & cluster).any(axis=1)
            member = np.array([(int(cluster[c >> 6]) >> (c & 63)) & 1 for c, _, _ in rows], dtype=bool)
            left[member & ~inside] -= y
        assert (left == result.costs).all()
        assert result.raised == result.multipliers.sum()
        for choice in graphs:
            assert costs[list(choice)].sum() >= result.raised + result.costs[list(choice)].sum()
    assert raised > 20


def test_ascent_stops_at_its_limit_and_goes_on_from_there():
    rng = np.random.default_rng(11)
    offsets, masks, costs, _ = random_rows(rng, 30, 6, 1000)
    order = rng.permutation(30)
    whole = dual_ascent(offsets, masks, costs, order)
    part = dual_ascent(offsets, masks, costs, order, limit=2)
    assert not part.complete
    assert part.feasible
    rest = dual_ascent(offsets, masks, part.costs, order)
    assert part.raised + rest.raised == whole.raised
    assert (rest.costs == whole.costs).all()


def test_reduced_costs_are_measured_from_the_best():
    units = np.array([-3, -5, 7, 9, 9], dtype=np.int64)
    assert reduced_costs(np.array([0, 2, 5]), units).tolist() == [0, 2, 2, 0, 0]
