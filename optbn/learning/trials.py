"""What a family of each size takes to score: a few sets are tried as the real work would do them.

Sizes that take a tenth of a second are done in full: their time is known, and the next sizes have the floors (see
scores/candidates.py) that decide what need not be computed at all. Of larger sizes a few runs of neighbours are timed,
for neighbours share work; each run is followed by a longer one, and what that takes longer is what counts, so that
calling costs nothing. Of sets that a score calls dear some are timed, those that are expected to take about as long
together, as many as a block has, for these share its memory. Dear ones that take too long to be tried are taken to
differ from what the score expects by the same factor as those a little cheaper.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from optbn.scores.family_blocks import BLOCK_SECONDS
from optbn.scores.kernels.sets import best_of_subsets, binomials, sets_between
from optbn.scores.left_out import too_dear
from optbn_solvers.base.clock import compiling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from optbn.scores.scoring import Scoring

    Floats = NDArray[np.float64]
    Sets = NDArray[np.int32]

WHOLE_SECONDS = 0.1  # CPU; a size that is expected to take less is done in full
MOST_WHOLE = 1 << 16  # sets of such a size
FAMILY_SECONDS = 2e-8  # to compare the score of a family with those of its subsets
RUN_SECONDS = 0.01  # CPU, of the last run of neighbours
FIRST_RUN, MOST_RUN, LONGER = 16, 4096, 4
RUNS = 3
DRAWN = 4096  # sets, for what is left out and what the score expects
MOST_CLUSTERS = 64  # of neighbours that are drawn where each variable has candidate parents
DEAR_SECONDS, ALIKE = 2e-3, 8.0  # that a score expects of a set that is dear; times that, of those like it
MOST_SECONDS = 1.0  # CPU, of a trial of dear sets


@dataclass
class Trials:
    """Trials for one scoring: call `seconds` for 0, 1, 2, .. in turn. `whole` is the largest size done in full, and
    `best` has what its sets and their subsets score, float64[sets, n]."""

    scoring: Scoring
    most_seconds: float = MOST_SECONDS
    generator: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    whole: int = -1
    best: Floats = field(default_factory=lambda: np.empty((0, 0)))
    bytes: int = 0  # that a thread needs for the sets so far
    seconds_each: float = 0.0  # CPU, of a set of the last size
    cpu: float = 1e-3  # seconds of all trials, and on the wall
    wall: float = 1e-3

    def __post_init__(self) -> None:
        n = self.scoring.data.n_variables
        self.n, self.choose = n, binomials(n, self.scoring.sets.largest)

    @property
    def crowded(self) -> float:
        """How many times as long as it works a thread has taken: others want the cores as well."""
        return max(1.0, self.wall / self.cpu)

    def seconds(self, size: int) -> tuple[float, int]:
        """CPU seconds of all families of that size, and how many families are left out."""
        rules, bound = self.scoring.sets, self.scoring.bound
        families, sets = rules.count(size), int(self.choose[self.n, size])
        drawn = self._drawn(size)
        lanes = rules.wanted(drawn).sum(axis=1)
        dear = too_dear(bound, drawn)
        share = float(lanes[dear].sum()) / max(1, int(lanes.sum()))
        left_out = round(share * families)
        drawn = drawn[(lanes > 0) & ~dear]
        if not len(drawn):
            return 0.0, left_out
        if hasattr(bound, "bytes"):
            self.bytes = max(self.bytes, bound.bytes(drawn))
        expected = bound.seconds(drawn) if hasattr(bound, "seconds") else np.zeros(len(drawn))
        slow = expected > DEAR_SECONDS
        each = self._of_slow(drawn[slow], expected[slow]) * float(slow.mean()) if slow.any() else 0.0
        if not slow.all():
            each += self._of_quick(drawn[~slow]) * float((~slow).mean())
        wanted = families / max(1e-9, float(lanes[lanes > 0].mean()))  # sets that are a candidate of some variable
        self.seconds_each = each
        found = each * wanted * (1 - share)
        if found < WHOLE_SECONDS and sets <= MOST_WHOLE and size == self.whole + 1 and self.scoring.candidates is None:
            found = self._in_full(size)
        return found + FAMILY_SECONDS * families * (1 - share), left_out

    def _drawn(self, size: int) -> Sets:
        """Sets of that size, all where they are few."""
        rules, sets = self.scoring.sets, int(self.choose[self.n, size])
        if self.scoring.candidates is None:
            if sets <= DRAWN:
                return sets_between(self.n, size, 0, sets, self.choose)
            ranks = np.sort(self.generator.integers(sets, size=DRAWN))
            return np.concatenate([sets_between(self.n, size, int(r), int(r) + 1, self.choose) for r in ranks])
        found: set[tuple[int, ...]] = set()
        able = np.flatnonzero(rules.max_parents >= size)
        for _ in range(MOST_CLUSTERS):
            some = np.flatnonzero(rules.allowed[self.generator.choice(able)])
            prefix = np.sort(self.generator.permutation(some)[:size])[: max(0, size - 2)]
            found |= self._beginning_with(prefix, size)
            if len(found) >= DRAWN // 2:
                break
        return np.array(sorted(found), np.int32).reshape(len(found), size)

    def _beginning_with(self, prefix: NDArray[np.int64], size: int) -> set[tuple[int, ...]]:
        """The candidate sets of that size whose least members are these: neighbours, which share work."""
        rules, found = self.scoring.sets, set[tuple[int, ...]]()
        for v in np.flatnonzero((rules.max_parents >= size) & rules.allowed[:, prefix].all(axis=1)):
            others = np.flatnonzero(rules.allowed[v])
            others = others[others > prefix.max(initial=-1)].tolist()
            for more in itertools.combinations(others, size - len(prefix)):
                found.add((*prefix.tolist(), *more))
                if len(found) >= DRAWN:
                    return found
        return found

    def _in_full(self, size: int) -> float:
        """Do a size; the floors of the next are known then."""
        sets = sets_between(self.n, size, 0, int(self.choose[self.n, size]), self.choose)
        took, scores = self._timed(sets)
        floor = self._floors(sets)
        self.whole, self.best = size, np.maximum(scores, floor)
        return took

    def _of_quick(self, drawn: Sets) -> float:
        """Seconds of a set, by runs of neighbours: in the middle of three runs, for some are disturbed."""
        size = drawn.shape[1]
        sets, alone = int(self.choose[self.n, size]), self.scoring.candidates is not None
        long_enough = len(drawn) if alone else sets
        each = []
        for _ in range(RUNS):
            at = int(self.generator.integers(max(1, long_enough - FIRST_RUN * (1 + LONGER))))
            length, before = FIRST_RUN, (0.0, 0)
            while True:
                last = min(at + length, long_enough)
                run = drawn[at:last] if alone else sets_between(self.n, size, at, last, self.choose)
                seconds, count = self._timed(run, quick=True)[0], last - at
                if seconds > RUN_SECONDS or length >= MOST_RUN or last >= long_enough:
                    break
                before, at, length = (seconds, count), last, length * LONGER
            longer = count > before[1] > 0 and seconds > before[0]
            each.append((seconds - before[0]) / (count - before[1]) if longer else seconds / count)
        return sorted(each)[RUNS // 2]

    def _of_slow(self, drawn: Sets, expected: Floats) -> float:
        """Seconds of a set, from what the score expects and how true that is of a few of each kind."""
        order = np.argsort(expected, kind="stable")
        drawn, expected = drawn[order], expected[order]
        total, first, ratio = 0.0, 0, 1.0
        while first < len(drawn):
            last = int(np.searchsorted(expected, ALIKE * expected[first], side="right"))
            if expected[first] * ratio < self.most_seconds:
                ratio = self._ratio(drawn[first:last], expected[first:last])
            total += ratio * float(expected[first:last].sum())
            first = last
        return total / len(drawn)

    def _ratio(self, alike: Sets, expected: Floats) -> float:
        """How many times as long as the score expects these take: those of a block, or as many as take so long."""
        some = self.generator.permutation(len(alike))
        once = self._undisturbed(alike[some[:1]]) / float(expected[some[0]])
        foreseen = min(BLOCK_SECONDS, self.most_seconds / max(1e-6, once))
        batch = np.sort(some[: int(np.searchsorted(np.cumsum(expected[some]), foreseen))])
        return self._undisturbed(alike[batch]) / float(expected[batch].sum()) if len(batch) > 1 else once

    def _undisturbed(self, sets: Sets) -> float:
        """CPU seconds: the first time may make what is kept, and either may be disturbed."""
        return min(self._timed(sets)[0] for _ in range(2))

    def _timed(self, sets: Sets, quick: bool = False) -> tuple[float, Floats]:
        """CPU seconds of these sets, without those left out (or slow, where only quick ones are wanted)."""
        rules, bound = self.scoring.sets, self.scoring.bound
        wanted = rules.wanted(sets)
        wanted[too_dear(bound, sets)] = False
        if quick and hasattr(bound, "seconds"):
            wanted[wanted.any(axis=1)] &= (bound.seconds(sets[wanted.any(axis=1)]) <= DEAR_SECONDS)[:, None]
        floor = None if self.scoring.candidates is not None else self._floors(sets)
        scores = np.full(wanted.shape, -np.inf)
        used = np.flatnonzero(wanted.any(axis=1))
        if not len(used):
            return 0.0, scores
        below = None if floor is None else np.where(rules.needs > 0, -np.inf, floor[used])
        while True:
            compiled, begin, begin_wall = compiling.kernels, time.thread_time(), time.perf_counter()
            scores[used] = bound.block(sets[used], wanted[used], below)
            took, wall = time.thread_time() - begin, time.perf_counter() - begin_wall
            if compiling.kernels == compiled:  # else it was not only scored
                self.cpu, self.wall = self.cpu + took, self.wall + wall
                return took, scores

    def _floors(self, sets: Sets) -> Floats:
        """float64[m, n]: what subsets score, as far as they were done."""
        size = sets.shape[1]
        if size == 0 or self.whole < 0:
            return np.full((len(sets), self.n), -np.inf)
        if size == self.whole + 1:
            found: Floats = best_of_subsets(np.ascontiguousarray(sets), self.best, self.n, self.choose)
            return found
        subsets = np.concatenate([np.delete(sets, j, axis=1) for j in range(size)])
        return self._floors(subsets).reshape(size, len(sets), self.n).max(axis=0)
