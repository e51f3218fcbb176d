"""The two compiled loops of a network: draw a level per row, and find a row's leaf in a decision tree.

Twins in tests/naive/network.py. Both are pure look-ups: no floating-point sum, so the answer has the same bits on
every machine.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel

_TO_UNIT = 1.0 / 9007199254740992.0  # 2^-53


@kernel
def draw(cells, cumulative, raw, out):
    """out[i] = the first level k with u < cumulative[cells[i], k], where u is raw[i] as a fraction of 2^64.

    cells       int64[N]
    cumulative  float64[cells, r], ascending; every entry from the last possible level on is above 1
    raw         uint64[N], random bits; the upper 53 make u in [0, 1)
    out         int64[N]
    O(N r) compares, twin `naive_draw`.
    """
    for i in range(len(cells)):
        row = cumulative[cells[i]]
        u = np.float64(raw[i] >> np.uint64(11)) * _TO_UNIT
        k = 0
        while u >= row[k]:
            k += 1
        out[i] = k


@kernel
def descend(values, parent, threshold, offset, goes_left, left, right):
    """int64[N]: the leaf each row of float64[N, k] `values` falls into; the arrays are those of `Tree`.

    A child's node number is larger than its parent's, so a walk ends. O(N depth), twin `naive_leaf`.
    """
    leaves = np.empty(len(values), dtype=np.int64)
    for i in range(len(values)):
        node = 0
        while parent[node] >= 0:
            x = values[i, parent[node]]
            if offset[node] >= 0:
                down = goes_left[offset[node] + np.int64(x)]
            else:
                down = x < threshold[node]
            node = left[node] if down else right[node]
        leaves[i] = left[node]
    return leaves
