"""Local search as a solver: rounds of starts and kicks over orders until the budget ends.

The bound it reports is the sum of the best scores, so it proves nothing but what every variable's best family gives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from optbn_solvers.base.protocol import Capabilities
from optbn_solvers.base.run import Method, Run
from optbn_solvers.relaxation.orders import FamilyIndex, Walk, random_state


@dataclass(frozen=True)
class Greedy(Method):
    """Local search as a solver: rounds of starts and kicks until the budget ends.

    `seconds` of CPU are the most it takes; None: as the budget says, or 1 when that sets no limit. Each round takes
    `starts` fresh starts of `kicks` kicks and then works on the best graph so far for as long again.
    """

    seconds: float | None = None
    starts: int = 6
    kicks: int = 60
    seed: int = 0
    capabilities: ClassVar = Capabilities("greedy", exact=False, deterministic=False)

    def search(self, run: Run) -> None:
        """The best graph met; optimal only when it takes every variable's best family."""
        table = run.table
        seconds = self.seconds
        if seconds is None:
            seconds = 1.0 if math.isinf(run.budget.remaining()) else math.inf
        own = run.budget.within(seconds)
        index = FamilyIndex.of(table)
        state = random_state(self.seed)
        best = None if run.start is None else Walk.from_graph(index, run.start, state)
        if best is not None:
            run.offer(best.rows)
        starts, count = max(1, self.starts), 0
        while best is None or not (own.exhausted() or run.proved):
            if best is not None and count % (starts + 1) == starts:
                walk, kicks = best.copy(), self.kicks * starts
            else:
                walk, kicks = Walk.from_random(index, state), self.kicks
            run.nodes += walk.work(kicks, own)
            count += 1
            if best is None or walk.total >= best.total:
                best = walk
                if run.offer(walk.rows):
                    run.report()
        run.take(best.rows)
        run.statistics = {"starts": count, "climbs": run.nodes}
