"""The state of a search on disk, so that a run of days that is killed has lost minutes.

A checkpoint is a solution file like any other (`optbn verify` reads it, and `--start`): the best graph so far, and the
lowest bound that was reached, which is a claim, because the evidence for it went with the process. The same command run
again begins with that graph; once the search has ended the file holds the whole answer with its evidence, and running
the command again only checks it. Each state replaces the one before it in one step.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from optbn.base.errors import DataError
from optbn.base.files import check_writable
from optbn_solvers.base.atomic import replacing
from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.base.solution import Exhausted, Solution, Status
from optbn_solvers.base.solution_json import from_json, to_json

if TYPE_CHECKING:
    from optbn_solvers import Constraints, Progress, ScoreTable

EVERY = 5.0  # seconds between two states


@dataclass
class Checkpoint:
    """Give it every Progress; `earlier` is what a run before this one left."""

    table: ScoreTable
    path: Path
    choice: tuple[int, ...] | None = None
    bound: float = math.inf
    earlier: Solution | None = None
    constraints: Constraints | None = None
    _written: float = field(default=-math.inf, repr=False)
    _score: float = field(default=-math.inf, repr=False)

    @classmethod
    def at(cls, table: ScoreTable, path: str | PathLike[str], constraints: Constraints | None = None) -> Checkpoint:
        """The checkpoint in a file, which may not exist yet; one of another problem is refused by name."""
        path = Path(path)
        if not path.exists():
            check_writable(path)
            return cls(table, path, constraints=constraints)
        try:
            found = from_json(table, path.read_bytes())
            if found.table_digest != table.digest:
                raise CheckFailed("it belongs to another score table")
            if (found.constraints or None) != (constraints or None):
                raise CheckFailed("it belongs to other constraints")
        except CheckFailed as error:
            raise DataError(f"the checkpoint {path} does not fit: {error}; use another file") from None
        return cls(table, path, found.choice, found.bound, found, constraints)

    def listen(self, event: Progress) -> None:
        """Take note of a report, and write it down when the last state is old."""
        if self._score == -math.inf and self.choice is not None:
            self._score = self.table.total(self.choice)
        better = event.choice is not None and event.score is not None and event.score > self._score
        if better:
            assert event.score is not None
            self.choice, self._score = event.choice, event.score
        if better or event.bound < self.bound:
            self.bound = min(self.bound, event.bound)
            if self.choice is not None and time.monotonic() - self._written >= EVERY:
                self.write(self._state())
                self._written = time.monotonic()

    def finish(self, solution: Solution) -> None:
        """The end of a run: its answer, if that is proved or no worse than the state."""
        if solution.choice is None and self.choice is not None:
            self.write(self._state())
        elif solution.gap == 0 or solution.bound <= self.bound:
            self.write(solution)
        else:
            self.choice = solution.choice
            self.write(self._state())

    def write(self, solution: Solution) -> None:
        """Replace the file."""
        with replacing(self.path) as file:
            file.write(to_json(self.table, solution))

    def _state(self) -> Solution:
        assert self.choice is not None
        score = self.table.total(self.choice)
        return Solution(
            status=Status.FEASIBLE,
            choice=self.choice,
            score=score,
            bound=max(score, self.bound),
            evidence=Exhausted("a run that did not end"),
            table_digest=self.table.digest,
            solver="checkpoint",
            constraints=self.constraints,
        )
