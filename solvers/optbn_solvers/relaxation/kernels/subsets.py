"""The best DAG on a few nodes, by dynamic programming over their subsets.

Nodes are 0..m-1 and sets are integers below N = 2^m. `gain[i, T]` is what node i earns with exactly the parents T.
    best[i, U] = max over T within U of gain[i, T]                          m N m / 2 steps
    value[U]   = max over i in U of value[U - i] + best[i, U - i]           N m steps
Silander and Myllymaki 2006. Twins: tests/naive/ilp.py.
"""

from __future__ import annotations

from optbn_solvers.base.compiled import kernel


@kernel
def close_upwards(best):
    """best[i, U] = max over T within U of best[i, T], in place (columns of sets that hold i are never used)."""
    m, size = best.shape
    for i in range(m):
        row = best[i]
        for b in range(m):
            if b != i:
                half = 1 << b
                for start in range(0, size, 2 * half):
                    for low in range(start, start + half):
                        row[low + half] = max(row[low + half], row[low])


@kernel
def max_dag(best, value, last):
    """Fill value[U] (value[0] = 0) and last[U], the node placed last in U; returns value of all nodes."""
    m, size = best.shape
    value[0] = best[0, 0] - best[0, 0]
    for among in range(1, size):
        first = True
        for i in range(m):
            if (among >> i) & 1:
                before = among ^ (1 << i)
                total = value[before] + best[i, before]
                if first or total > value[among]:
                    first = False
                    value[among] = total
                    last[among] = i
    return value[size - 1]


@kernel
def max_dag_around(best, value, node, parents):
    """The same maximum over the DAGs in which `node` has parents that include `parents` and earns nothing.

    Sets that hold `node` without `parents` cannot occur; -1 marks them (gains are >= 0).
    """
    m, size = best.shape
    value[0] = 0
    for among in range(1, size):
        most = -1.0
        for i in range(m):
            if (among >> i) & 1:
                before = among ^ (1 << i)
                if value[before] < 0:
                    continue
                if i == node:
                    if parents & ~before == 0 and value[before] > most:
                        most = value[before]
                elif value[before] + best[i, before] > most:
                    most = value[before] + best[i, before]
        value[among] = most
    return value[size - 1]
