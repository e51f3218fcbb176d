"""A table, its constraints and a graph as the checker reads them: lists of families, parents as bits, exact units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.verify.families import members_of, within
from optbn_solvers.verify.rules import Rules

Units = int | float | Fraction  # exact; a float is only ever infinite


class Reading:
    """Per variable its families (mask, units).

    families   all of them; `first` has the row where those of a variable begin
    allowed    those that no constraint on single arcs excludes
    usable     those that a bound on the optimum is about, without what others beat; `reduced` is the table of these
    """

    def __init__(self, table: ScoreTable, constraints: Constraints | None) -> None:
        self.table = table
        self.n, self.names, self.exponent = table.n, table.names, table.exponent
        self.first: list[int] = table.offsets.tolist()
        masks, *further = table.masks.T.tolist()
        for w, word in enumerate(further, 1):
            masks = [mask | more << 64 * w for mask, more in zip(masks, word, strict=True)]
        families = list(zip(masks, table.units.tolist(), strict=True))
        self.families: list[list[tuple[int, int]]] = [
            families[self.first[v] : self.first[v + 1]] for v in range(self.n)
        ]
        if constraints and (strangers := constraints.strangers(table.names)):
            raise CheckFailed(f"the constraints name {strangers[0]!r}, which is not a variable of the table")
        self.rules = Rules(constraints, table.names) if constraints else None
        self.allowed, self.usable, self.reduced = self.families, self.families, table
        if self.rules is not None:
            kept = [
                [row for row in table.rows(v) if self.rules.allows(v, members_of(families[row][0]))]
                for v in range(self.n)
            ]
            if not all(kept):
                raise CheckFailed(f"no family of {self.names[kept.index([])]!r} obeys the constraints")
            self.allowed = [[families[row] for row in rows] for rows in kept]
            if not self.rules.demanding:  # no optimum needs a family that one of its subsets beats
                needed = [dict(within([families[row] for row in rows], (1 << self.n) - 1)) for rows in kept]
                kept = [[row for row in rows if families[row][0] in needed[v]] for v, rows in enumerate(kept)]
            self.usable = [[families[row] for row in rows] for rows in kept]
            self.reduced = table.restricted(np.concatenate(kept))

    def units(self, score: float) -> Units:
        return score if math.isinf(score) else Fraction(score) * Fraction(2) ** self.exponent

    def score(self, units: Units) -> float:
        """Infinite where floats end: all graphs are far from there."""
        if isinstance(units, float):
            return units
        try:
            return float(Fraction(units) / Fraction(2) ** self.exponent)
        except OverflowError:
            return math.inf if units > 0 else -math.inf

    def graph(self, choice: Sequence[int], score: float | None) -> int:
        """The exact score of a choice of families; CheckFailed if it has a cycle, breaks a rule or misses `score`."""
        if len(choice) != self.n:
            raise CheckFailed(f"the graph has {len(choice)} families, but there are {self.n} variables")
        for v, row in enumerate(choice):
            if not self.first[v] <= row < self.first[v + 1]:
                raise CheckFailed(f"row {row} of the table is not a family of {self.names[v]!r}")
        masks = self.parents(choice)
        placed, left = 0, set(range(self.n))
        while left:
            ready = [v for v in left if masks[v] & ~placed == 0]
            if not ready:
                raise CheckFailed(f"the graph has a cycle: {' -> '.join(self.names[v] for v in _cycle(masks, left))}")
            left.difference_update(ready)
            placed |= sum(1 << v for v in ready)
        total = self.score_of(range(self.n), choice)
        if score is None or not math.isfinite(score) or self.units(score) != total:
            raise CheckFailed(f"the score is given as {score!r}, but the families add up to {self.score(total)!r}")
        if self.rules is not None:
            wrong = self.rules.wrong({(u, v) for v, mask in enumerate(masks) for u in members_of(mask)})
            if wrong is not None:
                raise CheckFailed(f"the graph does not obey the constraints: {wrong}")
        return total

    def parents(self, choice: Sequence[int]) -> tuple[int, ...]:
        """The families that a graph has, as bits."""
        return tuple(self.families[v][row - self.first[v]][0] for v, row in enumerate(choice))

    def score_of(self, members: Sequence[int], choice: Sequence[int]) -> int:
        """The units of the families that a graph has for some variables."""
        return sum(self.families[v][choice[v] - self.first[v]][1] for v in members)

    def inside(self, members: tuple[int, ...]) -> list[list[tuple[int, int]]]:
        """The families of some variables, without their parents outside."""
        listed = [self.usable[v] for v in members]
        if len(members) == self.n:
            return listed
        return [within(families, sum(1 << u for u in members)) for families in listed]

    def alone(self, members: tuple[int, ...]) -> ScoreTable:
        """The table of a part, without the parents outside; variables are counted by their place among the members."""
        inside = sum(1 << u for u in members)
        listed = [sorted(within(self.usable[v], inside), key=lambda family: -family[1]) for v in members]
        masks = [
            sum(1 << i for i, u in enumerate(members) if mask >> u & 1) for families in listed for mask, _ in families
        ]
        width = 8 * max(1, -(-len(members) // 64))
        packed = b"".join(mask.to_bytes(width, "little") for mask in masks)
        return ScoreTable(
            tuple(self.names[v] for v in members),
            np.cumsum([0, *map(len, listed)], dtype=np.int64),
            np.frombuffer(packed, dtype="<u8").astype(np.uint64).reshape(len(masks), width // 8),
            np.array([units for families in listed for _, units in families], dtype=np.int64),
            self.exponent,
        )

    def listing(self, variables: Sequence[int]) -> str:
        return ", ".join(self.names[v] for v in variables[:5]) + (", ..." if len(variables) > 5 else "")


def _cycle(masks: Sequence[int], left: set[int]) -> list[int]:
    """A cycle among variables that all have a parent in `left`, in the direction of the arcs, closed."""
    walk = [min(left)]
    while len(set(walk)) == len(walk):
        walk.append(next(u for u in members_of(masks[walk[-1]]) if u in left))
    return walk[walk.index(walk[-1]) :][::-1]
