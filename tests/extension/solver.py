"""Toy: the best graph on every subset of at most eight variables, from those with one variable less."""

from dataclasses import dataclass
from typing import ClassVar

from optbn_solvers.base.protocol import Capabilities
from optbn_solvers.base.run import Method, Run
from optbn_solvers.base.solution import Exhausted


@dataclass(frozen=True)
class Toy(Method):
    """The best last variable of every subset."""

    capabilities: ClassVar = Capabilities("toy", largest=8)

    def search(self, run: Run) -> Exhausted | None:
        table = run.table
        sets = [sum(1 << u for u in table.parents(row)) for row in range(len(table))]
        best: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}  # by subset: units, rows
        for subset in range(1, 1 << table.n):
            if run.ended:
                return None
            for last in range(table.n):
                rest = subset & ~(1 << last)
                row = next((row for row in table.rows(last) if not sets[row] & ~rest), None)
                if rest != subset and rest in best and row is not None:
                    found = best[rest][0] + int(table.units[row]), (*best[rest][1], row)
                    best[subset] = max(best.get(subset, found), found)
        run.settle(sorted(best[subset][1]))
        return Exhausted("all subsets, in exact sums")
