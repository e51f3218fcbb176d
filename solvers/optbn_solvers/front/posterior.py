"""Exact Bayesian model averaging: the probability of every family and arc, with the table's scores as log weights.

over = "graphs": a graph G weighs exp(score(G)); each acyclic graph counts once. With A_j(U) the sum of exp(score) over
j's families inside U, the sum over graphs on S is (Tian and He 2009)
    r(S) = sum over nonempty T within S of (-1)^(|T|+1) r(S - T) prod_{j in T} A_j(S - T),
3^n steps: n up to about 18.

over = "orders": an order of the variables and, for each, a family among its predecessors (Koivisto and Sood 2004): a
graph weighs exp(score(G)) times the number of its topological orders, which favours graphs with few arcs. n 2^n steps
and 16 x 2^n bytes: n up to about 25 (50 s). Beyond, `front.sampled` estimates the same probabilities.

A family's probability is the derivative of the log of the whole sum by the log of its weight; both recurrences are
differentiated backwards, exactly, at the cost of the forward pass. Everything is a sum of positive numbers over orders;
over graphs signs alternate, but no term exceeds its sum, and about 10 digits remain.

The graphs are those the table has families for. An average wants them all: build the table with `keep_dominated` (from
a file: `read_rows(path).table(keep_dominated=True)`); pruned tables, which leave out much of the mass of dense graphs,
are refused (base.whole).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import StoppedError, TableError
from optbn_solvers.base.memory import check_memory
from optbn_solvers.base.protocol import Budget, Progress, ProgressCallback
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.base.whole import need_whole
from optbn_solvers.front.kernels import posterior as kernel

LOW = 10
_SLICE = 3_000_000  # steps of the 3^n between looks at the clock

Space = Literal["graphs", "orders"]


@dataclass(frozen=True, eq=False)
class Posterior:
    """Probabilities under the table's scores as log weights.

    families   float64[m], of each row of the table; a child's add up to 1
    arcs       float64[n, n], arcs[u, v] of u -> v
    log_total  the log of the sum of all weights
    over       what was summed over: "graphs" or "orders"
    """

    families: NDArray[np.float64]
    arcs: NDArray[np.float64]
    log_total: float
    over: Space


def posterior(
    table: ScoreTable,
    over: Space = "graphs",
    budget: Budget | None = None,
    progress: ProgressCallback | None = None,
    only_listed: bool = False,
) -> Posterior:
    """The exact posterior (see the module's header); StoppedError when the budget ends first.

    A table that lacks parent sets is refused, unless those it has are all that is meant (`only_listed`).
    """
    if over not in ("graphs", "orders"):
        raise TableError(f"a posterior over {over!r}: expected 'graphs' or 'orders'")
    need_whole(table, "averages over graphs", only_listed)
    budget = (budget or Budget()).started()
    table.check_feasible()
    best = table.scores[table.offsets[:-1]]
    weights = table.scores - np.repeat(best, np.diff(table.offsets))
    check_memory(table.n, 16 if over == "orders" else 16 * table.n + 48, budget)
    run = _orders if over == "orders" else _graphs
    families = np.zeros(len(table))
    log_total = 0.0
    for total, share in run(table, weights, families):
        log_total = total
        if share < 1 and budget.exhausted():
            raise StoppedError(f"posterior over {over}: stopped at {share:.0%}")
        if progress is not None:
            progress(Progress(None, float("inf"), 0, budget.elapsed(), f"{share:.0%}"))
    arcs = np.zeros((table.n, table.n))
    for u in range(table.n):
        has = (table.masks[:, u >> 6] >> np.uint64(u & 63)) & np.uint64(1) > 0
        arcs[u] = np.bincount(table.children[has], families[has], table.n)
    return Posterior(families, arcs, log_total + float(best.sum()), over)


def _orders(
    table: ScoreTable, weights: NDArray[np.float64], families: NDArray[np.float64]
) -> Iterator[tuple[float, float]]:
    """Fill `families`; yields (log total so far, share done)."""
    n = table.n
    low = min(LOW, n)
    masks = table.masks[:, 0].astype(np.int64)
    split = table.offsets, masks & (1 << low) - 1, masks >> low, weights
    most = int(np.diff(table.offsets).max())
    lists = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)
    f, b = np.empty(1 << n), np.empty(1 << n)
    linear, logs, shares = (np.empty((n, 1 << low)) for _ in range(3))
    blocks = 1 << (n - low)
    for high in range(blocks):
        kernel.orders_forward(high, low, n, split, f, logs, linear[0], lists)
        yield float(f[-1]) if high == blocks - 1 else 0.0, (high + 1) / blocks / 3
    room = np.empty(1 << low)
    for high in range(blocks - 1, -1, -1):
        kernel.orders_backward(high, low, n, split, f, b, (logs, linear, shares, room), lists, families)
        yield float(f[-1]), 1 - high / blocks * 2 / 3


def _graphs(
    table: ScoreTable, weights: NDArray[np.float64], families: NDArray[np.float64]
) -> Iterator[tuple[float, float]]:
    n = table.n
    masks = table.masks[:, 0].astype(np.int64)
    linear, logs = np.empty((n, 1 << n)), np.empty((n, 1 << n))
    scales = []
    for v in range(n):
        rows = slice(table.offsets[v], table.offsets[v + 1])
        scales.append(kernel.log_sums(n, masks[rows], weights[rows], linear[v], logs[v]))
    sums, sizes, signed = np.full(1 << n, -np.inf), np.full(1 << n, -np.inf), np.zeros(1 << n)
    sums[0] = 0.0
    together = np.empty(1 << n)
    slices = list(_slices(n))
    for i, (first, last) in enumerate(slices):
        kernel.graphs_forward(first, last, n, logs, sums, sizes, signed, together)
        yield 0.0, (i + 1) / len(slices) / 2
    adjoint, shares = np.zeros(1 << n), np.zeros((n, 1 << n))
    for i, (first, last) in enumerate(reversed(slices)):
        kernel.graphs_backward(first, last, n, logs, sums, adjoint, shares, together)
        yield float(sums[-1]), 0.5 + (i + 1) / len(slices) / 2
    for v in range(n):
        rows = slice(table.offsets[v], table.offsets[v + 1])
        kernel.spread_back(
            n, masks[rows], weights[rows], linear[v], logs[v], scales[v], shares[v], together, families[rows]
        )
    yield float(sums[-1]), 1.0


def _slices(n: int) -> Iterator[tuple[int, int]]:
    """Ranges of subsets U with about _SLICE supersets together, 2^(n - |U|) each."""
    first, steps = 0, 0
    for subset in range(1 << n):
        steps += 1 << (n - subset.bit_count())
        if steps >= _SLICE:
            yield first, subset + 1
            first, steps = subset + 1, 0
    if first < 1 << n:
        yield first, 1 << n
