"""What the time that scoring leaves is used for: families that were left out as too dear, then larger parent sets of
likeliest parents (likeliest.py), then those of them that were left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from optbn.base.threads import check_jobs
from optbn.learning.likeliest import left_out, with_likeliest
from optbn.learning.waiting import Waiting
from optbn_solvers.base.clock import working

if TYPE_CHECKING:
    from optbn.learning.affordable import Scored
    from optbn.scores.scoring import Scoring


def with_time_left(
    scored: Scored,
    scoring: Scoring,
    largest: int,
    until: float,
    spare: float,
    jobs: int | None,
    listen: Callable[[int, int], None],
) -> Scored:
    """What was scored with more families, up to `until` (of `working`).

    largest  the most members that are wanted
    spare    seconds that there are later, to make the trees of the dear families that are chosen once more
    """
    if scored.unscored:  # of the smallest size: there is no time left
        return scored
    waiting = Waiting.of_sizes(scoring.at_most(scored.size))
    # What would take all the time and not be done shares it with larger sets, which may bring more.
    share = 1.0 if waiting.seconds < check_jobs(jobs) * (until - working()) else 0.5
    scored = _after_all(scored, waiting, working() + share * (until - working()), spare, jobs, listen)
    scored = with_likeliest(scored, scoring, largest, until, jobs, listen)
    if scored.likeliest:
        waiting.add(*left_out(scored, scoring))
    return _after_all(scored, waiting, until, spare, jobs, listen)


def _after_all(
    scored: Scored,
    waiting: Waiting,
    until: float,
    spare: float,
    jobs: int | None,
    listen: Callable[[int, int], None],
) -> Scored:
    """With what waits, as far as it is done."""
    more = list(waiting.score(scored.table, until, spare, check_jobs(jobs), listen))
    if more:
        children, masks, scores = (np.concatenate(part) for part in zip(*more, strict=True))
        scored = scored.with_families(children, masks, scores)
    return replace(scored, after_all=waiting.families)
