"""Windows of an order, put into the best order they can have, exactly.

Insertions and swaps move one or two variables; what needs several to move at once is out of their reach, and with a
hundred variables random kicks seldom find it. So take the w variables at neighbouring places of an order. What stands
before them stays before, what stands behind cannot tell the difference, and the best order among them is a recurrence
over the 2^w subsets that may come first: for each member the best row for each of them, then
    value[S] = max over the last member j of S of  value[S - j] + (best row of j among what is before and S - j).
An order says little about which variables belong together, but one graph has many orders: `gather` draws one in which
neighbours in the table stand side by side. Cost of a window: the rows of its members and w 2^w steps.

Twins: tests/naive/solvers.py.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel
from optbn_solvers.base.kernels.masks import inside
from optbn_solvers.relaxation.kernels.orders import ONE, best_rows, total_of
from optbn_solvers.relaxation.kernels.random import random_below

WIDTH = 8  # dna.test, 5 s: 6 variables end 2 below, 10 at the same, 12 below again
NONE = np.int64(1) << np.int64(62)


@kernel
def rearrange(offsets, masks, units, close, order, rows, state):
    """Draw orders of a graph and put all their windows right until one brings nothing; returns the total in units.

    `order` and `rows` (= best_rows of the order, all there) are changed in place.
    """
    n = len(order)
    width = min(WIDTH, n)
    best = np.empty((width, 1 << width), dtype=np.int64)
    value, last = np.empty(1 << width, dtype=np.int64), np.empty(1 << width, dtype=np.int64)
    total = total_of(units, rows)
    while True:
        gather(masks, close, rows, width, state, order)
        best_rows(offsets, masks, order, rows)
        at = random_below(state, np.int64(width // 2 + 1))
        while at + width <= n:
            reorder(offsets, masks, units, order, rows, at, best, value, last)
            at += width // 2 + 1
        reorder(offsets, masks, units, order, rows, n - width, best, value, last)
        now = total_of(units, rows)
        if now <= total:
            return now
        total = now


@kernel
def gather(masks, close, rows, width, state, order):
    """An order of the graph `rows`, in which the next variable is one that fits and has the most close ones among the
    `width` before it, more or less; ties at random."""
    n, words = len(order), masks.shape[1]
    before, recent = np.zeros(words, dtype=np.uint64), np.zeros(words, dtype=np.uint64)
    placed = np.zeros(n, dtype=np.bool_)
    for place in range(n):
        chosen, most = -1, -1
        for v in range(n):
            if placed[v] or not inside(masks, rows[v], before):
                continue
            count = 0
            for w in range(words):
                bits = close[v, w] & recent[w]
                while bits:
                    bits &= bits - ONE
                    count += 1
            count = 1024 * count + random_below(state, np.int64(2048))
            if count > most:
                chosen, most = v, count
        order[place] = chosen
        placed[chosen] = True
        before[chosen >> 6] |= ONE << np.uint64(chosen & 63)
        recent[chosen >> 6] |= ONE << np.uint64(chosen & 63)
        if place >= width:
            old = order[place - width]
            recent[old >> 6] ^= ONE << np.uint64(old & 63)


@kernel
def reorder(offsets, masks, units, order, rows, at, best, value, last):
    """Put the w variables from place `at` on into their best order; `order` and `rows` are changed where that gains.

    best int64[w, 2^w], value and last int64[2^w] are room to work in.
    """
    width, size = best.shape
    _rows_by_subset(offsets, masks, order, at, best)
    present = np.int64(0)
    for j in range(width):
        present += units[rows[order[at + j]]]
    value[0] = 0
    for subset in range(1, size):
        value[subset] = -NONE
        for j in range(width):
            rest = subset ^ (1 << j)
            if subset >> j & 1 and best[j, rest] < NONE and value[rest] > -NONE:
                total = value[rest] + units[best[j, rest]]
                if total > value[subset]:
                    value[subset], last[subset] = total, j
    if value[size - 1] > present:
        members = order[at : at + width].copy()
        subset = size - 1
        for k in range(width - 1, -1, -1):
            j = last[subset]
            subset ^= 1 << j
            order[at + k] = members[j]
            rows[members[j]] = best[j, subset]


@kernel
def _rows_by_subset(offsets, masks, order, at, best):
    """best[j, S]: the first row of the window's variable j with all parents before the window or in S; NONE: there is
    none."""
    width, size = best.shape
    n, words = len(order), masks.shape[1]
    place = np.zeros(n, dtype=np.int64)
    behind, within = np.zeros(words, dtype=np.uint64), np.zeros(words, dtype=np.uint64)
    for k in range(at, n):
        u = order[k]
        if k < at + width:
            place[u] = k - at
            within[u >> 6] |= ONE << np.uint64(u & 63)
        else:
            behind[u >> 6] |= ONE << np.uint64(u & 63)
    for j in range(width):
        for subset in range(size):
            best[j, subset] = NONE
        v = order[at + j]
        for row in range(offsets[v], offsets[v + 1]):
            fits = True
            for w in range(words):
                fits &= masks[row, w] & behind[w] == 0
            if not fits:
                continue
            trace = 0
            for w in range(words):
                bits, u = masks[row, w] & within[w], 64 * w
                while bits:
                    if bits & ONE:
                        trace |= 1 << place[u]
                    bits >>= ONE
                    u += 1
            best[j, trace] = min(best[j, trace], row)
            if trace == 0:
                break  # rows that follow are no better, whatever is there
        for b in range(width):
            for subset in range(size):
                if subset >> b & 1:
                    best[j, subset] = min(best[j, subset], best[j, subset ^ (1 << b)])
