"""Parts of one predictor and their splits, as lattices of boxes number them; see lattice.py.

A split of a box replaces one member's part by a smaller one on either side, so the sides lie a multiple of that
member's stride below the box.
"""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.kinds import CATEGORICAL, ORDINAL
from optbn_solvers.base.compiled import kernel
from optbn_solvers.base.compiled import part as inlined


@kernel
def interval_end(part):
    """The hi of an ordinal part."""
    hi = int((np.sqrt(8.0 * part + 1.0) - 1.0) * 0.5)
    while hi * (hi + 1) // 2 > part:
        hi -= 1
    while (hi + 1) * (hi + 2) // 2 <= part:
        hi += 1
    return hi


@kernel
def finest_part(kind, cell):
    """The part that is one finest cell."""
    if kind == CATEGORICAL:
        return (1 << cell) - 1
    if kind == ORDINAL:
        return cell * (cell + 1) // 2
    return cell


@inlined
def list_sides(begin, end, members, part, kinds, parts, stride, left_below, right_below, n):
    """Append how far below a box its two sides lie, for every split of members begin to end - 1; returns the length."""
    for j in range(begin, end):
        v, p, st = members[j], part[j], stride[j]
        if kinds[v] == CATEGORICAL:
            mask = p + 1
            rest = mask & (mask - 1)
            away = rest
            while away:
                left_below[n], right_below[n] = away * st, (mask - away) * st
                n += 1
                away = (away - 1) & rest
        elif kinds[v] == ORDINAL:
            hi = interval_end(p)
            lo = hi - (p - hi * (hi + 1) // 2)
            for cut in range(lo, hi):
                left_below[n] = (p - (cut * (cut + 1) // 2 + cut - lo)) * st
                right_below[n] = (p - (hi * (hi + 1) // 2 + hi - cut - 1)) * st
                n += 1
        elif 2 * p >= parts[v]:
            left_below[n], right_below[n] = (parts[v] - p + 1) * st, (parts[v] - p) * st
            n += 1
    return n


@inlined
def copy_splits(i, begin, end, left_below, right_below, slot, left, right, n):
    """Append the pairs of slots whose distances below box i are listed; returns the new length of left and right."""
    for t in range(np.uint64(begin), np.uint64(end)):
        left[np.uint64(n)] = slot[np.uint64(i - left_below[t])]
        right[np.uint64(n)] = slot[np.uint64(i - right_below[t])]
        n += 1
    return n


@inlined  # once per box: a call with eight arrays would take as long
def splits(i, members, part, kinds, parts, stride, slot, left, right, n):
    """Append the pairs of slots that box i can be split into; returns the new length of left and right."""
    for at in range(len(members)):
        j = np.uint64(at)
        v = np.uint64(members[j])
        n = member_splits(i, part[j], kinds[v], parts[v], stride[j], slot, left, right, n)
    return n


@inlined
def member_splits(i, p, kind, parts, st, slot, left, right, n):
    """The same for the splits of one member's part p."""
    if kind == CATEGORICAL:
        mask = p + 1
        rest = mask & (mask - 1)
        away = rest
        while away:  # the lowest level stays left: every partition in two once
            left[np.uint64(n)] = slot[np.uint64(i - away * st)]
            right[np.uint64(n)] = slot[np.uint64(i + (away - mask) * st)]
            n += 1
            away = (away - 1) & rest
    elif kind == ORDINAL:
        hi = interval_end(p)
        lo = hi - (p - hi * (hi + 1) // 2)
        for cut in range(lo, hi):
            left[n] = slot[i + (cut * (cut + 1) // 2 + cut - lo - p) * st]
            right[n] = slot[i + (hi * (hi + 1) // 2 + hi - cut - 1 - p) * st]
            n += 1
    else:
        half = 2 * p - parts
        if half >= 0:
            left[n] = slot[i + (half - 1 - p) * st]
            right[n] = slot[i + (half - p) * st]
            n += 1
    return n
