"""Predictor sets whose lattice is too large to lay out: their sites and plan, set by set.

kernels/sparse.py finds the boxes that hold rows; here they are put in order and run through the same kernel as the
others. A side of a split has fewer rows than the box, or as many and a smaller real part, so sorting by those two is a
bottom-up order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.scores.kernels.arrange import ROWS, arrange
from optbn.scores.kernels.climb import climb
from optbn.scores.kernels.sites import refine, tabulate
from optbn.scores.trees.responses import BoundLeaves
from optbn.scores.trees.scratch import Empty, aligned

LANES_AT_A_TIME = 8
"""Responses climbed together; bounds the memory per box."""


@dataclass(frozen=True, eq=False)
class Sites:
    """The sites of one predictor set (kernels/sites.py)."""

    coordinates: NDArray[np.int32]
    rows: NDArray[np.int32]
    content: tuple[NDArray[Any], ...]

    @classmethod
    def of(cls, leaves: BoundLeaves, members: NDArray[np.int32]) -> Sites:
        columns, responses = leaves.columns, leaves.responses
        cells = columns.predictors.cells
        n_rows, k = columns.data.n_rows, len(members)
        site, coordinates, n = np.zeros(n_rows, np.int32), np.zeros((n_rows, k), np.int32), 1
        for j, v in enumerate(members):
            size = int(columns.predictors.sizes[v])
            finer, finer_coordinates = np.empty_like(site), np.zeros_like(coordinates)
            lookup = np.empty(n * size, np.int32)
            n = refine(cells[v], size, site, n, coordinates, j, finer, lookup, finer_coordinates)
            site, coordinates = finer, finer_coordinates
        rows = np.empty(n_rows, np.int32)
        reals = responses.values.shape[1]
        content: tuple[NDArray[Any], ...] = (
            np.empty((n_rows, responses.onehot.shape[1]), np.uint32),
            aligned(n_rows, reals, np.float64, np.empty),
            aligned(n_rows, reals, np.float64, np.empty),
        )
        has_number = np.full(reals, -1, np.int64)
        has_number[responses.real[leaves.is_real]] = responses.there[leaves.is_real]
        tabulate(site, n, responses.onehot, responses.values, has_number, rows, *content)
        return cls(coordinates[:n], rows[:n], content)


@dataclass(frozen=True, eq=False)
class SparsePlan:
    """A plan (kernels/climb.py) of only the boxes that hold rows, bottom-up, slot 0 being the box without any."""

    names: NDArray[np.int64]
    plan: tuple[NDArray[Any], ...]
    sites: Sites

    @classmethod
    def of(
        cls,
        sites: Sites,
        names: NDArray[np.int64],
        rows: NDArray[np.int64],
        site: NDArray[np.int64],
        offset: NDArray[np.int64],
        left: NDArray[np.uint32],
        right: NDArray[np.uint32],
        real: NDArray[np.bool_],
        leaf_rows: int,
    ) -> SparsePlan:
        """Sort the boxes of kernels/sparse.py: a side has fewer rows, or the same and a smaller real part."""
        order = np.lexsort((names[:, real].sum(axis=1), rows))
        slot = np.zeros(len(names) + 1, np.int64)
        slot[order + 1] = np.arange(1, len(names) + 1)
        begin, count = offset[:-1][order], np.diff(offset)[order]
        merged = np.where(count > 0, begin, 0)
        first = np.where(site[order] >= 0, site[order], slot[left[merged]] if len(left) else 0)
        second = np.where(site[order] >= 0, -1, slot[right[merged]] if len(right) else 0)
        count[rows[order] <= leaf_rows] = 0
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + np.repeat(begin, count)
        plan = (
            *(np.concatenate([[0], array]).astype(np.int32) for array in (first, second, rows[order])),
            np.concatenate([[0, 0], np.cumsum(count)]),
            *(slot[side[within]].astype(np.uint32) for side in (left, right)),
        )
        return cls(np.concatenate([np.zeros_like(names[:1]), names[order]]), plan, sites)

    def climb(
        self, leaves: BoundLeaves, wanted: NDArray[np.bool_], cost: float
    ) -> Iterator[tuple[NDArray[np.int64], tuple[NDArray[Any], ...]]]:
        """Run the plan for a few responses at a time: (responses, scratch with value last); see `workspace`."""
        responses = leaves.responses
        inside = responses.order[wanted[responses.order]]
        for at in range(0, len(inside), LANES_AT_A_TIME):
            lane = inside[at : at + LANES_AT_A_TIME]
            cats = int((responses.levels[lane] > 0).sum())
            table = np.empty((ROWS, max(responses.onehot.shape[1], len(lane)) + 3), np.int64)
            lanes = (table, *arrange(lane, len(lane), cats, tuple(responses), table), cats, len(lane) - cats)
            work = workspace(len(self.names), len(lane), leaves.widths[lane], leaves.is_real[lane])
            climb(self.plan, len(self.names), cost, self.sites.content, lanes, leaves.tables_of(lane), work)
            yield lane, work


def workspace(
    slots: int, lanes: int, widths: NDArray[np.int64], real: NDArray[np.bool_], empty: Empty = np.zeros
) -> tuple[NDArray[Any], ...]:
    """What kernels/climb.py writes into for any `lanes` of the responses: counts, mean, spread, value. Rows are whole
    cache lines, so that no vector straddles two; pages never touched cost nothing. One slot more than there are, for
    vectors that begin where the real responses of the last one do."""
    width, reals, values = _row_sizes(lanes, widths, real)
    return (
        aligned(slots, width, np.uint32, empty),
        aligned(slots + 1, reals, np.float64, empty)[:slots],
        aligned(slots + 1, reals, np.float64, empty)[:slots],
        aligned(slots + 1, values, np.float64, empty)[:slots],
    )


def bytes_per_slot(lanes: int, widths: NDArray[np.int64], real: NDArray[np.bool_]) -> int:
    """What a slot takes in a workspace."""
    width, reals, values = _row_sizes(lanes, widths, real)
    return 4 * width + 16 * reals + 8 * values


def _row_sizes(lanes: int, widths: NDArray[np.int64], real: NDArray[np.bool_]) -> tuple[int, int, int]:
    """(counts, moments, values) per slot for any `lanes` of responses, with this many columns of counts."""
    most = int(np.sort(widths)[::-1][:lanes].sum())
    reals = min(lanes, int(real.sum()))
    return -(-most // 16) * 16, -(-reals // 8) * 8, -(-lanes // 8) * 8
