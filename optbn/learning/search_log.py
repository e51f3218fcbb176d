"""The work of `learn` as a log like good solvers write: phases, and a line per new incumbent or bound of the search."""

from __future__ import annotations

import math
import sys
import time
from typing import TYPE_CHECKING, TextIO

from optbn.learning.watcher import Watcher

if TYPE_CHECKING:
    from optbn.scores.progress import ScoreProgress
    from optbn_solvers import Progress

EVERY = 2.0  # seconds between lines about scoring
HEAD = f"{'seconds':>9} {'incumbent':>16} {'bound':>16} {'gap':>10} {'nodes':>10}  phase"


class SearchLog(Watcher):
    """Writes to a stream, stderr unless another is named; for terminals and notebooks."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.last: tuple[float | None, float] | None = None
        self.reported = time.monotonic()

    def phase(self, name: str) -> None:
        """A line per phase, and the head of the table before the search."""
        self._write(f"{name}" + (f"\n{HEAD}" if name == "solve" else ""))

    def compiling(self, seconds: float | None) -> None:
        """One line about the first use."""
        if seconds is not None:
            self._write(f"  compiled for the first use on this machine: {seconds:.1f} s")

    def scoring(self, report: ScoreProgress) -> None:
        """Now and then a line on how far Phase I is."""
        if time.monotonic() - self.reported >= EVERY:
            self.reported = time.monotonic()
            self._write(f"  {report.done:,} of {report.total:,} candidate parent sets, {report.survivors:,} kept")

    def solving(self, report: Progress) -> None:
        """A line where incumbent or bound moved."""
        if self.last == (report.score, report.bound):
            return
        self.last = (report.score, report.bound)
        incumbent = "-" if report.score is None else f"{report.score:.6f}"
        bound = f"{report.bound:.6f}" if math.isfinite(report.bound) else "-"
        gap = "-" if report.score is None or bound == "-" else f"{report.bound - report.score:.4g}"
        line = f"{report.seconds:9.2f} {incumbent:>16} {bound:>16} {gap:>10} {report.nodes:10,}  {report.phase}"
        self._write(line.rstrip())

    def _write(self, line: str) -> None:
        self.stream.write(line + "\n")
        self.stream.flush()
