"""Graphs that obey constraints, made of graphs that do not.

The clauses that a graph breaks are taken one after another, each time the literal that costs the least.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.kernels.masks import pack_sets
from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.residual import Residual, descendants
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.relaxation.feasible import grown, sparsest
from optbn_solvers.relaxation.literals import Mask, holds, parents_of, shortest_clause
from optbn_solvers.relaxation.orders import improve

REPAIRS = 500  # clauses that a repair takes before it gives up
POLISHES, KICKS = 20, 20  # local searches between repairs


def repaired(
    table: ScoreTable, rows: NDArray[np.int64], residual: Sequence[Residual], budget: Budget
) -> NDArray[np.int64] | None:
    """A graph that obeys, from an acyclic one, or None when that leads nowhere.

    What was decided on the way leaves a smaller table; local search goes on there, what it breaks is repaired again.
    """
    keep = np.ones(len(table), dtype=np.bool_)
    hereditary = all(each.hereditary for each in residual)
    best: NDArray[np.int64] | None = None
    for _ in range(POLISHES):
        decided = _decide(table, rows, keep, residual, budget)
        if decided is None:
            break
        rows, keep = decided
        if best is None or table.total_units(rows) > table.total_units(best):
            best = rows
        left = table.select(keep, prune=hereditary)
        within = table.restricted(left)
        start = []
        for v, row in enumerate(rows):  # the row itself may be dominated by now
            parents = set(table.parents(int(row)))
            start.append(next(r for r in within.rows(v) if parents.issuperset(within.parents(r))))
        climbed = left[improve(within, start, kicks=KICKS, budget=budget)]
        if budget.exhausted() or table.total_units(climbed) <= table.total_units(best):
            break
        rows = climbed
    return best


def obeying(table: ScoreTable, residual: Sequence[Residual], budget: Budget) -> NDArray[np.int64] | None:
    """A graph that obeys, from one with few arcs; None where that leads nowhere."""
    rows = sparsest(table)
    if shortest_clause(parents_of(table, rows), residual) is not None:
        decided = _decide(table, rows, np.ones(len(table), dtype=np.bool_), residual, budget)
        if decided is None:
            return None
        rows, _ = decided
    return grown(table, rows, residual, budget)


def _decide(
    table: ScoreTable, rows: NDArray[np.int64], keep: Mask, residual: Sequence[Residual], budget: Budget
) -> tuple[NDArray[np.int64], Mask] | None:
    """Take the clauses that a graph breaks until it breaks none, each time the literal that costs the least.

    Returns the graph and the families that these literals leave, or None when that leads nowhere.
    """
    rows = rows.copy()
    for _ in range(REPAIRS):
        parents = parents_of(table, rows)
        clause = shortest_clause(parents, residual)
        if clause is None:
            return rows, keep
        if budget.exhausted():
            return None
        best: tuple[int, int, int, Mask] | None = None
        for literal in clause:
            v = literal.child
            below = descendants(parents, v)
            after = [w for w in range(table.n) if below >> w & 1]
            own = slice(int(table.offsets[v]), int(table.offsets[v + 1]))
            true = holds(table, literal) & keep
            fits = true[own] & ~((table.masks[own] & pack_sets([after], table.n)[0]) != 0).any(axis=1)
            if fits.any():
                row = own.start + int(np.argmax(fits))
                gain = int(table.units[row] - table.units[rows[v]])
                if best is None or gain > best[0]:
                    best = gain, v, row, true
        if best is None:
            return None
        _, v, rows[v], keep = best
    return None
