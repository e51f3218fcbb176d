"""Several solvers at once on one table, each in a thread of its own; whoever ends first stops the others.

The kernels, the linear programs and SCIP work without the interpreter's lock, so threads do. Which of them wins may
differ from run to run, and with it the statistics and, among equals, the graph; the optimum does not.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

from optbn_solvers.base.protocol import Budget, Listener, Progress, ProgressCallback, Solver, StartRows
from optbn_solvers.base.solution import Solution
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.front.beside import with_rows_of

LOOK = 0.05  # seconds between looks at the budget


@dataclass(frozen=True)
class Race:
    """The answer of the first of some solvers that ends; when the budget does first, the narrowest gap."""

    solvers: Sequence[Solver]

    def solve(
        self, table: ScoreTable, budget: Budget | None = None, start: StartRows = None, progress: Listener = None
    ) -> Solution:
        """An error of one of them is everybody's."""
        budget = (budget or Budget()).started()
        listen = None if progress is None else Best(progress)
        own = budget.within()
        with ThreadPoolExecutor(len(self.solvers)) as pool:
            running = {pool.submit(own.counting(each.solve), table, own, start, listen) for each in self.solvers}
            try:
                waiting = running
                while waiting and not any(_settled(each, budget) for each in running - waiting):
                    _, waiting = wait(waiting, LOOK, FIRST_COMPLETED)
            finally:
                own.stop()
            found = [each.result() for each in running]
        best = min(found, key=lambda solution: solution.gap)
        for other in found:
            best = with_rows_of(table, best, other, budget)
        return best


def _settled(future: Future[Solution], budget: Budget) -> bool:
    return future.exception() is not None or future.result().gap <= budget.gap


class Best:
    """Passes reports on, one at a time, with the best score and bound of all that came before."""

    def __init__(self, progress: ProgressCallback) -> None:
        self.progress = progress
        self.last: Progress | None = None
        self.lock = threading.Lock()

    def __call__(self, event: Progress) -> None:
        with self.lock:
            last = self.last
            if last is not None:
                event = replace(event, bound=min(event.bound, last.bound), seconds=max(event.seconds, last.seconds))
                if last.score is not None and (event.score is None or event.score < last.score):
                    event = replace(event, score=last.score, choice=last.choice)
            self.last = event
            self.progress(event)
