"""The k best acyclic graphs of a table, by dynamic programming over subsets (front.kernels.kbest); n up to about 20.

Memory is 20 k 2^n bytes. Graphs are those the table has families for: build it with `keep_dominated` (from a file:
`read_rows(path).table(keep_dominated=True)`). A table without the families that a subset beats is refused, unless those
it has are all that is meant (`only_listed`).
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.errors import StoppedError, TableError
from optbn_solvers.base.memory import check_memory
from optbn_solvers.base.protocol import Budget, Progress, ProgressCallback
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.base.whole import need_whole
from optbn_solvers.front.kernels import kbest as kernel

_SLICE = 1 << 10  # subsets


def k_best(
    table: ScoreTable,
    k: int,
    budget: Budget | None = None,
    progress: ProgressCallback | None = None,
    only_listed: bool = False,
) -> list[tuple[int, ...]]:
    """The choices (rows) of the k best graphs, best first (fewer if there are fewer); StoppedError when stopped."""
    if k < 1:
        raise TableError(f"the {k} best graphs: expected a number from 1")
    if k > 1:
        need_whole(table, "the best graphs after the best", only_listed)
    budget = (budget or Budget()).started()
    table.check_feasible()
    n = table.n
    check_memory(n, 20 * k, budget)
    masks, values = table.masks[:, 0].astype(np.int64), table.units.astype(np.float64)
    totals = np.empty((1 << n, k))
    sinks, rows, rests = (np.zeros((1 << n, k), dtype=np.int32) for _ in range(3))
    totals[0], totals[0, 0] = -np.inf, 0.0
    bound = table.score_of(int(table.units[table.offsets[:-1]].sum()))
    for first in range(1, 1 << n, _SLICE):
        if budget.exhausted():
            raise StoppedError(f"the {k} best graphs: stopped after {first / 2**n:.0%} of the subsets")
        last = min(first + _SLICE, 1 << n)
        kernel.extend(first, last, n, table.offsets, masks, values, totals, sinks, rows, rests)
        if progress is not None:
            progress(Progress(None, bound, last, budget.elapsed(), f"{last / 2**n:.0%} of subsets"))
    found = []
    for place in range(int(np.isfinite(totals[-1]).sum())):
        choice = np.full(n, -1, dtype=np.int64)
        kernel.graph((1 << n) - 1, place, table.offsets, rows, rests, choice)
        found.append(tuple(choice.tolist()))
    return found
