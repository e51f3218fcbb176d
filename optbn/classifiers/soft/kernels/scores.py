"""Soft cells of rows, the scores that they add up to, and the conditional likelihood with its gradient.

A value lies between two neighbouring cells of its attribute: `low`, to which it belongs by 1 - share, and the next one,
by share; texts and missing values have one cell (share 0). A main effect is the mean of two scores, a pair's bilinear,
a mean of four.

Scores are float64[groups, cells, lanes]. Of two classes there is one lane, the logit of the second; of up
to eight as many lanes as classes; of more there are groups of eight (the last lanes perhaps of none), see `eight`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.soft.kernels.eight import add_eight, take_eight
from optbn_solvers.base.compiled import kernel

BLOCK = 128
"""Rows whose scores are held at a time, so that they stay in the first cache."""

SUMMED = 64 * BLOCK
"""Rows whose slopes are added up in single precision, before they go to sums in double precision."""

ONE = np.uint64(1)
"""Places in memory are unsigned: numba would ask of every other whether it counts from the end."""


class Rows(NamedTuple):
    """low    int16[n, a], the cell of each value, or the first of its two;  share  float32[n, a], of the second one
    coarse  int16[n, a], the same in pairs, where rare levels are pooled"""

    low: NDArray[np.int16]
    coarse: NDArray[np.int16]
    share: NDArray[np.float32]


class Design(NamedTuple):
    """Where scores stand: 0 is the class's own, then all cells of all attributes, then those of all pairs.

    soft     bool[a], whether values of the attribute may have two cells;  main_at  int64[a]
    child, parent, pair_at, width  int64[p]: the attributes of the pairs, where they begin, the parent's cells
    """

    soft: NDArray[np.bool_]
    main_at: NDArray[np.int64]
    child: NDArray[np.int64]
    parent: NDArray[np.int64]
    pair_at: NDArray[np.int64]
    width: NDArray[np.int64]


@kernel
def spread(places, first, knots, knot_at, coarse, coarse_at, rows):
    """The cells of rows first .. first + len(low) - 1 of places, float64[a, n].

    A place of an attribute with knots (ascending) is a rank, NaN where it is missing; any other is its cell.
    """
    low, pair, share = rows
    inner = np.empty(len(low), dtype=np.int16)
    for i in range(low.shape[1]):
        begin, end = knot_at[i], knot_at[i + 1]
        some = places[i, first : first + len(low)]
        inner[:] = 0  # knots between the ends that are not above: counted, for a search guesses wrong at half its steps
        for j in range(begin + 1, end - 1):
            for r in range(len(low)):
                inner[r] += knots[j] <= some[r]
        for r in range(len(low)):
            place = some[r]
            share[r, i] = 0.0
            if begin == end:
                low[r, i] = np.int16(place)
                pair[r, i] = coarse[coarse_at[i] + np.int64(place)]
                continue
            if math.isnan(place):
                low[r, i] = end - begin
            elif end == begin + 1:
                low[r, i] = 0
            else:
                a = begin + inner[r]
                low[r, i] = inner[r]
                share[r, i] = min(max((place - knots[a]) / (knots[a + 1] - knots[a]), 0.0), 1.0)
            pair[r, i] = low[r, i]


@kernel
def _add_one(rows, design, begin, end, s, out):
    """`add_eight` for one lane, in double precision."""
    low, coarse, share = rows
    soft, main_at, child, parent, pair_at, width = design
    for r in range(begin, end):
        z = s[0]
        for i in range(low.shape[1]):
            at = np.uint64(main_at[i] + low[r, i])
            z += s[at] + share[r, i] * (s[at + ONE] - s[at])
        for q in range(len(child)):
            i, p, w = child[q], parent[q], width[q]
            at = np.uint64(pair_at[q] + coarse[r, i] * w + coarse[r, p])
            if soft[i] or soft[p]:
                below = at + np.uint64(w)
                here = s[at] + share[r, p] * (s[at + ONE] - s[at])
                z += here + share[r, i] * (s[below] + share[r, p] * (s[below + ONE] - s[below]) - here)
            else:
                z += s[at]
        out[0, r - begin] = z


@kernel
def _take_one(rows, design, begin, end, slopes, squared, s):
    """`take_eight` for one lane, in double precision."""
    low, coarse, share = rows
    soft, main_at, child, parent, pair_at, width = design
    for r in range(begin, end):
        d = slopes[0, r - begin]
        s[0] += d
        for i in range(low.shape[1]):
            at, b = np.uint64(main_at[i] + low[r, i]), np.float64(share[r, i])
            a = 1.0 - b
            if squared:
                a, b = a * a, b * b
            s[at] += a * d
            s[at + ONE] += b * d
        for q in range(len(child)):
            i, p, w = child[q], parent[q], width[q]
            at = np.uint64(pair_at[q] + coarse[r, i] * w + coarse[r, p])
            if soft[i] or soft[p]:
                b, v, below = np.float64(share[r, i]), np.float64(share[r, p]), at + np.uint64(w)
                a, u = 1.0 - b, 1.0 - v
                if squared:
                    a, b, u, v = a * a, b * b, u * u, v * v
                s[at] += a * u * d
                s[at + ONE] += a * v * d
                s[below] += b * u * d
                s[below + ONE] += b * v * d
            else:
                s[at] += d


@kernel
def _as_single(scores):
    """The scores in single precision, float32[groups, cells, 8]."""
    groups, cells, lanes = scores.shape
    single = np.zeros((groups, cells, 8), dtype=np.float32)
    for g in range(groups):
        for j in range(cells):
            for k in range(lanes):
                single[g, j, k] = scores[g, j, k]
    return single


@kernel
def add_up(rows, design, begin, end, scores, out):
    """out[class, r - begin] = the scores of rows begin .. end - 1; eight lines for each group of several lanes."""
    if scores.shape[2] == 1:
        _add_one(rows, design, begin, end, scores.ravel(), out)
        return
    single = _as_single(scores)
    for g in range(len(single)):
        add_eight(rows, design, begin, end, single[g].ravel(), out[8 * g : 8 * g + 8])


@kernel
def _slopes(z, rows, C, classes, begin, weights, second):
    """The loss of a block in nats; z, scores of the classes, becomes its slopes by them, or with `second` the second
    derivatives."""
    loss = 0.0
    for r in range(rows):
        y, w = classes[begin + r], weights[begin + r]
        if len(z) == 1:
            t = z[0, r] if y == 0 else -z[0, r]
            loss += w * (max(t, 0.0) + math.log1p(math.exp(-abs(t))))
            wrong = 1.0 / (1.0 + math.exp(-t))
            z[0, r] = w * wrong * (1.0 - wrong) if second else w * wrong if y == 0 else -w * wrong
            continue
        top = z[0, r]
        for k in range(1, C):
            top = max(top, z[k, r])
        own, total = z[y, r], 0.0
        for k in range(C):
            z[k, r] = math.exp(z[k, r] - top)
            total += z[k, r]
        loss += w * (math.log(total) + top - own)
        for k in range(C):
            p = z[k, r] / total
            z[k, r] = w * p * (1.0 - p) if second else w * p
        if not second:
            z[y, r] -= w
        for k in range(C, len(z)):
            z[k, r] = 0.0
    return loss


@kernel
def loss_and_slopes(rows, design, C, classes, weights, scores, second, found):
    """The negative conditional log-likelihood of rows in nats; found becomes its gradient by the scores, or with
    `second` the diagonal of the Hessian.

    Twin: tests.naive.soft.loss.
    """
    groups, _, lanes = scores.shape
    n, z, loss = len(classes), np.empty((1 if lanes == 1 else 8 * groups, BLOCK)), 0.0
    found[:] = 0.0
    if lanes == 1:
        for begin in range(0, n, BLOCK):
            end = min(begin + BLOCK, n)
            _add_one(rows, design, begin, end, scores.ravel(), z)
            loss += _slopes(z, end - begin, C, classes, begin, weights, second)
            _take_one(rows, design, begin, end, z, second, found.ravel())
        return loss
    single = _as_single(scores)
    part = np.zeros_like(single)
    for begin in range(0, n, BLOCK):
        end = min(begin + BLOCK, n)
        for g in range(groups):
            add_eight(rows, design, begin, end, single[g].ravel(), z[8 * g : 8 * g + 8])
        loss += _slopes(z, end - begin, C, classes, begin, weights, second)
        for g in range(groups):
            take_eight(rows, design, begin, end, z[8 * g : 8 * g + 8], second, part[g].ravel())
        if end % SUMMED == 0 or end == n:
            found += part[:, :, :lanes]
            part[:] = 0.0
    return loss


def empty_rows(n: int, attributes: int) -> Rows:
    """Room for the cells of n rows."""
    shape = (n, attributes)
    return Rows(np.empty(shape, np.int16), np.empty(shape, np.int16), np.empty(shape, np.float32))


def zero_scores(n_classes: int, cells: int) -> NDArray[np.float64]:
    """Scores of zero, for n_classes classes."""
    lanes = 1 if n_classes <= 2 else min(n_classes, 8)
    return np.zeros((-(-n_classes // 8), cells, lanes))
