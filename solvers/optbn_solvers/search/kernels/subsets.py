"""Subset rows in the search: the best multiplier of one row, everything else fixed.

A row  sum a[v, P] x(v, P) <= rhs  with multiplier y adds a y to the cost of a family and -rhs y to the bound. Moving y
by t changes the bound by  L(t) = sum_v min_a (m[v, a] + a t) - rhs t,  where m[v, a] is the least reduced cost of the
families of v with coefficient a: concave and piecewise linear. Its slope to the right of t is the sum of the smallest
coefficients that attain the minima, minus rhs; to the left that of the largest. Walk from break to break until the
slopes enclose 0 and take the middle of the optimal interval, as for clusters (search.kernels.multipliers).

If the slope never ends to be positive, no acyclic choice is left: y then takes all that the bound is short of.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel
from optbn_solvers.search.kernels.families import HEAVIEST, INFINITE

CLASSES = 128  # coefficients are below this


@kernel
def weight_of(slot, pool, n):
    """How many n-ths of HEAVIEST one unit of a subset row's multiplier counts for: it may appear in every sum."""
    return 1 + (pool.rhs[slot] + pool.size[slot] * CLASSES) // n


@kernel
def slopes(least, size, most, rhs, step):
    """(left slope, right slope, way to the next break on the left, on the right) of L at `step`; INFINITE: no break."""
    left, right = -rhs, -rhs
    down, up = INFINITE, INFINITE
    for j in range(size):
        best = INFINITE
        low = high = np.int64(0)
        for a in range(most + 1):
            if least[j, a] < INFINITE:
                value = least[j, a] + a * step
                if value < best:
                    best = value
                    low = high = np.int64(a)
                elif value == best:
                    high = np.int64(a)
        left += high
        right += low
        for a in range(most + 1):
            if least[j, a] < INFINITE:
                more = least[j, a] + a * step - best
                if a < low:
                    up = min(up, -(-more // (low - a)))
                elif a > high:
                    down = min(down, -(-more // (a - high)))
    return left, right, down, up


@kernel
def middle_step(least, size, most, rhs, now, short):
    """The t >= -now in the middle of where L is largest; far enough to gain `short` where L has no end.

    least int64[size, most + 1], INFINITE where there is no such family. Twin: tests/naive/cp.py.
    """
    step = np.int64(0)
    left, right, down, up = slopes(least, size, most, rhs, step)
    if right > 0:
        while right > 0:
            if up == INFINITE:
                return step - (-short // right)
            step += up
            left, right, down, up = slopes(least, size, most, rhs, step)
        return step + up // 2 if right == 0 and up < INFINITE else step
    if left < 0:
        while left < 0 and step > -now:
            step = max(step - down, -now)
            left, right, down, up = slopes(least, size, most, rhs, step)
        return max(step - down, -now) + (step - max(step - down, -now)) // 2 if left == 0 else step
    low = max(step - down, -now) if left == 0 else step
    high = step + up if right == 0 and up < INFINITE else step
    return low + (high - low) // 2


@kernel
def relax_subset(slot, offsets, reduced, origin, y, short, pool, room):
    """Move the multiplier of a subset row to the middle of its optimal interval; returns what the bound gains."""
    size, rhs, most = pool.size[slot], pool.rhs[slot], pool.largest[slot]
    coefficient = pool.coefficients[pool.subset[slot]]
    least = room.classes
    for j in range(size):
        v = pool.members[slot, j]
        least[j, : most + 1] = INFINITE
        for f in range(offsets[v], offsets[v + 1]):
            a = coefficient[origin[f]]
            least[j, a] = min(least[j, a], reduced[f])
    step = middle_step(least, size, most, rhs, y[slot], short)
    n = len(offsets) - 1
    weight = weight_of(slot, pool, n)
    if step == 0 or abs(step) > HEAVIEST // (n * weight) or room.mass[0] + step * weight > HEAVIEST // n:
        return np.int64(0)
    room.mass[0] += step * weight
    y[slot] += step
    gain = -rhs * step
    for j in range(size):
        v = pool.members[slot, j]
        best = INFINITE
        for a in range(most + 1):
            if least[j, a] < INFINITE:
                best = min(best, least[j, a] + a * step)
        gain += best
        for f in range(offsets[v], offsets[v + 1]):
            reduced[f] += coefficient[origin[f]] * step - best
    return gain
