"""Acyclicity by growing a prefix, minimal stuck sets, and the dual ascent they drive.

Rows of child v are `offsets[v]:offsets[v+1]`; `masks` is uint64[m, W]; `costs` is int64[m], the integer reduced costs,
at least one 0 per child. A row is free when its cost is 0. The free rows of child v are kept as
`free[offsets[v] : offsets[v] + counts[v]]`, so that the checker never looks at another row.
A set of variables is uint64[W]. Twins: tests/naive/clusters.py.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel


@kernel
def collect_free(offsets, costs, free, counts):
    """Fill the lists of free rows; O(m)."""
    for v in range(len(counts)):
        k = offsets[v]
        for row in range(offsets[v], offsets[v + 1]):
            if costs[row] == 0:
                free[k] = row
                k += 1
        counts[v] = k - offsets[v]


@kernel
def grow_prefix(offsets, masks, free, counts, placed, left):
    """Place variables of `left` while one has a free row inside `placed`; both sets are updated in place.

    What remains in `left` is the largest stuck set: each member's free rows all meet it. Returns its size.
    Cost O(passes x free rows of the unplaced), passes at most the length of the longest chain found out of order.
    """
    n, words = len(counts), masks.shape[1]
    one = np.uint64(1)
    todo = np.empty(n, dtype=np.int64)
    size = 0
    for v in range(n):
        if (left[v >> 6] >> np.uint64(v & 63)) & one:
            todo[size] = v
            size += 1
    moved = True
    while moved and size:
        moved = False
        kept = 0
        for i in range(size):
            v = todo[i]
            found = False
            for k in range(offsets[v], offsets[v] + counts[v]):
                row = free[k]
                inside = True
                for w in range(words):
                    if masks[row, w] & ~placed[w]:
                        inside = False
                        break
                if inside:
                    found = True
                    break
            if found:
                placed[v >> 6] |= one << np.uint64(v & 63)
                left[v >> 6] &= ~(one << np.uint64(v & 63))
                moved = True
            else:
                todo[kept] = v
                kept += 1
        size = kept
    return size


@kernel
def shrink_stuck(offsets, masks, free, counts, order, stuck):
    """Make a stuck set minimal in place: no proper subset found by dropping one variable (in `order`) is stuck.

    Dropping v and placing everything outside, the checker either gets through or is stuck again at a smaller set.
    Cost |C| calls of the checker.
    """
    n, words = len(counts), masks.shape[1]
    one = np.uint64(1)
    placed = np.empty(words, dtype=np.uint64)
    left = np.empty(words, dtype=np.uint64)
    for i in range(n):
        v = order[i]
        if (stuck[v >> 6] >> np.uint64(v & 63)) & one:
            for w in range(words):
                left[w] = stuck[w]
            left[v >> 6] &= ~(one << np.uint64(v & 63))
            for w in range(words):
                placed[w] = ~left[w]
            if grow_prefix(offsets, masks, free, counts, placed, left):
                for w in range(words):
                    stuck[w] = left[w]


@kernel
def ascend(offsets, masks, costs, order, clusters, multipliers):
    """Raise the bound cluster by cluster until the free rows hold a DAG or the output is full; `costs` in place.

    Returns (clusters found, raise in all, state): state 0 when the free rows hold a DAG, 1 when the output is full
    (call again to go on), -1 when a cluster has no disjoint row at all, i.e. the rows hold no DAG: it is the last
    cluster written. multipliers[k] is what cluster k took off every row (v in C, disjoint from C).
    """
    n, words = len(offsets) - 1, masks.shape[1]
    one = np.uint64(1)
    free = np.empty(len(costs), dtype=np.int64)
    counts = np.empty(n, dtype=np.int64)
    placed = np.empty(words, dtype=np.uint64)
    stuck = np.empty(words, dtype=np.uint64)
    collect_free(offsets, costs, free, counts)
    raised = np.int64(0)
    for found in range(len(clusters)):
        for w in range(words):
            placed[w] = np.uint64(0)
            stuck[w] = np.uint64(0)
        for v in range(n):
            stuck[v >> 6] |= one << np.uint64(v & 63)
        if grow_prefix(offsets, masks, free, counts, placed, stuck) == 0:
            return found, raised, 0
        shrink_stuck(offsets, masks, free, counts, order, stuck)
        step = np.int64(-1)
        for v in range(n):
            if (stuck[v >> 6] >> np.uint64(v & 63)) & one:
                for row in range(offsets[v], offsets[v + 1]):
                    if (step < 0 or costs[row] < step) and _disjoint(masks, row, stuck):
                        step = costs[row]
        for w in range(words):
            clusters[found, w] = stuck[w]
        multipliers[found] = step
        if step < 0:
            return found + 1, raised, -1
        raised += step
        for v in range(n):
            if (stuck[v >> 6] >> np.uint64(v & 63)) & one:
                for row in range(offsets[v], offsets[v + 1]):
                    if _disjoint(masks, row, stuck):
                        costs[row] -= step
                        if costs[row] == 0:
                            free[offsets[v] + counts[v]] = row
                            counts[v] += 1
    return len(clusters), raised, 1


@kernel
def _disjoint(masks, row, members):
    common = np.uint64(0)
    for w in range(len(members)):
        common |= masks[row, w] & members[w]
    return common == np.uint64(0)
