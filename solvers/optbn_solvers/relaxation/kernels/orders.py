"""Local search over orders: the best acyclic graph consistent with an order gives each variable its best family among
the predecessors, so a search over orders never meets a cycle, and its moves are cheap.

An *insertion* takes a variable out and puts it back anywhere else. Walking it there by exchanges of neighbours, each
step changes two families only, and each change is one-sided: a variable that loses a predecessor it did not use keeps
its family, and one that gains a predecessor u can only take a row that contains u and is better than its present one.
`holders` lists, for each (child, parent), the child's rows that contain the parent, best first, so that both look-ups
are short, and most pairs of many variables are not `related`: neither is in a family of the other, and passing changes
nothing. A *swap* exchanges two variables that are not neighbours. (The neighbourhoods: Alonso-Barba, de la Ossa and
Puerta 2011; Lee and van Beek 2017.) One climb costs O(n^2) look-ups per pass and a few passes.

Everything counts in units. A variable without a family among its predecessors has row -1 and costs NO_FAMILY, more
than any two graphs can differ, so that a search begun in an infeasible order drifts to the feasible ones.

Twins: tests/naive/solvers.py.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel, part
from optbn_solvers.base.kernels.masks import inside

NO_FAMILY = -(1 << 52)
ONE = np.uint64(1)


@kernel
def copy(target, source):
    """target[:] = source, which compiles numba's whole machinery of shapes and their error messages."""
    for i in range(len(source)):
        target[i] = source[i]


@kernel
def index_holders(offsets, masks):
    """(starts int64[n * n + 1], rows int32[sum of set sizes]): child v's rows that contain u, best first, are
    rows[starts[v * n + u]:starts[v * n + u + 1]]."""
    n, words = len(offsets) - 1, masks.shape[1]
    starts = np.zeros(n * n + 1, dtype=np.int64)
    for v in range(n):
        for row in range(offsets[v], offsets[v + 1]):
            for w in range(words):
                bits, u = masks[row, w], 64 * w
                while bits:
                    if bits & ONE:
                        starts[v * n + u + 1] += 1
                    bits >>= ONE
                    u += 1
    for pair in range(n * n):
        starts[pair + 1] += starts[pair]
    end = starts.copy()
    rows = np.empty(starts[n * n], dtype=np.int32)
    for v in range(n):
        for row in range(offsets[v], offsets[v + 1]):
            for w in range(words):
                bits, u = masks[row, w], 64 * w
                while bits:
                    if bits & ONE:
                        rows[end[v * n + u]] = row
                        end[v * n + u] += 1
                    bits >>= ONE
                    u += 1
    return starts, rows


@kernel
def neighbours(offsets, masks, most):
    """uint64[n, W]: for each variable the parents in the best `most` of its rows, and the variables of which it is such
    a parent."""
    n, words = len(offsets) - 1, masks.shape[1]
    near = np.zeros((n, words), dtype=np.uint64)
    for v in range(n):
        for row in range(offsets[v], min(offsets[v] + most, offsets[v + 1])):
            for w in range(words):
                near[v, w] |= masks[row, w]
        for u in range(n):
            if has(near, v, u):
                near[u, v >> 6] |= ONE << np.uint64(v & 63)
    return near


@kernel
def best_rows(offsets, masks, order, rows):
    """Set rows[v] to the best row of v among its predecessors in `order` (-1: none)."""
    before = np.zeros(masks.shape[1], dtype=np.uint64)
    for v in order:
        rows[v] = first_inside(masks, offsets[v], offsets[v + 1], before)
        before[v >> 6] |= ONE << np.uint64(v & 63)


@kernel
def climb(offsets, masks, units, starts, holders, related, order, rows, swaps):
    """Apply insertions, and swaps where none helps, until neither improves; returns the number of moves.

    `order` int64[n] and `rows` int64[n] (= best_rows of the order) are changed in place. Each variable in turn takes
    its best insertion; a swap is taken as soon as it improves.
    """
    n = len(order)
    place = np.empty(n, dtype=np.int64)
    for i in range(n):
        place[order[i]] = i
    moves = 0
    unimproved, v = 0, 0
    while unimproved < n:
        i = place[v]
        j, gain = _best_insertion(offsets, masks, units, starts, holders, related, order, rows, i)
        if gain > 0:
            _insert(offsets, masks, starts, holders, order, place, rows, i, j)
            moves += 1
            unimproved = 0
        else:
            unimproved += 1
        v = (v + 1) % n
        if swaps and unimproved == n and _swap_somewhere(offsets, masks, units, related, order, place, rows):
            moves += 1
            unimproved = 0
    return moves


@kernel
def total_of(units, rows):
    """The sum of the rows' units, NO_FAMILY for each -1."""
    total = 0
    for row in rows:
        total += units[row] if row >= 0 else NO_FAMILY
    return total


@kernel
def complete(rows):
    """Whether every variable has a family."""
    missing = 0
    for row in rows:
        missing += row < 0
    return missing == 0


@kernel
def has(masks, row, u):
    """Whether u is in the set of `row`."""
    return masks[row, u >> 6] >> np.uint64(u & 63) & ONE


