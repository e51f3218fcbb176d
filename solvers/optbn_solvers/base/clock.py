"""CPU seconds of the threads that work on one solve, and of no other thread of the process.

A program may solve several tables at once, each in a thread of its own: a limit on CPU seconds is about one solve, so
the clock of the process would run out several times too early. Whoever starts a thread for a solve wraps what it runs
in `Budget.counting`. Where the system does not tell the time of single threads (macOS), the clock of the process has to
do.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


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
