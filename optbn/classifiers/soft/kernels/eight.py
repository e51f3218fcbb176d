"""Scores of eight classes at once: those of a cell are neighbours in memory, and in single precision one vector.

This is what all the time of a fit with more than two classes goes into. Few of many classes are probable in a row, so
the slopes of a group without any are left out.
"""

from __future__ import annotations

import numpy as np

from optbn.classifiers.soft.kernels.vectors import vectorised

NEGLIGIBLE = np.float32(1e-7)
"""Slopes that are left out where all of a group are smaller; with 1e-5 the strengths that are chosen were others."""

ONE, TWO, THREE, FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
FIVE, SIX, SEVEN, EIGHT = np.uint64(5), np.uint64(6), np.uint64(7), np.uint64(8)
UNIT = np.float32(1.0)


@vectorised
def _fetch(s, at, w, z):
    """Eight sums plus w times eight scores."""
    return (
        z[0] + w * s[at], z[1] + w * s[at + ONE], z[2] + w * s[at + TWO], z[3] + w * s[at + THREE],
        z[4] + w * s[at + FOUR], z[5] + w * s[at + FIVE], z[6] + w * s[at + SIX], z[7] + w * s[at + SEVEN],
    )  # fmt: skip


@vectorised
def _put(s, at, w, d):
    """Eight scores plus w times eight numbers."""
    s[at] += w * d[0]
    s[at + ONE] += w * d[1]
    s[at + TWO] += w * d[2]
    s[at + THREE] += w * d[3]
    s[at + FOUR] += w * d[4]
    s[at + FIVE] += w * d[5]
    s[at + SIX] += w * d[6]
    s[at + SEVEN] += w * d[7]


@vectorised
def add_eight(rows, design, begin, end, s, out):
    """out[0 .. 7, r - begin] = the scores of row r, from one group's, flat and in single precision."""
    low, coarse, share = rows
    soft, main_at, child, parent, pair_at, width = design
    for r in range(begin, end):
        z = (s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7])
        for i in range(low.shape[1]):
            at, b = np.uint64(main_at[i] + low[r, i]) * EIGHT, share[r, i]
            z = _fetch(s, at + EIGHT, b, _fetch(s, at, UNIT - b, z))
        for q in range(len(child)):
            i, p, w = child[q], parent[q], width[q]
            at = np.uint64(pair_at[q] + coarse[r, i] * w + coarse[r, p]) * EIGHT
            if soft[i] or soft[p]:
                b, v = share[r, i], share[r, p]
                both, below = b * v, at + np.uint64(w) * EIGHT
                z = _fetch(s, at + EIGHT, v - both, _fetch(s, at, UNIT - b - v + both, z))
                z = _fetch(s, below + EIGHT, both, _fetch(s, below, b - both, z))
            else:
                z = _fetch(s, at, UNIT, z)
        for k in range(8):
            out[k, r - begin] = z[k]


@vectorised
def take_eight(rows, design, begin, end, slopes, squared, s):
    """The transpose of `add_eight`: every cell gets its share of the slopes; with `squared`, its squared share."""
    low, coarse, share = rows
    soft, main_at, child, parent, pair_at, width = design
    for r in range(begin, end):
        x = r - begin
        d = (
            np.float32(slopes[0, x]), np.float32(slopes[1, x]), np.float32(slopes[2, x]), np.float32(slopes[3, x]),
            np.float32(slopes[4, x]), np.float32(slopes[5, x]), np.float32(slopes[6, x]), np.float32(slopes[7, x]),
        )  # fmt: skip
        most = max(max(abs(d[0]), abs(d[1])), max(abs(d[2]), abs(d[3])))
        if max(most, max(max(abs(d[4]), abs(d[5])), max(abs(d[6]), abs(d[7])))) < NEGLIGIBLE:
            continue
        _put(s, np.uint64(0), UNIT, d)
        for i in range(low.shape[1]):
            at, b = np.uint64(main_at[i] + low[r, i]) * EIGHT, share[r, i]
            a = UNIT - b
            if squared:
                a, b = a * a, b * b
            _put(s, at, a, d)
            _put(s, at + EIGHT, b, d)
        for q in range(len(child)):
            i, p, w = child[q], parent[q], width[q]
            at = np.uint64(pair_at[q] + coarse[r, i] * w + coarse[r, p]) * EIGHT
            if soft[i] or soft[p]:
                b, v, below = share[r, i], share[r, p], at + np.uint64(w) * EIGHT
                a, u = UNIT - b, UNIT - v
                if squared:
                    a, b, u, v = a * a, b * b, u * u, v * v
                _put(s, at, a * u, d)
                _put(s, at + EIGHT, a * v, d)
                _put(s, below, b * u, d)
                _put(s, below + EIGHT, b * v, d)
            else:
                _put(s, at, UNIT, d)
