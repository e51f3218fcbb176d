"""Sets of variables as rows of 64-bit words, and the pruning of dominated rows.

Variable u lives in word u // 64 at bit u % 64. Twins: tests/naive/masks.py.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.compiled import kernel, part


def pack_sets(sets: Sequence[Sequence[int]], n: int) -> NDArray[np.uint64]:
    """uint64[len(sets), W] from lists of members of 0..n-1."""
    masks = np.zeros((len(sets), max(1, -(-n // 64))), dtype=np.uint64)
    for row, members in enumerate(sets):
        for u in members:
            masks[row, u >> 6] |= np.uint64(1 << (u & 63))
    return masks


@part
def inside(masks, row, members):
    """Whether the set of `row` is a subset of `members` uint64[W]."""
    for w in range(masks.shape[1]):  # noqa: SIM110 (numba compiles no generators)
        if masks[row, w] & ~members[w]:
            return False
    return True


@kernel
def unplaced(offsets, masks):
    """bool[n]: the variables that no acyclic graph can hold, because their families all need one another.

    Grow a set, placing any variable that has a family inside it; what stays out is the answer. Cost O(n m) at worst.
    """
    n = len(offsets) - 1
    out = np.ones(n, dtype=np.bool_)
    members = np.zeros(masks.shape[1], dtype=np.uint64)
    grown = True
    while grown:
        grown = False
        for v in range(n):
            if out[v]:
                for row in range(offsets[v], offsets[v + 1]):
                    if inside(masks, row, members):
                        members[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
                        out[v] = False
                        grown = True
                        break
    return out


@kernel
def greedy_loss(offsets, masks, losses):
    """What the greedy graph loses against the best row of every variable; infinite if there is no acyclic graph.

    offsets int64[n + 1], masks uint64[m, W], losses float64[m] >= 0 and ascending for each variable.
    """
    n = len(offsets) - 1
    placed = np.zeros(masks.shape[1], dtype=np.uint64)
    waiting = np.ones(n, dtype=np.bool_)
    first = offsets[1:].copy()  # of each variable: its best row that fits, as far as is known
    lost = 0.0
    for _ in range(n):
        chosen, least = -1, np.inf
        for v in range(n):
            if not waiting[v]:
                continue
            for row in range(offsets[v], first[v]):
                if inside(masks, row, placed):
                    first[v] = row
                    break
            if first[v] < offsets[v + 1] and (chosen < 0 or losses[first[v]] < least):
                chosen, least = v, losses[first[v]]
        if chosen < 0:
            return np.inf
        waiting[chosen] = False
        placed[chosen >> 6] |= np.uint64(1) << np.uint64(chosen & 63)
        lost += least
    return lost


@kernel
def undominated(offsets, masks, units):
    """bool[m]: the rows that no earlier row of the same child is a subset of.

    Rows of a child come best first (ties: smaller sets first), so an earlier subset scores at least as much. A set of
    k members is tested either against the kept rows one by one or by looking its 2^k subsets up in a hash of the kept
    rows, whichever is fewer; cost O(sum over rows of min(kept, 2^k)).
    """
    m, words = masks.shape
    keep = np.ones(m, dtype=np.bool_)
    kept = np.empty(m, dtype=np.int64)
    members = np.empty(64 * words, dtype=np.int64)
    probe = np.empty(words, dtype=np.uint64)
    one = np.uint64(1)
    for child in range(len(offsets) - 1):
        lo, hi = offsets[child], offsets[child + 1]
        slots = np.int64(4)
        while slots < 2 * (hi - lo):
            slots *= 2
        table = np.empty(slots, dtype=np.int64)
        for slot in range(slots):
            table[slot] = -1
        count = 0
        for row in range(lo, hi):
            k = 0
            for u in range(64 * words):
                if (masks[row, u >> 6] >> np.uint64(u & 63)) & one:
                    members[k] = u
                    k += 1
            dominated = False
            if k < 40 and (np.int64(1) << k) < count:
                for choice in range(np.int64(1) << k):
                    for w in range(words):
                        probe[w] = np.uint64(0)
                    for i in range(k):
                        if (choice >> i) & 1:
                            probe[members[i] >> 6] |= one << np.uint64(members[i] & 63)
                    if _lookup(table, masks, probe) >= 0:
                        dominated = True
                        break
            else:
                for i in range(count):
                    subset = True
                    for w in range(words):
                        if masks[kept[i], w] & ~masks[row, w]:
                            subset = False
                            break
                    if subset:
                        dominated = True
                        break
            if dominated:
                keep[row] = False
            else:
                kept[count] = row
                count += 1
                _insert(table, masks, row)
    return keep


@part
def _slot(mask, slots):
    """The first slot to try for a mask (multiplicative hashing)."""
    h = np.uint64(1469598103934665603)
    for w in range(len(mask)):
        h = (h ^ mask[w]) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(29)
    return np.int64(h & np.uint64(slots - 1))


@part
def _insert(table, masks, row):
    slot = _slot(masks[row], len(table))
    while table[slot] >= 0:
        slot = (slot + 1) & (len(table) - 1)
    table[slot] = row


@part
def _lookup(table, masks, probe):
    """The row whose mask equals `probe`, or -1."""
    slot = _slot(probe, len(table))
    while table[slot] >= 0:
        row = table[slot]
        same = True
        for w in range(len(probe)):
            if masks[row, w] != probe[w]:
                same = False
                break
        if same:
            return row
        slot = (slot + 1) & (len(table) - 1)
    return np.int64(-1)
