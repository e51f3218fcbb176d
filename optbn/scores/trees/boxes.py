"""The boxes of a predictor set as kernels/lattice.py numbers and merges them, by numpy: all of one height at a time.

How often a box can be split at most is its *height*; the two boxes that it is made of, and the sides of its splits,
are lower. What depends on the kinds and sizes of the predictors alone is found once for all sets like it. Twin:
kernels/lattice.py `dense_plan`, whose plans these are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from optbn.scores.kernels.kinds import CATEGORICAL, REAL
from optbn.scores.trees.columns import count_parts, part_halves, part_need
from optbn.scores.trees.fitted import sides_of_part

Ints = NDArray[np.int64]
LARGEST_SIZE = 50
"""Cells of a predictor at most: a set of them, as bits, is still a whole number that floats hold exactly (2^53)."""
Plan = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], Ints, NDArray[np.uint32], NDArray[np.uint32]]


@dataclass(frozen=True, eq=False)
class Laid:
    """The plan of one set: the slot of every box, the box that each slot but 0 is named after, slots by height."""

    slot: Ints
    own: Ints
    plan: Plan
    levels: tuple[Ints, ...]


@dataclass(frozen=True, eq=False)
class Boxes:
    """All boxes of predictors with these kinds and sizes.

    finest       per predictor the parts that are one cell, times its stride, and the bit of each cell
    shift        uint64[k], where a predictor's bits begin;  real bool[k]
    part         int64[boxes, k];  stride int64[k]
    need         uint64[boxes], the bits that must be in a box's support, or it is the same as a smaller one
    first, second   int64[boxes], the boxes that it is made of, -1 for the finest
    offset, left, right   the splits of each box, in the order of the plan
    height       int64[boxes];  levels: the boxes of height 1, 2, ..
    """

    kinds: tuple[int, ...]
    sizes: tuple[int, ...]
    finest: tuple[tuple[Ints, NDArray[np.uint64]], ...]
    shift: NDArray[np.uint64]
    part: Ints
    stride: Ints
    need: NDArray[np.uint64]
    first: Ints
    second: Ints
    offset: Ints
    left: Ints
    right: Ints
    height: Ints
    levels: tuple[Ints, ...]

    @classmethod
    @lru_cache(maxsize=64)
    def of(cls, kinds: tuple[int, ...], sizes: tuple[int, ...], digits: tuple[int, ...]) -> Boxes:
        """Of predictors, `digits` being their positions in the order of a box's digits, innermost first."""
        k = len(kinds)
        parts = [count_parts(kind, size) for kind, size in zip(kinds, sizes, strict=True)]
        stride, shift = np.ones(k, np.int64), np.zeros(k, np.uint64)
        boxes, bits = 1, 0
        for j in digits:
            stride[j], shift[j] = boxes, bits
            boxes *= parts[j]
            bits += 0 if kinds[j] == REAL else sizes[j]
        box = np.arange(boxes)
        part = np.column_stack([box // stride[j] % parts[j] for j in range(k)]) if k else np.zeros((1, 0), np.int64)
        first, second = np.full((2, boxes), -1)
        need, height, finest = np.zeros(boxes, np.uint64), np.zeros(boxes, np.int64), []
        for j in reversed(digits):  # the innermost part that is not finest makes the box
            halves = part_halves(kinds[j], sizes[j]).astype(np.int64)
            coarse = halves[part[:, j], 0] >= 0
            one, other = (box + (halves[part[:, j], side] - part[:, j]) * stride[j] for side in (0, 1))
            first, second = np.where(coarse, one, first), np.where(coarse, other, second)
            need |= part_need(kinds[j], sizes[j])[part[:, j]] << shift[j]
            height += _heights(halves)[part[:, j]]
            cells = np.flatnonzero(halves[:, 0] < 0)
            bit = np.uint64(kinds[j] != REAL) << np.arange(len(cells), dtype=np.uint64)
            finest.append((cells * stride[j], bit << shift[j]))
        by_digits = dict(zip(reversed(digits), finest, strict=True))
        offset, left, right = _splits(kinds, parts, part, stride)
        levels = tuple(np.flatnonzero(height == at) for at in range(1, int(height.max(initial=0)) + 1))
        found = tuple(by_digits[j] for j in range(k))
        return cls(kinds, sizes, found, shift, part, stride, need, first, second, offset, left, right, height, levels)

    def plan(self, names: Ints, support: NDArray[np.uint64], rows: NDArray[np.int64], leaf_rows: int) -> Laid:
        """The plan of sites that are the finest boxes `names`, with their rows and the bits of their cells."""
        boxes = len(self.first)
        box_rows, box_support = np.zeros(boxes, np.int64), np.zeros(boxes, np.uint64)
        site = np.full(boxes, -1)
        box_rows[names], box_support[names], site[names] = rows, support, np.arange(len(names))
        for level in self.levels:
            one, other = self.first[level], self.second[level]
            box_rows[level] = box_rows[one] + box_rows[other]
            box_support[level] = box_support[one] | box_support[other]
        new = (box_rows > 0) & ~(self.need & ~box_support).astype(np.bool_)
        own = np.flatnonzero(new)
        slot: Ints = np.cumsum(new)
        slot[~new] = slot[self._smallest(np.flatnonzero(~new), box_support)]
        slot[box_rows == 0] = 0
        made = self.first[own] >= 0
        first = np.where(made, slot[self.first[own]], site[own])
        second = np.where(made, slot[self.second[own]], -1)
        many = np.where(made & (box_rows[own] > leaf_rows), self.offset[own + 1] - self.offset[own], 0)
        splits = ranges(self.offset[own], many)
        one_slot, other_slot, held = (np.concatenate([[0], a]).astype(np.int32) for a in (first, second, box_rows[own]))
        left, right = (slot[side[splits]].astype(np.uint32) for side in (self.left, self.right))
        plan = one_slot, other_slot, held, np.concatenate([[0, 0], np.cumsum(many)]), left, right
        height = self.height[own]
        return Laid(slot, own, plan, tuple(1 + np.flatnonzero(height == h) for h in range(1, len(self.levels) + 1)))

    def _smallest(self, some: Ints, support: NDArray[np.uint64]) -> Ints:
        """For some boxes the smallest that holds their rows, given the levels that these have; 0 if there are none."""
        found = np.zeros(len(some), np.int64)
        for j, (kind, size) in enumerate(zip(self.kinds, self.sizes, strict=True)):
            part = self.part[some, j]
            if kind != REAL:
                levels = (support[some] >> self.shift[j]) & np.uint64((1 << size) - 1)
                levels = levels.astype(np.int64)
                low, high = (np.frexp(bit.astype(np.float64))[1] - 1 for bit in (levels & -levels, levels))
                part = levels - 1 if kind == CATEGORICAL else high * (high + 1) // 2 + high - low
            found += part * self.stride[j]
        found[support[some] == 0] = 0
        return found


def _heights(halves: Ints) -> Ints:
    """Of every part of one predictor."""
    height = np.zeros(len(halves), np.int64)
    for part in np.flatnonzero(halves[:, 0] >= 0):
        height[part] = 1 + max(height[halves[part]])
    return height


def _splits(kinds: tuple[int, ...], parts: list[int], part: Ints, stride: Ints) -> tuple[Ints, Ints, Ints]:
    """(offset, left, right) of all boxes: predictors in order, and for each the splits of its part."""
    boxes, k = part.shape
    of_parts = [[list(sides_of_part(kinds[j], parts[j], p)) for p in range(parts[j])] for j in range(k)]
    many = np.zeros((boxes, k), np.int64)
    for j, splits in enumerate(of_parts):
        many[:, j] = np.array([len(pairs) for pairs in splits])[part[:, j]]
    begin = np.concatenate([[0], np.cumsum(many.reshape(-1))])
    left, right = np.empty((2, begin[-1]), np.int64)
    for j, splits in enumerate(of_parts):
        pairs = np.array([pair for pairs in splits for pair in pairs], np.int64).reshape(-1, 2)
        lengths = np.array([len(pairs) for pairs in splits])
        box = np.repeat(np.arange(boxes), many[:, j])
        at = ranges(begin[:-1].reshape(boxes, k)[:, j], many[:, j])
        sides = pairs[ranges((np.cumsum(lengths) - lengths)[part[:, j]], many[:, j])] - part[box, j][:, None]
        left[at], right[at] = (box[:, None] + sides * stride[j]).T
    return np.append(begin[:-1:k], begin[-1]) if k else np.zeros(2, np.int64), left, right


def ranges(begin: Ints, length: Ints) -> Ints:
    """length[0] numbers from begin[0] on, then length[1] from begin[1] on, .."""
    before = np.cumsum(length) - length
    return np.repeat(begin - before, length) + np.arange(int(length.sum()))
