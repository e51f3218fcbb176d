"""How large parent sets may be where scoring is only a part of what a limit of time is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optbn.base.errors import LimitError
from optbn.base.numbers import counted
from optbn.learning.estimate import estimate, in_words
from optbn.scores.scoring import Scoring
from optbn_solvers.base.clock import working

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.scores.protocol import LocalScore

SCORING_SHARE = 0.4  # of the time that is left
SEARCH_SHARE = 0.6  # of what is left then
CHECK_SHARE = 0.1  # of that, for the check of an answer
STRETCH = 0.25  # of it, that sets of one parent may take beyond that share
HARDLY = 0.5  # seconds that sets of one parent may take in any case


def size_within(
    data: Dataset, method: LocalScore, largest: int, until: float, jobs: int | None, memory: int | str | None
) -> int:
    """The largest size of parent sets, at most this, whose scoring is expected to leave time before `until` (of
    `working`) for the rest."""
    left = until - working()
    costs = estimate(Scoring.of(data, method, largest, memory=memory), jobs, enough=left)
    spent = left - (until - working())
    fitting = [cost.size for cost in costs if cost.seconds <= SCORING_SHARE * left - spent]
    least = costs[min(1, len(costs) - 1)]
    if fitting and fitting[-1] >= least.size:
        return fitting[-1]
    if least.seconds <= max(HARDLY, (SCORING_SHARE + STRETCH) * left - spent):
        return least.size
    raise LimitError(
        f"scoring the {least.families:,} families of at most {counted(least.size, 'parent')} would take about "
        f"{in_words(least.seconds)}, too much of the time that is left: give it more, or select columns or rows"
    )
