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
from optbn_solvers.relaxation.localcuts import LocalCuts
from optbn_solvers.relaxation.orders import FamilyIndex
from optbn_solvers.relaxation.root import Root, RootSettings, ascend, first_relaxation
from optbn_solvers.relaxation.rows import Pattern, Row
from optbn_solvers.relaxation.separate import Point

ASCENTS = 5
ROUNDS_OF_CLUSTERS = 60
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


def strengthen(
    table: ScoreTable,
    rows: NDArray[np.int64],
    rounds: int,
    seed: int,
    budget: Budget,
    report: Callable[[NDArray[np.int64], int], None],
) -> RowBound:
    """The rows after `rounds` of the root loop, begun from an acyclic graph.

    `report` gets the best graph and the bound (units) when one of them improves.
    """
    ledger = _root(table, rows, replace(RootSettings(), most_rounds=rounds), seed, budget, report, LocalCuts)
    return RowBound(()) if budget.exhausted() else some_stages(ledger)


def strengthen_like(
    table: ScoreTable,
    rows: NDArray[np.int64],
    pool: RowPool,
    budget: Budget,
    report: Callable[[NDArray[np.int64], int], None],
) -> RowBound:
    """`strengthen` in few rounds, from the rows that similar tables needed; the pool learns what this one does."""
    settings = replace(RootSettings(), most_rounds=LIKE_ROUNDS)
    ledger = _root(table, rows, settings, 0, budget, report, LocalCuts, LIKE_ASCENTS, pool.rows())
    if budget.exhausted():
        return RowBound(())
    pool.learn(ledger)
    return some_stages(ledger)


def cluster_root(
    table: ScoreTable,
    rows: NDArray[np.int64],
    rounds: int,
    seed: int,
    budget: Budget,
    report: Callable[[NDArray[np.int64], int], None],
) -> Ledger:
    """The books after `rounds` with clusters alone; the last stage has their multipliers."""
    return _root(table, rows, replace(RootSettings(), most_rounds=rounds), seed, budget, report, NoLocalCuts)


class NoLocalCuts(LocalCuts):
    """Finds none."""

    def round(
        self, point: Point, budget: Budget, hints: Sequence[tuple[int, ...]] = (), urgent: bool = True
    ) -> list[Pattern]:
        return []


def _root(
    table: ScoreTable,
    rows: NDArray[np.int64],
    settings: RootSettings,
    seed: int,
    budget: Budget,
    report: Callable[[NDArray[np.int64], int], None],
    cuts: type[LocalCuts],
    ascents: int = ASCENTS,
    beginning: Sequence[Row] = (),
) -> Ledger:
    """The root loop; its linear program begins with some rows besides those of the ascents."""
    rng = np.random.default_rng(seed)
    everything = Families.of(table, np.arange(len(table)))
    ledger = Ledger(table, rows, everything)
    ledger.report = lambda: report(ledger.rows, ledger.bound)
    nearness, clusters = ascend(ledger, ascents, rng, budget)
    ledger.restrict()
    if not ledger.closed:
        typical = float(int(table.units[table.offsets[:-1]].sum()) - ledger.score)
        relaxation = first_relaxation(
            ledger, nearness[ledger.families.rows], clusters, settings.near, max(1.0, typical)
        )
        there = set(relaxation.rows)
        relaxation.add_rows([row for row in beginning if row not in there])
        Root(ledger, FamilyIndex.of(table), cuts(rng), rng, settings, relaxation).run(budget)
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
