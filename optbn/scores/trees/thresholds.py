"""Families with real parents that may be cut between any two values: every box by its number, one response at a time.

The plan of such a set would list more splits than memory holds, and a response needs few of them looked at; see
kernels/thresholds.py, which this hands what it wants, and whose boxes it traces back for `fitted`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.scores.kernels.thresholds import best_of_boxes, smaller_box
from optbn.scores.trees.fitted import sides_of_part
from optbn.scores.trees.large import Sites
from optbn.scores.trees.leaves import highest_density
from optbn.scores.trees.responses import BoundLeaves

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
NOTHING = np.zeros(1)


@dataclass(frozen=True, eq=False)
class Boxes:
    """All boxes of a predictor set with a response's content and best trees.

    work       (rows, counts, mean, spread, value), see `best_of_boxes`; a row per box, the last holds all rows
    looked_at  how many cuts were tried
    """

    kinds: Ints
    parts: Ints
    work: tuple[NDArray[Any], ...]
    looked_at: int

    @classmethod
    def of(
        cls, leaves: BoundLeaves, sites: Sites, members: NDArray[np.int32], child: int, cost: float, leaf_rows: int
    ) -> Boxes:
        """cost: of a leaf; leaf_rows: boxes of so few rows are best left whole."""
        predictors, responses, tables = leaves.columns.predictors, leaves.responses, leaves.tables
        kinds, sizes, parts = (of[members] for of in (predictors.kinds, predictors.sizes, predictors.parts))
        start, levels, row = (int(of[child]) for of in (responses.start, responses.levels, responses.row))
        real = bool(leaves.is_real[child])
        counts, *moments = sites.content
        columns = [part[: len(sites.rows), int(responses.real[child])].copy() if real else NOTHING for part in moments]
        if real:
            normal = (tables.constant[row], tables.power[row], tables.shrink[row], float(tables.scale[row]))
            counted, per_row, leaf_rows = (NOTHING, NOTHING), highest_density(tables, row), 1
        else:
            normal, per_row = (NOTHING, NOTHING, NOTHING, 0.0), np.zeros(leaves.total_units + 1)
            counted = (tables.per_level[row], tables.total[row])
        boxes = int(parts.prod())
        work: tuple[NDArray[Any], ...] = (
            np.empty(boxes, np.int32),
            np.empty((boxes, levels), np.uint32),
            *(np.empty((boxes, int(real))) for _ in range(2)),
            np.empty(boxes),
        )
        looked_at = best_of_boxes(
            (kinds, sizes, parts),
            (sites.coordinates, sites.rows, counts[: len(sites.rows), start : start + levels].copy(), *columns),
            (cost, leaf_rows, counted, normal, per_row),
            work,
        )
        return cls(kinds, parts, work, looked_at)

    @property
    def value(self) -> float:
        """Of the best tree, without c(P)."""
        return float(self.work[4][-1])

    def as_plan(self) -> tuple[Ints, tuple[NDArray[Any], ...], tuple[NDArray[Any], ...]]:
        """(names, plan, work) as of a plan (large.py) of the boxes that best trees may split into, in their smallest
        forms, each with all its splits; slot 0 stands for all other boxes, where no best tree goes."""
        value, last = self.work[4], len(self.work[4]) - 1
        splits: dict[int, tuple[Ints, Ints]] = {}
        waiting = [self._smallest(last)]
        while waiting:
            box = waiting.pop()
            if box in splits:
                continue
            left, right = self._sides(box)
            best = value[left] + value[right] == value[box]
            for side in (left, right):
                side[best] = [self._smallest(int(other)) for other in side[best]]
                side[~best] = -1
                waiting += side[best].tolist()
            splits[box] = left, right
        boxes = np.array(sorted(splits), np.int64)
        sides = [np.concatenate([splits[box][side] for box in boxes.tolist()]) for side in range(2)]
        left, right = (np.where(side < 0, 0, np.searchsorted(boxes, side) + 1) for side in sides)
        offset = np.cumsum([0, 0, *(len(splits[box][0]) for box in boxes.tolist())])
        rows, counts, mean, spread, value = (np.concatenate([np.zeros_like(of[:1]), of[boxes]]) for of in self.work)
        value[0] = -np.inf
        names = np.concatenate([np.zeros((1, len(self.parts)), np.int64), self._names(boxes)])
        return names, (left, right, rows, offset, left, right), (counts, mean, spread, value[:, None])

    def _smallest(self, box: int) -> int:
        """The box without the cells that no row of it has."""
        while True:
            smaller = smaller_box(self.kinds, self.parts, box, self.work[0])
            if smaller < 0:
                return box
            box = int(smaller)

    def _names(self, boxes: Ints) -> Ints:
        """int64[boxes, k]: the part of each member."""
        return np.column_stack(np.unravel_index(boxes, self.parts[::-1])[::-1])

    def _sides(self, box: int) -> tuple[Ints, Ints]:
        """The numbers of both sides of every split."""
        (name,), stride = self._names(np.array([box])), np.cumprod(self.parts) // self.parts
        pairs = [
            (box + (one - p) * step, box + (other - p) * step)
            for kind, parts, p, step in zip(
                self.kinds.tolist(), self.parts.tolist(), name.tolist(), stride.tolist(), strict=True
            )
            for one, other in sides_of_part(kind, parts, p)
        ]
        left, right = np.array(pairs, np.int64).reshape(-1, 2).T
        return left.copy(), right.copy()
