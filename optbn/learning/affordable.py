"""How large the parent sets may be in the time there is.

What the next size will cost is estimated by timing a few of its sets (`estimate`), corrected by how true the estimate
of the last size was. So the table is made for 1, 2, 3... parents in turn; the next size is begun only if it looks
likely to end in time, and given up when it does not. Each size repeats the ones below, which cost a small fraction of
it. A size that the score refuses for these data ends the climb as well. A note says what was left out: the answer is
optimal among parent sets of the size reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from optbn.base.errors import LimitError
from optbn.learning.estimate import Cost, in_words
from optbn.scores.left_out import families_left_out
from optbn.scores.pipeline import growing, table_of_sets
from optbn_solvers.base.clock import working
from optbn_solvers.base.table import ScoreTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optbn.scores.progress import ScoreProgress
    from optbn.scores.scoring import Scoring

LEAST_TIMED = 0.2  # seconds; shorter times say nothing about the estimate


@dataclass(frozen=True)
class Scored:
    """A table, the families behind it, the size of parent sets it covers, and a note about it (or "")."""

    table: ScoreTable
    families: int
    size: int
    note: str = ""
    unscored: int = 0  # families of that size or below which there was no time for
    likeliest: tuple[int, int] | None = None  # (m, k): sets of m of the k likeliest parents are scored, too
    dear: int = 0  # of these, the families left out
    after_all: int = 0  # families that were left out as too dear, and then scored in the time left

    def with_families(
        self, children: NDArray[np.int64], masks: NDArray[np.uint64], scores: NDArray[np.float64]
    ) -> Scored:
        """With these in the table."""
        table = self.table
        whole = ScoreTable.build(
            table.names,
            np.concatenate([table.children, children]),
            np.concatenate([table.masks, masks]),
            np.concatenate([table.scores, scores]),
            whole=False,
        )
        return replace(self, table=whole, families=self.families + len(scores))


class _OutOfTime(Exception):
    """Raised out of a progress report; score_table has nothing that it would leave half done."""


def affordable_table(
    scoring: Scoring,
    costs: Sequence[Cost],
    seconds: float,
    jobs: int | None = None,
    progress: Callable[[ScoreProgress], None] | None = None,
    at_least: float = math.inf,
) -> Scored:
    """The table for the largest size of `costs` that is done within `seconds`; of the smallest, what is done within
    `at_least` seconds."""
    end, last = working() + seconds, working() + at_least
    reached: Scored | None = None
    slower = 1.0  # than estimated
    first = max(1, int(scoring.sets.needs.max()))  # required parents may be more than one
    for cost in costs[min(first, len(costs) - 1) :]:
        if reached is not None and nothing_more(scoring, cost, costs):
            size = cost.size
            why = f"every set of {size} would take too long or too much memory, each by itself"
            return replace(reached, note=f"{_smaller(reached, costs)}: {why}")
        left = end - working()
        guess = cost.seconds * cost.crowded * slower
        if reached is not None and guess > left:
            return _with_note(reached, costs, guess, left)
        families = done = 0
        start = working()

        def watch(report: ScoreProgress, smallest: bool = reached is None) -> None:
            nonlocal families, done
            families, done = report.total, report.done
            if progress is not None:
                progress(report)
            if not smallest and working() > end and done < families:
                raise _OutOfTime

        try:
            enough = (lambda: working() > last) if reached is None else None
            table = table_of_sets(scoring.at_most(cost.size), jobs=jobs, progress=watch, enough=enough)
        except _OutOfTime:
            assert reached is not None
            return _with_note(reached, costs, None, 0.0)
        except LimitError as refusal:
            if reached is None:
                raise
            return Scored(reached.table, reached.families, reached.size, f"{_smaller(reached, costs)}: {refusal}")
        took = working() - start
        if took > LEAST_TIMED:
            slower = max(0.25, took / max(cost.seconds * cost.crowded, 1e-3))
        reached = Scored(table, done, cost.size, unscored=families - done)
        if done < families:
            note = f"{families - done:,} of {families:,} families are left out: there was no time to score them"
            return replace(reached, note=note)
    assert reached is not None
    return reached


def nothing_more(scoring: Scoring, cost: Cost, costs: Sequence[Cost]) -> bool:
    """Whether all families of the largest sets of a cost are left out one by one; larger sets are dearer still."""
    families, left_out = scoring.sets.count(cost.size), cost.left_out - (costs[cost.size - 1].left_out)
    if left_out < families or not families:
        return False  # of a sample, so to be made sure
    below = families_left_out(scoring.bound, scoring.sets.at_most(cost.size - 1))
    return families_left_out(scoring.bound, scoring.sets.at_most(cost.size)) - below == families


def unlimited_table(
    scoring: Scoring,
    seconds: float = math.inf,
    jobs: int | None = None,
    progress: Callable[[ScoreProgress], None] | None = None,
) -> Scored:
    """The table without a limit on parents, or that of the largest size done within `seconds` (of one parent always).

    The note counts the families that bounds prove needless; or it says what was left out.
    """
    deadline = working() + seconds

    def watch(report: ScoreProgress) -> None:
        if progress is not None:
            progress(report)
        if working() > deadline and report.done < report.total and report.size > 1:
            raise _OutOfTime

    growth = growing(scoring, jobs, watch, deadline)
    try:
        while growth.open:
            growth.step()
    except (_OutOfTime, LimitError) as stopped:
        if growth.size < 1:
            raise
        size = f"parent sets have at most {growth.size} member{'s' if growth.size != 1 else ''}, not any number"
        why = str(stopped) or f"larger ones took too long, and there were {seconds:,.0f} s for scoring"
        note = f"{size}: {why}; the network is the best among those"
        return Scored(growth.table(), growth.scored, growth.size, note)
    note = (
        f"parent sets may have any number of members: {growth.scored:,} families were scored, and bounds prove that no "
        f"best network needs one of the other {growth.needless:,}"
    )
    return Scored(growth.table(), growth.scored, scoring.sets.largest, note)


def _with_note(reached: Scored, costs: Sequence[Cost], guess: float | None, left: float) -> Scored:
    """What was reached, saying what was not: the next size, which was not begun (guess) or not ended (None)."""
    sets = f"sets of {reached.size + 1}"
    if guess is None:
        reason = f"those of {reached.size + 1} were not scored in time"
    elif left < LEAST_TIMED:
        reason = f"no time was left to score {sets}"
    else:
        reason = f"{sets} would take about {in_words(guess)}, and {in_words(left)} were left for scoring"
    note = f"{_smaller(reached, costs)}: {reason}"
    return Scored(reached.table, reached.families, reached.size, note)


def _smaller(reached: Scored, costs: Sequence[Cost]) -> str:
    return f"parent sets have at most {reached.size} member{'s' if reached.size != 1 else ''}, not {costs[-1].size}"
