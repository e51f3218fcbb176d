"""Dynamic programming over subsets (Silander and Myllymaki 2006, forward; the blocks: methods.kernels.subsets).

f(U), the best score of an acyclic graph on U, is the best over its last variable v of f(U - v) + best(v, U - v). The
number of families hardly matters, only n: the method of choice for dense tables of few variables. Only the 2^n values
of f are kept, 8 bytes each, and the graph is read back from them: n = 26 takes 0.5 GB, n = 28 takes 2 GB, n = 30 takes
8 GB. The top parts of the subsets are swept in layers of equal size; inside a layer they are independent, so threads
share them, and the answer does not depend on how.

All sums are exact, so the value is the optimum. Up to LARGEST_SUBSET variables one subset row over all of them proves
it (the checker has a recurrence of its own for such rows); beyond, the evidence says that everything was searched.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import TooLargeError
from optbn_solvers.base.memory import check_memory
from optbn_solvers.base.protocol import Budget, Capabilities
from optbn_solvers.base.run import Method, Run
from optbn_solvers.base.solution import Evidence, Exhausted, RowBound, SubsetRow
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.methods.kernels.subsets import sweep
from optbn_solvers.relaxation.orders import search
from optbn_solvers.verify import LARGEST_SUBSET

LOW, MID = 13, 5  # measured: blocks of 64 kB, and 32 of them between looks at the lists of families
ONE_WORD = 62  # variables whose subsets are numbers; memory ends before
ALONE = 20  # up to here one thread is quicker than starting two
SECONDS = 1.2e-9  # per n 2^n, one core


def price(n: int, budget: Budget) -> float:
    """The CPU seconds of n variables, infinite where the memory is not enough."""
    try:
        check_memory(n, 8, budget)
    except TooLargeError:
        return math.inf
    return SECONDS * n * 2.0**n


@dataclass(frozen=True)
class SubsetDP(Method):
    """The optimum by dynamic programming over subsets; `threads` is None for all cores."""

    threads: int | None = None
    capabilities: ClassVar = Capabilities("dp", largest=ONE_WORD, proves=LARGEST_SUBSET, price=price)

    def search(self, run: Run) -> Evidence | None:
        """The optimum; or, when the budget ends first, the start (or local search's graph) and the plain bound."""
        table = run.table
        check_memory(table.n, 8, run.budget)
        if run.rows is None and table.n > ALONE:
            run.take(search(table, starts=2, kicks=20, budget=run.budget))
        sweep = _Sweep(table, self.threads or os.cpu_count() or 1)
        for _ in sweep.slices(run.budget):
            run.nodes = sweep.done
            run.report(f"{sweep.done / sweep.f.size:.0%} of subsets")
        run.statistics = {"subsets": sweep.done, "threads": sweep.threads}
        if not sweep.finished:
            return None
        run.settle(sweep.choice())
        run.report("done")
        if table.n <= LARGEST_SUBSET:
            return whole_row(table, run.bound)
        return Exhausted("dynamic programming over all subsets, in exact sums")


def whole_row(table: ScoreTable, optimum: int) -> RowBound:
    """The statement "no acyclic graph scores more than `optimum`" as one subset row over all variables.

    Its coefficients are the scores above a floor that lies so low that a graph with a variable at its floor is worse
    than any graph of the table.
    """
    first, last = table.offsets[:-1], table.offsets[1:] - 1
    below = int((table.units[first] - table.units[last]).sum()) + 1
    floors = [int(units) - below for units in table.units[last]]
    coefficients = tuple(
        (v, table.parents(row), int(table.units[row]) - floors[v]) for v in range(table.n) for row in table.rows(v)
    )
    row = SubsetRow(tuple(range(table.n)), coefficients, optimum - sum(floors), 1)
    return RowBound(((row,),))


class _Sweep:
    """The values of f, filled layer by layer of the top parts."""

    def __init__(self, table: ScoreTable, threads: int) -> None:
        n = table.n
        self.table = table
        self.low = min(LOW, n)
        self.mid = min(MID, n - self.low)
        self.top = n - self.low - self.mid
        self.threads = 1 if n <= ALONE else threads
        self.masks = table.masks[:, 0].astype(np.int64)
        child = table.children
        low_masks = self.masks & (1 << self.low) - 1
        below = (1 << np.minimum(child, self.low)) - 1
        squeezed = low_masks & below | low_masks >> 1 & ~below
        self.low_masks = np.where(child < self.low, squeezed, low_masks)
        self.mid_masks = self.masks >> self.low & (1 << self.mid) - 1
        self.top_masks = self.masks >> (self.low + self.mid)
        self.values = table.units.astype(np.float64)
        self.f = np.empty(1 << n)
        self.done = 0
        self.scratch = threading.local()

    @property
    def finished(self) -> bool:
        return self.done == self.f.size

    def slices(self, budget: Budget) -> Iterator[None]:
        """Work until everything is done or the budget ends; yields after each top part, some milliseconds."""
        layers: list[list[int]] = [[] for _ in range(self.top + 1)]
        for top in range(1 << self.top):
            layers[top.bit_count()].append(top)
        pool = ThreadPoolExecutor(self.threads)
        try:
            for layer in layers:
                if budget.exhausted():
                    return
                for size in self._sizes(pool, layer, budget):
                    self.done += size
                    yield
                    if budget.exhausted():
                        return
        finally:
            pool.shutdown(cancel_futures=True)

    def _sizes(self, pool: ThreadPoolExecutor, layer: list[int], budget: Budget) -> Iterator[int]:
        """Sweep a layer, on the pool if there are several threads; yields what each top part has filled."""
        if self.threads == 1:
            yield from map(self._sweep, layer)
        else:
            for future in as_completed([pool.submit(budget.counting(self._sweep), top) for top in layer]):
                yield future.result()

    def _sweep(self, top: int) -> int:
        """One top part; returns the number of subsets filled."""
        mine = self.scratch
        if not hasattr(mine, "room"):
            mine.room = (
                np.empty(1 << self.low),
                np.empty((self.low, 1 << (self.low - 1))),
                np.empty(len(self.table), np.int64),
                np.empty(self.table.n + 1, np.int64),
            )
        families = self.table.offsets, self.low_masks, self.mid_masks, self.top_masks, self.values
        sweep(top, self.low, self.mid, families, self.f, mine.room)
        return 1 << (self.low + self.mid)

    def choice(self) -> NDArray[np.int64]:
        """The rows of a graph that attains the optimum; -1 where no graph does."""
        rows = np.full(self.table.n, -1, np.int64)
        among = (1 << self.table.n) - 1
        while among:
            for v in range(self.table.n):
                rest = among & ~(1 << v)
                row = self._best_inside(v, rest) if rest != among else -1
                if row >= 0 and self.f[rest] + self.values[row] == self.f[among]:
                    rows[v], among = row, rest
                    break
            else:
                return rows
        return rows

    def _best_inside(self, v: int, members: int) -> int:
        """The first, so the best row of v whose parents are all members; -1 if there is none."""
        first, last = int(self.table.offsets[v]), int(self.table.offsets[v + 1])
        fits = self.masks[first:last] & ~members == 0
        return first + int(fits.argmax()) if fits.any() else -1
