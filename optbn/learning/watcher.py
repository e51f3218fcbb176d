"""What to do as a run of `learn` goes on: its phases, estimates and progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from optbn_solvers.base.clock import working

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.learning.estimate import Cost
    from optbn.scores.progress import ScoreProgress
    from optbn_solvers import Progress


class Watcher:
    """What to do as the work goes on; override what is of interest."""

    def begun(self) -> float:
        """When the time limit begins to count, on the clock of `working`; now, unless overridden."""
        return working()

    def phase(self, name: str) -> None:
        """A phase begins: "read", "score", "solve", "fit", "more" or "report"."""

    def data(self, data: Dataset) -> None:
        """The data are read; raise an error to stop here."""

    def compiling(self, seconds: float | None) -> None:
        """Kernels are compiled, once on this machine: None as it begins, then how long it took."""

    def estimated(self, costs: Sequence[Cost], limited: bool) -> int:
        """What scoring would cost for at most 0, 1, .. parents; `limited` if it chooses its size to fit the time.

        Returns the most parents to try: the last unless overridden.
        """
        return costs[-1].size

    def scoring(self, report: ScoreProgress) -> None:
        """Phase I got further."""

    def solving(self, report: Progress) -> None:
        """Phase II has a new incumbent or bound."""

    def fitting(self, done: int, of: int) -> None:
        """So many of the variables have their parameters."""
