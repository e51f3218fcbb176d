"""The families branch and cut works on: rows of the table that can still be in a better graph, as parent lists."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.table import ScoreTable
from optbn_solvers.relaxation.kernels.families import parent_lists


@dataclass(frozen=True, eq=False)
class Families:
    """Some rows of a table, children together and best first.

    rows     int64[k], ascending row numbers of the table
    offsets  int64[n + 1], families of child v are offsets[v]:offsets[v + 1] (a child may have none)
    masks    uint64[k, W]
    units    int64[k]
    starts   int64[k + 1], parents int64[...]: the parents of family f are parents[starts[f]:starts[f + 1]]
    """

    rows: NDArray[np.int64]
    offsets: NDArray[np.int64]
    masks: NDArray[np.uint64]
    units: NDArray[np.int64]
    starts: NDArray[np.int64]
    parents: NDArray[np.int64]

    @classmethod
    def of(cls, table: ScoreTable, rows: NDArray[np.int64]) -> Families:
        """The given rows (ascending) of the table."""
        masks = table.masks[rows]
        offsets = np.searchsorted(rows, table.offsets).astype(np.int64)
        return cls(rows, offsets, masks, table.units[rows], *parent_lists(masks))

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.offsets) - 1

    @cached_property
    def children(self) -> NDArray[np.int64]:
        """int64[k], the child of each family."""
        return np.repeat(np.arange(self.n), np.diff(self.offsets))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """int64[k], the number of parents."""
        return np.diff(self.starts)

    def positions(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where rows of the table stand here, -1 for those that do not."""
        at = np.minimum(np.searchsorted(self.rows, rows), max(0, len(self) - 1))
        return np.where(self.rows[at] == rows, at, -1) if len(self) else np.full(len(rows), -1, dtype=np.int64)

    def lists(self, which: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(starts, parents) of some families, for kernels that look at the support of a point."""
        sizes = self.sizes[which]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        shift = np.repeat(self.starts[which] - starts[:-1], sizes)
        return starts, self.parents[np.arange(starts[-1]) + shift]
