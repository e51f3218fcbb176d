"""Local search as a solver: rounds of starts and kicks over orders until the budget ends.

The bound it reports is the sum of the best scores, so it proves nothing but what every variable's best family gives.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from optbn_solvers.base.protocol import Budget, Progress, ProgressCallback
from optbn_solvers.base.solution import Solution, Status
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.relaxation.orders import FamilyIndex, Walk, random_state


@dataclass(frozen=True)
class Greedy:
    """Local search as a solver: rounds of starts and kicks until the budget ends.

    `seconds` of CPU are the most it takes; None: as the budget says, or 1 when that sets no limit. Each round takes
    `starts` fresh starts of `kicks` kicks and then works on the best graph so far for as long again.
    """

    seconds: float | None = None
    starts: int = 6
    kicks: int = 60
    seed: int = 0

    def solve(
        self,
        table: ScoreTable,
        budget: Budget | None = None,
        start: Sequence[int] | None = None,
        progress: ProgressCallback | None = None,
    ) -> Solution:
        """The best graph met; optimal only when it takes every variable's best family."""
        table.check_feasible()
        budget = (budget or Budget()).started()
        seconds = self.seconds
        if seconds is None:
            seconds = 1.0 if math.isinf(budget.remaining()) else math.inf
        own = budget.within(seconds)
        index = FamilyIndex.of(table)
        bound_units = int(table.units[table.offsets[:-1]].sum())
        state = random_state(self.seed)
        best: Walk | None = None
        starts = max(1, self.starts)
        count = climbs = 0
        if start is not None:
            best = Walk.from_graph(index, np.array(start, dtype=np.int64), state)
        while best is None or not (own.exhausted() or best.total == bound_units):
            if best is not None and count % (starts + 1) == starts:
                walk, kicks = best.copy(), self.kicks * starts
            else:
                walk, kicks = Walk.from_random(index, state), self.kicks
            climbs += walk.work(kicks, own)
            count += 1
            if best is None or walk.total > best.total:
                best = walk
                if progress is not None:
                    score, bound = table.total(best.rows), table.score_of(bound_units)
                    progress(Progress(score, bound, climbs, budget.elapsed(), choice=tuple(best.rows.tolist())))
            elif walk.total == best.total:
                best = walk
        optimal = best.total == bound_units
        return Solution(
            status=Status.OPTIMAL if optimal else Status.FEASIBLE,
            choice=tuple(best.rows.tolist()),
            score=table.total(best.rows),
            bound=table.score_of(bound_units),
            evidence=None,
            table_digest=table.digest,
            solver="greedy",
            statistics={"starts": count, "climbs": climbs, "cpu": budget.cpu_elapsed()},
        )
