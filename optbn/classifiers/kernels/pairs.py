"""Counting pairs of attributes with the class, and information from the counts; see `optbn.classifiers.pairs`."""

from __future__ import annotations

import math

import numpy as np

from solvers.compiled import kernel


@kernel
def count_pairs(codes, classes, weights, n_classes, sizes, single_at, pair_at, singles, pairs):
    """Add rows to the tables of n(x_i, y) and n(x_i, x_j, y), j < i; a code of -1 counts nowhere.

    codes  int32[n, a];  single_at  int64[a], pair_at  int64[a (a - 1) / 2], where each table starts, the class fastest
    """
    n, a = codes.shape
    for r in range(n):
        y, w = classes[r], weights[r]
        for i in range(a):
            x = codes[r, i]
            if x < 0:
                continue
            singles[single_at[i] + x * n_classes + y] += w
            first = i * (i - 1) // 2
            for j in range(i if len(pairs) else 0):
                if codes[r, j] >= 0:
                    pairs[pair_at[first + j] + (np.int64(x) * sizes[j] + codes[r, j]) * n_classes + y] += w


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
