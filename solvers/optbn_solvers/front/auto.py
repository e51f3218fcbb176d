"""The choice of a solver: split into components, and for each one begin with what is cheap and switch when it stalls.

The solvers are found by what they declare (base.protocol.Capabilities, `solver_that`); in brackets those there are.

    search      some hundred nodes of the cluster search (cp) while variables are few, else a handful if the table is
                very dense; it goes on as long as it seems to end soon
    recurrence  over subsets (dp): about n 2^n nanoseconds whatever the families, so its price is known beforehand
    orders      the order graph with bounds (astar): for as long as the recurrence would take where the table is very
                dense, else a trial that ends with many states. Many graphs near the optimum are many nodes for search
                and branching, and few states here
    branch      branch and cut (ilp) from the best graph so far: at most for as long as the recurrence would take
    race        branch and cut against the cluster search, instead of branching alone, if asked for (`jobs`)

Up to 20 variables go to the recurrence at once, very dense tables to it or to the order graph. A step that is given up
costs at most about what the next one does, so the whole costs at most a small multiple of the best choice. Search and
branching leave a tree or rows that the checker replays; the others (beyond the variables for which they leave a proof)
leave a claim, which the checker confirms by a recursion of its own up to 22 variables. The numbers below are set on the
tables of tests/benchmarks/auto.py.

The steps and their reasons are in the Solution's statistics, per component.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from optbn_solvers.base.protocol import (
    Budget,
    Capabilities,
    Listener,
    ProgressCallback,
    Solver,
    StartRows,
    capabilities,
)
from optbn_solvers.base.residual import ArcLimit, ChildLimit, Residual
from optbn_solvers.base.solution import Solution, Status
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.front.beside import with_rows_of
from optbn_solvers.front.components import Components
from optbn_solvers.front.race import Best, Race
from optbn_solvers.front.registry import load_solver, solver_that, solver_with
from optbn_solvers.proofs.writer import CARRIED
from optbn_solvers.relaxation.cases import Cases
from optbn_solvers.relaxation.orders import search

QUICK = 0.05  # seconds: that soon the recurrence is preferred (up to 20 variables): search takes 20 s to be compiled
VERY_DENSE = 250  # families per variable: of few variables the order graph is quicker than a short search
FEW = 30  # variables: from here on branching is as quick as a short search, which need not be compiled then
NODES = 500  # of that search; if it seems to end soon, it may take
MORE = 5  # times as many
GLANCE_SECONDS = 1.0  # of large tables a single node may take that long
GLANCE = 16  # nodes where variables are many and the table very dense: branch and cut begins with far more work
TRIAL = 5  # times the seconds of the short search: what the order graph may take after it
STATES = 100_000  # that it may have: with few it ends, of many there are soon far more
ORDERS = 34  # variables up to which very dense tables go to the order graph at once
SEARCHES = ("restarts", "most", "patience", "carried")  # the settings of a search that can be given up early
COUNTS = ("states",)  # of the order graph
RELAXES = ("residual", "starts")  # of branch and cut: constraints as rows, and a first graph that may be there


@dataclass(frozen=True)
class Auto:
    """The quickest solver for each component, by size, density and what its first steps find.

    jobs      processors: with more than one, what is hard is a race
    residual  constraints on the whole graph (optbn_solvers.base.residual): they leave no components
    """

    jobs: int = 1
    residual: tuple[Residual, ...] = ()
    capabilities: ClassVar = Capabilities("auto")

    def solve(
        self, table: ScoreTable, budget: Budget | None = None, start: StartRows = None, progress: Listener = None
    ) -> Solution:
        """The answer of the chosen solvers, joined."""
        budget = (budget or Budget()).started()
        if self.residual:
            return self._constrained(table, budget, start, progress)
        solution = Components(Steps(self.jobs)).solve(table, budget, start, progress)
        if solution.choice is None:  # the time was over before a step had any graph
            start = search(table, starts=1, kicks=0).tolist()
            solution = Components(Steps(self.jobs)).solve(table, budget, start, progress)
        return replace(solution, solver="auto")

    def _constrained(
        self, table: ScoreTable, budget: Budget, start: Sequence[int] | None, progress: ProgressCallback | None
    ) -> Solution:
        """Branch and cut has constraints as rows; on few variables the recurrence, case by case, is quicker."""
        limits = any(isinstance(each, ArcLimit | ChildLimit) for each in self.residual)
        whole = Recurrence.of(table, budget)
        if whole.proves and not limits and math.isfinite(whole.seconds):
            solver, why = whole.solver, "few variables, case by case"
            solution = Cases(solver, self.residual).solve(table, budget, start, progress)
        else:
            solver, why = load_solver(solver_with(*RELAXES), residual=self.residual), "constraints as rows"
            solution = solver.solve(table, budget, start, progress)
        part = {"variables": table.n, "families": len(table), "solver": capabilities(solver).name, "why": why}
        return replace(solution, solver="auto", statistics={**solution.statistics, "parts": [part]})


@dataclass(frozen=True)
class Steps:
    """One component, step by step (see the module's header)."""

    jobs: int = 1

    def solve(
        self, table: ScoreTable, budget: Budget | None = None, start: StartRows = None, progress: Listener = None
    ) -> Solution:
        """The answer of the step that settled it, or the best of all when the budget ended first."""
        budget = (budget or Budget()).started()
        run = _Run(table, budget, start, progress)
        density = len(table) / table.n
        whole = Recurrence.of(table, budget)
        seconds = whole.seconds
        fits = math.isfinite(seconds) and seconds <= budget.remaining()
        size = f"{table.n} variables with {density:.0f} families each"
        price = f"the recurrence takes about {seconds:.1g} s"
        very_dense = density >= VERY_DENSE
        orders = very_dense and table.n <= ORDERS
        if fits and whole.proves:
            run.step(whole.solver, f"{size}: the recurrence takes no time and leaves a proof")
        elif fits and seconds <= QUICK:
            run.step(whole.solver, f"{size}: {price}")
        if run.settled:
            return run.solution()
        most = seconds if fits else math.inf
        if not orders and (table.n < FEW or very_dense):
            nodes, how, limit = NODES, "short", max(seconds, QUICK)
            if table.n >= FEW:
                nodes, how, limit = GLANCE, "very short", min(limit, GLANCE_SECONDS)
            search = load_solver(solver_with(*SEARCHES), restarts=0, most=nodes, patience=MORE, carried=CARRIED)
            if run.step(search, f"{size}: a {how} search first", limit):
                return run.solution()
        if run.steps and fits and seconds <= max(run.seconds, QUICK):
            run.step(whole.solver, f"{size}: {price}, not more than was spent on a short search")
            return run.solution()
        if orders or table.n < FEW:
            again = min(most, budget.remaining() / 2 if orders else TRIAL * run.seconds)
            why = f"{size}: dense, for the relaxation too" if orders else "no end is near, a trial"
            trial = {} if orders else {"states": STATES}
            if run.step(load_solver(solver_with(*COUNTS), **trial), why, again):
                return run.solution()
        if not (orders and fits):
            branch = load_solver(solver_with(*RELAXES), **({"starts": 0} if run.steps else {}))
            why = "no end is near, the relaxation says more" if run.steps else f"{size}: the relaxation"
            if self.jobs > 1:
                why = "no end is near"
                branch = Race((branch, load_solver(solver_with(*SEARCHES), carried=CARRIED, seed=1)))
            if run.step(branch, why, most):
                return run.solution()
        if fits:
            run.step(whole.solver, f"the step before has had as long as it takes: {price}")
        return run.solution()


class Recurrence(NamedTuple):
    """The solver whose price is known, what it takes for a table, and whether it proves the optimum of one so large."""

    solver: Solver
    seconds: float
    proves: bool

    @classmethod
    def of(cls, table: ScoreTable, budget: Budget) -> Recurrence:
        """For this table."""
        solver = load_solver(solver_that(lambda kind: capabilities(kind).price is not None))
        able = capabilities(solver)
        assert able.price is not None
        return cls(solver, able.price(table.n, budget), table.n <= able.proves)


@functools.cache
def ready(solver: Any) -> None:
    """Compile, or load, what a solver runs on: the seconds of a step are those of the search, on the first day, too."""
    families: dict[str, dict[Iterable[str], float]] = {}
    for i, child in enumerate("abcde"):
        families[child] = {(u,): float((3 * i + j) % 4 - 8) for j, u in enumerate("abcde") if i != j} | {(): -9.0}
    solver.solve(ScoreTable.from_dict(families))


class _Run:
    """The best answer so far, and what was done for it."""

    def __init__(
        self, table: ScoreTable, budget: Budget, start: Sequence[int] | None, progress: ProgressCallback | None
    ) -> None:
        self.table, self.budget, self.rows = table, budget, start
        self.progress = None if progress is None else Best(progress)
        self.best: Solution | None = None
        self.steps: list[dict[str, Any]] = []
        self.seconds = 0.0

    @property
    def settled(self) -> bool:
        """Nothing more is to be done, or there is no time for it."""
        return self.best is not None and (self.best.gap <= self.budget.gap or self.budget.exhausted())

    def step(self, solver: Solver, why: str, most: float = math.inf) -> bool:
        """Go on with a solver, for at most this many seconds; returns whether that settled the matter."""
        working = [*solver.solvers] if isinstance(solver, Race) else [solver]
        name = " against ".join(capabilities(each).name for each in working)
        if math.isfinite(most):
            for each in working:
                ready(each)
        begun = self.budget.cpu_elapsed()  # of all threads
        found = solver.solve(self.table, self.budget.within(most * len(working)), self.rows, self.progress)
        self.seconds = (self.budget.cpu_elapsed() - begun) / len(working)
        self.steps.append({"solver": name, "why": why, "status": str(found.status), "seconds": self.seconds})
        best = self.best
        if best is not None:
            found = with_rows_of(self.table, found, best, self.budget)
        if best is not None and best.bound < found.bound:
            weaker = found
            found = replace(best, choice=found.choice, score=found.score)  # it began with the graph of `best`
            found = with_rows_of(self.table, found, weaker, self.budget)
            if found.gap <= 0:
                found = replace(found, status=Status.OPTIMAL)
        self.best = found
        self.rows = found.choice
        return self.settled

    def solution(self) -> Solution:
        assert self.best is not None
        last = self.steps[-1]
        about = {"solver": last["solver"], "why": last["why"]}
        about |= {"steps": self.steps} if len(self.steps) > 1 else {}
        return replace(self.best, statistics={**about, **self.best.statistics})
