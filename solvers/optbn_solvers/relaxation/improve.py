"""Better graphs beside the root and the tree: local search for a share of the time, in turns of tenths of a second.

The turns begin at a random order, at one read off the present point of the linear program, or half way between the
orders of two good graphs met so far (path relinking, the commonest); each climbs and then kicks until that brings
nothing. To go on from the best graph is no use: its neighbourhood is exhausted within a second, and on plants.test
eight seconds of it end 3-8 below what as many of new starts find. A better graph filters more families, so that the
time comes back. Turns in vain make the share smaller, until one is not.
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

SHORTEST, LONGEST = 0.05, 0.5  # seconds that a turn may take
GROWTH = 0.5  # the same as a share of what was spent before
MOST_KEPT = 8  # good graphs
BARREN = 8  # turns in vain after which the share is half
KICKS, STALE = 5, 16  # between two looks at the clock; looks without a better graph that end a turn


@dataclass(eq=False)
class Improver:
    """Local search that is given turns by others; `ledger` gets what it finds."""

    ledger: Ledger
    index: FamilyIndex
    rng: np.random.Generator
    share: float  # of the CPU time since it was made, at most
    budget: Budget
    spent: float = 0.0
    credit: float = 0.0  # seconds that it may take besides
    turns: int = 0
    barren: int = 0  # turns since the last better graph
    _kept: list[tuple[int, NDArray[np.int64]]] = field(default_factory=list)  # totals and orders, best first

    def __post_init__(self) -> None:
        self._begun = self.budget.cpu_elapsed()
        self._state = random_state(int(self.rng.integers(1 << 31)))

    def work(self, point: Point | None = None) -> bool:
        """As many turns as the share allows; returns whether a better graph was found."""
        better = False
        while self.spent < self._allowance() and not self.budget.exhausted():
            found = self._turn(point)
            self.barren = 0 if found else self.barren + 1
            better |= found
        return better

    def _allowance(self) -> float:
        return self.credit + self.share * (self.budget.cpu_elapsed() - self._begun) * BARREN / (BARREN + self.barren)

    def _turn(self, point: Point | None) -> bool:
        begun = self.budget.cpu_elapsed()
        end = begun + min(LONGEST, max(SHORTEST, GROWTH * self.spent))
        walk = self._start(point)
        stale = 0
        while stale < STALE and self.budget.cpu_elapsed() < end and not self.budget.exhausted():
            total = walk.total
            walk.kick(KICKS)
            stale = 0 if walk.total > total else stale + 1
        self.turns += 1
        better = bool((walk.rows >= 0).all()) and self._take(walk)
        self.spent += self.budget.cpu_elapsed() - begun
        return better

    def _start(self, point: Point | None) -> Walk:
        """Where this turn begins."""
        kind = self.turns % 4
        if kind == 1 and point is not None:
            return Walk(self.index, least_out_order(point.arcs), self._state)
        if kind > 1 and len(self._kept) > 1:
            one, other = self.rng.choice(len(self._kept), 2, replace=False)
            share = self.rng.uniform(0.3, 0.7)
            places = share * np.argsort(self._kept[one][1]) + (1 - share) * np.argsort(self._kept[other][1])
            return Walk(self.index, np.argsort(places), self._state)
        return Walk.from_random(self.index, self._state)

    def _take(self, walk: Walk) -> bool:
        if all(total != walk.total for total, _ in self._kept):
            self._kept.append((walk.total, walk.order.copy()))
            self._kept.sort(key=lambda each: -each[0])
            del self._kept[MOST_KEPT:]
        return self.ledger.offer(walk.rows)
