"""The k best acyclic graphs of a table, by dynamic programming over subsets: what others that list graphs must give.

A graph on U is built once only: its *last* variable is its largest sink v, and the rest, a graph on U - v, may have no
sink above v that is not a parent of v. If k other graphs on U - v are at least as good as the rest, each of them with
v's family makes a graph on U at least as good, so lists of length k suffice. (The recurrence: Tian, He and Ram 2010;
they compare graphs to find duplicates, here there are none.)

Memory is 20 k 2^n bytes, so n is up to about 20. A table without the families that a subset beats is refused, unless
those it has are all that is meant (`only_listed`).
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel
from optbn_solvers.base.errors import StoppedError, TableError
from optbn_solvers.base.memory import check_memory
from optbn_solvers.base.protocol import Budget, Progress, ProgressCallback
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.base.whole import need_whole

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
        extend(first, last, n, table.offsets, masks, values, totals, sinks, rows, rests)
        if progress is not None:
            progress(Progress(None, bound, last, budget.elapsed(), f"{last / 2**n:.0%} of subsets"))
    found = []
    for place in range(int(np.isfinite(totals[-1]).sum())):
        choice = np.full(n, -1, dtype=np.int64)
        graph((1 << n) - 1, place, table.offsets, rows, rests, choice)
        found.append(tuple(choice.tolist()))
    return found


@kernel
def extend(first, last, n, offsets, masks, values, totals, sinks, rows, rests):
    """Fill the lists of the subsets first..last-1, given those of all their proper subsets.

    totals  float64[2^n, k], descending, -inf behind the last graph (whole units, so sums are exact)
    sinks   int32[2^n, k], the sinks of each graph
    rows, rests  int32[2^n, k], the row of its largest sink, and the place of its rest in the list of U - v
    """
    k = totals.shape[1]
    for among in range(first, last):
        count = 0
        total, sink = totals[among], sinks[among]
        row_of, rest_of = rows[among], rests[among]
        total[:] = -np.inf
        for v in range(n):
            if not among >> v & 1:
                continue
            rest = among ^ (1 << v)
            for row in range(offsets[v], offsets[v + 1]):
                if masks[row] & ~rest:
                    continue
                if count == k and totals[rest, 0] + values[row] <= total[k - 1]:
                    break
                for i in range(k):
                    here = totals[rest, i] + values[row]
                    if here == -np.inf or (count == k and here <= total[k - 1]):
                        break
                    left = sinks[rest, i] & ~masks[row]
                    if left >> v:
                        continue  # it has a larger sink: another turn of v builds it
                    place = count if count < k else k - 1
                    while place and total[place - 1] < here:
                        if place < k:
                            total[place], sink[place] = total[place - 1], sink[place - 1]
                            row_of[place], rest_of[place] = row_of[place - 1], rest_of[place - 1]
                        place -= 1
                    total[place], sink[place] = here, left | 1 << v
                    row_of[place], rest_of[place] = row, i
                    count = min(count + 1, k)


@kernel
def graph(among, place, offsets, rows, rests, choice):
    """Set choice[v] for v in `among` to the rows of graph number `place` of its list."""
    while among:
        row = rows[among, place]
        v = np.searchsorted(offsets, row, side="right") - 1
        choice[v] = row
        place = rests[among, place]
        among ^= 1 << v
