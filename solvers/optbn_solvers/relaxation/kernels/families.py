"""Families as lists of parents, and which of them a valid inequality touches.

Parents of family f are `parents[starts[f]:starts[f + 1]]`: with lists instead of masks a kernel does not care how
many variables there are. Families of child v are `offsets[v]:offsets[v + 1]`. Twins: tests/naive/ilp.py.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel


@kernel
def parent_lists(masks):
    """(starts int64[k + 1], parents int64[sum of sizes]) from masks uint64[k, W]; O(bits set)."""
    k, words = masks.shape
    starts = np.zeros(k + 1, dtype=np.int64)
    for f in range(k):
        count = 0
        for w in range(words):
            bits = masks[f, w]
            while bits:
                bits &= bits - np.uint64(1)
                count += 1
        starts[f + 1] = starts[f] + count
    parents = np.empty(starts[k], dtype=np.int64)
    for f in range(k):
        at = starts[f]
        for u in range(64 * words):
            if at == starts[f + 1]:
                break
            if (masks[f, u >> 6] >> np.uint64(u & 63)) & np.uint64(1):
                parents[at] = u
                at += 1
    return starts, parents


@kernel
def pattern_entries(offsets, starts, parents, members, table, index, value):
    """The families with a coefficient in the row  sum over (v in C, P) of table[v, P & C] x(v, P).

    `members` int64[m] are C, `table` int64[m, 2^m]; bit j of a pattern says that members[j] is a parent. Fills
    `index` and `value` and returns how many. Cost: the parents of the members' families.
    """
    bit = np.zeros(len(offsets) - 1, dtype=np.int64)
    for j in range(len(members)):
        bit[members[j]] = np.int64(1) << j
    count = 0
    for j in range(len(members)):
        v = members[j]
        for f in range(offsets[v], offsets[v + 1]):
            pattern = np.int64(0)
            for k in range(starts[f], starts[f + 1]):
                pattern |= bit[parents[k]]
            if table[j, pattern] != 0:
                index[count] = f
                value[count] = table[j, pattern]
                count += 1
    return count


@kernel
def cluster_entries(offsets, starts, parents, inside, meeting, index):
    """The families of the members of C, bool[n], that meet C (`meeting`) or do not; fills `index`, returns how many."""
    count = 0
    for v in range(len(inside)):
        if inside[v]:
            for f in range(offsets[v], offsets[v + 1]):
                meets = False
                for k in range(starts[f], starts[f + 1]):
                    if inside[parents[k]]:
                        meets = True
                        break
                if meets == meeting:
                    index[count] = f
                    count += 1
    return count


@kernel
def subtract_rows(index, value, starts, which, y, adjusted):
    """adjusted[index[k]] -= y[i] value[k] for the entries k of row which[i], starts[row] to starts[row + 1]."""
    for i in range(len(which)):
        for k in range(starts[which[i]], starts[which[i] + 1]):
            adjusted[index[k]] -= y[i] * np.int64(value[k])
