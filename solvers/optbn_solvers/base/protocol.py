"""What a solver is given and what it says while it works.

A solver is a frozen dataclass of settings with one verb, `solve(table, budget, start, progress)`. It looks at
`budget.exhausted()` between slices of work (a slice is far below half a second) and, once that is true, returns
its best graph and bound instead of raising. `KeyboardInterrupt` is turned into `budget.stop()` by whoever owns
the terminal, so that Ctrl-C gives an answer too.
"""

from __future__ import annotations

import copy
import functools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from optbn_solvers.base.clock import TELLS_THREADS, ThreadClock, working
from optbn_solvers.base.memory import half_of_memory

if TYPE_CHECKING:
    from optbn_solvers.base.solution import Solution
    from optbn_solvers.base.table import ScoreTable

P = ParamSpec("P")
T = TypeVar("T")


@dataclass
class Budget:
    """How long one solve may take: `wall` seconds, and `cpu` seconds of the threads that work on it.

    Wall time stands still while kernels are compiled (`clock.working`).
    The clocks start with the solve, so that a budget can be used for several, one after another or at once; one that
    was stopped remains so. `gap` is the absolute difference bound - score at which a solver may stop short of a proof
    (0: prove it). `grace` is for writing evidence down and checking it: wall seconds after `wall`.
    `clock` and `cpu_clock` can be replaced in tests.
    """

    wall: float = float("inf")
    cpu: float = float("inf")
    memory: int | None = None  # bytes a solver may plan to use; None: half of what the process may have
    gap: float = 0.0
    grace: float = float("inf")
    clock: Callable[[], float] = working
    cpu_clock: Callable[[], float] | None = None
    _wall_start: float = field(init=False, repr=False)
    _cpu_start: float = field(init=False, repr=False)
    _started: bool = field(default=False, init=False, repr=False)
    _cpu: Callable[[], float] = field(init=False, repr=False)
    _stopped: bool = field(default=False, init=False, repr=False)
    _whole: Budget | None = field(default=None, init=False, repr=False)  # that this is a part of

    def __post_init__(self) -> None:
        for name in ("wall", "cpu", "gap", "grace"):
            if math.isnan(getattr(self, name)):
                raise ValueError(f"the budget's {name} is not a number")
            if getattr(self, name) < 0:
                raise ValueError(f"the budget's {name} is {getattr(self, name)!r}, expected a number from 0")
        self._begin()

    def _begin(self) -> None:
        threads = ThreadClock if TELLS_THREADS else lambda: time.process_time
        self._cpu = self.cpu_clock or threads()
        self._wall_start = self.clock()
        self._cpu_start = self._cpu()

    def started(self) -> Budget:
        """This budget with clocks that begin now, in this thread; a solve within a solve goes on with the same ones."""
        if self._started:
            return self
        running = copy.copy(self)
        running._whole, running._started = self, True
        running._begin()
        return running

    def counting(self, work: Callable[P, T]) -> Callable[P, T]:
        """`work` for another thread, whose CPU seconds then count, too."""

        @functools.wraps(work)
        def counted(*args: P.args, **kwargs: P.kwargs) -> T:
            if not isinstance(self._cpu, ThreadClock):
                return work(*args, **kwargs)
            with self._cpu.joined():
                return work(*args, **kwargs)

        return counted

    @property
    def bytes(self) -> int:
        """The memory a solver may plan to use."""
        if self.memory is None:
            return half_of_memory()
        return self.memory

    def stop(self) -> None:
        """Ask the solver to return what it has."""
        self._stopped = True

    def within(self, cpu: float = math.inf) -> Budget:
        """A part of this budget: the same clocks, at most `seconds` of CPU from now, and it can be stopped alone."""
        part = copy.copy(self)
        part.cpu = min(self.cpu, self.cpu_elapsed() + cpu)
        part._whole = self
        return part

    @property
    def stopped(self) -> bool:
        """Somebody asked to stop (as opposed to a clock running out)."""
        return self._stopped or (self._whole is not None and self._whole.stopped)

    def elapsed(self) -> float:
        """Wall seconds since the solve began (of a budget that no solve uses: since it was made)."""
        return self.clock() - self._wall_start

    def cpu_elapsed(self) -> float:
        """CPU seconds of the threads at work since then."""
        return self._cpu() - self._cpu_start

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
Listener = ProgressCallback | None
StartRows = Sequence[int] | None
"""The rows of an acyclic graph to begin from, one per child."""


@dataclass(frozen=True)
class Capabilities:
    """What a solver declares about itself, as the class attribute `capabilities`; who says nothing has the defaults.

    name           in answers and messages ("": the name of the class in small letters)
    largest        variables of the tables it takes, at most
    exact          with enough time and memory it ends with a proved or searched optimum
    deterministic  the same question has the same graph as its answer
    proves         variables up to which its optimum always comes with evidence that the checker replays
    price          the CPU seconds that a number of variables takes within a budget, infinite where its memory is not
                   enough; None: it depends on the families, so nobody can tell

    The rest is declared by settings: one that meets constraints which families cannot say has `residual`, one that
    writes a proof `proof`, one that can be given up after some nodes `most`. `front.registry.solver_that` finds a
    solver by all these, so that nobody has to know it by name.
    """

    name: str = ""
    largest: int = 2**31
    exact: bool = True
    deterministic: bool = True
    proves: int = 0
    price: Callable[[int, Budget], float] | None = None


def capabilities(solver: Any) -> Capabilities:
    """What a solver, or a class of solvers, declares."""
    kind = solver if isinstance(solver, type) else type(solver)
    declared: Capabilities = getattr(kind, "capabilities", Capabilities())
    return declared if declared.name else replace(declared, name=kind.__name__.lower())


def has_settings(solver: Any, *settings: str) -> bool:
    """Does a solver, or a class of solvers, have settings of all these names?"""
    return {field.name for field in fields(solver)}.issuperset(settings)


class Solver(Protocol):
    """The one verb of a solver."""

    def solve(
        self, table: ScoreTable, budget: Budget | None = None, start: StartRows = None, progress: Listener = None
    ) -> Solution:
        """The best graph found within the budget, with a bound and what there is of evidence."""
        ...

    def __hash__(self) -> int:
        """A solver is its settings."""
        ...
