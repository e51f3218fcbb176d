"""One solve of one table: what every solver does besides its idea.

A solver tells a `Run` of graphs (`offer`) and bounds (`lower`), asks it whether to go on (`ended`), and the Solution
comes from there. So a solver that only knows how to guess graphs is

    @dataclass(frozen=True)
    class Guesses(Method):
        def search(self, run: Run) -> None:
            while not run.ended:
                run.offer(guess(run.table))
                run.report("guessing")

`Run` refuses tables that are too large for the solver or have no acyclic graph, and starts that are none, before the
solver sees them; it starts the clocks. Scores and bounds are whole units of the table, `bound` is that of every
variable's best family until something better is known.
"""

from __future__ import annotations

import logging
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import TooLargeError
from optbn_solvers.base.protocol import Budget, Listener, Progress, ProgressCallback, StartRows, capabilities
from optbn_solvers.base.solution import Evidence, Solution, Status
from optbn_solvers.base.start import checked_rows
from optbn_solvers.base.table import ScoreTable

LOG = logging.getLogger("optbn_solvers")

Rows = NDArray[np.int64]


class Run:
    """The incumbent and the bound of one solve, its budget, its reports, its statistics.

    rows, score   the best graph so far and its units; None while there is none
    bound, plain  no graph has more units; what is known of that before any search
    nodes         of the search, for reports
    """

    def __init__(
        self,
        solver: Any,
        table: ScoreTable,
        budget: Budget | None,
        start: Sequence[int] | Rows | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        able = capabilities(solver)
        if table.n > able.largest:
            raise TooLargeError(
                f"{able.name} takes tables of at most {able.largest} variables, and this one has {table.n}; "
                "auto chooses a solver for any table"
            )
        table.check_feasible()
        self.name, self.table, self.progress = able.name, table, progress
        self.budget = (budget or Budget()).started()
        self.bound = self.plain = int(table.units[table.offsets[:-1]].sum())
        self.start: Rows | None = None if start is None else np.array(checked_rows(table, start), dtype=np.int64)
        self.rows: Rows | None = None
        self.score: int | None = None
        self.nodes = 0
        self.statistics: dict[str, Any] = {}
        self._reported = -math.inf
        if self.start is not None:
            self.take(self.start)

    @property
    def best(self) -> Rows:
        """The best graph, of a solver that has one from the beginning."""
        assert self.rows is not None, "no graph yet"
        return self.rows

    @property
    def choice(self) -> tuple[int, ...] | None:
        """The best graph so far, for a report."""
        return None if self.rows is None else tuple(self.rows.tolist())

    @property
    def proved(self) -> bool:
        """No graph is better than the one in hand."""
        return self.score is not None and self.bound <= self.score

    @property
    def content(self) -> bool:
        """Bound and score are as close as the budget wants them."""
        return self.score is not None and self.table.score_of(self.bound - self.score) <= self.budget.gap

    @property
    def ended(self) -> bool:
        """There is no more time, or nothing more to do."""
        return self.content or self.budget.exhausted()

    def take(self, rows: Sequence[int] | Rows, bound: int | None = None) -> None:
        """This is the graph from now on, and no graph has more than `bound` units."""
        self.rows = np.array(rows, dtype=np.int64)
        self.score = self.table.total_units(self.rows)
        if bound is not None:
            self.lower(bound)

    def offer(self, rows: Sequence[int] | Rows) -> bool:
        """Take a graph if it is better than the one in hand; was it?"""
        better = self.score is None or self.table.total_units(rows) > self.score
        if better:
            self.take(rows)
        return better

    def settle(self, rows: Sequence[int] | Rows) -> None:
        """This graph is an optimum."""
        self.take(rows)
        assert self.score is not None
        self.bound = self.score

    def lower(self, bound: int) -> None:
        """No graph has more units than this."""
        self.bound = min(self.bound, bound)

    def report(self, phase: str = "", every: float = 0.0, bound: int | None = None) -> None:
        """Tell how things stand, unless that was done in the last `every` seconds; `bound` in place of the one that is
        kept."""
        if self.progress is None and not LOG.isEnabledFor(logging.DEBUG):
            return
        seconds = self.budget.elapsed()
        if seconds - self._reported < every:
            return
        self._reported = seconds
        score = None if self.score is None else self.table.score_of(self.score)
        event = Progress(
            score, self.table.score_of(self.bound if bound is None else bound), self.nodes, seconds, phase, self.choice
        )
        LOG.debug("%s: score %r, bound %r, %s nodes, %s", self.name, event.score, event.bound, event.nodes, phase)
        if self.progress is not None:
            self.progress(event)

    def solution(self, evidence: Evidence | None = None) -> Solution:
        """The answer as things stand."""
        table = self.table
        score, bound = None if self.score is None else table.score_of(self.score), table.score_of(self.bound)
        return Solution(
            status=Status.UNKNOWN if score is None else Status.OPTIMAL if bound == score else Status.FEASIBLE,
            choice=self.choice,
            score=score,
            bound=bound,
            evidence=evidence,
            table_digest=table.digest,
            solver=self.name,
            statistics={**self.statistics, "cpu": self.budget.cpu_elapsed()},
        )


class Method(ABC):
    """A solver that is its settings and its idea."""

    @abstractmethod
    def search(self, run: Run) -> Evidence | None:
        """Work until the run has ended, and return what proves its bound, or says how it was found."""

    def solve(
        self, table: ScoreTable, budget: Budget | None = None, start: StartRows = None, progress: Listener = None
    ) -> Solution:
        """See `optbn_solvers.base.protocol.Solver`."""
        run = Run(self, table, budget, start, progress)
        return run.solution(self.search(run))
