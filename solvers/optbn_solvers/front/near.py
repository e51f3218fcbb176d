"""The best graphs and not only the best: the k best, one per equivalence class, or all within a window of score.

The cluster search (search) visits every graph that costs less than a limit, in one tree, when its limit stays put
until graphs are known: a node is a graph once every variable has one family left. For the k best the limit begins a
little below the optimum and is moved away until k graphs are there; it is lowered to the k-th as they come. So the
cost follows the number of graphs near the optimum, and not 2^n as for the recurrence over subsets.

Graphs are those the table has families for: build it with `keep_dominated`, so that graphs with a family that one of
its subsets beats count. A table without those is refused, unless the families it has are all that is meant
(`only_listed`).

Two graphs are equivalent if they have the same adjacencies and the same immoralities (Verma and Pearl 1990).
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.errors import StoppedError, TableError
from optbn_solvers.base.protocol import Budget, Progress, ProgressCallback
from optbn_solvers.base.residual import Residual
from optbn_solvers.base.solution import RowBound, Status
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.base.whole import need_whole
from optbn_solvers.front.checked import solve
from optbn_solvers.front.filtering import allowed_families
from optbn_solvers.relaxation.literals import parents_of, shortest_clause
from optbn_solvers.relaxation.strengthen import Begin, strengthen
from optbn_solvers.search.kernels import path
from optbn_solvers.search.kernels import search as kernel
from optbn_solvers.search.start import Known, apply
from optbn_solvers.search.workspace import Workspace

FIRST_WINDOW = 0.5  # of score, below the optimum, for the k best
WIDER = 2.0
ROUNDS = 64  # of the root loop, where the table is not small
SMALL = 12
NODES = 256  # between looks at the clock

Choice = tuple[int, ...]


@dataclass(frozen=True)
class Near:
    """Graphs, best first (with `per_class`, the best of each class).

    choices   the rows of each graph
    scores    their scores
    complete  these are the k best; if a window was given, these are all in it
    table     the table they are of
    """

    table: ScoreTable
    choices: tuple[Choice, ...]
    scores: tuple[float, ...]
    complete: bool

    def shares(self) -> NDArray[np.float64]:
        """float64[n, n]: the share of the graphs with the arc u -> v."""
        return self._mean(np.ones(len(self.choices)))

    def probabilities(self) -> NDArray[np.float64]:
        """float64[n, n]: the probability of u -> v if one of these graphs is the true one, weighted by exp(score)."""
        return self._mean(np.exp(np.array(self.scores) - self.scores[0]))

    @property
    def log_mass(self) -> float:
        """log of the sum of exp(score)."""
        return self.scores[0] + math.log(float(np.exp(np.array(self.scores) - self.scores[0]).sum()))

    def _mean(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        n = self.table.n
        total = np.zeros((n, n))
        for choice, weight in zip(self.choices, weights.tolist(), strict=True):
            for v, row in enumerate(choice):
                total[list(self.table.parents(row)), v] += weight
        return total / weights.sum()


def best_graphs(
    table: ScoreTable,
    most: int,
    within: float | None = None,
    per_class: bool = False,
    constraints: Constraints | None = None,
    budget: Budget | None = None,
    progress: ProgressCallback | None = None,
    best: Sequence[int] | None = None,
    only_listed: bool = False,
) -> Near:
    """The `most` best graphs that obey the constraints, or fewer where only those `within` so much score are wanted.

    `best` are the rows of an optimal graph, where one is known; else it is solved for first.
    StoppedError when the budget ends before the best is known, or without a window before the k best are; with a
    window, what was found till then, the best with it, is returned and is not `complete`.
    """
    if most < 1:
        raise TableError(f"the {most} best graphs: expected a number from 1")
    if most > 1:
        need_whole(table, "the best graphs after the best", only_listed)
    if within is not None and not (within >= 0 and math.isfinite(within)):
        raise TableError(f"graphs within {within!r} of the best: expected a number from 0")
    budget = (budget or Budget()).started()
    if best is None:
        solved = solve(table, "auto", budget, None, progress, constraints, only_listed)
        if solved.status is not Status.OPTIMAL or solved.choice is None:
            raise StoppedError(f"the {most} best graphs: stopped before the best was known")
        best = solved.choice
    filtered = allowed_families(table, constraints or Constraints(), keep_dominated=True)
    begin = np.searchsorted(filtered.rows, best)
    part = filtered.table
    rows = RowBound(())
    if part.n > SMALL and not filtered.residual:
        rows = strengthen(Begin(part, begin, budget), ROUNDS)
    found = _Found(part, tuple(begin.tolist()), most, per_class, filtered.residual)
    optimum = part.total_units(begin)
    window = FIRST_WINDOW if within is None else within
    while True:
        least = math.ceil(optimum - Fraction(window) * Fraction(2) ** part.exponent)
        ended, everything = found.search(rows, least, budget, progress)
        if not ended and within is None:
            raise StoppedError(f"the {most} best graphs: stopped after {len(found.scores)}")
        if within is not None or everything or len(found.scores) == most:
            break
        window *= WIDER
    choices = tuple(tuple(filtered.rows[list(choice)].tolist()) for choice in found.choices)
    scores = tuple(part.score_of(units) for units in found.scores)
    return Near(table, choices, scores, ended and (within is None or len(scores) < most))


class _Found:
    """The best graphs so far; `best`, which is known, is the first of them."""

    def __init__(
        self, table: ScoreTable, best: Choice, most: int, per_class: bool, residual: Sequence[Residual]
    ) -> None:
        self.table, self.best, self.most, self.per_class, self.residual = table, best, most, per_class, residual
        self.clear()

    def clear(self) -> None:
        self.scores: list[int] = []
        self.choices: list[Choice] = []
        self.classes: dict[object, int] = {}  # the best score of each class that is kept
        self.take(self.best)

    def search(
        self, rows: RowBound, least: int, budget: Budget, progress: ProgressCallback | None
    ) -> tuple[bool, bool]:
        """All graphs of at least `least` units; (whether the search ended, whether there are no graphs below)."""
        self.clear()
        table = self.table
        work = Workspace(table)
        state, top = work.state, int(work.best.sum())
        state[path.EVERY] = 1
        everything = top - least + 1 >= state[path.UPPER]
        state[path.UPPER] = min(int(state[path.UPPER]), top - least + 1)
        if rows.stages:
            work.begin_with(apply(Known.of(table, rows), top - int(state[path.UPPER])), table)
        for choice in _graphs(work, budget):
            if choice != self.best:
                self.take(choice)
            if len(self.scores) == self.most:  # only better ones are wanted from here on
                state[path.UPPER] = min(int(state[path.UPPER]), top - self.scores[-1])
            if progress is not None:
                best = table.score_of(self.scores[0])
                phase = f"{len(self.scores)} graphs"
                progress(Progress(best, best, int(state[path.NODES]), budget.elapsed(), phase))
        return work.finished, everything

    def take(self, choice: Choice) -> None:
        """Put a graph in its place."""
        units = self.table.total_units(choice)
        parents = parents_of(self.table, choice)
        if shortest_clause(parents, self.residual) is not None:
            return
        if self.per_class:
            name = class_of(parents)
            if name in self.classes:
                if units <= self.classes[name]:
                    return
                at = next(i for i, other in enumerate(self.choices) if class_of(parents_of(self.table, other)) == name)
                del self.scores[at], self.choices[at]
            self.classes[name] = units
        at = bisect.bisect_right(self.scores, -units, key=lambda score: -score)
        self.scores.insert(at, units)
        self.choices.insert(at, choice)
        if len(self.scores) > self.most:
            self.scores.pop()
            last = self.choices.pop()
            if self.per_class:
                del self.classes[class_of(parents_of(self.table, last))]


def _graphs(work: Workspace, budget: Budget) -> Iterator[Choice]:
    """The graphs that the search meets."""
    while not (work.finished or budget.exhausted()):
        work.state[path.LIMIT] = work.state[path.NODES] + NODES
        code = kernel.search(
            work.costs,
            work.levels,
            work.pool,
            work.state,
            work.room,
            work.incumbent,
            work.records,
            4,
            3,
            20,
            work.words,
        )
        if code == kernel.GRAPH:
            yield tuple(work.origins[work.incumbent].tolist())
        elif code not in (kernel.DONE, kernel.SLICE):
            work.grow(code)


def class_of(parents: Sequence[int]) -> object:
    """Equal for equivalent graphs (masks of parents): the adjacencies and the immoralities."""
    pairs, colliders = set(), set()
    for v, mask in enumerate(parents):
        above = [u for u in range(mask.bit_length()) if mask >> u & 1]
        pairs |= {(min(u, v), max(u, v)) for u in above}
        colliders |= {(a, v, b) for i, a in enumerate(above) for b in above[i + 1 :]}
    return frozenset(pairs), frozenset((a, v, b) for a, v, b in colliders if (a, b) not in pairs)
