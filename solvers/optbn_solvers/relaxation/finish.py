"""The end game, exactly: what is left falls apart, and each part is small enough for the subset DP.

After filtering, draw an arc u -> v wherever some family still alive has u as a parent of v. Arcs between strongly
connected components lie on no cycle, so the best graph among the families alive takes, in each component K, the best
choice that is acyclic on K: a maximum over the DAGs of the traces P & K. For small K the DP over subsets gives it in
integers. As a row: for each trace T that some family of v has, let a[v, T] = M + (the best units with that trace) -
(the worst such best), M more than all such differences together. Then
    sum of a[v, P & K] x(v, P) <= (the largest value over the DAGs on K)
and with multiplier 1 every trace of v is worth the same: the rows of all components together give a bound that is the
best score among the families alive. If that beats the incumbent, the graph that does is built as well.
Cost: m 2^m (m / 2 + 1) steps for a component of m.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from optbn_solvers.relaxation.kernels.subsets import close_upwards, max_dag, placed_last
from optbn_solvers.relaxation.ledger import Ledger, Stage
from optbn_solvers.relaxation.rows import Pattern

LARGEST_PART = 12  # what the checker re-proves


def parts_of(ledger: Ledger) -> list[NDArray[np.int64]]:
    """The strongly connected components of the families alive that have at least two variables."""
    families = ledger.families
    alive = np.flatnonzero(ledger.alive)
    starts, parents = families.lists(alive)
    child = np.repeat(families.children[alive], np.diff(starts))
    n = families.n
    graph = csr_array((np.ones(len(child), dtype=np.bool_), (parents, child)), shape=(n, n))
    count, label = connected_components(graph, directed=True, connection="strong")
    sizes = np.bincount(label, minlength=count)
    return [np.flatnonzero(label == part) for part in np.flatnonzero(sizes > 1)]


def finish(ledger: Ledger, largest: int = LARGEST_PART) -> bool:
    """Close the ledger if every part has at most `largest` variables, and no more than can be checked; returns whether
    it is closed."""
    if ledger.closed:
        return True
    parts = parts_of(ledger)
    if max((len(part) for part in parts), default=0) > min(largest, LARGEST_PART):
        return False
    families = ledger.families
    alive = np.flatnonzero(ledger.alive)
    # a variable in no part takes its best family; in a part, what its DP says
    chosen = np.array([alive[np.searchsorted(alive, families.offsets[v])] for v in range(families.n)])
    rows: list[Pattern] = []
    consistent = True
    for part in parts:
        row, picks = _solve_part(ledger, part)
        rows.append(row)
        consistent &= picks is not None
        if picks is not None:
            chosen[part] = picks
    if consistent:
        ledger.offer(families.rows[chosen])
    ledger.settle(Stage([(row, 1) for row in rows]), [row.entries(families) for row in rows])
    return ledger.closed


def _solve_part(ledger: Ledger, part: NDArray[np.int64]) -> tuple[Pattern, NDArray[np.int64] | None]:
    """The row of one part, and the best family of each of its variables (None: they cannot be acyclic)."""
    families, m = ledger.families, len(part)
    size = 1 << m
    place = np.full(families.n, -1, dtype=np.int64)
    place[part] = np.arange(m)
    best_family = np.full((m, size), -1, dtype=np.int64)
    for j, v in enumerate(part):
        own = np.arange(families.offsets[v], families.offsets[v + 1])
        own = own[ledger.alive[own]]
        starts, parents = families.lists(own)
        inner = place[parents]
        bits = np.where(inner >= 0, np.int64(1) << np.maximum(inner, 0), 0)
        traces = np.bincount(np.repeat(np.arange(len(own)), np.diff(starts)), bits, len(own)).astype(np.int64)
        best_family[j, traces[::-1]] = own[::-1]  # best first: the last written is the best
    listed = best_family >= 0
    units = np.where(listed, families.units[best_family], 0)
    lowest = np.array([units[j][listed[j]].min() for j in range(m)])
    above = np.where(listed, units - lowest[:, None], 0)
    lift = int(above.max(axis=1).sum()) + 1
    table = np.where(listed, above + lift, 0)
    best, value = table.T.copy(), np.zeros(size, dtype=np.int64)
    close_upwards(best)
    rhs = int(max_dag(best, value))
    row = Pattern(tuple(part.tolist()), table, rhs)
    if rhs < m * lift:
        return row, None
    picks = np.empty(m, dtype=np.int64)
    among = size - 1
    while among:
        j = int(placed_last(best, value, among))
        among ^= 1 << j
        inside = np.flatnonzero(listed[j])
        inside = inside[(inside & ~among) == 0]
        picks[j] = best_family[j, inside[np.argmax(table[j, inside])]]
    return row, picks
