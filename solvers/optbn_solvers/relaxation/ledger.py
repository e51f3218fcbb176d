"""The exact books: the best graph, the bound, and the families that can still be in a better graph.

Whatever is decided about optimality is decided here, in integers. Floating point (the LP, the separators) only
proposes rows and multipliers; `settle` trusts nothing: with whole multipliers y >= 0 it recomputes every family's
adjusted units  s' = s - sum y a  and the bound  B = sum_v max s' + sum y rhs,  and drops each family with
B - (max s' - s') < score + 1, which no better graph uses. Multipliers may count 2^-bits units; then B is rounded down,
as scores are whole. What was done can be replayed: a *stage* is what `settle` was given, and the stages together are
the evidence (`optbn_solvers.base.solution`).

A known optimum may be handed in for debugging: then every graph, bound and dropped family is checked against it, and
so is every row (`check_rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.table import ScoreTable, mask_members
from optbn_solvers.relaxation.ascent import Ascent
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.rows import Cluster, Entries, Row
from optbn_solvers.relaxation.rules import Rules

LARGEST = 2.0**61  # sums of products stay below this, so that int64 does not overflow


@dataclass(frozen=True, eq=False)
class Stage:
    """Rows with whole multipliers that count 2^-bits units."""

    rows: Sequence[tuple[Row, int]]
    bits: int = 0


class WrongProof(AssertionError):
    """Debugging only: something excludes the known optimum."""


@dataclass(eq=False)
class Ledger:
    """What is known about one table, in units. `alive` marks the families that can be in a graph better than `rows`."""

    table: ScoreTable
    rows: NDArray[np.int64]  # the incumbent: one row of the table per variable
    families: Families
    known: Sequence[int] | None = None  # debugging: the rows of an optimal graph
    report: Callable[[], None] = lambda: None  # called when the score or the bound improves
    rules: Rules | None = None  # constraints that graphs must obey; the incumbent does
    score: int = field(init=False)
    bound: int = field(init=False)
    alive: NDArray[np.bool_] = field(init=False)
    stages: list[Stage] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.score = self.table.total_units(self.rows)
        self.bound = int(sum(self.table.units[self.table.offsets[:-1]].tolist()))
        self.alive = np.ones(len(self.families), dtype=np.bool_)

    @property
    def closed(self) -> bool:
        """Nothing can beat the incumbent."""
        return self.bound <= self.score

    @property
    def gap(self) -> int:
        """bound - score in units."""
        return self.bound - self.score

    def offer(self, rows: NDArray[np.int64]) -> bool:
        """Take an acyclic graph if it is better and obeys (or what is made of it does); returns whether it was."""
        total = self.table.total_units(rows)
        if total <= self.score:
            return False
        if self.rules is not None:
            obeying = self.rules.obeying(rows)
            if obeying is None or (total := self.table.total_units(obeying)) <= self.score:
                return False
            rows = obeying
        if self.known is not None and total > self.table.total_units(self.known):
            raise WrongProof(f"a graph of {total} units beats the known optimum")
        self.rows, self.score = rows.copy(), total
        self.report()
        return True

    def settle_ascent(self, ascent: Ascent) -> None:
        """Use a dual ascent over all families."""
        top = int(sum(self.table.units[self.table.offsets[:-1]].tolist()))
        bound = top - ascent.raised
        stage = Stage(
            [
                (Cluster(mask_members(mask)), int(y))
                for mask, y in zip(ascent.clusters, ascent.multipliers, strict=True)
                if y > 0
            ]
        )
        self._close_in(bound, bound - ascent.costs[self.families.rows], stage)

    def settle(self, stage: Stage, entries: Sequence[Entries]) -> NDArray[np.int64]:
        """Use rows with multipliers; `entries[i]` are those of stage.rows[i]. Returns each family's reduced cost.

        int64[k], in units rounded down: (best adjusted score among the alive of the child) - (own); negative for a
        dropped family that would be better than all that are left.
        """
        families, bits = self.families, stage.bits
        largest = float(np.abs(families.units).max(initial=0)) * 2.0**bits
        for (_, y), (_, value) in zip(stage.rows, entries, strict=True):
            largest += float(y) * float(value.max(initial=1))
        # 64 bits nearly always do; Python's integers are slow
        adjusted = families.units.astype(np.int64 if largest < LARGEST else object) << bits
        for (_, y), (index, value) in zip(stage.rows, entries, strict=True):
            adjusted[index] -= value.astype(adjusted.dtype) * y
        left = np.flatnonzero(self.alive)
        first = np.searchsorted(left, families.offsets)
        if (np.diff(first) == 0).any():  # a child has no family that a better graph could use
            self._close_in(self.score, np.full(len(families), self.score), stage)
            return np.zeros(len(families), dtype=np.int64)
        tops = np.maximum.reduceat(adjusted[left], first[:-1])
        bound = sum(tops.tolist()) + sum(y * row.rhs for row, y in stage.rows)
        costs = np.repeat(tops, np.diff(families.offsets)) - adjusted
        most = (bound - (costs if abs(bound) < LARGEST else costs.astype(object))) >> bits
        self._close_in(bound >> bits, most.astype(np.int64), stage)
        return (costs >> bits).astype(np.int64)

    def _close_in(self, bound: int, most: NDArray[np.int64], stage: Stage) -> None:
        """`most[f]`: no graph that uses alive family f scores more."""
        if self.known is not None and self.score < (best := self.table.total_units(self.known)):
            if bound < best:
                raise WrongProof(f"a bound of {bound} units is below the known optimum, {best}")
            held = self.families.positions(np.array(self.known, dtype=np.int64))
            if (held < 0).any() or not self.alive[held].all():
                raise WrongProof("a family of the known optimum was dropped")
            if (most[held] < best).any():
                raise WrongProof("a family of the known optimum has a bound below it")
        keep = self.alive & (most > self.score)
        left = np.bincount(self.families.children[keep], minlength=self.families.n)
        if (left == 0).any():
            bound = self.score
        raised = max(bound, self.score) < self.bound
        if raised or (keep != self.alive).any():
            self.stages.append(stage)
        self.alive = keep
        if raised:
            self.bound = max(bound, self.score)
            self.report()

    def case(self, alive: NDArray[np.bool_], bound: int) -> Ledger:
        """The books of a case: the same incumbent, only the given families (those no longer alive here left out)."""
        alive = alive & self.alive
        known = self.known
        if known is not None:
            held = self.families.positions(np.array(known, dtype=np.int64))
            known = known if (held >= 0).all() and alive[held].all() else None
        case = Ledger(self.table, self.rows, self.families, known, rules=self.rules)
        case.alive, case.bound = alive, min(bound, self.bound)
        if (np.bincount(self.families.children[alive], minlength=self.families.n) == 0).any():
            case.bound = case.score
        return case

    def needed(self) -> NDArray[np.bool_]:
        """bool[families]: alive, or the incumbent's, which stay so that every child has one."""
        keep = self.alive.copy()
        keep[self.families.positions(self.rows)] = True
        return keep

    def restrict(self) -> NDArray[np.bool_]:
        """Forget the families that are not needed; returns which ones were kept."""
        keep = self.needed()
        self.families, self.alive = Families.of(self.table, self.families.rows[keep]), self.alive[keep]
        return keep

    def rule_rows(self) -> list[Row]:
        """What is known of the constraints as rows."""
        return [] if self.rules is None else list(self.rules.rows)

    def check_rows(self, rows: Sequence[Row]) -> None:
        """Debugging: no row cuts off the known optimum."""
        if self.known is None:
            return
        optimum = Families.of(self.table, np.array(self.known, dtype=np.int64))
        for row in rows:
            if int(row.entries(optimum)[1].sum()) > row.rhs:
                raise WrongProof(f"{row} cuts off the known optimum")
