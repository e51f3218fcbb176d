"""Any solver under constraints that no choice of families can say: case by case, around the solver.

Solve without the residual constraints. If the answer obeys them, it is the best that does. If it breaks one, that
constraint gives a clause (`base.residual`): literal 1, or literal 2, ... holds. The cases "literals 1 to i - 1 are
false and literal i is true" share out all graphs that are left, each is a filter of families, hence a smaller table,
and the graph in hand is in none of them. The case with the highest bound is solved next; the best graph is found once
no case has a higher bound. Any clause would do; the one with the fewest literals is taken.

Limits on arcs also act within a case: where families must have some parents, the others have that much less room.
For limits alone this is slow next to branch and cut, which has them as rows of its relaxation.

`repaired` gives graphs that obey: it takes the clauses one after another, each time the literal that costs the least.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import InfeasibleError
from optbn_solvers.base.kernels.masks import pack_sets, unplaced
from optbn_solvers.base.protocol import Budget, Progress, ProgressCallback, Solver
from optbn_solvers.base.residual import ArcLimit, ChildLimit, Clause, Residual
from optbn_solvers.base.run import Run
from optbn_solvers.base.solution import Evidence, Exhausted, Literal, Solution, Status
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.relaxation.feasible import grown, sparsest
from optbn_solvers.relaxation.orders import improve, search

Mask = NDArray[np.bool_]
REPAIRS = 500  # clauses that a repair takes before it gives up
POLISHES, KICKS = 20, 20  # local searches between repairs


@dataclass(frozen=True)
class Cases:
    """`solver`, called `name`, case by case until its answer obeys `residual`."""

    solver: Solver
    name: str
    residual: tuple[Residual, ...]

    def solve(
        self,
        table: ScoreTable,
        budget: Budget | None = None,
        start: Sequence[int] | None = None,
        progress: ProgressCallback | None = None,
    ) -> Solution:
        """The best graph that obeys; InfeasibleError when there is none. `start` must obey."""
        return _Search(self, Run(self.solver, table, budget, start, progress)).solve()


class _Search:
    """The open cases (bound, families), best first; the run has the best graph so far."""

    def __init__(self, settings: Cases, run: Run) -> None:
        self.settings, self.run, self.table, self.budget = settings, run, run.table, run.budget
        run.name = settings.name
        self.solver: Any = settings.solver
        self.left: int | None = None  # the highest bound of a case that the solver did not settle
        self.whole = True  # the first case had all families: what proves its bound proves the bound
        self.evidence: Evidence | None = None

    def solve(self) -> Solution:
        table, residual, run = self.table, self.settings.residual, self.run
        everything = np.ones(len(table), dtype=np.bool_)
        begin = repaired(table, search(table, starts=2, kicks=20, budget=self.budget), residual, self.budget)
        if begin is None and run.rows is None:
            begin = obeying(table, residual, self.budget)
        if begin is not None:
            self.offer(begin)
        ticket = itertools.count()
        cases = [(-run.bound, next(ticket), np.packbits(everything))]
        while cases:
            self.lower(-cases[0][0])
            if run.content or (run.nodes and self.budget.exhausted()):
                break
            bound, _, packed = heapq.heappop(cases)
            keep = np.unpackbits(packed, count=len(table)).astype(np.bool_)
            for below, within in self.work(keep, -bound):
                heapq.heappush(cases, (-below, next(ticket), np.packbits(within)))
        else:
            if run.score is None and self.left is None:
                raise InfeasibleError(
                    "no acyclic graph of the table obeys them (if something is required: parent sets that one of their "
                    "subsets beats are in a table only if it was made with them, by optbn score --keep-dominated say)"
                )
            self.lower(None)
        return self.solution()

    def work(self, keep: Mask, bound: int) -> list[tuple[int, Mask]]:
        """Solve one case; what is left of it, as (bound, families)."""
        table, residual, run = self.table, self.settings.residual, self.run
        if not tighten(table, keep, residual):
            return []
        rows = table.select(keep, prune=all(each.hereditary for each in residual))
        case = table.restricted(rows)
        if unplaced(case.offsets, case.masks).any():
            return []
        first = run.nodes == 0
        found = self.solver.solve(case, self.budget, None, self._listener() if first else None)
        run.nodes += 1
        if first:
            self.evidence, run.statistics = found.evidence, dict(found.statistics)
            self.whole = bool(keep.all())
        if math.isfinite(found.bound):
            bound = min(bound, math.floor(Fraction(found.bound) * Fraction(2) ** table.exponent))
        if run.score is not None and bound <= run.score:
            return []
        clause = None
        if found.choice is not None:
            choice = rows[list(found.choice)]
            clause = shortest_clause(parents_of(table, choice), residual)
            if clause is None:
                self.offer(choice)
            else:
                self.repair(choice)
        if clause is None or found.gap > self.budget.gap:
            if found.status is not Status.OPTIMAL or clause is not None:
                self.left = bound if self.left is None else max(self.left, bound)
            return []
        if first and getattr(self.solver, "proof", None) is not None:
            self.solver = replace(self.solver, proof=None)  # it would prove something about one case
            run.statistics["proof"] = "none: the constraints needed cases, and a proof has no place for those"
        cases = []
        for literal in clause:
            true = holds(table, literal)
            cases.append((bound, keep & true))
            keep = keep & false_of(table, literal, true)
        return cases

    def repair(self, choice: NDArray[np.int64]) -> None:
        """Try for a better graph that obeys, near one that does not."""
        if self.run.score is None or self.table.total_units(choice) > self.run.score:
            better = repaired(self.table, choice, self.settings.residual, self.budget)
            if better is not None:
                self.offer(better)

    def offer(self, rows: NDArray[np.int64]) -> None:
        """Take a graph that obeys if it is better."""
        if self.run.offer(rows):
            self.report()

    def lower(self, bound: int | None) -> None:
        """The highest bound of an open case (None: there is none)."""
        bounds = [each for each in (bound, self.left, self.run.score) if each is not None]
        if bounds and max(bounds) < self.run.bound:
            self.run.lower(max(bounds))
            self.report()

    def report(self) -> None:
        self.run.report(f"case {self.run.nodes}")

    def _listener(self) -> ProgressCallback | None:
        """Of the first case: its bound holds, its graphs may break the constraints."""
        run, table = self.run, self.table
        if run.progress is None:
            return None
        tell = run.progress

        def listen(event: Progress) -> None:
            score = None if run.score is None else table.score_of(run.score)
            bound = event.bound if score is None else max(score, event.bound)
            phase = f"without the constraints: {event.phase}"
            tell(replace(event, score=score, bound=bound, phase=phase, choice=run.choice))

        return listen

    def solution(self) -> Solution:
        run, evidence = self.run, self.evidence
        if run.nodes > 1 or not self.whole:
            cases = Exhausted(f"{run.name}, in {run.nodes} cases of the constraints")
            evidence = None if run.bound == run.plain else cases
        run.statistics["cases"] = run.nodes
        return run.solution(evidence)


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
            after = _reached(parents, v)
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


def parents_of(table: ScoreTable, rows: NDArray[np.int64] | Sequence[int]) -> list[int]:
    """A graph as masks of parents."""
    return [sum(word << 64 * i for i, word in enumerate(table.masks[row].tolist())) for row in rows]


def shortest_clause(parents: Sequence[int], residual: Sequence[Residual]) -> Clause | None:
    """Of the clauses that a graph breaks one with the fewest literals."""
    clauses = [clause for each in residual if (clause := each.broken(parents)) is not None]
    return min(clauses, key=len, default=None)


def holds(table: ScoreTable, literal: Literal) -> Mask:
    """bool[m]: the rows that a graph for which the literal is true may have."""
    return ~_own(table, literal) | (_says(table, literal))


def false_of(table: ScoreTable, literal: Literal, true: Mask) -> Mask:
    """bool[m]: the same for a graph for which it is false."""
    return ~_own(table, literal) | ~true


def _own(table: ScoreTable, literal: Literal) -> Mask:
    own: Mask = table.children == literal.child
    return own


def _says(table: ScoreTable, literal: Literal) -> Mask:
    others = pack_sets([literal.others], table.n)[0]
    says: Mask = ((table.masks & others) != 0).any(axis=1)
    return says if literal.meets else ((table.masks & others) != others).any(axis=1)


def tighten(table: ScoreTable, keep: Mask, residual: Sequence[Residual]) -> bool:
    """Drop families that the limits leave no room for, in place; False when a child has none left."""
    limits = [each for each in residual if isinstance(each, ArcLimit | ChildLimit)]
    counts = [_arcs(table, each) for each in limits]
    changed = True
    while changed:
        changed = False
        if (np.add.reduceat(keep, table.offsets[:-1], dtype=np.int64) == 0).any():
            return False
        for each, count in zip(limits, counts, strict=True):
            least = np.minimum.reduceat(np.where(keep, count, table.n), table.offsets[:-1])
            room = each.limit - int(least.sum())
            over = keep & (count - least[table.children] > room)
            if over.any():
                keep &= ~over
                changed = True
    return True


def _arcs(table: ScoreTable, limit: ArcLimit | ChildLimit) -> NDArray[np.int64]:
    """int64[m]: how many of the arcs that the limit is about each family has."""
    if isinstance(limit, ArcLimit):
        return np.bitwise_count(table.masks).sum(axis=1, dtype=np.int64)
    return (table.masks[:, limit.u >> 6] >> np.uint64(limit.u & 63) & np.uint64(1)).astype(np.int64)


def _reached(parents: Sequence[int], v: int) -> list[int]:
    """v and its descendants."""
    found, grown = 1 << v, True
    while grown:
        grown = False
        for w, mask in enumerate(parents):
            if mask & found and not found >> w & 1:
                found |= 1 << w
                grown = True
    return [w for w in range(len(parents)) if found >> w & 1]
