"""What the kernels of trees write into, made here: kernels that make no array are compiled in half the time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.scores.kernels.arrange import ROWS
from optbn.scores.kernels.simd import WIDTH
from optbn.scores.trees.columns import Predictors, count_splits
from optbn.scores.trees.responses import Responses
from optbn.scores.trees.scratch import Empty, aligned

Arrays = tuple[NDArray[Any], ...]


def site_space(sets: NDArray[np.int32], predictors: Predictors, responses: Responses) -> Arrays:
    """For `find_sites` (kernels/trees.py): each row's site, coordinates and number of sites given the first members;
    lookup; the sites' rows and counts, those of all members but the last, means, spreads; has_number; bits and two to
    count in."""
    n_rows, k = predictors.cells.shape[1], sets.shape[1]
    width, reals = responses.onehot.shape[1], responses.values.shape[1]
    n_sites = np.zeros(k + 1, np.int64)
    n_sites[0] = min(n_rows, 1)
    has_number = np.full(reals, -1, np.int64)
    has_number[responses.real[responses.real >= 0]] = responses.there[responses.real >= 0]
    return (
        np.zeros((k + 1, n_rows), np.int32),
        np.zeros((k + 1, max(n_rows, 1), k), np.int32),
        n_sites,
        np.empty(n_rows * int(predictors.sizes[sets].max(initial=1)), np.int32),
        np.empty(n_rows, np.int32),
        np.empty((n_rows, width), np.uint32),
        np.empty(n_rows, np.int32),
        np.empty((n_rows, width), np.uint32),
        aligned(n_rows, reals, np.float64, np.empty),
        aligned(n_rows, reals, np.float64, np.empty),
        has_number,
        *_bit_space(responses.onehot, reals),
    )


def _bit_space(onehot: NDArray[Any], reals: int) -> Arrays:
    """`few` of kernels/sites.py. Where rows have weights nothing is in bits, and where there are real columns sites are
    counted row by row."""
    n_rows, width = onehot.shape
    words = -(-width // 64)
    bits = np.zeros((0 if reals or onehot.max(initial=0) > 1 else n_rows, words), np.uint64)
    bits.view(np.uint8)[:, : width // 8] = np.packbits(onehot[: len(bits)], axis=1, bitorder="little")
    return bits, np.empty((len(bits), 64 * words), np.uint8), np.empty(len(bits), np.int64)


def lattice_space(boxes: int, splits: int, empty: Empty = np.empty) -> tuple[Arrays, Arrays]:
    """(box, plan) of kernels/lattice.py for this many boxes and splits."""
    box = empty(boxes, np.int32), empty(boxes, np.uint64), empty(boxes, np.int32)
    slots = (empty(boxes + 1, np.int32) for _ in range(3))
    return box, (*slots, empty(boxes + 2, np.int64), empty(splits, np.uint32), empty(splits, np.uint32))


def digit_space(sets: NDArray[np.int32], predictors: Predictors) -> Arrays:
    """(stride, shift, down, part, left_below, right_below, made) of kernels/lattice.py."""
    k, parts = sets.shape[1], predictors.parts[sets]
    sides = int((parts // 2 + 1).sum(axis=1).max(initial=0))
    sizes = (k, sides, sides, int(parts.max(initial=1)) + 1)
    part, *rest = (np.empty(size, np.int64) for size in sizes)
    return np.empty(k, np.int64), np.empty(k, np.uint64), np.empty(65, np.int64), part, *rest


def product_space(
    sets: NDArray[np.int32], predictors: Predictors, boxes: int, before: tuple[int, ...], empty: Empty = np.empty
) -> tuple[tuple[Any, ...], Arrays, Arrays]:
    """(prefix, splits, product) of kernels/product.py, for sets of at most `boxes`; before: how many boxes and
    splits all members but the last have."""
    if not boxes:
        before = (0, 0)
    box, plan = lattice_space(before[0], before[1], empty)
    last = sets[:, -1:]
    parts = int(predictors.parts[last].max(initial=1)) if boxes else 0
    pairs = max((count_splits(int(predictors.kinds[v]), int(predictors.sizes[v])) for v in np.unique(last)), default=0)
    slots, entries = before[0] + 1, boxes + parts + 1
    ones = np.ones(predictors.cells.shape[1] if boxes else 0, np.int32)
    named = np.empty(slots, np.int64), np.empty(slots, np.uint64)
    prefix = (box, digit_space(sets[:, :-1], predictors), plan, np.empty(sets.shape[1], np.int64), ones, *named)
    offset, place = np.empty(parts + 1, np.int64), np.empty(parts, np.int32)
    left, right = (np.empty(pairs if boxes else 0, np.uint32) for _ in range(2))
    lies = (empty(entries, np.int32) for _ in range(5))
    return prefix, (offset, left, right, place), (empty(boxes + parts, np.int32), *lies, empty(entries, np.uint64))


def table_space(k: int, largest: int, responses: Responses) -> tuple[Any, ...]:
    """For `score_tables` (kernels/tables.py) of sets of k members: each row's site and number of sites given the first
    members; lookup; no coordinates; has_number; (sites' rows, counts, means, spreads); the order of rows; each real
    column's row of tables; the leaves of each, with a row of zeros more and a vector to the right (`normal_leaves`);
    responses' sums; lanes; choices. largest: the most cells of a predictor."""
    n_rows, width = responses.onehot.shape
    n, reals = len(responses.order), responses.values.shape[1]
    places = (reals + 2 * WIDTH - 2) // WIDTH * WIDTH if reals else 0
    is_real = responses.real >= 0
    has_number = np.full(reals, -1, np.int64)
    has_number[: is_real.sum()] = responses.there[is_real]
    mean, spread, value = (aligned(n_rows + 1, places, np.float64, np.zeros) for _ in range(3))
    n_sites = np.full(k + 1, min(n_rows, 1), np.int64)
    return (
        np.zeros((k + 1, n_rows), np.int32),
        n_sites,
        np.empty(n_rows * max(1, largest), np.int32),
        np.empty((n_rows, 0), np.int32),
        has_number,
        (np.empty(n_rows, np.int32), aligned(n_rows, width, np.uint32, np.empty), mean, spread),
        np.empty(n_rows, np.int32),
        responses.row[is_real],
        value,
        np.empty(n),
        np.empty(n, np.int64),
        np.zeros(k, np.int64),
    )


def lane_space(responses: Responses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The responses that are still in question, and the table of `arrange` for them."""
    n = len(responses.order)
    return np.empty(n, np.int64), np.empty((ROWS, max(responses.onehot.shape[1], n) + 3), np.int64)
