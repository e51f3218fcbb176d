"""The best DAG on a few nodes, by dynamic programming over their subsets.

Nodes are 0..m-1 and sets are integers below N = 2^m. `gain[T, i]` is what node i earns with exactly the parents T.
    best[U, i] = max over T within U of gain[T, i]                          m N m / 2 steps
    value[U]   = max over i in U of value[U - i] + best[U - i, i]           N m / 2 steps
Sets come first, so that both run through memory in order, several nodes at a time.
Silander and Myllymaki 2006. Twins: tests/naive/ilp.py.
"""

from __future__ import annotations

from optbn_solvers.base.compiled import kernel


@kernel
def close_upwards(best):
    """best[U, i] = max over T within U of best[T, i], in place (columns of sets that hold i are never used)."""
    size, m = best.shape
    flat = best.reshape(size * m)
    wide = m
    while wide < size * m:
        for start in range(0, size * m, 2 * wide):
            without, within = flat[start : start + wide], flat[start + wide : start + 2 * wide]
            for k in range(wide):
                lower, upper = without[k], within[k]
                within[k] = lower if lower > upper else upper
        wide *= 2


@kernel
def max_dag(best, value):
    """Fill value[U] (value[0] = 0); returns value of all nodes. No gain may be negative."""
    size, m = best.shape
    for among in range(size):
        value[among] = 0
    for among in range(size - 1):
        before = value[among]
        for i in range(m):
            after = among | (1 << i)
            if after != among:
                total = before + best[among, i]
                if total > value[after]:
                    value[after] = total
    return value[size - 1]


@kernel
def placed_last(best, value, among):
    """A node that comes last in a best order of `among`, not empty."""
    for i in range(best.shape[1]):
        if (among >> i) & 1:
            before = among ^ (1 << i)
            if value[before] + best[before, i] == value[among]:
                return i
    return -1


@kernel
def max_dag_around(best, value, node, parents):
    """The same maximum over the DAGs in which `node` has parents that include `parents` and earns nothing.

    Sets that hold `node` without `parents` cannot occur; -1 marks them (gains are >= 0).
    """
    size, m = best.shape
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
                elif value[before] + best[before, i] > most:
                    most = value[before] + best[before, i]
        value[among] = most
    return value[size - 1]
