"""Every family of at most D parents by the upper end of its score, in units of the answer's grid.

Whatever graphs add up to of these numbers is at least their score. So a family that scores no more than a subset of
its parents, both by upper ends, can be replaced by it, and is left out. One that scores NEAR units more is left out as
well, and the most that a variable's graphs may lose by that is added to the bound (`spare`): there rounding decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from optbn.certify.constants import Ints
from optbn.certify.ranks import Ranks

NEAR = 4  # units
LOWEST = -(1 << 50)  # units; scores of the grid are above, and to raise an upper end is no mistake
NEVER = -(1 << 60)

Families = list[list[tuple[int, int]]]  # per variable (parents as bits, units)


class Intervals(Protocol):
    """Scores as intervals of whole numbers, in units of 2^-bits."""

    @property
    def bits(self) -> int: ...

    def upper(self, size: int) -> Ints: ...

    def interval(self, child: int, parents: Sequence[int]) -> tuple[int, int]: ...


@dataclass(frozen=True)
class Upper:
    """families: those that a graph may need; spare: what graphs of others may have more; count: of all families."""

    families: Families
    spare: int
    count: int


def upper_ends(intervals: Intervals, ranks: Ranks, most: int, exponent: int, graph: Sequence[Sequence[int]]) -> Upper:
    """All families of at most `most` parents, in units of 2^-exponent; those of the graph are kept."""
    n = ranks.n
    families: Families = [[] for _ in range(n)]
    spare, count = np.zeros(n, np.int64), 0
    below = np.full((1, n), NEVER)
    for size in range(min(most, n - 1) + 1):
        sets = ranks.sets[size]
        units = in_units(intervals.upper(size), intervals.bits, exponent)
        there = np.ones(units.shape, np.bool_)
        np.put_along_axis(there, sets, False, axis=1)
        count += int(there.sum())
        if size:
            below = np.maximum.reduce([below[ranks.without(size, i)] for i in range(size)])
        beaten = there & (units <= below + NEAR)
        for v, parents in enumerate(graph):
            if len(parents) == size:
                beaten[ranks.position(sorted(parents)) - ranks.first[size], v] = False
        spare = np.maximum(spare, np.where(beaten, units - below, 0).max(axis=0))
        kept = there & ~beaten
        below = np.where(kept, np.maximum(below, units), below)
        for at, v in np.argwhere(kept).tolist():
            families[v].append((sum(1 << u for u in sets[at].tolist()), int(units[at, v])))
    return Upper(families, int(spare.sum()), count)


def in_units(ends: Ints, bits: int, exponent: int) -> Ints:
    """Upper ends in units of 2^-exponent, rounded up."""
    shift = bits - exponent
    coarse = -(-ends >> shift) if shift >= 0 else np.maximum(ends, LOWEST >> -shift) << -shift
    return np.maximum(coarse, LOWEST)
