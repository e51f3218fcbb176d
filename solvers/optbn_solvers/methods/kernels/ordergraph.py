"""States of the order graph: sets of placed variables with the least cost of an acyclic graph on them (methods.astar).

`expand` places one variable more and keeps the cheapest way into each set, in a hash table with open addressing;
`bounds` says what the variables that are left cost at least; `fill` makes a pattern database. Twins:
tests/naive/astar.py.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel

EMPTY = -1
FAR = 1 << 59  # more than any cost; the sum of one per group still fits


@kernel
def fill(left, best):
    """left[W], the least cost of placing the members W of a group after everything else; best[i, W] is member i's
    cheapest family with its parents in the group within W."""
    everything = len(left) - 1
    for rest in range(1, len(left)):  # the first of `rest` to be placed has all that are not left before it
        for i in range(len(best)):
            if rest >> i & 1:
                left[rest] = min(left[rest], left[rest ^ (1 << i)] + best[i, everything ^ rest])


@kernel
def bounds(states, h, least, clusters, weight, across, group, place, patterns):
    """h[s]: the larger of the bounds by clusters alone and by patterns and the clusters across groups."""
    index = np.zeros(len(patterns), dtype=np.int64)
    for s in range(len(states)):
        placed = states[s]
        alone = 0
        crossing = 0
        for c in range(len(clusters)):
            if clusters[c] & placed == 0:
                alone += weight[c]
                crossing += across[c]
        for k in range(len(patterns)):
            index[k] = 0
        for v in range(len(least)):
            if placed >> v & 1 == 0:
                alone += least[v]
                index[group[v]] |= 1 << place[v]
        for k in range(len(patterns)):
            crossing += patterns[k, index[k]]
        h[s] = max(alone, crossing)


@kernel
def expand(begin, states, g, offsets, masks, costs, upper, keys, values, used):
    """Put the successors of states[begin:] that cost less than `upper` into the table; returns where it got full.

    used[0] counts its entries; at most half of it is filled.
    """
    n = len(offsets) - 1
    room = len(keys) - 1
    for s in range(begin, len(states)):
        if 2 * (used[0] + n) > room:
            return s
        placed = states[s]
        for v in range(n):
            if placed >> v & 1:
                continue
            for row in range(offsets[v], offsets[v + 1]):
                if masks[row] & ~placed == 0:
                    value = g[s] + costs[row]
                    if value < upper:
                        _put(placed | (1 << v), value, keys, values, used)
                    break
    return len(states)


@kernel
def _put(state, value, keys, values, used):
    room = len(keys) - 1
    at = (state * -7046029254386353131 >> 20) & room
    while keys[at] != EMPTY and keys[at] != state:
        at = (at + 1) & room
    if keys[at] == EMPTY:
        keys[at] = state
        values[at] = value
        used[0] += 1
    elif value < values[at]:
        values[at] = value


@kernel
def copy(keys, values, new_keys, new_values, used):
    """All entries into a larger table."""
    used[0] = 0
    for at in range(len(keys)):
        if keys[at] != EMPTY:
            _put(keys[at], values[at], new_keys, new_values, used)
