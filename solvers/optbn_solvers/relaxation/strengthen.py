"""A better root when the first thousand nodes did not do: clusters and local cuts from the linear program of ilp.

Coordinate moves of single multipliers stall well below the best cluster bound, and subset rows (local cuts) close most
of the gap that clusters leave. `strengthen` runs the root loop of `methods.ilp` for some rounds and returns what the
search can go on with: rows with multipliers, as stages. The filters of the loop build on
one another, so the last stage alone would leave too many families; a few stages, further and further back, do.
`cluster_root` runs the loop with clusters alone, for the bounds of the order graph (`optbn_solvers.methods.astar`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

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
from optbn_solvers.relaxation.rows import Pattern
from optbn_solvers.relaxation.separate import Point

ASCENTS = 5
ROUNDS_OF_CLUSTERS = 60


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

    def round(self, point: Point, budget: Budget, hints: Sequence[tuple[int, ...]] = ()) -> list[Pattern]:
        return []


def _root(
    table: ScoreTable,
    rows: NDArray[np.int64],
    settings: RootSettings,
    seed: int,
    budget: Budget,
    report: Callable[[NDArray[np.int64], int], None],
    cuts: type[LocalCuts],
) -> Ledger:
    rng = np.random.default_rng(seed)
    everything = Families.of(table, np.arange(len(table)))
    ledger = Ledger(table, rows, everything)
    ledger.report = lambda: report(ledger.rows, ledger.bound)
    nearness, clusters = ascend(ledger, ASCENTS, rng, budget)
    ledger.restrict()
    if not ledger.closed:
        typical = float(int(table.units[table.offsets[:-1]].sum()) - ledger.score)
        relaxation = first_relaxation(
            ledger, nearness[ledger.families.rows], clusters, settings.near, max(1.0, typical)
        )
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
