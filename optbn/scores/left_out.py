"""Families that are left out one by one because their local models are too many to go through, and their number.

Leaving out a family is a restriction of the search, as a limit on the number of parents is: the answer is the best of
the others, and says how many these were.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optbn.scores.kernels.sets import binomials, sets_between

if TYPE_CHECKING:
    from optbn.scores.parent_sets import ParentSets
    from optbn.scores.protocol import BoundScore

TOGETHER = 1 << 16
"""Sets looked at together when those left out are counted."""


def too_dear(score: BoundScore, sets: NDArray[np.int32]) -> NDArray[np.bool_]:
    """bool[m]: the sets that the score leaves out."""
    if not hasattr(score, "too_dear"):
        return np.zeros(len(sets), np.bool_)
    dear: NDArray[np.bool_] = score.too_dear(sets)
    return dear


@dataclass(frozen=True, eq=False)
class Hurried:
    """A score that also leaves out sets of several parents that it expects to take more than `most` seconds: where time
    is limited, one of them must not take the time of thousands."""

    bound: BoundScore
    most: float

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bound, name)

    def too_dear(self, sets: NDArray[np.int32]) -> NDArray[np.bool_]:
        """See optbn.scores.protocol."""
        dear = too_dear(self.bound, sets)
        if sets.shape[1] < 2 or dear.all():
            return dear
        dear[~dear] = self.bound.seconds(sets[~dear]) > self.most  # type: ignore[attr-defined]
        return dear


@dataclass(frozen=True, eq=False)
class Alone:
    """A score with `alone`, for networks without arcs: nothing is laid out for it."""

    bound: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bound, name)

    def fitted(self, child: int, parents: tuple[int, ...]) -> Any:
        """See optbn.scores.protocol."""
        return self.bound.fitted(child, parents) if parents else self.bound.alone(child)


def dear_sets(score: BoundScore, candidates: ParentSets) -> Iterator[NDArray[np.int32]]:
    """The candidate sets that the score leaves out, block by block."""
    if not hasattr(score, "too_dear"):
        return
    parents = np.flatnonzero(candidates.allowed.any(axis=0)).astype(np.int32)
    n, choose = len(parents), binomials(candidates.n, candidates.largest)
    for size in range(1, candidates.largest + 1):
        for first in range(0, int(choose[n, size]), TOGETHER):
            last = min(first + TOGETHER, int(choose[n, size]))
            sets = parents[sets_between(n, size, first, last, choose)]
            dear = sets[too_dear(score, sets)]
            if len(dear):
                yield dear


def families_left_out(score: BoundScore, candidates: ParentSets) -> int:
    """How many of the candidate families the score leaves out."""
    return sum(int(candidates.wanted(dear).sum()) for dear in dear_sets(score, candidates))
