"""How large the parent sets may be in the time there is.

What the next size will cost is estimated by timing a few of its sets (`estimate`), corrected by how true the estimate
of the last size was. So the table is made for 1, 2, 3... parents in turn; the next size is begun only if it looks
likely to end in time, and given up when it does not. Each size repeats the ones below, which cost a small fraction of
it. A size that the score refuses for these data ends the climb as well. What was left out is said, never silent: the
answer is optimal among parent sets of the size reached.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optbn.base.errors import LimitError
from optbn.data.dataset import Dataset
from optbn.learning.estimate import Cost, in_words

if TYPE_CHECKING:
    from optbn.scores.pipeline import ScoreProgress
    from optbn.scores.protocol import LocalScore
    from optbn_solvers import ScoreTable

LEAST_TOLD = 0.2  # seconds; shorter times say nothing about the estimate


@dataclass(frozen=True)
class Scored:
    """A table, the families behind it, the size of parent sets it covers, and what to tell of that (or "")."""

    table: ScoreTable
    families: int
    size: int
    note: str = ""


class _OutOfTime(Exception):
    """Raised out of a progress report; score_table has nothing that it would leave half done."""


def affordable_table(
    data: Dataset,
    score: LocalScore,
    costs: Sequence[Cost],
    seconds: float,
    progress: Callable[[ScoreProgress], None] | None = None,
    **options: Any,
) -> Scored:
    """The table for the largest size of `costs` that is done within `seconds` (size 1 is always done)."""
    from optbn.scores.pipeline import score_table

    begin = time.monotonic()
    found: Scored | None = None
    slower = 1.0  # than estimated
    for cost in costs[min(1, len(costs) - 1) :]:
        left = seconds - (time.monotonic() - begin)
        guess = cost.seconds * slower
        if found is not None and guess > left:
            return _with_note(found, costs, guess, seconds)
        families = 0
        start = time.monotonic()
        deadline = math.inf if found is None else begin + seconds

        def watch(report: ScoreProgress, deadline: float = deadline) -> None:
            nonlocal families
            families = report.total
            if progress is not None:
                progress(report)
            if time.monotonic() > deadline and report.done < report.total:
                raise _OutOfTime

        try:
            table = score_table(data, score, cost.size, progress=watch, **options)
        except _OutOfTime:
            assert found is not None
            return _with_note(found, costs, None, seconds)
        except LimitError as refusal:
            if found is None:
                raise
            return Scored(found.table, found.families, found.size, f"{_smaller(found, costs)}: {refusal}")
        took = time.monotonic() - start
        if took > LEAST_TOLD:
            slower = max(0.25, took / max(cost.seconds, 1e-3))
        found = Scored(table, families, cost.size)
    assert found is not None
    return found


def _with_note(found: Scored, costs: Sequence[Cost], guess: float | None, seconds: float) -> Scored:
    """What was reached, saying what was not."""
    next_size = found.size + 1
    cost = f"{next_size} would take about {in_words(guess)}" if guess else f"{next_size} took too long"
    note = (
        f"{_smaller(found, costs)}: {cost}, and there were {seconds:,.0f} s for scoring; the network is the best "
        "among those"
    )
    return Scored(found.table, found.families, found.size, note)


def _smaller(found: Scored, costs: Sequence[Cost]) -> str:
    return f"parent sets have at most {found.size} member{'s' if found.size != 1 else ''}, not {costs[-1].size}"
