"""Every acyclic graph of at least some units, once each: the checker's own enumeration, for up to 18 variables.

A graph is built in one order only: the next variable is always the first of those whose parents are all placed. So one
that was passed over, for a later one, when W was placed, has a parent outside W. What the others can bring at most
is known from the recursion over subsets (optbn_solvers.verify.subsets), and what leads to too little is not begun.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from optbn_solvers.base.errors import TooMuch
from optbn_solvers.verify.families import Families
from optbn_solvers.verify.layers import Work
from optbn_solvers.verify.subsets import LARGEST, rests

STEP = 3000.0  # steps of compiled code in the time of one here
FREE = -1  # of a variable that was not passed over


def graphs_from(listed: Sequence[Sequence[tuple[int, int]]], least: int, work: Work) -> Iterator[tuple[int, ...]]:
    """The graphs, each as its variables' parents (bits), from (parents as bits, units) per variable; in no order.

    TooMuch, or OutOfTime, where that is more work than there is.
    """
    families = Families.of(listed)
    if families is None or families.n > LARGEST:
        raise TooMuch
    work.count(families.n**2 * 2.0**families.n)
    most = rests(families, range(families.n)).tolist()
    best_first = [sorted(own, key=lambda family: -family[1]) for own in listed]
    yield from _Every(best_first, least, most, work).extended(0, 0, (FREE,) * families.n)


class _Every:
    """`most`: of each set of variables what it brings at most when all others are placed."""

    def __init__(self, families: Sequence[Sequence[tuple[int, int]]], least: int, most: list[int], work: Work) -> None:
        self.families, self.least, self.most, self.work = families, least, most, work
        self.n = len(families)
        self.chosen = [0] * self.n

    def extended(self, placed: int, units: int, passed: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """The graphs that begin with these variables; passed: what was placed when one was last passed over."""
        left = (1 << self.n) - 1 ^ placed
        if not left:
            yield tuple(self.chosen)
            return
        earlier: list[int] = []
        for v in range(self.n):
            if not left >> v & 1:
                continue
            self.work.count(STEP * (1 + len(earlier)))
            rest = left ^ 1 << v
            for mask, own in self.families[v]:
                after = units + own
                if after + self.most[rest] < self.least:
                    break
                ready = mask & ~placed == 0
                if not ready or (passed[v] != FREE and mask & ~passed[v] == 0):
                    continue
                if all(self.can_wait(u, placed, self.least - after - self.most[rest ^ 1 << u]) for u in earlier):
                    self.chosen[v] = mask
                    still = tuple(placed if u in earlier else passed[u] for u in range(self.n))
                    yield from self.extended(placed | 1 << v, after, still)
            earlier.append(v)

    def can_wait(self, u: int, placed: int, least: int) -> bool:
        """Whether a variable has a family of at least that many units that is not ready yet."""
        self.work.count(STEP)
        return any(units >= least and mask & ~placed for mask, units in self.families[u])
