"""The choice of a solver: split into components, and for each one ask what would be quickest.

The subset recurrence costs about n 2^n nanoseconds whatever the families, and up to PROVED variables its answer is a
proof of its own. Beyond, branch and cut wins on sparse tables, and mostly leaves a proof that is checked where the
recurrence leaves a claim; it loses on dense ones (many families per variable: its relaxation is weak there), where the
recurrence is the better wager as long as 2^n values fit into memory and time. Without an exact solver that fits, local
search answers, and says that it proves nothing.

The choice and its reason are in the Solution's statistics, per component.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from solvers.cases import Cases
from solvers.components import Components
from solvers.dp import check_memory
from solvers.errors import TooLargeError
from solvers.protocol import Budget, ProgressCallback, Solver
from solvers.registry import SOLVERS, load_solver
from solvers.residual import ArcLimit, ChildLimit, Residual
from solvers.solution import Solution
from solvers.table import ScoreTable

DP_SECONDS = 1.2e-9  # per n 2^n, one core
PROVED = 12  # variables up to which the recurrence leaves a proof
DENSE = 80  # families per variable from which the recurrence is preferred, if it takes at most
DP_WAGER = 0.5  # seconds;
VERY_DENSE = 250  # and from here on whatever it takes


@dataclass(frozen=True)
class Auto:
    """The quickest solver for each component, by size and density.

    residual  constraints on the whole graph (solvers.residual): they leave no components
    """

    residual: tuple[Residual, ...] = ()

    def solve(
        self,
        table: ScoreTable,
        budget: Budget | None = None,
        start: Sequence[int] | None = None,
        progress: ProgressCallback | None = None,
    ) -> Solution:
        """The answer of the chosen solvers, joined."""
        budget = budget or Budget()
        if self.residual:
            return self._constrained(table, budget, start, progress)
        solution = Components(lambda part: choose(part, budget)).solve(table, budget, start, progress)
        return replace(solution, solver="auto")

    def _constrained(
        self, table: ScoreTable, budget: Budget, start: Sequence[int] | None, progress: ProgressCallback | None
    ) -> Solution:
        """Branch and cut has constraints as rows; on few variables the recurrence, case by case, is quicker."""
        limits = any(isinstance(each, ArcLimit | ChildLimit) for each in self.residual)
        solver: Solver
        if table.n <= PROVED and not limits:
            name, why = "dp", "few variables, case by case"
            solver = Cases(load_solver("dp"), "dp", self.residual)
        else:
            name, why = "ilp", "constraints as rows"
            solver = load_solver("ilp", residual=self.residual)
        solution = solver.solve(table, budget, start, progress)
        part = {"variables": table.n, "families": len(table), "solver": name, "why": why}
        return replace(solution, solver="auto", statistics={**solution.statistics, "parts": [part]})


def choose(table: ScoreTable, budget: Budget) -> tuple[str, Solver, str]:
    """(name, solver, why) for a table of one component."""
    n, density = table.n, len(table) / table.n
    size = f"{n} variables with {density:.0f} families each"
    seconds = DP_SECONDS * n * 2.0**n
    fits = seconds <= budget.remaining()
    try:
        check_memory(n, 8, budget)
    except TooLargeError:
        fits = False
    general = next((name for name in ("ilp", "cp") if name in SOLVERS), None)
    if fits and n <= PROVED:
        name, why = "dp", "the recurrence takes no time and leaves a proof"
    elif fits and density >= VERY_DENSE:
        name, why = "dp", f"too dense for cuts, the recurrence takes about {seconds:.1g} s"
    elif fits and density >= DENSE and seconds <= DP_WAGER:
        name, why = "dp", f"dense, and the recurrence takes {seconds:.1g} s"
    elif general is not None:
        name, why = (
            general,
            "sparse enough for cuts" if density < VERY_DENSE else "no memory or time for the recurrence",
        )
    else:
        name, why = "greedy", "no exact solver for this size"
    return name, load_solver(name), f"{size}: {why}"
