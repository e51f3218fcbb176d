"""Counting pairs of attributes with the class, and information from the counts; see `optbn.classifiers.pairs`."""

from __future__ import annotations

import math

import numpy as np

from optbn.classifiers.kernels.bits import ones
from optbn_solvers.base.compiled import kernel

WORDS = 64
"""Words of 64 rows that are counted at a time: the bits of a hundred attributes stay in the second cache."""

ASIDE = 8
"""Words or rows between two runs of them that are not used, so that not all begin on the same line of the cache."""


@kernel
def count_singles(codes, classes, weights, n_classes, single_at, singles):
    """Add rows of int32[n, a] to the tables of n(x_i, y), which begin at single_at[i]; a code of -1 counts nowhere."""
    for r in range(len(codes)):
        y, w = classes[r], weights[r]
        for i in range(codes.shape[1]):
            if codes[r, i] >= 0:
                singles[single_at[i] + codes[r, i] * n_classes + y] += w


@kernel
def count_by_bits(codes, classes, begin, sizes, few, pair_at, pairs):
    """Add rows of weight 1 to the tables n(x_i, x_j, y), j < i, that have at most `few` cells for each class.

    begin    int64[C + 1], how many rows are of the classes before each
    pair_at  int64[a (a - 1) / 2], where the tables start, the class fastest
    Rows are taken class by class. Of at most 64 WORDS at a time, bits[level_at[i] + x, w] says which of the w-th 64
    have the level x of attribute i (-1 sets none): a cell is the number of bits that two levels have in common.
    Attributes with more levels than any such pair has cells have no bits.
    """
    n, a = codes.shape
    level_at, smallest = np.zeros(a + 1, dtype=np.int64), sizes.min()
    for i in range(a):
        level_at[i + 1] = level_at[i] + (sizes[i] if sizes[i] * smallest <= few else 0)
    bits = np.empty((level_at[a], WORDS + ASIDE), dtype=np.uint64)
    order, place = np.empty(n, dtype=np.int64), begin.copy()
    for r in range(n):
        order[place[classes[r]]] = r
        place[classes[r]] += 1
    for y in range(len(begin) - 1):
        for first in range(begin[y], begin[y + 1], 64 * WORDS):
            last = min(first + 64 * WORDS, begin[y + 1])
            words = (last - first + 63) // 64
            for w in range(words):
                for level in range(level_at[a]):
                    bits[level, w] = 0
                for at in range(first + 64 * w, min(first + 64 * w + 64, last)):
                    r, bit = order[at], np.uint64(1) << np.uint64(at - first - 64 * w)
                    for i in range(a):
                        if codes[r, i] >= 0 and level_at[i] < level_at[i + 1]:
                            bits[level_at[i] + codes[r, i], w] |= bit
            for i in range(a):
                for j in range(i):
                    if sizes[i] * sizes[j] > few:
                        continue
                    cell = pair_at[i * (i - 1) // 2 + j] + y
                    for u in range(level_at[i], level_at[i + 1]):
                        for v in range(level_at[j], level_at[j + 1]):
                            common = 0
                            for w in range(words):
                                common += ones(bits[u, w] & bits[v, w])
                            pairs[cell] += common
                            cell += len(begin) - 1


@kernel
def count_by_rows(codes, classes, weights, n_classes, sizes, few, pair_at, pairs):
    """Add rows to the other tables, an increment for each; one pair after another, so that its table stays in cache."""
    n, a = codes.shape
    columns = np.empty((a, 64 * WORDS + 2 * ASIDE), dtype=np.int32)
    for first in range(0, n, 64 * WORDS):
        rows = min(64 * WORDS, n - first)
        for r in range(rows):
            for i in range(a):
                columns[i, r] = codes[first + r, i]
        for i in range(a):
            for j in range(i):
                if sizes[i] * sizes[j] <= few:
                    continue
                one, other, size, table = columns[i], columns[j], sizes[j], pair_at[i * (i - 1) // 2 + j]
                for r in range(rows):
                    if one[r] >= 0 and other[r] >= 0:
                        cell = (one[r] * size + other[r]) * n_classes + classes[first + r]
                        pairs[table + cell] += weights[first + r]


@kernel
def pair_information(pairs, n_classes, sizes, pair_at):
    """float64[a, a]: I(X_i; X_j | Y) in nats, times the weight of the rows where both are known; symmetric.

    sum over cells of n log n - n(x_i, y) log n(x_i, y) - n(x_j, y) log n(x_j, y) + n(y) log n(y), with the margins of
    the pair's own table. Twin: tests.naive.classifiers.conditional_information.
    """
    a = len(sizes)
    information = np.zeros((a, a))
    largest = sizes.max() if a else 0
    by_i, by_j, by_y = np.empty(n_classes), np.empty(largest * n_classes), np.empty(n_classes)
    for i in range(a):
        for j in range(i):
            at = pair_at[i * (i - 1) // 2 + j]
            by_j[: sizes[j] * n_classes] = 0.0
            by_y[:] = 0.0
            total = 0.0
            for _ in range(sizes[i]):
                by_i[:] = 0.0
                for z in range(sizes[j]):
                    for y in range(n_classes):
                        count = pairs[at]
                        at += 1
                        if count > 0.0:
                            total += count * math.log(count)
                            by_i[y] += count
                            by_j[z * n_classes + y] += count
                for y in range(n_classes):
                    if by_i[y] > 0.0:
                        total -= by_i[y] * math.log(by_i[y])
                        by_y[y] += by_i[y]
            for z in range(sizes[j] * n_classes):
                if by_j[z] > 0.0:
                    total -= by_j[z] * math.log(by_j[z])
            for y in range(n_classes):
                if by_y[y] > 0.0:
                    total += by_y[y] * math.log(by_y[y])
            information[i, j] = information[j, i] = max(total, 0.0)
    return information
