"""What a solver is given and what it says while it works.

A solver is a frozen dataclass of settings with one verb, `solve(table, budget, start, progress)`. It looks at
`budget.exhausted()` between slices of work (a slice is far below half a second) and, once that is true, returns
its best graph and bound instead of raising. `KeyboardInterrupt` is turned into `budget.stop()` by whoever owns
the terminal, so that Ctrl-C gives an answer too.
"""

from __future__ import annotations

import copy
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from optbn_solvers.base.solution import Solution
    from optbn_solvers.base.table import ScoreTable


@dataclass
class Budget:
    """How long a solver may work. Clocks start when the budget is made; `wall` and `cpu` are in seconds.

    `gap` is the absolute difference bound - score at which a solver may stop short of a proof (0: prove it).
    `grace` is for writing evidence down and checking it: wall seconds after `wall`.
    `clock` and `cpu_clock` can be replaced in tests.
    """

    wall: float = float("inf")
    cpu: float = float("inf")
    memory: int | None = None  # bytes a solver may plan to use; None: half of the machine
    gap: float = 0.0
    grace: float = float("inf")
    clock: Callable[[], float] = time.monotonic
    cpu_clock: Callable[[], float] = time.process_time
    _wall_start: float = field(init=False, repr=False)
    _cpu_start: float = field(init=False, repr=False)
    _stopped: bool = field(default=False, init=False, repr=False)
    _whole: Budget | None = field(default=None, init=False, repr=False)  # that this is a part of

    def __post_init__(self) -> None:
        for name in ("wall", "cpu", "gap", "grace"):
            if math.isnan(getattr(self, name)):
                raise ValueError(f"the budget's {name} is not a number")
        self._wall_start = self.clock()
        self._cpu_start = self.cpu_clock()

    @property
    def bytes(self) -> int:
        """The memory a solver may plan to use."""
        if self.memory is None:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        return self.memory

    def stop(self) -> None:
        """Ask the solver to return what it has."""
        self._stopped = True

    def within(self, cpu: float = math.inf) -> Budget:
        """A part of this budget: the same clocks, at most so many CPU seconds from now, and it can be stopped alone."""
        part = copy.copy(self)
        part.cpu = min(self.cpu, self.cpu_elapsed() + cpu)
        part._whole = self
        return part

    @property
    def stopped(self) -> bool:
        """Somebody asked to stop (as opposed to a clock running out)."""
        return self._stopped or (self._whole is not None and self._whole.stopped)

    def elapsed(self) -> float:
        """Wall seconds since the budget was made."""
        return self.clock() - self._wall_start

    def cpu_elapsed(self) -> float:
        """CPU seconds of this process since the budget was made."""
        return self.cpu_clock() - self._cpu_start

    def remaining(self) -> float:
        """Seconds left on whichever clock runs out first (never negative)."""
        if self.stopped:
            return 0.0
        return max(0.0, min(self.wall - self.elapsed(), self.cpu - self.cpu_elapsed()))

    def exhausted(self) -> bool:
        """True once the solver must return."""
        return self.stopped or self.elapsed() >= self.wall or self.cpu_elapsed() >= self.cpu

    def overdue(self, share: float = 1.0) -> bool:
        """True once that share of the grace is used up as well."""
        return self.elapsed() >= self.wall + share * self.grace


@dataclass(frozen=True)
class Progress:
    """One report of a running solver; `score` is None while there is no incumbent. Always bound >= optimum >= score.

    choice   the rows of the incumbent, from solvers that can tell
    """

    score: float | None
    bound: float
    nodes: int
    seconds: float
    phase: str = ""
    choice: tuple[int, ...] | None = None

    @property
    def gap(self) -> float:
        """bound - score, infinite while there is no incumbent."""
        return float("inf") if self.score is None else self.bound - self.score


ProgressCallback = Callable[[Progress], None]


class Solver(Protocol):
    """The one verb of a solver. `start` is the rows (one per child) of an acyclic graph to begin from."""

    def solve(
        self,
        table: ScoreTable,
        budget: Budget | None = None,
        start: Sequence[int] | None = None,
        progress: ProgressCallback | None = None,
    ) -> Solution:
        """The best graph found within the budget, with a bound and what there is of evidence."""
        ...

    def __hash__(self) -> int:
        """A solver is its settings."""
        ...
