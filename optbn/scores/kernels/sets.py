"""Sets of variables in lexicographic order: enumerating, ranking, joining, and the best score of a proper subset.

The k-subsets of 0..n-1 in lexicographic order have ranks 0..binom(n, k)-1. Replacing every member s by n-1-s turns
lexicographic order into reversed colexicographic order, whose rank is a sum of binomials; hence

    rank(s_0 < .. < s_{k-1}) = binom(n, k) - 1 - sum_j binom(n - 1 - s_j, k - j).

`choose[a, b]` is binom(a, b), int64[n + 1, K + 1]. Twins: tests/naive/phase1.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.compiled import kernel, part


def binomials(n: int, k: int) -> NDArray[np.int64]:
    """int64[n + 1, k + 1] of binom(a, b); -1 where it would not fit into 62 bits."""
    choose = np.zeros((n + 1, k + 1), np.int64)
    choose[:, 0] = 1
    for a in range(1, n + 1):
        x, y = choose[a - 1, :-1], choose[a - 1, 1:]
        choose[a, 1:] = np.where((x < 0) | (y < 0) | (x + y >= 1 << 62), -1, x + y)
    return choose


@part
def rank_without(members, skip, n, choose):
    """The rank of the set without its member number `skip` (-1: of the whole set)."""
    size = len(members) - (skip >= 0)
    rank = choose[n, size] - 1
    at = 0
    for j in range(len(members)):
        if j != skip:
            rank -= choose[n - 1 - members[j], size - at]
            at += 1
    return rank


@kernel
def sets_between(n, k, first, last, choose):
    """int32[last - first, k]: the k-subsets of ranks first..last-1."""
    out = np.empty((last - first, k), np.int32)
    if k == 0 or last <= first:
        return out
    left, low = first, 0  # choose members in turn, skipping whole groups of sets that share a smaller one
    for j in range(k):
        while left >= choose[n - 1 - low, k - 1 - j]:
            left -= choose[n - 1 - low, k - 1 - j]
            low += 1
        out[0, j] = low
        low += 1
    for i in range(1, last - first):
        j = k - 1
        while out[i - 1, j] == n - k + j:
            j -= 1
        for a in range(j):
            out[i, a] = out[i - 1, a]
        out[i, j] = out[i - 1, j] + 1
        for a in range(j + 1, k):
            out[i, a] = out[i, a - 1] + 1
    return out


@kernel
def best_of_subsets(sets, best, n, choose):
    """float64[m, g]: per set the greatest of `best` (float64[binom(n, k-1), g], by rank) over its (k-1)-subsets."""
    m, k = sets.shape
    out = np.empty((m, best.shape[1]))
    for i in range(m):
        for c in range(best.shape[1]):
            out[i, c] = -np.inf
        for j in range(k):
            row = best[rank_without(sets[i], j, n, choose)]
            for c in range(len(row)):
                if row[c] > out[i, c]:
                    out[i, c] = row[c]
    return out


@kernel
def join(sets, wanted):
    """The distinct sets P + v over the wanted (set i, response v), by an open-addressing hash of their members.

    Returns (joined int32[u, k + 1], members ascending, in order of first appearance; where int32[m, n], the row of
    `joined` or -1). Full blocks in lexicographic order give `joined` in lexicographic order.
    """
    m, n = wanted.shape
    k = sets.shape[1]
    families = 0
    for i in range(m):
        for v in range(n):
            families += wanted[i, v]
    slots = 4
    while slots < 2 * families:
        slots *= 2
    table = np.full(slots, -1, np.int32)
    joined = np.empty((families, k + 1), np.int32)
    where = np.full((m, n), -1, np.int32)
    used = 0
    for i in range(m):
        for v in range(n):
            if not wanted[i, v]:
                continue
            fresh = joined[used]
            at = 0
            while at < k and sets[i, at] < v:
                fresh[at] = sets[i, at]
                at += 1
            fresh[at] = v
            for j in range(at, k):
                fresh[j + 1] = sets[i, j]
            h = np.uint64(14695981039346656037)
            for j in range(k + 1):
                h = (h ^ np.uint64(fresh[j])) * np.uint64(0x9E3779B97F4A7C15)
                h ^= h >> np.uint64(29)
            slot = np.int64(h & np.uint64(slots - 1))
            while True:
                row = table[slot]
                if row < 0:
                    table[slot] = used
                    where[i, v] = used
                    used += 1
                    break
                same = True
                for j in range(k + 1):
                    if joined[row, j] != fresh[j]:
                        same = False
                        break
                if same:
                    where[i, v] = row
                    break
                slot = (slot + 1) & (slots - 1)
    return joined[:used], where
