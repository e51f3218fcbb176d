"""A solved table that answers variations of itself: the same variables, some families forbidden.

Inequalities that hold for every acyclic graph hold for those of fewer families too. So the rows of the solved table,
with their multipliers, bound each variation from the beginning (`search.start.Known`), and the cluster search closes
what they leave open, from the best graph known that obeys. Where that takes too many nodes, the chooser goes on.

Families that one of their subsets beats matter here: with the subset forbidden they may be the best. Give the table
with all of them (`ScoreTable.build(..., keep_dominated=True)`), or an answer is the best of those that there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import InfeasibleError, StoppedError
from optbn_solvers.base.protocol import Budget, ProgressCallback
from optbn_solvers.base.solution import Solution, Status
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.front.checked import bound_of_proof, checked, solve
from optbn_solvers.front.registry import load_solver
from optbn_solvers.proofs.writer import CARRIED
from optbn_solvers.relaxation.orders import FamilyIndex, climb_order, improve, search
from optbn_solvers.relaxation.strengthen import Begin, RowPool, strengthen, strengthen_like
from optbn_solvers.search.solver import ClusterSearch
from optbn_solvers.search.start import Known
from optbn_solvers.verify import LARGEST_SUBSET, verify

ROUNDS = 64  # of the root loop, for rows that many variations share
KICKS = 100  # of the local search for a table of its own
MOST_NODES = 20_000  # of the cluster search, before the chooser goes on


@dataclass(frozen=True)
class Answer:
    """The best graph of a variation.

    choice   rows of the whole table
    units    its score
    bound    no graph of the variation scores more units: what the checker proved
    claim    the same, as the solver says
    """

    choice: tuple[int, ...]
    units: int
    bound: int
    claim: int


class Warm:
    """A table, its optimum and the rows that prove most of it; `graphs` met on the way serve later variations."""

    def __init__(self, table: ScoreTable, optimum: Sequence[int], known: Known) -> None:
        self.table, self.optimum, self.known = table, tuple(optimum), known
        self.lean = np.zeros(len(table), dtype=np.bool_)  # families that no subset beats
        self.lean[table.select(np.ones(len(table), dtype=np.bool_), prune=True)] = True
        self.order = order_of(table, self.optimum)
        self.graphs = np.array([self.optimum])  # int64[graphs, n], met so far: rows of the table

    @classmethod
    def of(
        cls,
        table: ScoreTable,
        budget: Budget | None = None,
        progress: ProgressCallback | None = None,
        optimum: Sequence[int] | None = None,
    ) -> Warm:
        """Solve a table and keep what its variations can use; `optimum` are the rows of an optimal graph, if known.

        StoppedError when the budget ends before the optimum is proved.
        """
        budget = (budget or Budget()).started()
        rows = table.select(np.ones(len(table), dtype=np.bool_), prune=True)
        lean = table.restricted(rows)
        if optimum is None:
            solution = solve(lean, "auto", budget, None, progress)
            if solution.status is not Status.OPTIMAL or solution.choice is None:
                raise StoppedError("stopped before the best graph was known; give it more time")
            begin = np.array(solution.choice)
        else:
            begin = np.searchsorted(rows, np.asarray(optimum))
        evidence = strengthen(Begin(lean, begin, budget), ROUNDS)
        return cls(table, rows[begin].tolist(), Known.of(table, evidence))

    def best(self, keep: NDArray[np.bool_], budget: Budget | None = None) -> Answer | None:
        """The best graph of the families marked in `keep`; None when no acyclic graph can be made of them."""
        budget = (budget or Budget()).started()
        table = self.table
        varied = np.bincount(table.children[~keep], minlength=table.n) > 0
        rows = table.select(keep & (self.lean | varied[table.children]), prune=True)
        if np.bincount(table.children[rows], minlength=table.n).min() == 0:
            return None
        part = table.restricted(rows)
        try:
            begin = self._begin(part, rows, budget)
        except InfeasibleError:
            return None
        search = ClusterSearch(rows=self.known.narrow(rows), greedy=False, restarts=1, most=MOST_NODES, carried=CARRIED)
        solution = search.solve(part, budget, begin.tolist())
        if solution.status is not Status.OPTIMAL and not budget.exhausted():
            solution = load_solver("auto").solve(part, budget, solution.choice)
        return self._answer(part, rows, solution, budget)

    def _begin(self, part: ScoreTable, rows: NDArray[np.int64], budget: Budget) -> NDArray[np.int64]:
        """The best acyclic graph at hand: of a climb from the optimum's order, or one that was met before."""
        begin = climb_order(FamilyIndex.of(part), self.order)
        if (begin < 0).any():
            begin = search(part, starts=1, kicks=0, budget=budget)
        at = np.minimum(np.searchsorted(rows, self.graphs), len(rows) - 1)
        inside = at[(rows[at] == self.graphs).all(axis=1)]
        met = part.units[inside].sum(axis=1)
        if len(met) and met.max() > part.total_units(begin):
            begin = inside[np.argmax(met)]
        return np.asarray(begin, dtype=np.int64)

    def _answer(self, part: ScoreTable, rows: NDArray[np.int64], solution: Solution, budget: Budget) -> Answer:
        """What the checker makes of a solution, in rows of the whole table."""
        assert solution.choice is not None
        choice = tuple(rows[list(solution.choice)].tolist())
        if not (self.graphs == choice).all(axis=1).any():
            self.graphs = np.vstack([self.graphs, choice])
        verdict = verify(part, solution, bound_of_proof, budget.overdue)
        bound, claim = part.units_of(verdict.bound), part.units_of(solution.bound)
        return Answer(choice, self.table.total_units(choice), bound, claim)


class Resembling:
    """Solves tables that resemble each other, as those of resamples do: each has a similar optimum.

    From the order of the first one's optimum a short local search is enough of a beginning; the rows that the tables
    before needed leave little for a short root and the cluster search, and the chooser takes what takes longer.
    """

    def __init__(self) -> None:
        self.order: list[int] | None = None  # of the first optimum, parents first
        self.pool = RowPool()

    def solve(self, table: ScoreTable, budget: Budget | None = None) -> Solution:
        """The checked optimum."""
        budget = (budget or Budget()).started()
        if table.n <= LARGEST_SUBSET:  # among equal graphs the recurrence takes the same whatever came before
            return solve(table, "auto", budget)
        index = FamilyIndex.of(table)
        begin = climb_order(index, range(table.n) if self.order is None else self.order)
        if (begin < 0).any():
            begin = search(table, starts=1, kicks=0, budget=budget)
        best = [improve(index, begin, kicks=KICKS, budget=budget)]
        first = Begin(table, best[0], budget, lambda rows, bound: best.append(rows.copy()))
        evidence = strengthen_like(first, self.pool)
        method = ClusterSearch(rows=evidence, greedy=False, restarts=1, most=MOST_NODES, carried=CARRIED)
        solution = method.solve(table, budget, best[-1].tolist())
        if solution.status is not Status.OPTIMAL and not budget.exhausted():
            solution = load_solver("auto").solve(table, budget, solution.choice)
        if self.order is None and solution.choice is not None:
            self.order = order_of(table, solution.choice)
        return checked(table, solution, budget)


def order_of(table: ScoreTable, choice: Sequence[int]) -> list[int]:
    """The variables of an acyclic graph, parents first, by number where it is free to choose."""
    left = {v: set(table.parents(row)) for v, row in enumerate(choice)}
    order: list[int] = []
    while left:
        free = [v for v, parents in left.items() if not parents & left.keys()]
        order += free
        for v in free:
            del left[v]
    return order
