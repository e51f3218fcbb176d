"""The compiled parts of branch and cut against their twins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.table import mask_members
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.kernels.cuts import cut_clusters
from optbn_solvers.relaxation.kernels.families import subtract_rows
from optbn_solvers.relaxation.kernels.lifting import lift
from optbn_solvers.relaxation.kernels.local import CUT, INSIDE, outside
from optbn_solvers.relaxation.kernels.polish import sink_order
from optbn_solvers.relaxation.kernels.separation import climb_clusters, grow_set, largest_part, stuck_sets
from optbn_solvers.relaxation.kernels.subsets import close_upwards, max_dag, max_dag_around, placed_last
from optbn_solvers.relaxation.localcuts import LocalCuts, overlapping
from optbn_solvers.relaxation.polish import least_out_order
from optbn_solvers.relaxation.root import select_rows
from optbn_solvers.relaxation.rows import Cluster, Opening, Pattern
from optbn_solvers.relaxation.separate import Point, Separator, large_clusters, violated_clusters
from tests.naive import ilp as naive
from tests.naive.solvers import random_table

pytestmark = pytest.mark.twin


def families_of(rng, n, kind="plain", rows=12):
    table = random_table(rng, n, kind, rows=rows)
    return Families.of(table, np.arange(len(table)))


def random_point(rng, families, graphs=2):
    """A mixture of arbitrary (mostly cyclic) choices, one family per child each."""
    weight = np.zeros(len(families))
    for share in rng.dirichlet(np.ones(graphs)):
        for v in range(families.n):
            some = rng.integers(families.offsets[v], families.offsets[v + 1])
            weight[some] += share
    which = np.flatnonzero(weight)
    return Point(families, which, weight[which])


@pytest.mark.parametrize("n", [5, 70])
def test_parent_lists_and_rows(n):
    rng = np.random.default_rng(n)
    families = families_of(rng, n)
    for f in range(len(families)):
        mask = families.masks[f]
        assert naive.parents_of(families, f) == {u for u in range(n) if (int(mask[u >> 6]) >> (u & 63)) & 1}
    for _ in range(10):
        members = tuple(sorted(rng.choice(n, size=4, replace=False).tolist()))
        index, value = Cluster(members).entries(families)
        assert dict(zip(index.tolist(), value.tolist(), strict=True)) == naive.cluster_row(families, members)
        table = rng.integers(0, 3, size=(4, 16))
        index, value = Pattern(members, table, 5).entries(families)
        assert dict(zip(index.tolist(), value.tolist(), strict=True)) == naive.pattern_row(families, members, table)
    which = np.sort(rng.choice(len(families), size=7, replace=False))
    starts, parents = families.lists(which)
    for i, f in enumerate(which):
        assert frozenset(parents[starts[i] : starts[i + 1]].tolist()) == naive.parents_of(families, f)
    assert families.positions(families.rows[which]).tolist() == which.tolist()


def test_rows_are_subtracted_entry_by_entry():
    rng = np.random.default_rng(5)
    sizes = rng.integers(0, 6, 8)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    index = np.concatenate([rng.choice(12, size, replace=False) for size in sizes]).astype(np.int32)
    value, y = rng.integers(-3, 4, len(index)).astype(np.int32), rng.integers(1, 9, 5)
    which, adjusted = rng.choice(8, 5, replace=False), rng.integers(0, 100, 12)
    wanted = adjusted.tolist()
    for row, multiplier in zip(which.tolist(), y.tolist(), strict=True):
        for at in range(starts[row], starts[row + 1]):
            wanted[index[at]] -= multiplier * int(value[at])
    subtract_rows(index, value, starts, which, y, adjusted)
    assert adjusted.tolist() == wanted


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_best_dag_on_a_subset(m):
    rng = np.random.default_rng(m)
    for _ in range(20):
        gain = rng.integers(0, 6, size=(m, 1 << m))
        gain[:, 0] = 0
        for i in range(m):
            gain[i, [t for t in range(1 << m) if t >> i & 1]] = 0
        best, value = gain.T.copy(), np.zeros(1 << m, dtype=np.int64)
        close_upwards(best)
        assert max_dag(best, value) == naive.most(gain)
        among, earned = (1 << m) - 1, 0
        while among:
            i = placed_last(best, value, among)
            among ^= 1 << i
            earned += max(gain[i, t] for t in range(1 << m) if t & ~among == 0)
        assert earned == naive.most(gain)
        node, parents = int(rng.integers(m)), 0
        for j in range(m):
            if j != node and rng.random() < 0.5:
                parents |= 1 << j
        around = max(
            sum(gain[i, naive.bits(p)] for i, p in enumerate(g) if i != node)
            for g in naive.dags(m)
            if parents & ~naive.bits(g[node]) == 0
        )
        assert max_dag_around(best, value, node, parents) == around


@pytest.mark.parametrize("m", [3, 4])
def test_local_cuts_are_found_exactly_outside_the_hull_and_are_valid(m):
    """Every row is checked against all acyclic graphs on its nodes, before and after lifting."""
    rng = np.random.default_rng(m)
    states = {True: 0, False: 0}
    for case in range(150):
        weight = np.zeros((m, 1 << m))
        for share in rng.dirichlet(np.ones(3)):
            graph = naive.dags(m)[rng.integers(len(naive.dags(m)))]
            for i in range(m):
                trace = naive.bits(graph[i]) if case % 3 else int(rng.integers(1 << m)) & ~(1 << i)
                if trace:
                    weight[i, trace] += share
        table = np.zeros((m, 1 << m), dtype=np.int64)
        state, rhs, _ = outside(weight, 1e-3, 0.01, 90, 800, table)
        least = naive.least_combination(np.where(weight > 1e-3, weight, 0.0))
        states[state == CUT] += 1
        if state == INSIDE:
            assert least <= 1.011
        elif state == CUT:
            assert least > 1.009
            assert naive.most(table) <= rhs
            assert (table * weight).sum() > rhs * 1.005
            present = rng.random(table.shape) < 0.5
            lifted = table.copy()
            lift(lifted, rhs, present)
            assert naive.most(lifted) <= rhs
            assert (lifted >= table).all()
    assert min(states.values()) > 20


@pytest.mark.parametrize("n", [3, 6, 30, 70])
def test_climbs_keep_their_books_and_hold_what_is_held(n):
    rng = np.random.default_rng(n)
    climbed = 0
    for _ in range(8):
        families = families_of(rng, n)
        point = random_point(rng, families, 3)
        dense = dict(zip(point.which.tolist(), point.x.tolist(), strict=True))
        seeds = rng.random((12, n)) < 0.5
        seeds[:, :2] = True
        before = [naive.violation(families, dense, np.flatnonzero(seed).tolist()) for seed in seeds]
        held = np.where(np.arange(12) % 2, 1, -1)
        by = np.empty(12)
        climb_clusters(seeds, held, *point.support, -float(n), 3 * n, by)
        assert seeds[held == 1, 1].all()
        for seed, value, begun in zip(seeds, by.tolist(), before, strict=True):
            assert value == pytest.approx(naive.violation(families, dense, np.flatnonzero(seed).tolist()))
            assert value >= begun - 1e-9
            climbed += value > begun + 1e-9
    assert climbed > 40


@pytest.mark.twin
@pytest.mark.parametrize("n", [2, 5, 9, 70])
def test_stuck_sets_are_those_of_the_slow_order(n):
    rng = np.random.default_rng(n)
    found = 0
    for _ in range(6):
        families = families_of(rng, n)
        point = random_point(rng, families, 3)
        dense = dict(zip(point.which.tolist(), point.x.tolist(), strict=True))
        begin, noise = rng.random((6, n)) < 0.8, rng.random((6, n))
        most, last = np.empty_like(begin), np.empty_like(begin)
        stuck_sets(begin, noise, *point.support, 0.01, most, last)
        for k in range(6):
            expected = naive.stuck_sets(families, dense, set(np.flatnonzero(begin[k]).tolist()), noise[k], 0.01)
            assert (set(np.flatnonzero(most[k]).tolist()), set(np.flatnonzero(last[k]).tolist())) == expected
            found += bool(expected[1])
    assert found or n == 2


def test_large_clusters_are_violated_and_find_what_short_climbs_do_not():
    rng = np.random.default_rng(5)
    best, missed = 0, 0
    for _ in range(25):
        families = families_of(rng, 8)
        point = random_point(rng, families, 3)
        dense = dict(zip(point.which.tolist(), point.x.tolist(), strict=True))
        large = large_clusters(point, rng)
        for cluster, by in large.items():
            assert by == pytest.approx(naive.violation(families, dense, cluster.members))
        every = (c for size in range(2, 9) for c in itertools.combinations(range(8), size))
        most = max(naive.violation(families, dense, c) for c in every)
        found = max(large.values(), default=0.0)
        best += most > 0.01 and found == pytest.approx(most)
        missed += most > 0.01 and not large
    assert best > 15
    assert not missed
    # a ring of 40 in which each follows the next or the one after next, half and half: only everybody together is stuck
    ring = naive.ring(40)
    point = Point(ring, np.arange(len(ring)), np.full(len(ring), 0.5))
    assert not violated_clusters(point, rng)
    assert max(large_clusters(point, rng).values()) == pytest.approx(1.0)


@pytest.mark.parametrize("most", [1, 3])
def test_minimum_cuts_give_violated_clusters_and_all_there_are_for_single_parents(most):
    rng = np.random.default_rng(most)
    violated, hits = 0, 0
    for _ in range(40):
        table = random_table(rng, 7, most=most)
        families = Families.of(table, np.arange(len(table)))
        point = random_point(rng, families, 3)
        dense = dict(zip(point.which.tolist(), point.x.tolist(), strict=True))
        found = np.zeros((64, 7), dtype=np.bool_)
        count = cut_clusters(rng.random((4, 7)), 7, *point.support, 0.01, found)
        by = [naive.violation(families, dense, tuple(np.flatnonzero(each).tolist())) for each in found[:count]]
        assert all(value > 0.01 - 1e-6 for value in by)
        every = (c for size in range(2, 8) for c in itertools.combinations(range(7), size))
        largest = max(naive.violation(families, dense, c) for c in every)
        violated += largest > 0.02
        hits += largest > 0.02 and count > 0
        if most == 1:
            assert (largest > 0.011) <= (count > 0)
    assert violated > 15
    assert hits > 0.9 * violated


@pytest.mark.parametrize("n", [2, 5, 8, 70])
def test_clusters_are_violated_and_cyclic_choices_never_pass(n):
    rng = np.random.default_rng(n)
    found = 0
    for _ in range(12):
        families = families_of(rng, n)
        point = random_point(rng, families, 2)
        dense = dict(zip(point.which.tolist(), point.x.tolist(), strict=True))
        for cluster, by in violated_clusters(point, rng).items():
            found += 1
            assert by == pytest.approx(naive.violation(families, dense, cluster.members))
        whole = random_point(rng, families, 1)
        parents = [naive.parents_of(families, f) for f in whole.which.tolist()]
        assert bool(violated_clusters(whole, rng)) == (not naive.is_acyclic(parents))
    assert found


def test_a_round_of_local_cuts_gives_valid_violated_rows():
    rng = np.random.default_rng(3)
    cuts = 0
    for _ in range(15):
        families = families_of(rng, 7, rows=15)
        point = random_point(rng, families, 3)
        rows = LocalCuts(rng, work=20.0).round(point, Budget())
        for row in rows:
            assert sum(point.dense[f] * a for f, a in zip(*row.entries(families), strict=True)) > row.rhs
            if len(row.members) <= 4:
                cuts += 1
                assert naive.most(row.table) <= row.rhs
        chosen = select_rows(point, list(rows), 5, 0.9)
        assert len(chosen) <= 5
        assert all(row in rows for row, _ in chosen)
    assert cuts > 5


@pytest.mark.parametrize("n", [4, 9])
def test_orders_from_points(n):
    rng = np.random.default_rng(n)
    for _ in range(10):
        families = families_of(rng, n)
        point = random_point(rng, families)
        noise = rng.random((n, n))
        order = np.empty(n, dtype=np.int64)
        sink_order(families.offsets, families.starts, families.parents, point.dense, noise, order)
        assert order.tolist() == naive.sink_order(families, point.dense, noise)
        shuffled = rng.permutation(n)
        arcs = np.triu(rng.random((n, n)) < 0.6, 1).astype(float)
        weight = np.zeros((n, n))
        weight[np.ix_(shuffled, shuffled)] = arcs
        place = np.argsort(least_out_order(weight))
        assert all(place[u] < place[v] for u, v in np.argwhere(weight > 0))


def test_a_large_cluster_and_its_lean_form_say_the_same():
    rng = np.random.default_rng(8)
    families = families_of(rng, 9)
    for size in range(2, 10):
        members = tuple(sorted(rng.choice(9, size, replace=False).tolist()))
        lean = Cluster(members).lean(9)
        assert isinstance(lean, Opening) == (size > 3)
        disjoint = {f: -1 for v in members for f in range(*families.offsets[v : v + 2])}
        disjoint = {f: a for f, a in disjoint.items() if f not in naive.cluster_row(families, members)}
        row = Opening(members)
        assert dict(zip(*(each.tolist() for each in row.entries(families)), strict=True)) == disjoint
        for _ in range(20):  # one family each: both rows are short by as much
            which = np.array([rng.integers(*families.offsets[v : v + 2]) for v in range(9)])
            slacks = [each.rhs - sum(dict(zip(*each.entries(families), strict=True)).get(f, 0) for f in which)
                      for each in (Cluster(members), row)]  # fmt: skip
            assert slacks[0] == slacks[1]


def test_a_smoothed_separator_gives_rows_that_the_point_in_hand_violates():
    rng = np.random.default_rng(4)
    families = families_of(rng, 12)
    separator = Separator(rng, large=True, smooth=0.7)
    rows = 0
    for turn in range(12):
        point = random_point(rng, families, 2)
        dense = dict(zip(point.which.tolist(), point.x.tolist(), strict=True))
        for cluster, by in separator.clusters(point).items():
            assert by == pytest.approx(naive.violation(families, dense, cluster.members))
            assert by > 0.009
            rows += 1
        if turn == 6:
            keep = rng.random(len(families)) < 0.8
            keep[families.offsets[:-1]] = True
            separator.compact(keep)
            families = Families(**{
                "rows": families.rows[keep],
                "offsets": np.concatenate([[0], np.cumsum(np.bincount(families.children[keep], minlength=12))]),
                "masks": families.masks[keep],
                "units": families.units[keep],
                "starts": families.lists(np.flatnonzero(keep))[0],
                "parents": families.lists(np.flatnonzero(keep))[1],
            })  # fmt: skip
    assert rows > 30


def test_unions_of_overlapping_rows():
    rows = [((0, 1, 2), 5.0), ((2, 3), 4.0), ((4, 5), 3.0), ((0, 5, 6, 7, 8, 9, 10), 2.0), ((1, 4), 1.0)]
    unions = [mask_members(union) for union in overlapping(rows, 11)]
    assert sorted(unions) == [(0, 1, 2, 3), (0, 1, 2, 4), (0, 4, 5, 6, 7, 8, 9, 10), (1, 4, 5)]
    assert not len(overlapping([], 11))


@pytest.mark.parametrize("n", [4, 20])
def test_sets_grow_by_the_slow_rule(n):
    rng = np.random.default_rng(n)
    for _ in range(50):
        weight = np.where(rng.random((n, n)) < 0.3, rng.random((n, n)), 0.0)
        noise = rng.random((int(rng.integers(0, 5)), n))
        seed = rng.choice(n, size=2, replace=False)
        chosen = np.zeros(n, dtype=np.bool_)
        chosen[seed] = True
        grow_set(weight, noise, chosen)
        assert set(np.flatnonzero(chosen).tolist()) == naive.grown_set(weight, noise, set(seed.tolist()))
        chosen = rng.random(n) < 0.4
        parts = naive.strong_parts(weight, np.flatnonzero(chosen).tolist(), 0.2)
        largest_part(weight, 0.2, chosen)
        left = frozenset(np.flatnonzero(chosen).tolist())
        assert left == next((part for part in parts if len(part) == max(map(len, parts))), frozenset())
