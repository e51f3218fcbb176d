"""Soft cells of rows, the scores that they add up to, and the conditional likelihood with its gradient.

A value lies between two neighbouring cells of its attribute: `low`, to which it belongs by 1 - share, and the next one,
by share; texts and missing values have one cell (share 0). A main effect is the mean of two scores, a pair's bilinear,
a mean of four.

Scores are float64[groups, cells, lanes]. Of two classes there is one lane, the logit of the second; of more there are
groups of four classes (the last ones perhaps of none), whose scores of a cell are neighbours: they are fetched and
added at once, which is what all the time goes into.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.soft.kernels.vectors import vectorised
from optbn_solvers.base.compiled import kernel

BLOCK = 128
"""Rows whose scores are held at a time, so that they stay in the first cache."""

ONE, TWO, THREE, FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
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
    for i in range(low.shape[1]):
        begin, end = knot_at[i], knot_at[i + 1]
        for r in range(len(low)):
            place = places[i, first + r]
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
                a, b = begin, end - 1
                while b - a > 1:
                    middle = (a + b) >> 1
                    if knots[middle] <= place:
                        a = middle
                    else:
                        b = middle
                low[r, i] = a - begin
                share[r, i] = min(max((place - knots[a]) / (knots[b] - knots[a]), 0.0), 1.0)
            pair[r, i] = low[r, i]


@vectorised
def _fetch(s, at, w, z):
    """Four sums plus w times four scores."""
    return (z[0] + w * s[at], z[1] + w * s[at + ONE], z[2] + w * s[at + TWO], z[3] + w * s[at + THREE])


@vectorised
def _put(s, at, w, d):
    """Four scores plus w times four numbers."""
    s[at] += w * d[0]
    s[at + ONE] += w * d[1]
    s[at + TWO] += w * d[2]
    s[at + THREE] += w * d[3]


@vectorised
def _add_four(rows, design, begin, end, s, out):
    """out[0 .. 3, r - begin] = the scores of row r, from one group's, flat."""
    low, coarse, share = rows
    soft, main_at, child, parent, pair_at, width = design
    for r in range(begin, end):
        z = (s[0], s[1], s[2], s[3])
        for i in range(low.shape[1]):
            at, b = np.uint64(main_at[i] + low[r, i]) * FOUR, np.float64(share[r, i])
            z = _fetch(s, at + FOUR, b, _fetch(s, at, 1.0 - b, z))
        for q in range(len(child)):
            i, p, w = child[q], parent[q], width[q]
            at = np.uint64(pair_at[q] + coarse[r, i] * w + coarse[r, p]) * FOUR
            if soft[i] or soft[p]:
                b, v = np.float64(share[r, i]), np.float64(share[r, p])
                both, below = b * v, at + np.uint64(w) * FOUR
                z = _fetch(s, at + FOUR, v - both, _fetch(s, at, 1.0 - b - v + both, z))
                z = _fetch(s, below + FOUR, both, _fetch(s, below, b - both, z))
            else:
                z = _fetch(s, at, 1.0, z)
        out[0, r - begin], out[1, r - begin], out[2, r - begin], out[3, r - begin] = z


@vectorised
def _take_four(rows, design, begin, end, slopes, squared, s):
    """The transpose of `_add_four`: every cell gets its share of the slopes; with `squared`, its squared share."""
    low, coarse, share = rows
    soft, main_at, child, parent, pair_at, width = design
    for r in range(begin, end):
        d = (slopes[0, r - begin], slopes[1, r - begin], slopes[2, r - begin], slopes[3, r - begin])
        _put(s, np.uint64(0), 1.0, d)
        for i in range(low.shape[1]):
            at, b = np.uint64(main_at[i] + low[r, i]) * FOUR, np.float64(share[r, i])
            a = 1.0 - b
            if squared:
                a, b = a * a, b * b
            _put(s, at, a, d)
            _put(s, at + FOUR, b, d)
        for q in range(len(child)):
            i, p, w = child[q], parent[q], width[q]
            at = np.uint64(pair_at[q] + coarse[r, i] * w + coarse[r, p]) * FOUR
            if soft[i] or soft[p]:
                b, v, below = np.float64(share[r, i]), np.float64(share[r, p]), at + np.uint64(w) * FOUR
                a, u = 1.0 - b, 1.0 - v
                if squared:
                    a, b, u, v = a * a, b * b, u * u, v * v
                _put(s, at, a * u, d)
                _put(s, at + FOUR, a * v, d)
                _put(s, below, b * u, d)
                _put(s, below + FOUR, b * v, d)
            else:
                _put(s, at, 1.0, d)


@kernel
def _add_one(rows, design, begin, end, s, out):
    """`_add_four` for one lane."""
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
    """`_take_four` for one lane."""
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
def add_up(rows, design, begin, end, scores, out):
    """out[class, r - begin] = the scores of rows begin .. end - 1."""
    groups, _, lanes = scores.shape
    for g in range(groups):
        if lanes == 1:
            _add_one(rows, design, begin, end, scores[g].ravel(), out[g : g + 1])
        else:
            _add_four(rows, design, begin, end, scores[g].ravel(), out[4 * g : 4 * g + 4])


@kernel
def take_apart(rows, design, begin, end, slopes, squared, scores):
    """The transpose of `add_up`: scores get what slopes[class, r - begin] are by each."""
    groups, _, lanes = scores.shape
    for g in range(groups):
        if lanes == 1:
            _take_one(rows, design, begin, end, slopes[g : g + 1], squared, scores[g].ravel())
        else:
            _take_four(rows, design, begin, end, slopes[4 * g : 4 * g + 4], squared, scores[g].ravel())


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
    n, z = len(classes), np.empty((groups * lanes, BLOCK))
    found[:] = 0.0
    loss = 0.0
    for begin in range(0, n, BLOCK):
        end = min(begin + BLOCK, n)
        add_up(rows, design, begin, end, scores, z)
        loss += _slopes(z, end - begin, C, classes, begin, weights, second)
        take_apart(rows, design, begin, end, z, second, found)
    return loss


def empty_rows(n: int, attributes: int) -> Rows:
    """Room for the cells of n rows."""
    shape = (n, attributes)
    return Rows(np.empty(shape, np.int16), np.empty(shape, np.int16), np.empty(shape, np.float32))


def zero_scores(n_classes: int, cells: int) -> NDArray[np.float64]:
    """Scores of zero, for n_classes classes."""
    return np.zeros((1, cells, 1) if n_classes <= 2 else (-(-n_classes // 4), cells, 4))
