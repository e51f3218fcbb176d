"""Any solver under constraints that no choice of families can say: case by case, around the solver.

Solve without the residual constraints. If the answer obeys them, it is the best that does. If it breaks one, that
constraint gives a clause (`base.residual`): literal 1, or literal 2, ... holds. The cases "literals 1 to i - 1 are
false and literal i is true" share out all graphs that are left, each is a filter of families, hence a smaller table,
and the graph in hand is in none of them. The case with the highest bound is solved next; the best graph is found once
no case has a higher bound. Any clause would do; the one with the fewest literals is taken.

Limits on arcs also act within a case: where families must have some parents, the others have that much less room.
For limits alone this is slow next to branch and cut, which has them as rows of its relaxation.
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import InfeasibleError
from optbn_solvers.base.kernels.masks import unplaced
from optbn_solvers.base.protocol import Budget, Listener, Progress, ProgressCallback, Solver, StartRows
from optbn_solvers.base.residual import Residual
from optbn_solvers.base.run import Run
from optbn_solvers.base.solution import Evidence, Exhausted, Solution, Status
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.relaxation.literals import Mask, false_of, holds, parents_of, shortest_clause, tighten
from optbn_solvers.relaxation.orders import search
from optbn_solvers.relaxation.repair import obeying, repaired


@dataclass(frozen=True)
class Cases:
    """`solver`, case by case until its answer obeys `residual`."""

    solver: Solver
    residual: tuple[Residual, ...]

    def solve(
        self, table: ScoreTable, budget: Budget | None = None, start: StartRows = None, progress: Listener = None
    ) -> Solution:
        """The best graph that obeys; InfeasibleError when there is none. `start` must obey."""
        return _Search(self, Run(self.solver, table, budget, start, progress)).solve()


class _Search:
    """The open cases (bound, families), best first; the run has the best graph so far."""

    def __init__(self, settings: Cases, run: Run) -> None:
        self.settings, self.run, self.table, self.budget = settings, run, run.table, run.budget
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
