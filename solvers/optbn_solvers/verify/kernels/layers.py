"""One layer of the checker's search through the sets of placed variables (optbn_solvers.verify.layers).

The next layer is a hash table in three arrays: `keys` the sets (EMPTY: none), `best` the units of the placed, `how` the
family that was placed last. At most half of it is filled; `used[0]` counts.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel

EMPTY = -1
PUT = 16  # steps, where memory is far


@kernel
def expand(begin, end, sets, values, target, families, groups, clusters, layer, used):
    """Place one variable more after each of sets[begin:end]; returns where the table got full, or `end`.

    What cannot be completed to more than `target` is left out. used[1] counts steps: families and clusters that were
    looked at, and PUT for each entry.

    families  (offsets, masks, units; before and adjacent, see `Families`)
    groups    (group, place of each variable; rest int64[groups, 2^m], which bounds what is not placed)
    clusters  (their sets, their weights); layer (keys, best, how)
    """
    offsets, masks, units, before, adjacent = families
    group, place, rest = groups
    members, weights = clusters
    keys, best, how = layer
    n = len(before)
    index = np.empty(len(rest), dtype=np.int64)
    released = np.empty(n, dtype=np.int64)
    for s in range(begin, end):
        if 2 * (used[0] + n) > len(keys):
            return s
        placed, bound = sets[s], values[s]
        index[:] = 0
        for v in range(n):
            if placed >> v & 1 == 0:
                index[group[v]] |= 1 << place[v]
        for k in range(len(rest)):
            bound += rest[k, index[k]]
        released[:] = 0
        for c in range(len(members)):
            if members[c] & placed == 0:
                bound -= weights[c]
                for v in range(n):
                    if members[c] >> v & 1:
                        released[v] += weights[c]
        used[1] += len(members) + n
        if bound <= target:
            continue
        for v in range(n):
            if placed >> v & 1 or before[v] & ~placed:
                continue
            k = group[v]
            after = bound - values[s] - rest[k, index[k]] + rest[k, index[k] ^ (1 << place[v])] + released[v]
            least = target - values[s] - after
            row = offsets[v]
            while row < offsets[v + 1] and units[row] > least:
                if masks[row] & ~placed == 0 and (masks[row] ^ placed) & adjacent[v] == 0:
                    _put(placed | (1 << v), values[s] + units[row], row, keys, best, how, used)
                    used[1] += PUT
                    break
                row += 1
            used[1] += row - offsets[v] + 1
    return end


@kernel
def _put(state, value, row, keys, best, how, used):
    room = len(keys) - 1
    at = (state * -7046029254386353131 >> 24) & room
    while keys[at] != EMPTY and keys[at] != state:
        at = (at + 1) & room
    if keys[at] == EMPTY:
        keys[at] = state
        used[0] += 1
    elif best[at] >= value:
        return
    best[at] = value
    how[at] = row


@kernel
def copy(keys, best, how, new_keys, new_best, new_how, used):
    """All entries into a larger table."""
    used[0] = 0
    for at in range(len(keys)):
        if keys[at] != EMPTY:
            _put(keys[at], best[at], how[at], new_keys, new_best, new_how, used)
