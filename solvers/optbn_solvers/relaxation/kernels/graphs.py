"""DAGs on a few nodes that earn much, as columns of a linear program (kernels.local).

Row j of the program is about the pattern pattern[j] of node[j]; gain[j] is what a DAG earns that has it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.compiled import kernel
from optbn_solvers.relaxation.kernels.subsets import close_upwards, max_dag, placed_last


class Rows(NamedTuple):
    """Of the linear program: row j is about the pattern pattern[j] of node[j]."""

    node: NDArray[np.int64]
    pattern: NDArray[np.int64]


class Work(NamedTuple):
    """Scratch: of the subset DP, ancestors, and a column with its image under the inverse."""

    best: NDArray[np.float64]
    value: NDArray[np.float64]
    above: NDArray[np.int64]
    column: NDArray[np.float64]
    step: NDArray[np.float64]


@kernel
def greedy_graph(rows, gain, work):
    """A DAG that takes the patterns with the largest gains first; returns the row of the least one taken, or -1."""
    m, above = work.best.shape[1], work.above  # the ancestors of each node and itself
    for i in range(m):
        above[i] = 1 << i
    work.column[:] = 0.0
    taken, least = 0, np.int64(-1)
    while True:
        most = np.int64(-1)
        for j in range(len(gain)):
            i = rows.node[j]
            if (taken >> i) & 1 or gain[j] <= (gain[most] if most >= 0 else 1e-12):
                continue
            free = True
            for u in range(m):
                free = free and not ((rows.pattern[j] >> u) & 1 and (above[u] >> i) & 1)
            if free:
                most = j
        if most < 0:
            return least
        least = most
        work.column[most] = 1.0
        i = rows.node[most]
        taken |= 1 << i
        for u in range(m):
            if (rows.pattern[most] >> u) & 1:
                above[i] |= above[u]
        for v in range(m):
            if (above[v] >> i) & 1:
                above[v] |= above[i]


@kernel
def best_graph(rows, gain, work):
    """Fill the column with the patterns (gains > 0) a best DAG uses; returns its gain."""
    best, value, column = work.best, work.value, work.column
    best[:] = 0.0
    for j in range(len(gain)):
        if gain[j] > best[rows.pattern[j], rows.node[j]]:
            best[rows.pattern[j], rows.node[j]] = gain[j]
    close_upwards(best)
    most = max_dag(best, value)
    column[:] = 0.0
    among = len(best) - 1
    while among:
        i = placed_last(best, value, among)
        among ^= 1 << i
        chosen = np.int64(-1)
        for j in range(len(gain)):
            fits = rows.node[j] == i and rows.pattern[j] & ~among == 0
            if fits and gain[j] > (gain[chosen] if chosen >= 0 else 1e-12):
                chosen = j
        if chosen >= 0:
            column[chosen] = 1.0
    return most
