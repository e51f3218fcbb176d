"""Families in blocks, as scores take them: sets of one size, each with all its families, for about a second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.files.rows import member_lists

if TYPE_CHECKING:
    from optbn.scores.families import Families

BYTES_PER_FAMILY = 160  # work space of a block: masks, floors, scores and a score's own lists
BLOCK_SECONDS = 1.0  # how long a block should take: short for Ctrl-C, long for sharing within a block
FIRST_BLOCK = 4096  # sets, before anything is known about the speed


@dataclass(frozen=True, eq=False)
class FamilyBlock:
    """Distinct predictor sets of one size, and the families on them: family `rows[i]` is (sets[at[i]], children[i])."""

    sets: NDArray[np.int32]
    rows: NDArray[np.int64]
    at: NDArray[np.int64]
    children: NDArray[np.int64]
    n: int


def blocks_of(
    families: Families, most: int, seconds: Callable[[NDArray[np.int32]], NDArray[np.float64]] | None = None
) -> Iterator[FamilyBlock]:
    """The families by size, then by predictor set in lexicographic order, in blocks of a bounded number of sets.

    A block has at most FIRST_BLOCK sets, and takes BLOCK_SECONDS as far as the score knows what sets take; see
    levels.py for why blocks exist at all.
    """
    n = len(families.names)
    members, offsets = member_lists(families.masks, n)
    sizes = np.diff(offsets)
    for size in np.unique(sizes).tolist():
        rows = np.flatnonzero(sizes == size)
        sets = members[offsets[rows][:, None] + np.arange(size)].astype(np.int32).reshape(len(rows), size)
        order = np.lexsort(sets.T[::-1]) if size else np.arange(len(rows))
        rows, sets = rows[order], sets[order]
        fresh = np.ones(len(rows), dtype=np.bool_)
        fresh[1:] = (sets[1:] != sets[:-1]).any(axis=1)
        number = np.cumsum(fresh) - 1
        count = int(number[-1]) + 1
        step = min(most, FIRST_BLOCK)
        distinct = sets[fresh]
        last = 0
        while last < count:
            first, last = last, min(last + step, count)
            if seconds is not None:
                expected = np.cumsum(seconds(distinct[first:last]))
                last = first + 1 + min(last - first - 1, int(np.searchsorted(expected, BLOCK_SECONDS)))
            lo, hi = np.searchsorted(number, [first, last])
            yield FamilyBlock(
                distinct[first:last], rows[lo:hi], number[lo:hi] - first, families.children[rows[lo:hi]], n
            )
