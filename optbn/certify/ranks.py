"""All sets up to a size, by size, then in lexicographic order: where each is, and each without one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, combinations

import numpy as np

from optbn.certify.constants import Ints


class Ranks:
    """The sets of at most `largest` of n variables.

    sets[k]   int64[m, k], those of k members; first[k]: how many sets have fewer
    """

    def __init__(self, n: int, largest: int) -> None:
        self.n, self.largest = n, min(n, largest)
        sizes = [math.comb(n, size) for size in range(self.largest + 1)]
        self.first, self.count = [sum(sizes[:size]) for size in range(self.largest + 1)], sum(sizes)
        self.sets = [
            np.fromiter(chain.from_iterable(combinations(range(n), size)), np.int64, size * count).reshape(count, size)
            for size, count in enumerate(sizes)
        ]
        self._keys = [self._key(sets) for sets in self.sets]

    def without(self, size: int, member: int) -> Ints:
        """Of every set of that size, which of the smaller sets is left without one of its members."""
        return np.searchsorted(self._keys[size - 1], self._key(np.delete(self.sets[size], member, axis=1)))

    def position(self, members: Sequence[int]) -> int:
        """Which of all sets one is; members ascending."""
        size = len(members)
        key = self._key(np.array([members], dtype=np.int64).reshape(1, size))[0]
        return self.first[size] + int(np.searchsorted(self._keys[size], key))

    def _key(self, sets: Ints) -> Ints:
        """Numbers that ascend as the sets of one size do."""
        keys = np.zeros(len(sets), np.int64)
        for column in sets.T:
            keys = keys * self.n + column
        return keys
