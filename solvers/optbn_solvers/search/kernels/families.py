"""Live families and their reduced costs: the four passes over them that everything else is made of.

The search minimises integer costs: the best score of the child minus the score, in the table's units. Families of child
v are the positions `offsets[v]:offsets[v + 1]` of parallel arrays: `masks` uint64[W, size] holds the parents, word by
word, `origin` int32[size] where the family stood at the root, and `reduced` int64[size] what remains of the cost after
the multipliers took their share,

    reduced(v, P) = cost(v, P) - sum of y_C over the clusters C with v in C, P disjoint from C  -  m_v

(plus y a of the subset rows, where there are some), m_v bringing the cheapest family of v to 0. No DAG costs less than
sum_v m_v + sum_C y_C - sum_rows y rhs (see optbn_solvers.base.solution).

`words` is a tuple of W zeros. Its length is part of its type, so the loops over words vanish when W = 1 and the passes
below become straight vector code. W is 1, 4, 16 or 64, so that few variants are ever compiled.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel

INFINITE = np.int64(1) << 60  # "there is no such family"; sums of multipliers are kept below it
HEAVIEST = INFINITE  # the sum of all multipliers of a node stays below HEAVIEST / n
ZERO = np.uint64(0)
ONE = np.uint64(1)


@kernel
def contains(mask, v):
    """Is v in the set mask uint64[W]?"""
    return (mask[v >> 6] >> np.uint64(v & 63)) & ONE != ZERO


@kernel
def insert(mask, v):
    """Put v into the set mask uint64[W]."""
    mask[v >> 6] |= ONE << np.uint64(v & 63)


@kernel
def cheapest(lo, hi, masks, reduced, cluster, words):
    """The least reduced cost of the families disjoint from the cluster, and of the others. Twin: tests/naive/cp.py."""
    disjoint, other = INFINITE, INFINITE
    first = cluster[0]
    mask, cost = masks[0, lo:hi], reduced[lo:hi]
    for i in range(len(cost)):
        common = mask[i] & first
        for w in range(1, len(words)):
            common |= masks[w, lo + i] & cluster[w]
        free = common == ZERO
        disjoint = min(disjoint, cost[i] if free else INFINITE)
        other = min(other, INFINITE if free else cost[i])
    return disjoint, other


@kernel
def pay(lo, hi, masks, reduced, cluster, words, share, everyone):
    """Take `everyone` off each family and `share` more off those disjoint from the cluster."""
    first = cluster[0]
    mask, cost = masks[0, lo:hi], reduced[lo:hi]
    for i in range(len(cost)):
        common = mask[i] & first
        for w in range(1, len(words)):
            common |= masks[w, lo + i] & cluster[w]
        cost[i] -= everyone + share if common == ZERO else everyone


@kernel
def normalise(offsets, reduced):
    """Bring the cheapest family of every child to 0; the sum of what that took, INFINITE if a child has none left."""
    gain = np.int64(0)
    for v in range(len(offsets) - 1):
        cost = reduced[offsets[v] : offsets[v + 1]]
        least = INFINITE
        for i in range(len(cost)):
            least = min(least, cost[i])
        if least == INFINITE:
            return INFINITE
        if least != 0:
            for i in range(len(cost)):
                cost[i] -= least
            gain += least
    return gain


@kernel
def restrict(source, target, masks, reduced, origin, limit, child, cluster, disjoint, words):
    """Copy the families worth keeping to the place after the source; fills the offsets `target`.

    Kept are those with reduced cost <= limit; of `child` (none if negative) only those that are disjoint from the
    cluster, or only those that are not. The copy is normalised; returns the gain, INFINITE if a child has none left.
    """
    n = len(source) - 1
    k = source[n]
    gain = np.int64(0)
    for v in range(n):
        target[v] = k
        least = INFINITE
        for f in range(source[v], source[v + 1]):
            cost = reduced[f]
            if cost > limit:
                continue
            if v == child:
                common = masks[0, f] & cluster[0]
                for w in range(1, len(words)):
                    common |= masks[w, f] & cluster[w]
                if (common == ZERO) != disjoint:
                    continue
            for w in range(len(words)):
                masks[w, k] = masks[w, f]
            reduced[k] = cost
            origin[k] = origin[f]
            least = min(least, cost)
            k += 1
        if least == INFINITE:
            return INFINITE
        if least != 0:
            for f in range(target[v], k):
                reduced[f] -= least
            gain += least
    target[n] = k
    return gain
