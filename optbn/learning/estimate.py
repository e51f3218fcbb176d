"""What scoring will cost, before it starts: families, seconds, memory, by the size of the parent sets.

How many families there are is a count. What one of them costs depends on the data, the score and the size, so a few
predictor sets of each size, drawn at random, are scored and timed: a few hundredths of a second per size, after a
corner of the data has had every kernel compiled. Of sets that a score calls dear one is timed, if it expects a second
at most, and the others are taken to differ from what it expects by the same factor. Sets drawn far apart share less
work than neighbours do, so the times err on the long side. The memory is that of the scores of all sets of two sizes
(see scores/candidates.py), or of all there are where each variable has candidate parents only.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from optbn.base.errors import OptbnError
from optbn.base.threads import check_jobs
from optbn.data.dataset import Dataset
from optbn.learning.rehearsal import scored_corner
from optbn.scores.families import bytes_of_listed
from optbn.scores.left_out import too_dear
from optbn.scores.pipeline import table_of_sets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optbn.scores.protocol import LocalScore
    from optbn.scores.scoring import Scoring

SAMPLE_SECONDS = 0.01  # CPU, to time the sets of one size
MOST_SETS = 512
DEAR_SECONDS = 0.1  # that a score expects of one set
MOST_SECONDS = 1.0  # that it expects of a dear set that is tried


@dataclass(frozen=True)
class Cost:
    """Of scoring all candidate parent sets of at most `size` members: families, seconds with all threads, bytes."""

    size: int
    families: int
    seconds: float
    memory: int

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
    data, bound, rules, limit = scoring.data, scoring.bound, scoring.sets, scoring.memory
    n = data.n_variables
    generator = np.random.default_rng(0)

    def seconds_of(sets: NDArray[np.int32]) -> tuple[float, int]:
        """CPU seconds of these sets, and how many families they are."""
        ascending = np.unique(sets, axis=0)
        wanted = rules.wanted(ascending)
        start = time.thread_time()
        bound.block(ascending, wanted, None)
        return time.thread_time() - start, int(wanted.sum())

    def seconds_each(size: int) -> float:
        """Of a family. Sets that the score says are dear have the share that it says."""
        able = np.flatnonzero(rules.max_parents >= size)
        parents = [np.flatnonzero(rules.allowed[v]) for v in generator.choice(able, MOST_SETS)]
        drawn = np.array([np.sort(generator.permutation(some)[:size]) for some in parents], np.int32)
        drawn = drawn.reshape(MOST_SETS, size)
        lanes = rules.wanted(drawn).sum(axis=1)
        done = lanes * ~too_dear(bound, drawn)
        share = float(done.sum()) / max(1, int(lanes.sum()))  # the others are left out
        lanes, sets = done, drawn[done > 0]
        expected = bound.seconds(sets) if hasattr(bound, "seconds") else np.zeros(len(sets))
        dear = expected > DEAR_SECONDS
        dearly = float(expected[dear].sum()) * truth(sets[dear], expected[dear]) / max(1, int(lanes.sum()))
        return share * (dearly + float(np.mean(~dear)) * timed_each(sets[~dear])) if len(sets) else 0.0

    def truth(sets: NDArray[np.int32], expected: NDArray[np.float64]) -> float:
        """What dear sets take, as a share of what the score expects: an upper bound, often far above."""
        if not (expected <= MOST_SECONDS).any():
            return 1.0
        tried = int(np.argmax(np.where(expected <= MOST_SECONDS, expected, 0.0)))
        return seconds_of(sets[tried : tried + 1])[0] / float(expected[tried])

    def timed_each(sets: NDArray[np.int32]) -> float:
        """Of a family: what more sets take longer, so that what every call costs does not count."""
        before, took, done, count = (0.0, 0), 0.0, 0, 1
        while took < SAMPLE_SECONDS and count <= min(len(sets), math.comb(n, sets.shape[1])):
            before = (took, done)
            took, done = seconds_of(sets[:count])
            count *= 8
        if done > before[1] and took > before[0]:
            return (took - before[0]) / (done - before[1])
        return took / max(1, done)

    if not rehearsed:
        _compile(data, scoring.method)
    costs: list[Cost] = []
    families, seconds = 0, 0.0
    for size in range(rules.largest + 1):
        families += rules.count(size)
        seconds += seconds_each(size) * rules.count(size) / check_jobs(jobs)
        kept = 8 * n * (math.comb(n, size - 1) + math.comb(n, max(0, size - 2))) if size else 0
        if scoring.candidates is not None:
            kept = bytes_of_listed(families, n, size)
        used = sum(column.nbytes for column in data.columns)
        costs.append(Cost(size, families, seconds, used + min(kept, limit // 2)))
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
