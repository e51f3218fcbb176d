"""Sweeps of the sampler that seats every row; `optbn.smoothing.seating` argues it.

Cell (u, k), level k at node u, is u * K + k. Its customers sit at tables, whose sizes are sizes[first[c] : first[c] +
t[c]]; each table is a customer of the parent's cell of that level. The root has customers, but no tables.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.base.variates import normal, uniform
from optbn.smoothing.kernels.rising import log_rising_ratio
from optbn_solvers.base.compiled import kernel, leaf

ROUNDS = 3
"""Steps of each concentration, and of each discount, a sweep."""


class Floor(NamedTuple):
    """What does not change: parent int64[m], group int64[m] (whose concentration a node has), group_start int64[G + 1],
    is_leaf bool[m], first int64[m K]."""

    parent: NDArray[np.int64]
    group: NDArray[np.int64]
    group_start: NDArray[np.int64]
    is_leaf: NDArray[np.bool_]
    first: NDArray[np.int64]


class Seated(NamedTuple):
    """Who sits where: sizes, n and t (int64[m K], customers and tables of each cell), customers and opened (int64[m],
    the same of each node), alpha and discount (float64[G])."""

    sizes: NDArray[np.int64]
    n: NDArray[np.int64]
    t: NDArray[np.int64]
    customers: NDArray[np.int64]
    opened: NDArray[np.int64]
    alpha: NDArray[np.float64]
    discount: NDArray[np.float64]


class Kept(NamedTuple):
    """Sums over sweeps: of estimates, their squares, variances within a draw (or nothing), 1 / probability of a row by
    the others (or nothing), concentrations and discounts; `mean` and `second` are scratch."""

    sums: NDArray[np.float64]
    squares: NDArray[np.float64]
    within: NDArray[np.float64]
    surprise: NDArray[np.float64]
    alpha: NDArray[np.float64]
    discount: NDArray[np.float64]
    mean: NDArray[np.float64]
    second: NDArray[np.float64]


@leaf
def predict(u, k, floor, seats, alpha0, path, chance):
    """The way from u to the root into `path`, the probability of level k at each of its nodes into `chance`.

    Returns its length.
    """
    K = len(seats.n) // len(floor.parent)
    length = 0
    while u >= 0:
        path[length] = u
        length += 1
        u = floor.parent[u]
    root = path[length - 1]
    above = (seats.n[root * K + k] + alpha0 / K) / (seats.customers[root] + alpha0)
    chance[length - 1] = above
    for i in range(length - 2, -1, -1):
        v = path[i]
        a, d = seats.alpha[floor.group[v]], seats.discount[floor.group[v]]
        own = seats.n[v * K + k] - d * seats.t[v * K + k]
        above = (own + (a + d * seats.opened[v]) * above) / (seats.customers[v] + a)
        chance[i] = above
    return length


@leaf
def sit(k, floor, seats, path, chance, length, state):
    """One more customer of level k at path[0], and at its parent where a table is opened, and so on."""
    K = len(seats.n) // len(floor.parent)
    for i in range(length):
        u = path[i]
        c = u * K + k
        seats.n[c] += 1
        seats.customers[u] += 1
        if i == length - 1:
            return
        a, d = seats.alpha[floor.group[u]], seats.discount[floor.group[u]]
        old = seats.n[c] - 1 - d * seats.t[c]
        new = (a + d * seats.opened[u]) * chance[i + 1]
        left = uniform(state) * (old + new) - new
        if left >= 0.0:
            j = floor.first[c]
            last = j + seats.t[c] - 1
            while j < last and left >= seats.sizes[j] - d:
                left -= seats.sizes[j] - d
                j += 1
            seats.sizes[j] += 1
            return
        seats.sizes[floor.first[c] + seats.t[c]] = 1
        seats.t[c] += 1
        seats.opened[u] += 1


@leaf
def leave(u, k, floor, seats, state):
    """A customer of level k at u, each as likely, goes; and one at the parent where a table is given up, and so on."""
    K = len(seats.n) // len(floor.parent)
    while True:
        c = u * K + k
        j = floor.first[c]
        left = uniform(state) * seats.n[c]
        seats.n[c] -= 1
        seats.customers[u] -= 1
        if floor.parent[u] < 0:
            return
        last = floor.first[c] + seats.t[c] - 1
        while j < last and left >= seats.sizes[j]:
            left -= seats.sizes[j]
            j += 1
        seats.sizes[j] -= 1
        if seats.sizes[j] > 0:
            return
        seats.sizes[j] = seats.sizes[last]
        seats.t[c] -= 1
        seats.opened[u] -= 1
        u = floor.parent[u]


@kernel
def admit(counts, floor, seats, alpha0, path, chance, state):
    """Seat the rows of all leaves (counts int64[m K]) where nobody sits, one after the other."""
    K = len(seats.n) // len(floor.parent)
    for u in range(len(floor.parent)):
        for k in range(K):
            for _ in range(counts[u * K + k] if floor.is_leaf[u] else 0):
                length = predict(u, k, floor, seats, alpha0, path, chance)
                sit(k, floor, seats, path, chance, length, state)


@leaf
def log_gain(to, to_d, a, d, g, floor, seats):
    """log p(seats of group g | to, to_d) - log p(.. | a, d): per node the product of (a + i d), i < tables, over the
    rising factorial of a by customers, and per table that of 1 - d by its size less one."""
    K = len(seats.n) // len(floor.parent)
    result = 0.0
    for u in range(floor.group_start[g], floor.group_start[g + 1]):
        if seats.customers[u] < 2:
            continue
        result -= log_rising_ratio(to + 1.0, a + 1.0, seats.customers[u] - 1)
        ratio = 1.0
        for i in range(1, seats.opened[u]):
            ratio *= (to + i * to_d) / (a + i * d)
            if not 1e-100 < ratio < 1e100:
                result += math.log(ratio)
                ratio = 1.0
        result += math.log(ratio)
        if to_d == d:
            continue
        for c in range(u * K, u * K + K):
            for j in range(floor.first[c], floor.first[c] + seats.t[c]):
                if seats.sizes[j] > 1:
                    result += log_rising_ratio(1.0 - to_d, 1.0 - d, seats.sizes[j] - 1)
    return result


@leaf
def strengths(g, floor, seats, step, adapt, learned, prior, state):
    """Random walks on log alpha and, where it is `learned`, on the log odds of the discount, given the seats.

    alpha ~ Gamma(shape, rate) and discount ~ Uniform(0, 1) beforehand. `adapt` tunes the steps, during burn-in only.
    """
    shape, rate, _ = prior
    a, d = seats.alpha[g], seats.discount[g]
    for _ in range(ROUNDS):
        to = a * math.exp(step[0, g] * normal(state))
        gain = shape * math.log(to / a) - rate * (to - a) + log_gain(to, d, a, d, g, floor, seats)
        accepted = math.log(uniform(state)) < gain
        if accepted:
            a = to
        if adapt:
            step[0, g] *= math.exp(0.1 * ((1.0 if accepted else 0.0) - 0.44))
        if not learned:
            continue
        to = 1.0 / (1.0 + (1.0 - d) / d * math.exp(step[1, g] * normal(state)))
        accepted = 1e-9 < to < 1.0 - 1e-9
        if accepted:
            gain = math.log(to * (1.0 - to) / (d * (1.0 - d))) + log_gain(a, to, a, d, g, floor, seats)
            accepted = math.log(uniform(state)) < gain
        if accepted:
            d = to
        if adapt:
            step[1, g] *= math.exp(0.1 * ((1.0 if accepted else 0.0) - 0.44))
    seats.alpha[g], seats.discount[g] = a, d


@leaf
def add_estimate(floor, seats, alpha0, kept):
    """Add E[theta | seats] at every node, its square, and Var[theta | seats] where wanted."""
    m = len(floor.parent)
    K = len(seats.n) // m
    for u in range(m):
        root = u == 0
        a, d = (alpha0, 0.0) if root else (seats.alpha[floor.group[u]], seats.discount[floor.group[u]])
        fresh = a if root else a + d * seats.opened[u]
        scale = 1.0 / (seats.customers[u] + a)
        for k in range(K):
            c, above = u * K + k, floor.parent[u] * K + k
            prior = 1.0 / K if root else kept.mean[above]
            old = seats.n[c] - (0.0 if root else d * seats.t[c])
            p = (old + fresh * prior) * scale
            kept.mean[c] = p
            kept.sums[c] += p
            kept.squares[c] += p * p
            if len(kept.within):  # two more rows, both of level k: each at an old table or at a fresh one
                prior2 = prior * prior if root else kept.second[above]
                both = old * (old + 1.0) + fresh * prior * (2.0 * old + 1.0 - d) + fresh * (fresh + d) * prior2
                kept.second[c] = both * scale / (seats.customers[u] + a + 1.0)
                kept.within[c] += kept.second[c] - p * p


@kernel
def seat(sweeps, keep, learned, floor, seats, step, prior, kept, path, chance, state):
    """`sweeps` sweeps; with `keep` their estimates are added to `kept`, without steps are tuned.

    A row that is away while its level is predicted is left out: E 1 / p is P(all others) / P(all).

    prior   shape and rate of the concentrations, concentration of the root
    Twin: tests.naive.smoothing.pitman_yor, a sum over all numbers of tables.
    """
    alpha0 = prior[2]
    K = len(seats.n) // len(floor.parent)
    for _ in range(sweeps):
        for u in range(len(floor.parent) - 1, -1, -1):
            left_out = keep and len(kept.surprise) > 0 and floor.is_leaf[u]
            if u == 0 and not left_out:
                continue
            for k in range(K):
                c = u * K + k
                moves = seats.n[c]
                if moves < (1 if left_out else 2):  # one customer has one table, and that one moves at the parent
                    continue
                surprise = 0.0
                for _ in range(moves):
                    leave(u, k, floor, seats, state)
                    length = predict(u, k, floor, seats, alpha0, path, chance)
                    surprise += 1.0 / chance[0]
                    sit(k, floor, seats, path, chance, length, state)
                if left_out:
                    kept.surprise[c] += surprise / moves
        for g in range(len(seats.alpha)):
            strengths(g, floor, seats, step, not keep, learned, prior, state)
        if keep:
            add_estimate(floor, seats, alpha0, kept)
            for g in range(len(seats.alpha)):
                kept.alpha[g] += seats.alpha[g]
                kept.discount[g] += seats.discount[g]
