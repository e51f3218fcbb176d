"""A better root when the first thousand nodes did not do: clusters and local cuts from the linear program of ilp.

Coordinate moves of single multipliers stall well below the best cluster bound, and subset rows (local cuts) close most
of the gap that clusters leave. `strengthen` runs the root loop of `methods.ilp` for some rounds and returns what the
search can go on with: rows with multipliers, as stages. The filters of the loop build on
one another, so the last stage alone would leave too many families; a few stages, further and further back, do.
`cluster_root` runs the loop with clusters alone, for the bounds of the order graph (`optbn_solvers.methods.astar`).

Rows hold for every table of as many variables. A `RowPool` keeps those that held the bounds of similar tables up, so
that the next table's linear program begins with them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.solution import RowBound
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.ledger import Ledger
from optbn_solvers.relaxation.localcuts import LocalCuts, Sets
from optbn_solvers.relaxation.orders import FamilyIndex
from optbn_solvers.relaxation.root import Root, RootSettings, ascend, first_relaxation
from optbn_solvers.relaxation.rows import Pattern, Row
from optbn_solvers.relaxation.separate import Point

ASCENTS = 5
ROUNDS_OF_CLUSTERS = 60
PATIENCE = 2  # rounds of little gain until a root of clusters alone ends: an order graph of more states costs less
LIKE_ROUNDS, LIKE_ASCENTS = 10, 2  # where a pool has most of the rows
POOL = 400  # rows of a pool that a linear program begins with; more make it slow
KEPT = 8 * POOL  # rows that a pool counts


@dataclass(eq=False)
class RowPool:
    """Rows that tables of the same variables needed, with how many of them did."""

    needed: Counter[Row] = field(default_factory=Counter)

    def rows(self) -> list[Row]:
        """Those needed most often."""
        return [row for row, _ in self.needed.most_common(POOL)]

    def learn(self, ledger: Ledger) -> None:
        """Count the rows that have multipliers at the end of a root."""
        if ledger.stages:
            self.needed.update(row for row, _ in ledger.stages[-1].rows)
        if len(self.needed) > 2 * KEPT:
            self.needed = Counter(dict(self.needed.most_common(KEPT)))


@dataclass(frozen=True, eq=False)
class Begin:
    """Where a root loop begins and how long it may go on.

    rows    an acyclic graph
    report  gets the best graph and the bound (units) when one of them improves
    """

    table: ScoreTable
    rows: NDArray[np.int64]
    budget: Budget
    report: Callable[[NDArray[np.int64], int], None] = lambda rows, bound: None


def strengthen(begin: Begin, rounds: int, seed: int = 0) -> RowBound:
    """The rows after `rounds` of the root loop."""
    ledger = _root(begin, replace(RootSettings(), most_rounds=rounds), seed, LocalCuts)
    return RowBound(()) if begin.budget.exhausted() else some_stages(ledger)


def strengthen_like(begin: Begin, pool: RowPool) -> RowBound:
    """`strengthen` in few rounds, from the rows that similar tables needed; the pool learns what this one does."""
    settings = replace(RootSettings(), most_rounds=LIKE_ROUNDS)
    ledger = _root(begin, settings, 0, LocalCuts, LIKE_ASCENTS, pool.rows())
    if begin.budget.exhausted():
        return RowBound(())
    pool.learn(ledger)
    return some_stages(ledger)


def cluster_root(begin: Begin, rounds: int, seed: int = 0) -> Ledger:
    """The books after `rounds` with clusters alone; the last stage has their multipliers."""
    return _root(begin, replace(RootSettings(), most_rounds=rounds, stall_rounds=PATIENCE), seed, NoLocalCuts)


class NoLocalCuts(LocalCuts):
    """Finds none."""

    def round(self, point: Point, budget: Budget, hints: Sets | None = None, urgent: bool = True) -> list[Pattern]:
        return []


def _root(
    begin: Begin,
    settings: RootSettings,
    seed: int,
    cuts: type[LocalCuts],
    ascents: int = ASCENTS,
    known: Sequence[Row] = (),
) -> Ledger:
    """The root loop; its linear program begins with the rows that are `known` besides those of the ascents."""
    table, rng = begin.table, np.random.default_rng(seed)
    everything = Families.of(table, np.arange(len(table)))
    ledger = Ledger(table, begin.rows, everything)
    ledger.report = lambda: begin.report(ledger.rows, ledger.bound)
    nearness, clusters = ascend(ledger, ascents, rng, begin.budget)
    ledger.restrict()
    if not ledger.closed:
        typical = float(int(table.units[table.offsets[:-1]].sum()) - ledger.score)
        relaxation = first_relaxation(
            ledger, nearness[ledger.families.rows], clusters, settings.near, max(1.0, typical)
        )
        there = set(relaxation.rows)
        relaxation.add_rows([row for row in known if row not in there])
        Root(ledger, FamilyIndex.of(table), cuts(rng), rng, settings, relaxation).run(begin.budget)
    return ledger


def some_stages(ledger: Ledger) -> RowBound:
    """What a search can go on with: a few of the stages that the ledger kept, the last one twice."""
    everything = Families.of(ledger.table, np.arange(len(ledger.table)))
    back = {len(ledger.stages) - (1 << k) for k in range(len(ledger.stages).bit_length())}
    stages = tuple(
        tuple(row.evidence(everything, y >> stage.bits) for row, y in stage.rows if y >> stage.bits)
        for stage in (ledger.stages[number] for number in sorted(back))
    )
    return RowBound(stages + stages[-1:])
