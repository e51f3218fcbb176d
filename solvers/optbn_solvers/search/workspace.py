"""The arrays of one search, how they are made from a table, and how they grow.

`search.search` never allocates and never drops anything: when an array is too small for the worst case of its next step
it says which one, and the matching method here doubles it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.kernels.masks import pack_sets
from optbn_solvers.base.solution import ClusterRow
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.search.kernels import path
from optbn_solvers.search.kernels import search as kernel
from optbn_solvers.search.kernels.multipliers import UNNAMED, Pool, Room
from optbn_solvers.search.kernels.records import most_records
from optbn_solvers.search.kernels.subsets import CLASSES
from optbn_solvers.search.start import Start

FIRST_LEVELS = 64
FIRST_CLUSTERS = 1024
EFFORT = 1_500_000_000  # words of families that the bounds of a node look up at once: about a sixth of a second
RECORDS = 1 << 18  # numbers of a proof between two writes


class Workspace:
    """Everything `search.search` works on, for one table."""

    def __init__(self, table: ScoreTable, seed: int = 0) -> None:
        n, size = table.n, len(table)
        wide = 1
        while wide < table.words:
            wide *= 4  # few distinct widths, so few compiled variants
        self.words = (0,) * wide
        masks = np.zeros((wide, size), dtype=np.uint64)
        masks[: table.words] = table.masks.T
        self.best = table.units[table.offsets[:-1]]
        self.costs = path.Costs(table.offsets.copy(), masks, self.best[table.children] - table.units)
        self.levels = _levels(table, masks, self.costs.cost)
        self.origins = np.arange(size)  # the row of the table that each `origin` means
        self.pool = _pool(n, wide)
        self.room = _room(table, masks, seed)
        self.state = _zeros(path.STATE)
        self.state[path.FRESH] = 1
        self.state[path.DEPTH] = 1
        # Without an incumbent: one more than the costliest choice of families.
        self.state[path.UPPER] = int(np.maximum.reduceat(self.costs.cost, table.offsets[:-1]).sum()) + 1
        self.incumbent = np.full(n, -1, dtype=np.int64)
        self.records = np.empty(0, dtype=np.int64)  # of a proof; none is written while this is empty

    def start_from(self, rows: NDArray[np.int64]) -> None:
        """Make an acyclic graph the incumbent."""
        self.incumbent[:] = rows
        self.state[path.UPPER] = int(self.costs.cost[rows].sum())

    def begin_with(self, start: Start, table: ScoreTable) -> NDArray[np.int64]:
        """Begin the tree below known rows; returns the records that a proof begins with."""
        n, size = table.n, len(start.rows)
        self.origins = start.rows
        children = table.children[start.rows]
        tops = np.maximum.reduceat(start.units, np.searchsorted(children, np.arange(n)))
        self.levels.offsets[1] = np.searchsorted(children, np.arange(n + 1))
        self.levels.masks[:, :size] = self.costs.masks[:, start.rows]
        self.levels.reduced[:size] = tops[children] - start.units
        self.levels.lower[1] = int(self.best.sum()) - start.bound
        while len(self.pool.size) < 2 * len(start.moving):
            self.grow(kernel.MORE_CLUSTERS)
        pool = self.pool
        for number, row in enumerate(start.moving):
            pool.free_count[0] -= 1
            slot = pool.free[pool.free_count[0]]
            members = pack_sets([list(row.members)], n)[0]
            pool.clusters[slot, : table.words] = members
            pool.members[slot, : len(row.members)] = row.members
            pool.size[slot] = len(row.members)
            pool.useful[slot] = 1
            pool.subset[slot] = -1
            self.levels.y[:2, slot] = row.multiplier
            pool.name[slot] = start.names[number]
            if not isinstance(row, ClusterRow):
                pool.subset[slot], pool.rhs[slot] = number, row.rhs
                pool.largest[slot] = max(a for _, _, a in row.coefficients)
        self.state[path.TOP] = int(np.flatnonzero(pool.size).max(initial=-1)) + 1
        self.pool = pool._replace(coefficients=start.coefficients)
        self.state[path.NAMES], self.state[path.RECORDS] = start.defined, start.filters
        return start.records

    @property
    def finished(self) -> bool:
        """The tree is empty."""
        return bool(self.state[path.DEPTH] < 1)

    def make_room_for_records(self) -> None:
        """Begin a proof, or give its records more room than one step can fill."""
        n, clusters = len(self.incumbent), len(self.pool.size)
        self.records = np.empty(RECORDS + 2 * most_records(clusters, n), dtype=np.int64)

    def take_records(self) -> NDArray[np.int64]:
        """The records written since the last call."""
        written = self.records[: self.state[path.WRITTEN]]
        self.state[path.WRITTEN] = 0
        return written

    def statistics(self) -> dict[str, int]:
        """What was counted, for people."""
        state = self.state
        return {
            "nodes": int(state[path.NODES]),
            "depth": int(state[path.DEEPEST]),
            "unsupported": int(state[path.DROPPED]),
            "evictions": int(state[path.EVICTIONS]),
            "incumbents": int(state[path.FOUND]),
        }

    def bound(self) -> int:
        """No graph costs less: the least bound of the nodes that are still open, or the incumbent's cost."""
        upper, depth = int(self.state[path.UPPER]), int(self.state[path.DEPTH])
        open_levels = self.levels.stage[: depth + 1] < 2
        if depth >= 0 and self.state[path.FRESH]:
            open_levels[depth] = True
        return min(upper, int(self.levels.lower[: depth + 1][open_levels].min(initial=upper)))

    def share_done(self) -> float:
        """Which part of the tree is done, if both children of a node always hold equal parts."""
        depth = int(self.state[path.DEPTH])
        seconds = np.flatnonzero(self.levels.stage[1 : depth + 1] == 2)
        return float((0.5 ** (seconds + 1)).sum())

    def grow(self, what: int) -> None:
        """Double what the search needs."""
        lv = self.levels
        if what == kernel.MORE_FAMILIES:
            self.levels = lv._replace(
                masks=_twice(lv.masks, axis=1), reduced=_twice(lv.reduced), origin=_twice(lv.origin)
            )
        elif what == kernel.MORE_LEVELS:
            rows = ("offsets", "lower", "y", "stage", "child", "cluster", "first", "name")
            self.levels = lv._replace(**{name: _twice(getattr(lv, name)) for name in rows})
        elif what == kernel.MORE_CLUSTERS:
            pool, old = self.pool, len(self.pool.size)
            free = pool.free[: pool.free_count[0]]
            self.levels = lv._replace(y=_twice(lv.y, axis=1))
            self.pool = Pool(
                clusters=_twice(pool.clusters),
                members=_twice(pool.members),
                size=_twice(pool.size),
                useful=_twice(pool.useful),
                name=_twice(pool.name),
                free=np.concatenate(
                    [np.arange(old, 2 * old)[::-1], free, np.zeros(2 * old - old - len(free), np.int64)]
                ),
                free_count=pool.free_count + old,
                subset=_twice(pool.subset),
                rhs=_twice(pool.rhs),
                largest=_twice(pool.largest),
                coefficients=pool.coefficients,
            )
        elif what == kernel.MORE_RECORDS:
            self.make_room_for_records()
        else:
            raise AssertionError(f"the search stopped for an unknown reason, {what}")


