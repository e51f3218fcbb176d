"""Families of a penalised likelihood that a subset matches, by entropies of pairs alone; see optbn/scores/counting.py.

Twin: tests/naive/phase1.py `worth_counting`.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel

ROUNDING = 1e-9  # relative; what sums of logarithms may be wrong by, with room to spare


@kernel
def worth_counting(sets, wanted, floor, levels, price, alone, given):
    """bool[m, n]: `wanted` without the families that cannot be above their floor.

    price  of a parameter;  alone  float64[n], N H(v);  given  float64[n, n], N H(v | t) at [t, v]
    """
    m, n = wanted.shape
    k = sets.shape[1]
    out = wanted.copy()
    least, step = np.empty(k), np.empty(k)
    for i in range(m):
        q = 1.0
        for u in sets[i]:
            q *= levels[u]
        for j in range(k):
            u = sets[i, j]
            step[j] = price * (q - q / levels[u])
            least[j] = alone[u]
            for t in range(k):
                if t != j:
                    least[j] = min(least[j], given[sets[i, t], u])
        for v in range(n):
            if not wanted[i, v] or floor[i, v] == -np.inf:
                continue
            more = levels[v] - 1.0
            if -price * q * more <= floor[i, v]:
                out[i, v] = False
                continue
            for j in range(k):
                gain = min(least[j], alone[v])
                for t in range(k):
                    if t != j:
                        gain = min(gain, given[sets[i, t], v])
                if gain * (1.0 + ROUNDING) + ROUNDING <= step[j] * more:
                    out[i, v] = False
                    break
    return out
