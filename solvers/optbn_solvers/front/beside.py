"""What can be checked, beside what is claimed.

When one solver claims a better bound than another can prove, the answer keeps the claim and, with it, the rows that
prove the most: the checked bound of an answer is then the best that any solver left evidence for.
"""

from __future__ import annotations

from dataclasses import replace

from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.solution import Evidence, Exhausted, RowBound, Solution, Status
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.verify import verify


def with_rows_of(table: ScoreTable, kept: Solution, other: Solution, budget: Budget) -> Solution:
    """`kept`, with the rows of `other` beside its claim if those prove more than its own."""
    theirs = _rows(other.evidence)
    if not isinstance(kept.evidence, Exhausted) or theirs is None:
        return kept
    mine = kept.evidence.rows
    if mine is not None and _bound(table, kept, mine, budget) <= _bound(table, kept, theirs, budget):
        return kept
    return replace(kept, evidence=replace(kept.evidence, rows=theirs))


def _rows(evidence: Evidence | None) -> RowBound | None:
    return evidence.rows if isinstance(evidence, Exhausted) else evidence if isinstance(evidence, RowBound) else None


def _bound(table: ScoreTable, solution: Solution, rows: RowBound, budget: Budget) -> float:
    """What the rows prove, with the graph of the solution for the filter between their stages."""
    status = Status.UNKNOWN if solution.choice is None else Status.FEASIBLE
    unproved = replace(solution, status=status, evidence=rows, bound=float("inf"))
    return verify(table, unproved, None, budget.overdue).bound
