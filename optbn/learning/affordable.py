"""How large the parent sets may be in the time there is.

The families of size k + 1 are known in number, and take about as long each as those of size k times a factor that
the last level showed. So the table is made for 1, 2, 3... parents in turn; the next size is begun only if it looks
likely to end in time, and given up when it does not. Each size repeats the ones below, which cost a small fraction of
it. What was left out is said, never silent: the answer is optimal among parent sets of the size reached.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optbn.data.dataset import Dataset

if TYPE_CHECKING:
    from optbn.scores.pipeline import ScoreProgress
    from optbn.scores.protocol import LocalScore
    from solvers import ScoreTable

GROWTH = 2.5  # a family with one more parent costs this much more, until measured


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
    largest: int,
    seconds: float,
    progress: Callable[[ScoreProgress], None] | None = None,
    **options: Any,
) -> Scored:
    """The table for the largest size, at most `largest`, that is done within `seconds` (size 1 is always done)."""
    from optbn.scores.pipeline import score_table

    begin = time.monotonic()
    largest = min(largest, data.n_variables - 1)
    found: Scored | None = None
    spent, growth = 0.0, GROWTH
    for size in range(min(1, largest), largest + 1):
        left = seconds - (time.monotonic() - begin)
        more = _families(data.n_variables, size) / _families(data.n_variables, size - 1)
        guess = spent * more * growth
        if found is not None and guess > left:
            return Scored(found.table, found.families, found.size, _note(found.size, largest, guess, seconds))
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
            table = score_table(data, score, size, progress=watch, **options)
        except _OutOfTime:
            assert found is not None
            return Scored(found.table, found.families, found.size, _note(found.size, largest, None, seconds))
        took = time.monotonic() - start
        if spent > 0.05:  # shorter times say nothing
            growth = max(1.0, took / (spent * more))
        spent, found = max(took, 1e-3), Scored(table, families, size)
    assert found is not None
    return found


def _families(n: int, size: int) -> int:
    """Candidate sets of exactly this size, of all variables."""
    return n * math.comb(n - 1, max(0, size))


def _note(reached: int, largest: int, guess: float | None, seconds: float) -> str:
    cost = f"{reached + 1} would take about {guess:,.0f} s" if guess else f"{reached + 1} took too long"
    return (
        f"parent sets have at most {reached} members, not {largest}: {cost} of the {seconds:,.0f} s there were for "
        "scoring; the network is the best among those"
    )
