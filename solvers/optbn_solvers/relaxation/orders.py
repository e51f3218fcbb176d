"""Good graphs quickly: iterated local search over orders (the moves: relaxation.kernels), with restarts.

A *climb* ends where no insertion helps. A *kick* draws another order of the graph in hand (the same score, other
neighbours), disturbs it a little, climbs again and puts windows of neighbours into their best order; a graph at least
as good is kept. A *start* is a fresh random order followed by kicks, and at its end by swaps as well (in every climb
they cost more kicks than they are worth: measured).

Windows more than double the time of a kick and are worth far more: the worse of two runs of 3 s ends 2 (win95pts, 1,000
rows), 5 (plants.test) and 10 nats (dna.test) better with them, and three starts do what six did without.

    search(table, seed=0)                    rows of a good acyclic graph, one per variable
    improve(table, rows, seed=0, kicks=50)   the same, from a graph in hand
    climb_order(index, order)                one climb from an order, for solvers that guess orders
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import SolverError
from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.relaxation.kernels import kicks as kicking
from optbn_solvers.relaxation.kernels import orders

Rows = NDArray[np.int64]
_SLICE_SECONDS = 0.05
CLOSE = 30  # rows of a variable that say which others it belongs with


@dataclass(frozen=True, eq=False)
class FamilyIndex:
    """A table prepared for many climbs: for each (child, parent) the child's rows that contain the parent, and which
    variables are in each other's families at all, or in their best CLOSE."""

    table: ScoreTable
    starts: NDArray[np.int64]
    holders: NDArray[np.int32]
    related: NDArray[np.uint64]
    close: NDArray[np.uint64]

    @classmethod
    def of(cls, table: ScoreTable) -> FamilyIndex:
        """The index of a table (one pass over its rows)."""
        offsets, masks = table.offsets, table.masks
        starts, holders = orders.index_holders(offsets, masks)
        related, close = (orders.neighbours(offsets, masks, most) for most in (len(table), CLOSE))
        return cls(table, starts, holders, related, close)

    def climb(self, order: Rows, rows: Rows, swaps: bool = False) -> None:
        """Climb from `order`; it and `rows` end as the local optimum's."""
        t = self.table
        orders.best_rows(t.offsets, t.masks, order, rows)
        orders.climb(t.offsets, t.masks, t.units, self.starts, self.holders, self.related, order, rows, swaps)

    def iterate(self, order: Rows, rows: Rows, kicks: int, state: NDArray[np.uint64]) -> int:
        """Kick and climb `kicks` times from a local optimum, in place; returns the total in units."""
        t = self.table
        index = self.starts, self.holders, self.related, self.close
        total: int = kicking.iterate(t.offsets, t.masks, t.units, *index, order, rows, kicks, state)
        return total


def climb_order(index: FamilyIndex, order: Sequence[int] | Rows, swaps: bool = False) -> Rows:
    """The rows at the end of a climb from `order` (-1 where the order is infeasible and the climb did not mend it)."""
    rows = np.empty(index.table.n, dtype=np.int64)
    index.climb(np.array(order, dtype=np.int64), rows, swaps)
    return rows


def improve(
    table: ScoreTable | FamilyIndex,
    rows: Sequence[int] | Rows,
    seed: int = 0,
    kicks: int = 50,
    budget: Budget | None = None,
) -> Rows:
    """The rows of a graph at least as good as the acyclic graph `rows`."""
    index = table if isinstance(table, FamilyIndex) else FamilyIndex.of(table)
    walk = Walk.from_graph(index, np.array(rows, dtype=np.int64), random_state(seed))
    walk.work(kicks, budget or Budget())
    return walk.rows


def search(
    table: ScoreTable | FamilyIndex,
    seed: int = 0,
    starts: int = 3,
    kicks: int = 60,
    start: Sequence[int] | Rows | None = None,
    budget: Budget | None = None,
) -> Rows:
    """The rows of a good acyclic graph: the best of `starts` random starts of `kicks` kicks each (and of `start`;
    without one, at least one start is random)."""
    index = table if isinstance(table, FamilyIndex) else FamilyIndex.of(table)
    index.table.check_feasible()
    budget = budget or Budget()
    state = random_state(seed)
    best = None if start is None else Walk.from_graph(index, np.array(start, dtype=np.int64), state)
    if best is not None:
        best.work(kicks, budget)
    for _ in range(max(starts, best is None)):
        if best is not None and budget.exhausted():
            break
        walk = Walk.from_random(index, state)
        walk.work(kicks, budget)
        if best is None or walk.total > best.total:
            best = walk
    assert best is not None
    return best.rows


class Walk:
    """One start under way: an order, its rows and their total."""

    def __init__(self, index: FamilyIndex, order: Rows, state: NDArray[np.uint64]) -> None:
        self.index, self.order, self.state = index, order, state
        self.rows = np.empty_like(order)
        index.climb(order, self.rows)
        self.total: int = orders.total_of(index.table.units, self.rows)

    @classmethod
    def from_random(cls, index: FamilyIndex, state: NDArray[np.uint64]) -> Walk:
        order = np.empty(index.table.n, dtype=np.int64)
        kicking.random_order(index.table.offsets, index.table.masks, np.empty(0, np.int64), state, order)
        return cls(index, order, state)

    @classmethod
    def from_graph(cls, index: FamilyIndex, rows: Rows, state: NDArray[np.uint64]) -> Walk:
        order = np.empty(index.table.n, dtype=np.int64)
        if kicking.random_order(index.table.offsets, index.table.masks, rows, state, order) < index.table.n:
            raise SolverError("the graph to start from has a cycle")
        return cls(index, order, state)

    def copy(self) -> Walk:
        return Walk(self.index, self.order.copy(), self.state)

    def kick(self, kicks: int) -> None:
        """So many kicks, without a look at a clock."""
        self.total = self.index.iterate(self.order, self.rows, kicks, self.state)

    def work(self, kicks: int, *budgets: Budget) -> int:
        """Up to `kicks` kicks, in slices of about _SLICE_SECONDS, and swaps if there is time left (of many variables
        they take a second); returns how many kicks were made."""
        done, step = 0, 1
        while done < kicks and not any(budget.exhausted() for budget in budgets):
            begun = time.perf_counter()
            step = min(step, kicks - done)
            self.kick(step)
            done += step
            step = max(1, min(2 * step, int(step * _SLICE_SECONDS / max(time.perf_counter() - begun, 1e-6))))
        if done and not any(budget.exhausted() for budget in budgets):
            self.index.climb(self.order, self.rows, swaps=True)
            self.total = orders.total_of(self.index.table.units, self.rows)
        return done


def random_state(seed: int) -> NDArray[np.uint64]:
    return np.random.default_rng(seed).integers(0, 2**63, size=1, dtype=np.uint64)
