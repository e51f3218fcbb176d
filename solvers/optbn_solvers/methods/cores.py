"""RC2 of python-sat, made to end soon after a request to stop, and to form its levels in time that does not explode.

RC2 can be interrupted in a call of the SAT solver that looks for a core. Asked at another moment it would go on, to
minimise a core of a hard formula, for minutes: in a thread that nobody waits for, and holding the interpreter's lock.
And where each soft clause has a weight of its own, as here, each of its steps through the weights sums all that follow.
"""

from __future__ import annotations

import threading
from itertools import islice
from typing import Any

from pysat.examples.rc2 import RC2Stratified
from pysat.formula import WCNF


class Stopped(Exception):
    """Asked to."""


class Cores(RC2Stratified):  # type: ignore[misc]  # python-sat has no types
    """`compute` raises Stopped after `stop`, at the latest after a call of the SAT solver of 1,000 conflicts."""

    oracle: Any
    levl: int

    def __init__(self, formula: WCNF) -> None:
        self._stopping = threading.Event()
        super().__init__(formula, adapt=True, minz=True)
        self.oracle = _Oracle(self.oracle, self._stopping)

    def stop(self) -> None:
        """From another thread."""
        self._stopping.set()
        self.interrupt()

    def next_level(self) -> None:
        """Advance `levl` to the last weight of the next level, None when there is no weight left.

        A level ends where its least weight is more than all smaller ones together, or where the clauses below are many
        for each of their weights (stratification by diversity: C. Ansotegui, M. L. Bonet, J. Gabas, J. Levy, "Improving
        SAT-based weighted MaxSAT solvers", CP 2012).
        """
        last = len(self.blop) - 1
        if self.levl > last:
            self.levl = None  # type: ignore[assignment]  # RC2's word for "done"
            return
        below = [(weight, len(self.wstr[weight])) for weight in islice(self.blop, self.levl + 1, None)]
        clauses, total = sum(count for _, count in below), sum(weight * count for weight, count in below)
        for weight, count in below:
            if 0 < total < self.blop[self.levl] or clauses / (last - self.levl) > self.sdiv:
                return
            clauses, total = clauses - count, total - weight * count
            self.levl += 1


class _Oracle:
    """A SAT solver that is not called any more once `stopping` is set."""

    def __init__(self, solver: Any, stopping: threading.Event) -> None:
        self._solver, self._stopping = solver, stopping

    def __getattr__(self, name: str) -> Any:
        if self._stopping.is_set() and name.startswith("solve"):
            raise Stopped
        return getattr(self._solver, name)
