"""Coefficients for the patterns that a point does not use: as large as the row stays true (kernels.local)."""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel
from optbn_solvers.relaxation.kernels.subsets import close_upwards, max_dag_around


@kernel
def lift(table, rhs, present):
    """Raise the coefficients of other patterns as far as the row stays true, small patterns first, in place.

    `present` bool[m, N] marks the patterns some family has; only they are worth the effort. A pattern's coefficient
    is the rhs less the most the other nodes can earn beside it, and at least that of any subset. In the end every
    pattern has the largest coefficient of its subsets. Cost: one DP per pattern.
    """
    m, size = table.shape
    best, value = np.zeros((size, m)), np.zeros(size)
    for i in range(m):
        for among in range(size):
            best[among, i] = table[i, among]
    close_upwards(best)
    for members in range(1, m):
        for among in range(1, size):
            count = 0
            for b in range(m):
                count += (among >> b) & 1
            if count != members:
                continue
            for i in range(m):
                if (among >> i) & 1 or not present[i, among] or table[i, among] > 0:
                    continue
                lifted = rhs - max_dag_around(best, value, i, among)
                if lifted > best[among, i]:
                    free = (size - 1) & ~among & ~(1 << i)
                    more = free
                    while True:
                        if best[among | more, i] < lifted:
                            best[among | more, i] = lifted
                        if more == 0:
                            break
                        more = (more - 1) & free
    for i in range(m):
        for among in range(size):
            table[i, among] = 0 if (among >> i) & 1 else np.int64(best[among, i])
