"""Reports of a running Phase I."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class ScoreProgress:
    """One report of a running Phase I; families of a resumed store count as done at once."""

    done: int
    total: int
    survivors: int
    size: int  # parents per set at the moment
    seconds: float
    resumed: int = 0  # families found in the store
    needless: int = 0  # without a limit on parents: the families that are not scored, if no more are open

    @property
    def rate(self) -> float:
        """Families per second in this run."""
        return (self.done - self.resumed) / self.seconds if self.seconds > 0 else 0.0

    @property
    def remaining(self) -> float:
        """Seconds left at this rate; infinite while nothing is known."""
        return (self.total - self.done) / self.rate if self.rate > 0 else float("inf")


ProgressCallback = Callable[[ScoreProgress], None]
