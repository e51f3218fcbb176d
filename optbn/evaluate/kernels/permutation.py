"""The rank of a table of counts among those of permuted rows: the innermost loop of the Markov check."""

from __future__ import annotations

import math

import numpy as np

from optbn_solvers.base.compiled import kernel

NEAR = 1e-9  # sums of equal tables may differ in rounding, by the order of their cells


@kernel
def information_rank(x, y, starts, permutations, generator):
    """(larger, equal int64, testable bool): of `n` permutations of x within strata, those with more information
    about y than x has, and those with as much; not testable if no permutation could differ.

    x, y    int64[N], codes of the rows, stratum by stratum; starts int64[strata + 1]
    """
    rx, ry = x.max() + 1, y.max() + 1
    table = np.zeros((rx, ry), np.int64)
    log = np.zeros(len(x) + 1)
    for n in range(1, len(x) + 1):
        log[n] = n * math.log(n)
    testable = False
    useful = np.zeros(len(starts) - 1, np.bool_)
    for s in range(len(starts) - 1):
        one, other = False, False
        for i in range(starts[s] + 1, starts[s + 1]):
            one = one or x[i] != x[starts[s]]
            other = other or y[i] != y[starts[s]]
        useful[s] = one and other
        testable = testable or useful[s]
    if not testable:
        return 0, 0, False
    drawn = x.copy()
    observed = information(drawn, y, starts, useful, table, log)
    room = NEAR * (1.0 + abs(observed))
    larger, equal = 0, 0
    for _ in range(permutations):
        for s in range(len(useful)):
            if useful[s]:
                for i in range(starts[s + 1] - 1, starts[s], -1):
                    j = starts[s] + int(generator.random() * (i - starts[s] + 1))
                    drawn[i], drawn[j] = drawn[j], drawn[i]
        now = information(drawn, y, starts, useful, table, log)
        larger += now > observed + room
        equal += abs(now - observed) <= room
    return larger, equal, True


@kernel
def information(x, y, starts, useful, table, log):
    """The sum of n log n over the cells: with fixed margins, what makes the mutual information."""
    total = 0.0
    for s in range(len(useful)):
        if not useful[s]:
            continue
        for i in range(starts[s], starts[s + 1]):
            table[x[i], y[i]] += 1
        for i in range(starts[s], starts[s + 1]):
            total += log[table[x[i], y[i]]]
            table[x[i], y[i]] = 0
    return total
