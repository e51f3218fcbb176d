"""The families that a graph may use, as the checker's own searches read them: numbers in arrays.

At most MOST variables: a set of them is one whole number of 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

MOST = 62
FITS = 1 << 58  # sums of units below this do not overflow 64 bits

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Families:
    """Families of n variables, those of a variable together, its best first.

    child, masks, units   int64[m]: whose it is, its parents as bits, its score
    before, adjacent      int64[n]: what must come before a variable in some order that the graph goes with, and what
                          must be adjacent to it, as bits. Both are symmetric in what they say: u in adjacent[v] has v
                          in adjacent[u]; before is closed
    """

    child: Ints
    masks: Ints
    units: Ints
    before: Ints
    adjacent: Ints

    @classmethod
    def of(cls, listed: Sequence[Sequence[tuple[int, int]]]) -> Self | None:
        """From (parents as bits, units) per variable; None where 64 bits do not do."""
        n = len(listed)
        if n > MOST:
            return None
        try:
            units = np.array([units for own in listed for _, units in own], dtype=np.int64)
        except OverflowError:
            return None
        if max(int(units.max(initial=0)), -int(units.min(initial=0))) > FITS // max(n, 1):
            return None
        child = np.repeat(np.arange(n), [len(own) for own in listed])
        masks = np.array([mask for own in listed for mask, _ in own], dtype=np.int64)
        order = np.lexsort((-units, child))
        nothing = np.zeros(n, dtype=np.int64)
        return cls(child, masks[order], units[order], nothing, nothing.copy())

    @property
    def n(self) -> int:
        """Variables."""
        return len(self.before)

    @property
    def offsets(self) -> Ints:
        """int64[n + 1]: where the families of each variable begin."""
        return np.searchsorted(self.child, np.arange(self.n + 1))

    def kept(self, keep: Bools, units: Ints) -> tuple[Self, Ints]:
        """Some of the families, with other units; and their numbers here."""
        rows = np.flatnonzero(keep)
        rows = rows[np.lexsort((-units[rows], self.child[rows]))]
        return replace(self, child=self.child[rows], masks=self.masks[rows], units=units[rows]), rows


def worth_of_arcs(families: Families) -> NDArray[np.float64]:
    """[v, u]: the units that the best family of v loses without the families that have u."""
    n, offsets = families.n, families.offsets
    worth = np.zeros((n, n))
    for v in range(n):
        masks, units = (each[offsets[v] : offsets[v + 1]] for each in (families.masks, families.units))
        for u in range(n):
            worth[v, u] = min(float(units[0] - units[masks >> u & 1 == 0].max(initial=-FITS)), 2.0**53)
    return worth


def members_of(mask: int) -> tuple[int, ...]:
    """The variables of a set."""
    return tuple(v for v in range(mask.bit_length()) if mask >> v & 1)


def within(families: Sequence[tuple[int, int]], part: int) -> list[tuple[int, int]]:
    """The families (parents as bits, units) with parents outside the part forgotten; one that has a subset which scores
    as much can be replaced by it, so only the others are kept."""
    kept: dict[int, int] = {}
    inside = [(mask & part, units) for mask, units in families]
    for mask, units in sorted(inside, key=lambda family: (-family[1], family[0].bit_count())):
        if len(kept) < 1 << mask.bit_count():
            beaten = any(other & ~mask == 0 for other in kept)
        else:
            beaten = any(smaller in kept for smaller in _subsets(mask))
        if not beaten:
            kept[mask] = units
    return list(kept.items())


def _subsets(mask: int) -> Iterator[int]:
    """Every subset, itself included, the largest first."""
    smaller = mask
    while smaller:
        yield smaller
        smaller = (smaller - 1) & mask
    yield 0
