"""The compiled kernels of the search against slow, obvious ones."""

from __future__ import annotations

import numpy as np
import pytest

from optbn_solvers.base.kernels.masks import pack_sets
from optbn_solvers.base.table import mask_members
from optbn_solvers.search.kernels.acyclicity import keep_supported, place, shrink, unsupported
from optbn_solvers.search.kernels.families import INFINITE, cheapest, normalise, pay
from optbn_solvers.search.kernels.subsets import CLASSES, middle_step
from optbn_solvers.search.workspace import Workspace
from tests.naive import cp as naive
from tests.naive.solvers import random_table

pytestmark = pytest.mark.twin


def random_level(rng: np.random.Generator, n: int, kind: str = "bare"):
    """A workspace whose root has random reduced costs, and the same families as sets."""
    table = random_table(rng, n, kind, most=3, rows=6)
    work = Workspace(table)
    offsets, masks, reduced = work.levels.offsets[1], work.levels.masks, work.levels.reduced
    reduced[: len(table)] = rng.integers(0, 9, len(table))
    return table, work, offsets, masks, reduced


def as_sets(offsets, masks, reduced):
    return [
        [(frozenset(mask_members(masks[:, f])), int(reduced[f])) for f in range(offsets[v], offsets[v + 1])]
        for v in range(len(offsets) - 1)
    ]


def test_cheapest_and_pay():
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = int(rng.integers(1, 9))
        _, work, offsets, masks, reduced = random_level(rng, n)
        members = np.flatnonzero(rng.random(n) < 0.5)
        cluster = np.zeros(1, dtype=np.uint64)
        cluster[:] = pack_sets([members.tolist()], n)[0]
        before = as_sets(offsets, masks, reduced)
        for v in range(n):
            found = cheapest(offsets[v], offsets[v + 1], masks, reduced, cluster, work.words)
            want = naive.cheapest(before[v], frozenset(members.tolist()))
            assert found == tuple(INFINITE if x is None else x for x in want)
            pay(offsets[v], offsets[v + 1], masks, reduced, cluster, work.words, 3, 2)
        for own, then in zip(before, as_sets(offsets, masks, reduced), strict=True):
            for (parents, cost), (_, now) in zip(own, then, strict=True):
                assert now == cost - 2 - (0 if parents & set(members.tolist()) else 3)
        least = sum(min(cost for _, cost in own) for own in as_sets(offsets, masks, reduced))
        assert normalise(offsets, reduced) == least
        assert all(min(cost for _, cost in own) == 0 for own in as_sets(offsets, masks, reduced))


def test_placing_and_shrinking():
    rng = np.random.default_rng(1)
    stuck = 0
    for _ in range(150):
        n = int(rng.integers(1, 9))
        _, work, offsets, masks, reduced = random_level(rng, n)
        families = [own[:1] for own in as_sets(offsets, masks, reduced)]  # the first family of each only
        counts = np.ones(n, dtype=np.int64)
        waiting = rng.permutation(n)
        placed = np.zeros(1, dtype=np.uint64)
        left = place(waiting, n, placed, offsets, counts, masks, work.words)
        assert set(mask_members(placed)) == naive.placeable(families)
        assert set(waiting[:left].tolist()) == set(range(n)) - naive.placeable(families)
        if left:
            stuck += 1
            scratch = np.zeros(n, dtype=np.int64)
            size = shrink(waiting, left, offsets, counts, masks, work.words, scratch, placed)
            cluster = set(waiting[:size].tolist())
            assert cluster and is_stuck(families, cluster)
            assert not any(is_stuck(families, cluster - {v}) for v in cluster if len(cluster) > 1)
    assert stuck > 20


def is_stuck(families, cluster) -> bool:
    """Nothing of the cluster can be placed after all else, though something could remain of it."""
    outside = set(range(len(families))) - cluster
    shown = [
        [(parents - outside, cost) for parents, cost in own] if v in cluster else [(frozenset(), 0)]
        for v, own in enumerate(families)
    ]
    return not cluster & naive.placeable(shown)


def test_support():
    rng = np.random.default_rng(2)
    dropped = impossible = 0
    for trial in range(200):
        n = int(rng.integers(1, 8))
        _, work, offsets, masks, reduced = random_level(rng, n, "bare" if trial % 2 else "single")
        want = naive.supported(as_sets(offsets, masks, reduced))
        room = work.room
        drop = unsupported(offsets, masks, work.words, room.a, room.b, room.c, room.placed, room.union, room.reach)
        if want is None:
            impossible += 1
            assert drop == -1
            continue
        before = int(offsets[-1])
        keep_supported(offsets, masks, reduced, work.levels.origin, work.words, room.reach)
        assert as_sets(offsets, masks, reduced) == want
        assert before - int(offsets[-1]) == drop
        dropped += drop
    assert dropped > 20
    assert impossible > 5


def test_middle_step():
    """The step is one of the best ones, and in their middle up to rounding."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        size, most = int(rng.integers(1, 5)), int(rng.integers(1, 5))
        least = np.full((size, CLASSES), INFINITE)
        for j in range(size):
            classes = np.flatnonzero(rng.random(most + 1) < 0.7)
            for a in classes if len(classes) else [0]:
                least[j, a] = rng.integers(0, 12)
            least[j, : most + 1] -= least[j, : most + 1].min()
            least[j, least[j] > 1000] = INFINITE
        rhs, now = int(rng.integers(1, 8)), int(rng.integers(0, 20))

        def bound(step, least=least, rhs=rhs):
            return sum(min(int(m) + a * step for a, m in enumerate(row) if m < INFINITE) for row in least) - rhs * step

        step = middle_step(least, size, most, rhs, now, 1000)
        assert step >= -now
        top, best = naive.best_moves(bound, -now, 60)
        if bound(60) > bound(59):
            assert bound(step) >= 1000  # no end on the right: it takes all that is wanted
            continue
        # breaks are rounded to whole steps, so the value may fall short by less than a unit of each slope
        assert bound(step) >= top - most * size
        inner = [x for x in best if x < 60]
        if len(inner) > 3 and 60 not in best:
            assert abs(step - (min(inner) + max(inner)) / 2) <= 2
