"""One run of `learn`: what its steps share, made once by the step that comes first and owned here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from optbn.learning.structure import LearnedStructure, Stopwatch
from optbn_solvers.base.clock import compiling, working

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.data.interventions import Interventions
    from optbn.learning.affordable import Scored
    from optbn.learning.watcher import Watcher
    from optbn.scores.protocol import LocalScore
    from optbn.scores.scoring import Scoring
    from optbn_solvers import Constraints


@dataclass
class Job:
    """The settings of a run; what its steps find; and what the report says of it.

    begin, time_limit   seconds from then on, on the clock of `working`, which leaves out what compiling takes
    compiled            kernels compiled before the run, and the seconds that took
    """

    method: LocalScore
    watcher: Watcher
    jobs: int | None
    begin: float
    time_limit: float | None

    data: Dataset = field(init=False)  # reading
    source: str = field(init=False)
    interventions: Interventions | None = None
    constraints: Constraints | None = None
    scoring: Scoring = field(init=False)  # binding the score
    scored: Scored = field(init=False)  # scoring
    learned: LearnedStructure = field(init=False)  # searching

    watch: Stopwatch = field(default_factory=Stopwatch)
    compiled: tuple[int, float] = field(default_factory=lambda: (compiling.kernels, compiling.seconds))
    notes: list[str] = field(default_factory=list)
    filled: tuple[str, ...] = ()  # in words as `restrictions` are: what the optimum is of, where a model filled gaps
    restrictions: tuple[str, ...] = ()
    trace: list[tuple[float, float | None, float]] = field(default_factory=list)

    def left(self, share: float) -> float | None:
        """The seconds until that share of the time limit is used, None without a limit."""
        return None if self.time_limit is None else share * self.time_limit - (working() - self.begin)

    def share_what_is_left(self) -> None:
        """The time limit begins anew: all later steps have shares of what reading has left."""
        left = self.left(1.0)
        self.begin, self.time_limit = working(), None if left is None else max(0.0, left)
