"""Count trees of rows in memory, a level at a time; `optbn.classifiers.forest` puts them together."""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel


@kernel
def split(node, column, nodes, size):
    """Split the nodes 0 .. nodes - 1 by a column: node[r], that of row r, becomes its node at the next level.

    Returns the keys, node times size plus value, of the nodes there, ascending as their numbers do.
    """
    place = np.zeros(nodes * size, dtype=np.int32)
    many = 0
    for r in range(len(node)):
        key = node[r] * size + column[r]
        many += 1 - place[key]
        place[key] = 1
    keys, at = np.empty(many, dtype=np.int64), 0
    for key in range(len(place)):
        if place[key] > 0:
            keys[at], place[key] = key, at
            at += 1
    for r in range(len(node)):
        node[r] = place[node[r] * size + column[r]]
    return keys


@kernel
def count_up(node, child, weights, parent, level_at, counts):
    """Add rows to the counts of their leaves, which `node` numbers, and those of every level to the one above it.

    parent  int32[m];  level_at  int64[levels + 1], where they begin;  counts  float64[m, values of the child]
    """
    leaves = level_at[len(level_at) - 2]
    for r in range(len(node)):
        counts[leaves + node[r], child[r]] += weights[r]
    for level in range(len(level_at) - 2, 0, -1):
        for u in range(level_at[level], level_at[level + 1]):
            above = parent[u]
            for v in range(counts.shape[1]):
                counts[above, v] += counts[u, v]
