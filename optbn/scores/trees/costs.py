"""What the trees of a predictor set cost to go through: boxes, splits, seconds, bytes; and when that is too much.

Of a lattice that is laid out boxes and splits are counted; where only boxes that hold rows are, both are at most what
each row is within. Seconds are what was measured where every box holds rows, so they are rather too many: a box adds up
the counts of all responses' levels, a split compares all responses. A set that is too dear is left out alone, and
counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from optbn.scores.kernels.kinds import CATEGORICAL, ORDINAL, REAL
from optbn.scores.kernels.sums import LANES as SIEVE_LANES
from optbn.scores.trees.boxes import LARGEST_SIZE
from optbn.scores.trees.columns import count_splits
from optbn.scores.trees.large import LANES_AT_A_TIME, bytes_per_slot
from optbn.scores.trees.responses import BoundLeaves
from optbn.scores.trees.sieve import bits_for

Floats = NDArray[np.float64]

MOST_DENSE_BOXES = 1 << 20
MOST_BOXES = 1 << 22
MOST_SPLITS = 1 << 27
"""A set with more boxes than the first goes to the sparse lattice; one that has more than the others there is refused.
Splits take 8 bytes each, boxes about 200: a gigabyte either way."""
MOST_SPARSE_SPLITS = 1 << 25
"""A set that may have more of them in the sparse lattice (ten seconds) is left out where others are scored."""
MOST_NUMBERED, MOST_NUMBERED_SPLITS = 1 << 24, 1 << 32
"""Where boxes go by their numbers (thresholds.py): more are not gone through; ten seconds a response."""
SECONDS_PER_SPLIT = 2.5e-7
SECONDS_PER_CELL, SECONDS_PER_TABLE = 4e-8, 2.5e-8
"""Of the sparse lattice."""
SECONDS_PER_COUNT, SECONDS_PER_SUM, SECONDS_PER_ROW, SECONDS_PER_SET = 1e-8, 1.5e-9, 1.2e-8, 1e-4
"""For a column of counts of a box; for a response of a split; for a row of each member."""
SECONDS_PER_NUMBER, SECONDS_PER_CUT = 1e-7, 2e-9
"""For a response of a numbered box, and of one of its cuts, of which some are looked at."""
SECONDS_UNCOMPILED = 3e-4, 1e-7, 4e-9
"""Without the kernels: of a set, of a box, of a number that is looked up or added."""
WORK_BYTES = 1 << 28
"""Dense lattices run fewer responses at a time rather than take more memory than this for them."""
LEAST_ROOM = 1 << 25
"""For a set, however little memory there is."""
DENSE_BOX_BYTES, SPARSE_BOX_BYTES, ENTRY_BYTES, SPLIT_BYTES = 36, 200, 32, 8


@dataclass
class Costs:
    """Of predictor sets, int32[m, k], for these responses; `room` is how many bytes a set may take."""

    leaves: BoundLeaves
    room: int = 8 * WORK_BYTES

    @property
    def rows_bytes(self) -> int:
        """What all rows take: cells, columns of ones and zeros, tables by counts."""
        data, keys = self.leaves.data, self.leaves.rows
        columns = int(sum(max(1, r) for r in data.cardinalities))
        tables = 8 * (2 * len(keys[0]) + 3 * len(keys[1]) + 1)
        return data.n_rows * (
            8 * data.n_variables + -(-columns // 32) * 32 + 8 * int(self.leaves.is_real.sum()) + tables
        )

    @property
    def preparation(self) -> float:
        """Roughly the seconds until the rows are laid out and leaves have their tables: nothing is scored before."""
        data, keys = self.leaves.data, self.leaves.rows
        tables = len(keys[0]) + len(keys[1])
        return data.n_rows * (data.n_variables * SECONDS_PER_CELL + tables * SECONDS_PER_TABLE)

    def extent(self, sets: NDArray[np.int32]) -> tuple[Floats, Floats]:
        """Per set how many boxes and splits its full lattice has."""
        parts = self._parts[sets]
        boxes = parts.prod(axis=1)
        return boxes, (boxes[:, None] * self._splits[sets] / parts).sum(axis=1)

    def laid_out(self, sets: NDArray[np.int32], boxes: Floats, splits: Floats) -> NDArray[np.bool_]:
        """Whether a set's lattice is laid out in full."""
        fits: NDArray[np.bool_] = (
            (boxes <= MOST_DENSE_BOXES) & (splits <= MOST_SPLITS) & (self._bits[sets].sum(axis=1) <= 64)
        )
        return fits

    def numbered(self, sets: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether boxes are gone through by their numbers: real members may be cut anywhere (thresholds.py)."""
        boxes, splits = self.extent(sets)
        predictors = self.leaves.columns.predictors
        anywhere = ((predictors.kinds == ORDINAL) & self.leaves.is_real)[sets].any(axis=1)
        return np.asarray(anywhere & ~self.laid_out(sets, boxes, splits) & (boxes <= MOST_NUMBERED))

    def seconds(self, sets: NDArray[np.int32]) -> Floats:
        """Roughly what each set takes: a column of many unordered levels makes a set thousands of times dearer."""
        found, numbered = self._seconds(sets), self.numbered(sets)
        if numbered.any():
            boxes, splits = (extent[numbered] for extent in self.extent(sets))
            each = boxes * SECONDS_PER_NUMBER + splits * SECONDS_PER_CUT
            found[numbered] = self.leaves.data.n_variables * each
        return found

    def _seconds(self, sets: NDArray[np.int32]) -> Floats:
        boxes, splits = self._held(sets)
        planned = np.where(self.laid_out(sets, *self.extent(sets)), 0.0, SECONDS_PER_SPLIT)
        lanes, counts = self.leaves.data.n_variables, int(self.leaves.widths.sum())
        rows = self.leaves.data.n_rows * sets.shape[1]
        passes = rows * SECONDS_PER_ROW + SECONDS_PER_SET
        found: Floats = splits * (planned + lanes * SECONDS_PER_SUM) + boxes * counts * SECONDS_PER_COUNT + passes
        return found

    def uncompiled(self, sets: NDArray[np.int32]) -> float:
        """Roughly the seconds that all sets take without the kernels (uncompiled.py)."""
        if self._bits[sets].max(initial=0) > LARGEST_SIZE:
            return math.inf
        boxes, (held, parted) = self.extent(sets)[0], self._held(sets)
        columns, rows = int(self.leaves.widths.sum()), self.leaves.data.n_rows
        numbers = (held + parted).sum() * columns + len(sets) * rows * (sets.shape[1] + columns)
        by_set, by_box, by_number = SECONDS_UNCOMPILED
        return float(len(sets) * by_set + boxes.sum() * by_box + numbers * by_number)

    def bytes(self, sets: NDArray[np.int32]) -> int:
        """Roughly what the dearest of these takes while it is gone through."""
        boxes, splits = self.extent(sets)
        laid_out, numbered = self.laid_out(sets, boxes, splits), self.numbered(sets)
        widths, real = self.leaves.widths, self.leaves.is_real
        most = int(boxes[laid_out].max(initial=1))
        dense = most * (DENSE_BOX_BYTES + bytes_per_slot(self.lanes_at_a_time(most), widths, real))
        dense += min(self.sieve_bytes, self._sieve_row * most * (1 + int(widths.max(initial=0)))) + ENTRY_BYTES * most
        dense += SPLIT_BYTES * int(splits[laid_out].max(initial=0))
        dense = max(dense, int(boxes[numbered].max(initial=0)) * self._number_bytes)
        rest = ~laid_out & ~numbered
        if not rest.any():
            return dense
        held, parted = self._held(sets[rest])
        lanes = bytes_per_slot(min(LANES_AT_A_TIME, len(widths)), widths, real)
        sparse = held * (SPARSE_BOX_BYTES + lanes) + parted * SPLIT_BYTES
        return max(dense, int(sparse.max()))

    def too_dear(self, sets: NDArray[np.int32]) -> NDArray[np.bool_]:
        """bool[m]: sets whose trees are too many to go through, in time or in memory."""
        boxes, splits = self.extent(sets)
        held, parted = self._held(sets)
        laid_out = self.laid_out(sets, boxes, splits)
        widths, real = self.leaves.widths, self.leaves.is_real
        one, some = (bytes_per_slot(lanes, widths, real) for lanes in (1, min(LANES_AT_A_TIME, len(widths))))
        bytes_of_box = np.where(laid_out, DENSE_BOX_BYTES + one, SPARSE_BOX_BYTES + some)
        needed = held * bytes_of_box + parted * SPLIT_BYTES
        dear = (parted > np.where(laid_out, MOST_SPLITS, MOST_SPARSE_SPLITS)) | (needed > self.room)
        long = (splits > MOST_NUMBERED_SPLITS) | (boxes * self._number_bytes > self.room)
        return np.where(self.numbered(sets), long, dear)

    def lanes_at_a_time(self, boxes: int) -> int:
        """How many responses to run together: all, unless their rows of every box would take too much memory."""
        lanes = self.leaves.data.n_variables
        widths, real = self.leaves.widths, self.leaves.is_real
        while lanes > 1 and boxes * bytes_per_slot(lanes, widths, real) > min(WORK_BYTES, self.room // 2):
            lanes = lanes // 2
        return lanes

    @property
    def sieve_bytes(self) -> int:
        """What the scratch of kernels/sieve.py may take."""
        return min(WORK_BYTES, self.room // 4)

    @property
    def _number_bytes(self) -> int:
        """What a numbered box takes."""
        return 12 + max(4 * int(self.leaves.widths.max(initial=0)), 16 if self.leaves.is_real.any() else 0)

    @property
    def _sieve_row(self) -> int:
        """Bytes of one number of all its lanes."""
        return SIEVE_LANES * bits_for(self.leaves.total_units) // 8

    def _held(self, sets: NDArray[np.int32]) -> tuple[Floats, Floats]:
        """Per set how many boxes, at most, are gone through, and their splits."""
        boxes, splits = self.extent(sets)
        holding, parted = self._around_a_row
        rows = self.leaves.data.n_rows
        with np.errstate(over="ignore"):
            around = holding[sets].prod(axis=1) * rows
            across = around * (parted / holding)[sets].sum(axis=1)
        return np.minimum(boxes, np.minimum(around, MOST_BOXES)), np.minimum(splits, across)

    @cached_property
    def _parts(self) -> Floats:
        parts: Floats = self.leaves.columns.predictors.parts.astype(np.float64)
        return parts

    @cached_property
    def _splits(self) -> Floats:
        predictors = self.leaves.columns.predictors
        pairs = zip(predictors.kinds, predictors.sizes, strict=True)
        return np.array([float(count_splits(int(kind), int(size))) for kind, size in pairs])

    @cached_property
    def _bits(self) -> NDArray[np.int64]:
        """Per variable the bits its levels take in kernels/lattice.py."""
        predictors = self.leaves.columns.predictors
        return np.where(predictors.kinds == REAL, 0, predictors.sizes)

    @cached_property
    def _around_a_row(self) -> tuple[Floats, Floats]:
        """Per variable how many of its parts hold a given cell (at most), and how many splits these have."""
        predictors = self.leaves.columns.predictors
        size = np.minimum(predictors.sizes, 500).astype(np.float64)
        halvings = np.log2(size)
        middle = np.ceil(size / 2) * np.floor(size / 2 + 1)
        pick = [predictors.kinds == CATEGORICAL, predictors.kinds == ORDINAL]
        holding = np.select(pick, [2.0 ** (size - 1), middle], halvings + 1)
        parted = np.select(pick, [3.0 ** (size - 1) - 2.0 ** (size - 1), middle * (size - 1)], halvings)
        return holding, parted
