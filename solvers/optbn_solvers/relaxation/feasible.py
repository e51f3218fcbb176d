"""Some graph that obeys the constraints, quickly: where a search begins when repairs lead nowhere.

`sparsest` places one variable after another with as few parents as it can. Where the constraints are hereditary that
graph obeys if any does within reach; `grown` then adds to it what pays most, per arc where arcs are limited, as long as
the graph stays acyclic and obeys.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.kernels.masks import pack_sets
from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.residual import ArcLimit, ChildLimit, Residual
from optbn_solvers.base.table import ScoreTable

LOOKS = 20_000  # families that `grown` tries at most
SURE = 0.2  # seconds that it has even when the budget is used up: an empty graph is of little use

Rows = NDArray[np.int64]


def sparsest(table: ScoreTable) -> Rows:
    """An acyclic graph with few arcs; the table must have one."""
    sizes = np.bitwise_count(table.masks).sum(axis=1, dtype=np.int64)
    rows = np.full(table.n, -1, dtype=np.int64)
    placed: list[int] = []
    while len(placed) < table.n:
        before = pack_sets([placed], table.n)[0]
        for v in np.flatnonzero(rows < 0).tolist():
            own = np.arange(table.offsets[v], table.offsets[v + 1])
            fits = own[(table.masks[own] & ~before == 0).all(axis=1)]
            if len(fits):
                rows[v] = fits[np.argmin(sizes[fits])]
                placed.append(v)
    return rows


def grown(table: ScoreTable, rows: Rows, residual: Sequence[Residual], budget: Budget) -> Rows:
    """From a graph that obeys one that scores at least as much, the greatest gain first."""
    rows, sizes = rows.copy(), np.bitwise_count(table.masks).sum(axis=1, dtype=np.int64)
    per_arc = any(isinstance(each, ArcLimit | ChildLimit) for each in residual)
    sets = [sum(word << 64 * i for i, word in enumerate(mask)) for mask in table.masks.tolist()]
    parents = [sets[row] for row in rows]

    def better(v: int) -> list[tuple[float, int, int]]:
        """What pays for a child: (-gain, child, row)."""
        own = np.arange(table.offsets[v], table.offsets[v + 1])
        own = own[table.units[own] > table.units[rows[v]]]
        gain = (table.units[own] - table.units[rows[v]]).astype(np.float64)
        if per_arc:
            gain /= np.maximum(1, sizes[own] - sizes[rows[v]])
        return list(zip((-gain).tolist(), [v] * len(own), own.tolist(), strict=True))

    queue = [each for v in range(table.n) for each in better(v)]
    heapq.heapify(queue)
    sure = time.perf_counter() + SURE
    for _ in range(LOOKS):
        if not queue or (budget.exhausted() and time.perf_counter() > sure):
            break
        _, v, row = heapq.heappop(queue)
        if table.units[row] <= table.units[rows[v]] or sets[row] & _below(parents, v):
            continue
        before, parents[v] = parents[v], sets[row]
        if any(each.broken(parents) for each in residual):
            parents[v] = before
            continue
        rows[v] = row
        for each in better(v):
            heapq.heappush(queue, each)
    return rows


def _below(parents: Sequence[int], v: int) -> int:
    """The descendants of v, as a mask."""
    found, size = 1 << v, 0
    while found.bit_count() > size:
        size = found.bit_count()
        for w, mask in enumerate(parents):
            if mask & found:
                found |= 1 << w
    return found
