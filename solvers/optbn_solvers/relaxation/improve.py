"""Better graphs beside the root and the tree: local search for a share of the time, in turns of a few hundredths of a
second to some tenths.

The turns: kicks from the best graph; from an order read off the present point of the linear program; from a new
start; from an order half way between two of the good graphs met so far (path relinking). Each climbs from where it
begins and then kicks. A better graph also filters more families, so that the time comes back.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.protocol import Budget
from optbn_solvers.relaxation.ledger import Ledger
from optbn_solvers.relaxation.orders import FamilyIndex, Walk, random_state
from optbn_solvers.relaxation.polish import least_out_order
from optbn_solvers.relaxation.separate import Point

SHORTEST, LONGEST = 0.02, 0.3  # seconds of a turn
GROWTH = 0.2  # a turn's share of what was spent before
MOST_KEPT = 8  # good graphs
KICKS = 5  # between two looks at the clock


@dataclass(eq=False)
class Improver:
    """Local search that is given turns by others; `ledger` gets what it finds."""

    ledger: Ledger
    index: FamilyIndex
    rng: np.random.Generator
    share: float  # of the CPU time since it was made
    budget: Budget
    spent: float = 0.0
    turns: int = 0
    _kept: list[tuple[int, NDArray[np.int64]]] = field(default_factory=list)  # totals and orders, best first

    def __post_init__(self) -> None:
        self._begun = self.budget.cpu_elapsed()
        self._state = random_state(int(self.rng.integers(1 << 31)))

    def work(self, point: Point | None = None) -> bool:
        """As many turns as the share allows; returns whether a better graph was found."""
        better = False
        while self.spent < self.share * (self.budget.cpu_elapsed() - self._begun) and not self.budget.exhausted():
            better |= self._turn(point)
        return better

    def _turn(self, point: Point | None) -> bool:
        begun = self.budget.cpu_elapsed()
        end = begun + min(LONGEST, max(SHORTEST, GROWTH * self.spent))
        walk = self._start(point)
        while walk is not None and self.budget.cpu_elapsed() < end and not self.budget.exhausted():
            walk.kick(KICKS)
        self.turns += 1
        better = walk is not None and bool((walk.rows >= 0).all()) and self._take(walk)
        self.spent += self.budget.cpu_elapsed() - begun
        return better

    def _start(self, point: Point | None) -> Walk | None:
        """Where this turn begins."""
        kind = self.turns % 4
        if kind == 1 and point is not None:
            return Walk(self.index, least_out_order(point.arcs), self._state)
        if kind == 2 and len(self._kept) > 1:
            one, other = self.rng.choice(len(self._kept), 2, replace=False)
            share = self.rng.uniform(0.3, 0.7)
            places = share * np.argsort(self._kept[one][1]) + (1 - share) * np.argsort(self._kept[other][1])
            return Walk(self.index, np.argsort(places), self._state)
        if kind == 3:
            return Walk.from_random(self.index, self._state)
        return Walk.from_graph(self.index, self.ledger.rows.copy(), self._state)

    def _take(self, walk: Walk) -> bool:
        if all(total != walk.total for total, _ in self._kept):
            self._kept.append((walk.total, walk.order.copy()))
            self._kept.sort(key=lambda each: -each[0])
            del self._kept[MOST_KEPT:]
        return self.ledger.offer(walk.rows)
