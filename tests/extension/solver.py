"""Toy: recursion over subsets of at most 8 variables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from optbn_solvers.base.protocol import Budget, Capabilities, Listener, StartRows
from optbn_solvers.base.run import Run
from optbn_solvers.base.solution import Exhausted, Solution
from optbn_solvers.base.table import ScoreTable


@dataclass(frozen=True)
class Toy:
    """The best last variable of every subset, by recursion."""

    capabilities: ClassVar = Capabilities("toy", largest=8)

    def solve(
        self, table: ScoreTable, budget: Budget | None = None, start: StartRows = None, progress: Listener = None
    ) -> Solution:
        run = Run(self, table, budget, start, progress)
        masks = [sum(1 << u for u in table.parents(row)) for row in range(len(table))]

        def family(v: int, allowed: int) -> int | None:
            return next((row for row in table.rows(v) if masks[row] & ~allowed == 0), None)

        @cache
        def best(subset: int) -> tuple[int, tuple[int, ...]] | None:
            if not subset:
                return 0, ()
            found = None
            for v in range(table.n):
                rest = subset & ~(1 << v)
                row = family(v, rest) if subset >> v & 1 else None
                below = best(rest) if row is not None else None
                if row is not None and below is not None:
                    candidate = (below[0] + int(table.units[row]), (*below[1], row))
                    found = candidate if found is None or candidate[0] > found[0] else found
            return found

        if run.ended:
            return run.solution()
        optimum = best((1 << table.n) - 1)
        assert optimum is not None  # Run has refused tables without any acyclic graph
        run.settle(sorted(optimum[1]))
        run.report("done")
        return run.solution(Exhausted("recursion over all subsets, in exact sums"))
