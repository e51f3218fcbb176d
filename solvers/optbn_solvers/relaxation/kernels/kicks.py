"""Iterated local search: disturb an order, climb, put windows right, keep what is no worse.

A kick draws another order of the graph in hand (the same score, other neighbours) and disturbs it, now everywhere, now
around one variable: of a hundred variables a disturbance everywhere seldom leads to something better, of few it is
what leads out of a valley.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel, part
from optbn_solvers.base.kernels.masks import inside
from optbn_solvers.relaxation.kernels.orders import ONE, best_rows, climb, complete, copy, first_inside, has, total_of
from optbn_solvers.relaxation.kernels.random import random_below
from optbn_solvers.relaxation.kernels.windows import rearrange

KICK = 5  # swaps per kick: measured, 3 and fewer get stuck more often


@kernel
def iterate(offsets, masks, units, starts, holders, related, close, order, rows, kicks, state):
    """`kicks` times perturb another order of the present graph and climb; a graph at least as good is kept. `order` and
    `rows` end as the best met; returns its total."""
    n = len(order)
    best = total_of(units, rows)
    trial, trial_rows = order.copy(), rows.copy()
    for _ in range(kicks):
        if not complete(rows) or random_order(offsets, masks, rows, state, trial) < n:
            copy(trial, order)
        if random_below(state, np.int64(2)) == 0:
            kick(trial, KICK, state)
        else:
            displace(trial, close, KICK, state)
        best_rows(offsets, masks, trial, trial_rows)
        total = total_of(units, trial_rows) - 1
        while total_of(units, trial_rows) > total:
            climb(offsets, masks, units, starts, holders, related, trial, trial_rows, np.bool_(False))
            total = total_of(units, trial_rows)
            if complete(trial_rows):
                rearrange(offsets, masks, units, close, trial, trial_rows, state)
        if total >= best:
            best = total
            copy(order, trial)
            copy(rows, trial_rows)
    return best


@part
def kick(order, strength, state):
    """Perturb `order` anywhere, in place: `strength` random swaps, or one block moved elsewhere, with equal chance."""
    n = len(order)
    if n < 2:
        return
    if random_below(state, np.int64(2)) == 0:
        for _ in range(strength):
            i, j = random_below(state, n), random_below(state, n)
            order[i], order[j] = order[j], order[i]
    else:
        length = min(n - 1, 2 + random_below(state, max(2, n // 4)))
        i = random_below(state, n - length + 1)
        j = random_below(state, n - length + 1)
        block = order[i : i + length].copy()
        if j < i:
            for k in range(i - 1, j - 1, -1):
                order[k + length] = order[k]
        else:
            for k in range(i, j):
                order[k] = order[k + length]
        for k in range(length):
            order[j + k] = block[k]


@kernel
def displace(order, close, most, state):
    """Perturb `order` around one variable, in place: it and 1 to `most` - 1 close ones go to random places."""
    n = len(order)
    centre = random_below(state, np.int64(n))
    moved = centre
    for _ in range(2 + random_below(state, np.int64(most - 1))):
        i, j = 0, random_below(state, np.int64(n))
        while order[i] != moved:
            i += 1
        step = 1 if i < j else -1
        while i != j:
            order[i] = order[i + step]
            i += step
        order[j] = moved
        count = 0
        for u in range(n):
            if has(close, centre, u):
                count += 1
                if random_below(state, np.int64(count)) == 0:
                    moved = u


@kernel
def random_order(offsets, masks, rows, state, order):
    """A random order with every family inside its prefix; returns how many variables could be placed (n: all).

    With `rows` the families are those rows, so that this draws another order of the same graph; with an empty
    `rows` any family will do. Variables are tried in random turns, each taken as soon as it fits.
    """
    n, words = len(offsets) - 1, masks.shape[1]
    left = np.empty(n, dtype=np.int64)
    for i in range(n):
        left[i] = i
    for i in range(n - 1, 0, -1):
        j = random_below(state, i + 1)
        left[i], left[j] = left[j], left[i]
    before = np.zeros(words, dtype=np.uint64)
    placed, count = 0, n
    while True:
        start, kept = placed, 0
        for i in range(count):
            v = left[i]
            if len(rows):
                fits = inside(masks, rows[v], before)
            else:
                fits = first_inside(masks, offsets[v], offsets[v + 1], before) >= 0
            if fits:
                before[v >> 6] |= ONE << np.uint64(v & 63)
                order[placed] = v
                placed += 1
            else:
                left[kept] = v
                kept += 1
        count = kept
        if count == 0 or placed == start:
            return placed
