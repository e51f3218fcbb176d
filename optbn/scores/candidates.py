"""Every candidate parent set, level by level, and the pruning of those that a subset matches.

A set P is a candidate of v when the constraints allow it; it survives when its score is greater than that of every
proper subset that is a candidate itself. No optimal graph needs the others: a subset with at least the same score can
stand in for them. With best(P, v) = max(score(P, v), floor(P, v)) and

    floor(P, v) = max over the members u of P: best(P - u, v),

one array per size is enough, and a score sees the floor before it computes (BoundScore.block). best is -inf where no
subset is a candidate (a required parent is missing): then nothing prunes.

Memory: best takes 8 binom(n, k) bytes per response. Responses are cut into groups so that two such arrays fit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import LimitError, OptbnError
from optbn.base.memory import readable
from optbn.scores.kernels.sets import best_of_subsets, binomials, sets_between
from optbn.scores.left_out import too_dear
from optbn.scores.store import Block, Survivors

if TYPE_CHECKING:
    from optbn.scores.parent_sets import ParentSets
    from optbn.scores.protocol import BoundScore


@dataclass(frozen=True, eq=False)
class Candidates:
    """The work of one run: a bound score, constraints, and the responses per group."""

    names: tuple[str, ...]
    score: BoundScore
    constraints: ParentSets
    width: int

    @cached_property
    def choose(self) -> NDArray[np.int64]:
        """int64[n + 1, ..]: see kernels/sets.py."""
        table: NDArray[np.int64] = binomials(self.n, self.constraints.largest)
        return table

    @property
    def n(self) -> int:
        return len(self.names)

    @property
    def groups(self) -> int:
        return -(-self.n // self.width)

    def group(self, number: int) -> slice:
        """The responses of one group."""
        return slice(number * self.width, min(self.n, (number + 1) * self.width))

    def sets(self, size: int) -> int:
        """How many predictor sets of that size there are."""
        return int(self.choose[self.n, size])

    def compute(self, block: Block, below: NDArray[np.float64], best: NDArray[np.float64] | None) -> Survivors:
        """Score a block and fill its rows of `best`; `below` is `best` of the size below."""
        sets, floor = self._begin(block, below)
        group = self.group(block.group)
        wanted = self.constraints.wanted(sets)
        wanted[too_dear(self.score, sets)] = False
        if block.group or floor.shape[1] < self.n:
            wanted[:, : group.start] = False
            wanted[:, group.stop :] = False
        scores = np.full(floor.shape, -np.inf)
        used = np.flatnonzero(wanted.any(axis=1))
        if len(used):
            whole = np.full((len(used), self.n), -np.inf)
            whole[:, group] = floor[used]
            # With required parents not all subsets are candidates, so the floor says nothing about the others.
            whole[:, self.constraints.needs > 0] = -np.inf
            scores[used] = self.score.block(sets[used], wanted[used], whole)[:, group]
            self._check(sets, scores, floor, wanted[:, group], group.start)
        if best is not None:
            np.maximum(scores, floor, out=best[block.first : block.last])
        rows, children = np.nonzero(scores > floor)
        return Survivors(rows, children + group.start, scores[rows, children])

    def seconds(self, block: Block) -> NDArray[np.float64]:
        """What the score expects each set of a block to take; 0 where it does not tell, or leaves the set out."""
        expected = np.zeros(block.last - block.first)
        if hasattr(self.score, "seconds"):
            sets = sets_between(self.n, block.size, block.first, block.last, self.choose)
            done = ~too_dear(self.score, sets)
            expected[done] = self.score.seconds(sets[done])
        return expected

    def restore(
        self, block: Block, survivors: Survivors, below: NDArray[np.float64], best: NDArray[np.float64] | None
    ) -> None:
        """Fill a block's rows of `best` from its survivors."""
        if best is None:
            return
        _, floor = self._begin(block, below)
        floor[survivors.rows, survivors.children - self.group(block.group).start] = survivors.scores
        best[block.first : block.last] = floor

    def masks(self, block: Block, survivors: Survivors) -> NDArray[np.uint64]:
        """uint64[m, W]: the survivors' parent sets."""
        sets = sets_between(self.n, block.size, block.first, block.last, self.choose)[survivors.rows]
        masks = np.zeros((len(sets), max(1, -(-self.n // 64))), dtype=np.uint64)
        for j in range(block.size):
            member = sets[:, j]
            masks[np.arange(len(sets)), member // 64] |= np.uint64(1) << (member % 64).astype(np.uint64)
        return masks

    def _begin(self, block: Block, below: NDArray[np.float64]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """(sets, floor float64[m, responses of the group]) of a block."""
        sets = sets_between(self.n, block.size, block.first, block.last, self.choose)
        return sets, best_of_subsets(sets, below, self.n, self.choose)

    def _check(
        self,
        sets: NDArray[np.int32],
        scores: NDArray[np.float64],
        floor: NDArray[np.float64],
        wanted: NDArray[np.bool_],
        start: int,
    ) -> None:
        """A score that is not a number, or infinite where nothing discards it, stops the run by name."""
        bad = wanted & (np.isnan(scores) | (scores == np.inf) | ((scores == -np.inf) & (floor == -np.inf)))
        if bad.any():
            row, column = np.argwhere(bad)[0]
            parents = ", ".join(self.names[u] for u in sets[row])
            raise OptbnError(
                f"the score of {self.names[start + column]!r} with parents {{{parents}}} is {scores[row, column]}; "
                "scores must be finite numbers"
            )


def group_width(n: int, largest: int, memory: int) -> int:
    """The responses per group such that `best` of two sizes in turn takes at most half of the memory."""
    rows = max((math.comb(n, k) + math.comb(n, k - 1) for k in range(1, largest)), default=1)
    width = memory // 2 // max(1, 8 * rows)
    if width < 1:
        raise LimitError(
            f"parent sets of up to {largest} of {n} variables need {readable(16 * rows)} of memory even one child at a "
            f"time, and {readable(memory)} may be used: lower max_parents, or raise the memory"
        )
    return min(n, width)
