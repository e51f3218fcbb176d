"""The clocks that limits go by: wall time without what compiling takes, and CPU seconds of the threads of one solve.

Kernels are compiled when they are first used on a machine, once. A limit buys an answer, and the answer must not be
worse the first time: `working` stands still while this process compiles. To load what is compiled counts, as imports
do: every run has to.

A program may solve several tables at once, each in a thread of its own: a limit on CPU seconds is about one solve, so
the clock of the process would run out several times too early. Whoever starts a thread for a solve wraps what it runs
in `Budget.counting`. Where the system does not tell the time of single threads (macOS), the clock of the process has to
do.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


class Compiling:
    """How long this process has been compiling kernels, and how many.

    Told by `compiled`: `begin` and `end` of each, which may be within another, or in several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth, self._main_depth, self._begun, self._seconds = 0, 0, 0.0, 0.0
        self.kernels = 0
        self.listeners: list[Callable[[], None]] = []
        """Called when a kernel is about to be compiled, in whatever thread it is."""
        self.interrupted = False
        """Set by whoever hears Ctrl-C while the main thread compiles: LLVM would lose an exception that is raised while
        it calls back. KeyboardInterrupt is raised by `compiled` before the next pass of the compiler."""

    @property
    def seconds(self) -> float:
        """Wall seconds so far."""
        with self._lock:
            return self._seconds + (time.monotonic() - self._begun if self._depth else 0.0)

    @property
    def under_way(self) -> bool:
        """Whether a kernel is being compiled, in whatever thread."""
        return self._depth > 0

    @property
    def by_main_thread(self) -> bool:
        """Whether the main thread is what compiles."""
        return self._main_depth > 0

    def begin(self) -> None:
        """A kernel is not on disk."""
        with self._lock:
            self.kernels += 1
            self._depth += 1
            self._main_depth += _in_main_thread()
            if self._depth == 1:
                self._begun = time.monotonic()
        for listener in tuple(self.listeners):
            listener()

    def end(self) -> None:
        with self._lock:
            self._depth -= 1
            self._main_depth -= _in_main_thread()
            if not self._depth:
                self._seconds += time.monotonic() - self._begun


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


compiling = Compiling()


def working() -> float:
    """The seconds of time.monotonic() in which this process did not compile."""
    return time.monotonic() - compiling.seconds


def age() -> float:
    """Seconds since this process was started: of a command, limits count from there. Where the system does not tell,
    the CPU seconds it has used, which are no more."""
    try:
        started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError):
        return time.process_time()


class ThreadClock:
    """The CPU seconds of the thread that makes the clock, and of those that join it, since they did."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left = 0.0  # seconds of those that joined and left
        self._working: dict[int, tuple[int, float]] = {}  # by thread: its clock, and its seconds when it joined
        self._enter()

    def __call__(self) -> float:
        with self._lock:
            return self._left + sum(_seconds(clock, begun) - begun for clock, begun in self._working.values())

    @contextmanager
    def joined(self) -> Iterator[None]:
        """While inside, this thread is counted as well."""
        thread = threading.get_ident()
        if thread in self._working:
            yield
            return
        self._enter()
        try:
            yield
        finally:
            with self._lock:
                clock, begun = self._working.pop(thread)
                self._left += _seconds(clock, begun) - begun

    def _enter(self) -> None:
        thread = threading.get_ident()
        clock = time.pthread_getcpuclockid(thread)
        with self._lock:
            self._working[thread] = clock, time.clock_gettime(clock)


def _seconds(clock: int, begun: float) -> float:
    """What a thread's clock shows; of a thread that has ended, what it showed in the beginning."""
    try:
        return time.clock_gettime(clock)
    except OSError:
        return begun


TELLS_THREADS = hasattr(time, "pthread_getcpuclockid")
