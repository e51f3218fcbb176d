"""Measurements: `python -m tests.benchmarks ROOM` prints each figure beside its limit and writes it to results/ROOM.

A room is a module here with `measure() -> Iterator[Figure]`. Times are CPU seconds of this process, warm (the kernels
were run once before on small input), the median of the repeats.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured line: what was done, what it took, what it may take at most and what we aim for."""

    work: str
    value: float
    limit: float | None = None
    aim: float | None = None
    unit: str = "s"
    note: str = ""


def peak_memory() -> float:
    """The most that this process has held, in MB; not what getrusage says, which begins with what its parent held."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("VmHWM"))


def cpu_seconds(run: Callable[[], object], repeats: int = 3) -> float:
    """The median CPU time of this process over the repeats (all threads counted)."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return statistics.median(times)
