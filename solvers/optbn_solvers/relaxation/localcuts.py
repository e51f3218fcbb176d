"""Local cuts: facets of the DAG polytope of a few nodes that a fractional point violates.

Clusters alone leave a gap; the facets of the polytope of the DAGs on 4-8 nodes close most of it, but there are too
many to list. So take a set C of nodes the point is fractional around, project the point to the traces P & C of its
families, and ask whether the result is a combination of DAGs on C. If it is not, linear programming duality hands
over a violated inequality (`kernels.local`), here always with small whole coefficients. Then the traces the point
does not use get the largest coefficients that keep it true (lifting, exactly, by the subset DP).

    sum over (v in C, P) of a[v, P & C] x(v, P)  <=  rhs

Cost: about .1 ms a set at 5 nodes, 1 ms at 8. Sizes 4-5 first, then 6, then 8 as each dries up; 9-10 cost more than
they give. Sets grow from pairs the point is in doubt about; where these run dry, unions of two rows that hold the bound
up (`overlapping`) are where the next facets are. The idea of separating over a small projection is Applegate, Bixby,
Chvatal and Cook's (2001, for the travelling salesman).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.kernels.masks import pack_sets
from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.table import mask_members
from optbn_solvers.relaxation.kernels.lifting import lift
from optbn_solvers.relaxation.kernels.local import CUT, outside, project
from optbn_solvers.relaxation.kernels.separation import grow_set, largest_part
from optbn_solvers.relaxation.rows import Pattern, traces_of
from optbn_solvers.relaxation.separate import Point, distinct

LEVELS = ((4, 5), (6,), (8,))
WORK = {3: 0.05, 4: 0.07, 5: 0.1, 6: 0.25, 7: 0.5, 8: 1.0, 9: 2.5, 10: 6.0}  # of one set, in milliseconds
MOST_ROWS, MOST_PIVOTS = 90, 800
REMEMBERED = 20
LEAST_WEIGHT = 0.01  # of a trace
LONGEST_PAUSE = 7  # rounds
MOST_HINTS = 250  # of one round and level
MOST_TIGHT = 250  # rows whose unions are looked at

Sets = NDArray[np.uint64]  # a mask in each row


def local_cut(
    point: Point,
    members: tuple[int, ...],
    least_weight: float = LEAST_WEIGHT,
    least_violation: float = 0.01,
) -> Pattern | None:
    """A violated facet on `members` (ascending), or None; lifted for the traces that some family has."""
    m = len(members)
    nodes = np.array(members, dtype=np.int64)
    weight = np.zeros((m, 1 << m))
    families = point.families
    project(nodes, families.n, *point.support, weight)
    table = np.zeros((m, 1 << m), dtype=np.int64)
    state, rhs, _ = outside(weight, least_weight, least_violation, MOST_ROWS, MOST_PIVOTS, table)
    if state != CUT:
        return None
    lift(table, rhs, traces_of(families, members) > 0)
    return Pattern(members, table, int(rhs))


@dataclass(eq=False)
class LocalCuts:
    """Rounds of local cuts. Remembers which level still pays and which sets gave cuts lately."""

    rng: np.random.Generator
    work: float = 300.0  # of one round and level, in milliseconds
    most: int = 40  # cuts of one round and level
    few: int = 6  # below this many, the next level is tried
    level: int = 0
    _fruitful: dict[tuple[int, ...], None] = field(default_factory=dict)
    _pause: int = 0  # rounds that may be left out after the last one, which was in vain
    _left: int = 0  # of them

    def round(self, point: Point, budget: Budget, hints: Sets | None = None, urgent: bool = True) -> list[Pattern]:
        """Violated rows; climbs to larger sets while a level gives few. `hints` are sets to begin with. Where there are
        other rows, so that these are not urgent, rounds are left out after one in vain: more each time."""
        if not urgent and self._left:
            self._left -= 1
            return []
        cuts = self._climb_levels(point, budget, hints)
        self._left = self._pause = 0 if cuts else min(2 * self._pause + 1, LONGEST_PAUSE)
        return cuts

    def _climb_levels(self, point: Point, budget: Budget, hints: Sets | None) -> list[Pattern]:
        cuts: list[Pattern] = []
        tried: set[tuple[int, ...]] = set()
        entered = self.level
        while True:
            found = self._try_level(point, LEVELS[self.level], budget, hints, tried)
            cuts += found
            if len(cuts) >= self.few or self.level == len(LEVELS) - 1:
                break
            self.level += 1
        if len(cuts) >= 2 * self.few and self.level > entered + 1:
            self.level -= 1
        return cuts

    def _try_level(
        self, point: Point, sizes: tuple[int, ...], budget: Budget, hints: Sets | None, tried: set[tuple[int, ...]]
    ) -> list[Pattern]:
        weight = point.arcs
        both = weight + weight.T
        doubtful = ((weight > 1e-6) & (weight.T > 1e-6)) | ((both > 1e-6) & (both < 1 - 1e-6))
        pairs = np.argwhere(np.triu(doubtful, 1))
        pairs = pairs[self.rng.permutation(len(pairs))]
        again = [c for c in list(self._fruitful)[-REMEMBERED:] if len(c) in sizes]
        cuts: list[Pattern] = []
        spent = 0.0
        todo = [(members, 0) for members in again]
        if hints is not None:
            size = np.bitwise_count(hints).sum(axis=1)
            fitting = self.rng.permutation(np.flatnonzero((max(sizes) - 3 < size) & (size <= max(sizes))))
            todo += [(mask_members(hints[i]), max(sizes)) for i in fitting[:MOST_HINTS]]
        todo += [((int(i), int(j)), size) for i, j in pairs for size in sizes]
        for seed, size in todo:
            members = grow(weight, seed, size, self.rng)
            if members in tried or len(members) < 3:
                continue
            tried.add(members)
            self._fruitful.pop(members, None)
            spent += WORK[len(members)]
            cut = local_cut(point, members)
            if cut is not None:
                self._fruitful[members] = None
                cuts.append(cut)
            if len(cuts) >= self.most or spent > self.work or budget.exhausted():
                break
        return cuts


def overlapping(rows: Sequence[tuple[tuple[int, ...], float]], n: int) -> Sets:
    """Unions of two rows (members, multiplier > 0) with a common member, as large as local cuts can be at most."""
    largest = max(LEVELS[-1])
    by_multiplier = sorted(rows, key=lambda row: -row[1])
    small = pack_sets([members for members, _ in by_multiplier if 2 <= len(members) < largest][:MOST_TIGHT], n)
    size = np.zeros((len(small), len(small)), dtype=np.int64)
    common = np.zeros_like(size)
    for word in small.T:
        size += np.bitwise_count(word[:, None] | word)
        common += np.bitwise_count(word[:, None] & word)
    first, second = np.nonzero(np.tril((common > 0) & (size <= largest), -1))
    return distinct(small[first] | small[second])


def grow(weight: NDArray[np.float64], seed: tuple[int, ...], size: int, rng: np.random.Generator) -> tuple[int, ...]:
    """`seed` and the nodes most tied to it in both directions, with a little noise, up to `size`; of these the largest
    part that arcs hold together in both directions. What lies between parts is on no cycle: the point is a combination
    of DAGs if it is one on each part."""
    chosen = np.zeros(len(weight), dtype=np.bool_)
    chosen[list(seed)] = True
    grow_set(weight, rng.random((max(0, size - len(seed)), len(weight))), chosen)
    largest_part(weight, LEAST_WEIGHT, chosen)
    return tuple(np.flatnonzero(chosen).tolist())
