"""The rows of a score file as they stand there: nothing snapped, nothing pruned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import TableError
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.base.whole import MEANING, WORDS

SMALL = 1 << 27  # bytes that the rows of any file may take
TIMES = 100  # bytes of rows per byte of a larger file; with a thousand variables there are at most forty


@dataclass(frozen=True, eq=False)
class Rows:
    """One row per scored parent set.

    names     the n variables
    children  int64[m]
    masks     uint64[m, W], the parents
    scores    float64[m], finite
    about     what the file says of its scores: the score, its settings, the data, and whether all sets are there
    """

    names: tuple[str, ...]
    children: NDArray[np.int64]
    masks: NDArray[np.uint64]
    scores: NDArray[np.float64]
    about: Mapping[str, Any] = field(default_factory=dict)

    def table(self, keep_dominated: bool = False) -> ScoreTable:
        """The instance: scores on the grid, dominated rows dropped (unless the caller wants them)."""
        whole = MEANING.get(str(self.about.get("sets")))
        return ScoreTable.build(self.names, self.children, self.masks, self.scores, keep_dominated, whole)

    @classmethod
    def of(cls, table: ScoreTable) -> Rows:
        """The rows of a table."""
        about = {} if table.whole is None else {"sets": WORDS[table.whole]}
        return cls(table.names, table.children, table.masks, table.scores, about)

    def __len__(self) -> int:
        return len(self.scores)


def member_lists(masks: NDArray[np.uint64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Masks as lists: (members, offsets), the members of row i being members[offsets[i]:offsets[i + 1]], ascending."""
    little = np.ascontiguousarray(masks.astype("<u8", copy=False))
    bits = np.unpackbits(
        little.view(np.uint8).reshape(len(masks), 8 * masks.shape[1]), axis=1, bitorder="little", count=n
    )
    members = np.nonzero(bits)[1].astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(bits.sum(axis=1, dtype=np.int64))])
    return members, offsets


def check_room(need: int, size: int, source: str) -> None:
    """Refuse rows of `need` bytes in a file of `size`: so small a file is not meant so."""
    if need > max(SMALL, TIMES * size):
        raise TableError(f"{source}: its rows would take {need / 1e9:.1f} GB, far too much for a file of its size")


def empty_masks(rows: int, n: int, size: int, source: str) -> NDArray[np.uint64]:
    """Room for this many parent sets of n variables."""
    words = max(1, -(-n // 64))
    check_room(8 * words * rows, size, source)
    return np.zeros((rows, words), dtype=np.uint64)
