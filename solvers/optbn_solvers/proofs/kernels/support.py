"""Which families can be in an acyclic choice at all: by growing what can be placed, from nothing.

Sets are words uint64[W]; the families of variable v are offsets[v]:offsets[v + 1]. Nothing here makes an array.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import leaf

ZERO = np.uint64(0)
ONE = np.uint64(1)


@leaf
def meets(mask, other):
    """Do two sets have a member in common?"""
    common = ZERO
    for w in range(len(mask)):
        common |= mask[w] & other[w]
    return common != ZERO


@leaf
def inside(mask, other):
    """Is the set a subset of the other?"""
    missing = ZERO
    for w in range(len(mask)):
        missing |= mask[w] & ~other[w]
    return missing == ZERO


@leaf
def put(mask, v):
    mask[v >> 6] |= ONE << np.uint64(v & 63)


@leaf
def copy(target, source):
    """Word by word, for an assignment of rows makes an array."""
    for w in range(len(source)):
        target[w] = source[w]


@leaf
def move(masks, values, f, k):
    """Family f is family k, too."""
    copy(masks[k], masks[f])
    values[k] = values[f]


@leaf
def grow_from(placed, waiting, count, offsets, masks):
    """Place what can be placed of waiting[:count]; how many stay. The placed ones end up behind them, last first."""
    moved = True
    while moved:
        moved = False
        i = 0
        while i < count:
            v = waiting[i]
            fits = False
            for f in range(offsets[v], offsets[v + 1]):
                if inside(masks[f], placed):
                    fits = True
                    break
            if fits:
                put(placed, v)
                count -= 1
                waiting[i], waiting[count] = waiting[count], v
                moved = True
            else:
                i += 1
    return count


@leaf
def drop_unsupported(offsets, masks, values, reach, order):
    """Drop, in place, the families that no acyclic choice has. Without any such choice every family of some variable
    goes.

    reach uint64[n + 1, W], order int64[2, n]: room to work in. What can be placed before v is reach[v].
    """
    n = len(offsets) - 1
    before = reach[n]
    for v in range(n):
        order[0, v] = v
    before[:] = ZERO
    stuck = grow_from(before, order[0], n, offsets, masks)
    for i in range(stuck):  # leaving out a stuck variable changes nothing for the others
        copy(reach[order[0, i]], before)
    before[:] = ZERO
    for i in range(n - 1, stuck - 1, -1):
        v = order[0, i]
        copy(reach[v], before)
        put(before, v)
        early = True
        for f in range(offsets[v], offsets[v + 1]):
            early &= inside(masks[f], reach[v])
        if not early:
            for j in range(i):
                order[1, j] = order[0, j]
            grow_from(reach[v], order[1], i, offsets, masks)
    k = offsets[0]
    begin = k
    for v in range(n):
        end = offsets[v + 1]
        offsets[v] = k
        for f in range(begin, end):
            if inside(masks[f], reach[v]):
                move(masks, values, f, k)
                k += 1
        begin = end
    offsets[n] = k