@kernel
def first_inside(masks, lo, hi, before):
    """The first of rows lo..hi-1 whose parents are all in `before`, or -1."""
    for row in range(lo, hi):
        if inside(masks, row, before):
            return row
    return -1


@kernel
def _gain(offsets, masks, starts, holders, v, u, before, row):
    """v's best row in `before` (which has u), given that `row` is its best without u."""
    pair = v * (len(offsets) - 1) + u
    end = row if row >= 0 else offsets[v + 1]
    for k in range(starts[pair], starts[pair + 1]):
        other = np.int64(holders[k])
        if other >= end:
            break
        if inside(masks, other, before):
            return other
    return row


@kernel
def _lose(offsets, masks, v, u, before, row):
    """v's best row in `before` (which lacks u), given that `row` is its best when u is there."""
    if row < 0 or not has(masks, row, u):
        return row
    return first_inside(masks, row + 1, offsets[v + 1], before)


@kernel
def _worth(units, row):
    return units[row] if row >= 0 else NO_FAMILY


@part
def _best_insertion(offsets, masks, units, starts, holders, related, order, rows, i):
    """(j, gain): the best place for the variable at place i, and what the total gains by it."""
    n = len(order)
    v = order[i]
    present = _worth(units, rows[v])
    best, best_gain = i, 0
    ahead = np.zeros(masks.shape[1], dtype=np.uint64)
    for k in range(i):
        ahead[order[k] >> 6] |= ONE << np.uint64(order[k] & 63)
    before = ahead.copy()
    row, others = rows[v], 0
    for j in range(i + 1, n):  # v moves behind order[j]
        w = order[j]
        if not has(related, v, w):
            before[w >> 6] |= ONE << np.uint64(w & 63)
            continue
        if rows[w] >= 0:
            others += _worth(units, _lose(offsets, masks, w, v, before, rows[w])) - units[rows[w]]
        before[w >> 6] |= ONE << np.uint64(w & 63)
        row = _gain(offsets, masks, starts, holders, v, w, before, row)
        gain = others + _worth(units, row) - present
        if gain > best_gain:
            best, best_gain = j, gain
    copy(before, ahead)
    row, others = rows[v], 0
    v_word, v_bit = v >> 6, ONE << np.uint64(v & 63)
    for j in range(i - 1, -1, -1):  # v moves ahead of order[j]
        w = order[j]
        before[w >> 6] ^= ONE << np.uint64(w & 63)
        if not has(related, v, w):
            continue
        row = _lose(offsets, masks, v, w, before, row)
        before[v_word] |= v_bit
        others += _worth(units, _gain(offsets, masks, starts, holders, w, v, before, rows[w])) - _worth(units, rows[w])
        before[v_word] ^= v_bit
        gain = others + _worth(units, row) - present
        if gain > best_gain:
            best, best_gain = j, gain
    return best, best_gain


@kernel
def _insert(offsets, masks, starts, holders, order, place, rows, i, j):
    """Move the variable at place i to place j and renew the rows between."""
    v = order[i]
    before = np.zeros(masks.shape[1], dtype=np.uint64)
    for k in range(i):
        before[order[k] >> 6] |= ONE << np.uint64(order[k] & 63)
    if j > i:
        for k in range(i, j):
            w = order[k + 1]
            rows[w] = _lose(offsets, masks, w, v, before, rows[w])
            before[w >> 6] |= ONE << np.uint64(w & 63)
            rows[v] = _gain(offsets, masks, starts, holders, v, w, before, rows[v])
            order[k] = w
            place[w] = k
    else:
        v_word, v_bit = v >> 6, ONE << np.uint64(v & 63)
        for k in range(i, j, -1):
            w = order[k - 1]
            before[w >> 6] ^= ONE << np.uint64(w & 63)
            rows[v] = _lose(offsets, masks, v, w, before, rows[v])
            before[v_word] |= v_bit
            rows[w] = _gain(offsets, masks, starts, holders, w, v, before, rows[w])
            before[v_word] ^= v_bit
            order[k] = w
            place[w] = k
    order[j] = v
    place[v] = j


@part
def _swap_somewhere(offsets, masks, units, related, order, place, rows):
    """Apply the first improving exchange of two variables that are not neighbours; False if there is none."""
    n = len(order)
    trial = np.empty(n, dtype=np.int64)
    start = np.zeros(masks.shape[1], dtype=np.uint64)
    before = start.copy()
    for i in range(n):
        for j in range(i + 2, n):
            copy(before, start)
            gain = 0
            for k in range(i, j + 1):
                v = order[j] if k == i else order[i] if k == j else order[k]
                trial[v] = rows[v]
                if k in (i, j) or has(related, v, order[i]) or has(related, v, order[j]):
                    trial[v] = first_inside(masks, offsets[v], offsets[v + 1], before)
                    gain += _worth(units, trial[v]) - _worth(units, rows[v])
                before[v >> 6] |= ONE << np.uint64(v & 63)
            if gain > 0:
                order[i], order[j] = order[j], order[i]
                for k in range(i, j + 1):
                    rows[order[k]] = trial[order[k]]
                    place[order[k]] = k
                return True
        start[order[i] >> 6] |= ONE << np.uint64(order[i] & 63)
    return False
