"""What scoring will cost, before it starts: families, seconds, memory, by the size of the parent sets.

How many families there are is a count. What one of them costs depends on the data, the score and the size, so a few
are tried (trials.py), after a corner of the data has had every kernel compiled. The memory is that of the scores of all
sets of two sizes (see scores/candidates.py), or of all there are where each variable has candidate parents only, and
of the work space.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optbn.base.errors import OptbnError
from optbn.base.threads import check_jobs
from optbn.data.dataset import Dataset
from optbn.learning.rehearsal import scored_corner
from optbn.learning.trials import MOST_SECONDS, Trials
from optbn.scores.families import bytes_of_listed
from optbn.scores.family_blocks import BLOCK_SECONDS, BYTES_PER_FAMILY, FIRST_BLOCK
from optbn.scores.pipeline import LARGEST_BLOCK, table_of_sets

if TYPE_CHECKING:
    from optbn.scores.protocol import LocalScore
    from optbn.scores.scoring import Scoring

TRIAL_SHARE = 0.05  # of the time there is, for the trials of a size
BLOCK_BYTES = 60  # of a family while its block is scored and compared


@dataclass(frozen=True)
class Cost:
    """Of scoring all candidate parent sets of at most `size` members: families, seconds with all threads, bytes; about
    how many of the families the score leaves out; how many times the seconds go by on a machine as busy as now."""

    size: int
    families: int
    seconds: float
    memory: int
    left_out: int = 0
    crowded: float = 1.0

    def __str__(self) -> str:
        return (
            f"{self.families:,} families of at most {self.size} parents, about {in_words(self.seconds)}, "
            f"{self.memory / 1e6:,.0f} MB"
        )


def estimate(
    scoring: Scoring, jobs: int | None = None, rehearsed: bool = False, enough: float = math.inf
) -> list[Cost]:
    """The cost for at most 0, 1, ... parents, up to the largest candidate set. What is not `rehearsed` is compiled
    before anything is timed. The first size that takes more than `enough` seconds is the last: to time larger ones
    takes time as well."""
    data, rules, limit = scoring.data, scoring.sets, scoring.memory
    n, trials = data.n_variables, Trials(scoring, min(MOST_SECONDS, TRIAL_SHARE * enough))
    if not rehearsed:
        _compile(data, scoring.method)
    costs: list[Cost] = []
    families, seconds, left_out = 0, 0.0, 0
    for size in range(rules.largest + 1):
        families += rules.count(size)
        took, dear = trials.seconds(size)
        seconds, left_out = seconds + took / check_jobs(jobs), left_out + dear
        kept = 8 * n * (math.comb(n, size - 1) + math.comb(n, max(0, size - 2))) if size else 0
        if scoring.candidates is not None:
            kept = bytes_of_listed(families, n, size)
        block = min(math.comb(n, size), min(limit // 4, LARGEST_BLOCK) // (BYTES_PER_FAMILY * n))
        block = min(block, max(FIRST_BLOCK, int(BLOCK_SECONDS / max(1e-9, trials.seconds_each))))
        kept += BLOCK_BYTES * n * (block if scoring.candidates is None else 0)
        used = sum(column.nbytes for column in data.columns)
        memory = used + min(kept, limit // 2) + check_jobs(jobs) * trials.bytes
        costs.append(Cost(size, families, seconds, memory, left_out, trials.crowded))
        if seconds > enough and size >= max(1, rules.needs.max()):
            break
    return costs


def _compile(data: Dataset, score: LocalScore) -> None:
    """Use every kernel once. What is wrong with these data shows when all of them are scored."""
    with suppress(OptbnError):
        table_of_sets(scored_corner(data, score), jobs=1)


def in_words(seconds: float) -> str:
    """ "12 s", "3 min", "5 h", "140 days"."""
    if seconds < 90:
        return f"{max(seconds, 0.1):.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    for unit, length in (("min", 60.0), ("h", 3600.0)):
        if seconds < 90 * length:
            return f"{seconds / length:.0f} {unit}"
    days = seconds / 86400
    return f"{days:,.0f} days" if days < 1000 else f"{days / 365:,.0f} years"