def _levels(table: ScoreTable, masks: NDArray[np.uint64], cost: NDArray[np.int64]) -> path.Levels:
    """Of a path that has only begun."""
    wide, size = masks.shape
    levels = path.Levels(
        offsets=_zeros(FIRST_LEVELS, table.n + 1),
        lower=_zeros(FIRST_LEVELS),
        y=_zeros(FIRST_LEVELS, FIRST_CLUSTERS),
        stage=_zeros(FIRST_LEVELS),
        child=_zeros(FIRST_LEVELS),
        cluster=np.zeros((FIRST_LEVELS, wide), dtype=np.uint64),
        first=_zeros(FIRST_LEVELS),
        name=_zeros(FIRST_LEVELS),
        masks=np.concatenate([masks, np.zeros_like(masks)], axis=1),
        reduced=np.concatenate([cost, np.zeros_like(cost)]),
        origin=np.arange(2 * size, dtype=np.int32),
    )
    levels.offsets[1] = table.offsets
    levels.stage[0] = 2
    return levels


def _pool(n: int, wide: int) -> Pool:
    """Without clusters."""
    clusters = FIRST_CLUSTERS
    return Pool(
        clusters=np.zeros((clusters, wide), dtype=np.uint64),
        members=np.zeros((clusters, n), dtype=np.int16),
        size=_zeros(clusters),
        useful=_zeros(clusters),
        name=np.full(clusters, UNNAMED, dtype=np.int64),
        free=np.arange(clusters)[::-1].copy(),
        free_count=np.array([clusters], dtype=np.int64),
        subset=np.full(clusters, -1, dtype=np.int64),
        rhs=_zeros(clusters),
        largest=_zeros(clusters),
        coefficients=np.zeros((1, 1), dtype=np.int16),
    )


def _room(table: ScoreTable, masks: NDArray[np.uint64], seed: int) -> Room:
    """What the kernels write to on their way."""
    n, (wide, size) = table.n, masks.shape
    return Room(
        zero=np.zeros_like(masks),
        zero_at=_zeros(size),
        begin=table.offsets.copy(),
        zeros=_zeros(n),
        order=np.arange(n),
        a=_zeros(n),
        b=_zeros(n),
        c=_zeros(n),
        d=_zeros(n),
        placed=np.zeros(wide, dtype=np.uint64),
        union=np.zeros(wide, dtype=np.uint64),
        reach=np.zeros((n, wide), dtype=np.uint64),
        classes=_zeros(n, CLASSES),
        mass=_zeros(1),
        effort=np.array([0, EFFORT // wide]),
        random=np.array([0x9E3779B97F4A7C15 ^ (seed + 1)], dtype=np.uint64),
    )


def _zeros(*shape: int) -> NDArray[np.int64]:
    return np.zeros(shape, dtype=np.int64)


def _twice(array: NDArray[Any], axis: int = 0) -> NDArray[Any]:
    return np.concatenate([array, np.zeros_like(array)], axis=axis)
