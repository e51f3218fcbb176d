"""Stages of rows: from multipliers to a bound, on whole numbers (the mathematics is in `base.solution`).

Arrays hold one number per family of a variable. They are of 64 bits where the largest sum of magnitudes that a stage
could make (computed first, in Python's integers) stays below 2^62, and of Python's integers otherwise: nothing can
overflow. The same in plain loops over families, as a twin for tests: tests/naive/verify.py.

Cost: (sum of row sizes) x (families per variable), plus m^2 2^m per subset row of m members.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import CheckFailed, OutOfTime
from optbn_solvers.base.solution import BoundRow, ClauseRow, ClusterRow, LimitRow, RowBound, SubsetRow
from optbn_solvers.verify.families import FITS as LARGEST_SUM
from optbn_solvers.verify.rules import Rules
from optbn_solvers.verify.subsets import best_choice

LARGEST_SUBSET = 12  # members of a subset row: beyond that the check costs too much, and no solver makes them
WORD = (1 << 64) - 1
FITS = 1 << 62  # sums below this do not overflow 64 bits

Families = list[tuple[int, int]]  # of a variable: parents as bits, units
Words = list[NDArray[np.uint64]]  # the masks of families: word w of all of them is the w-th array
Places = NDArray[np.int64]  # of families in such arrays
Numbers = NDArray[Any]  # one per family: int64, or Python's integers in an array of objects


class Stages:
    """The checker of rows for graphs on n variables that obey the rules, if there are any."""

    def __init__(self, n: int, rules: Rules | None, out_of_time: Callable[[], bool]) -> None:
        self.n, self.rules, self.out_of_time = n, rules, out_of_time
        self.proved: set[object] = set()  # subset rows come back in later stages; once is enough

    def bound(self, members: tuple[int, ...], listed: list[Families], evidence: RowBound, target: int | None) -> int:
        """The bound that the stages prove of the variables `members`, whose families are `listed`."""
        return self.bound_and_rest(members, listed, evidence, target)[0]

    def bound_and_rest(
        self, members: tuple[int, ...], listed: list[Families], evidence: RowBound, target: int | None
    ) -> tuple[int, list[Families]]:
        """The same, and the families that are left for a graph that beats the target.

        `target` is the score of the graph's families here: what a family must be able to beat.
        """
        fine = evidence.denominator  # below, everything but `target` and `best` is counted in units of 1 / fine
        if not _whole(fine) or fine < 1:
            raise CheckFailed(f"the evidence has the denominator {fine!r}; expected a whole number >= 1")
        best = sum(max(units for _, units in families) for families in listed)
        if not evidence.stages:
            return best, listed
        everything = [family for families in listed for family in families]
        alive = _Alive(
            child=np.repeat(members, [len(families) for families in listed]),
            words=self.words([mask for mask, _ in everything]),
            units=np.array([units for _, units in everything], dtype=np.int64),
        )
        largest_units = max(1, *(abs(units) for _, units in everything))
        for stage, before in zip(evidence.stages, (None, *evidence.stages), strict=False):
            if self.out_of_time():
                raise OutOfTime
            if not stage and not before and before is not None:
                continue  # it would do the same again
            largest = largest_units * fine + sum(self.largest_term(row, members) for row in stage)
            number = np.int64 if largest < FITS else object
            adjusted = alive.units.astype(number) * fine
            constant = 0
            for row in stage:
                if self.out_of_time():
                    raise OutOfTime
                constant += self.add_row(row, alive, adjusted)
            tops = {v: int(adjusted[own].max()) for v, own in alive.own.items()}
            bound = sum(tops.values()) + constant
            if target is None:
                best = min(best, bound // fine)
                continue
            # a graph that beats the target has target + 1 or more; a family too far below the top cannot be in it
            best = min(best, max(bound // fine, target))
            room = bound - (target + 1) * fine
            if room < 0:
                return target, [[] for _ in members]
            for v, own in alive.own.items():
                adjusted[own] = tops[v] - adjusted[own]  # at most twice the largest: still no overflow
            alive = alive.kept(adjusted <= (room if number is object else min(room, 2 * FITS - 1)))
            if len(alive.own) < len(members):
                return target, [[] for _ in members]
        return best, [alive.listed(v) for v in members]

    def words(self, masks: Sequence[int]) -> Words:
        """Masks by their words of 64 bits."""
        return [np.array([mask >> w & WORD for mask in masks], dtype=np.uint64) for w in range(0, self.n, 64)]

    def largest_term(self, row: BoundRow, members: tuple[int, ...]) -> int:
        """Refuse a row that is not true of every graph; else the most that it can add to a family in magnitude."""
        if self.out_of_time():
            raise OutOfTime
        y = row.multiplier
        if not _whole(y) or y < 0:
            raise CheckFailed(f"a row of the evidence has the multiplier {y!r}; expected a whole number >= 0")
        if isinstance(row, ClauseRow | LimitRow):
            if self.rules is None or len(members) < self.n:
                raise CheckFailed(
                    "a row of the evidence speaks of constraints, but there are none on all the variables"
                )
            if not _variables(row) <= set(members) or not _implied(row, self.rules):
                raise CheckFailed(f"the constraints do not imply a row of the evidence: {row!r}")
            return y * len(row.parents) if isinstance(row, LimitRow) else y
        if not row.members or len(set(row.members)) < len(row.members) or not set(row.members) <= set(members):
            raise CheckFailed(
                f"a row of the evidence is on {row.members!r}, which is not a set of variables of its part"
            )
        if isinstance(row, ClusterRow):
            return y
        if (statement := (row.members, row.coefficients, row.rhs)) not in self.proved:
            _check_subset_row(row)
            self.proved.add(statement)
        return y * max((coefficient for _, _, coefficient in row.coefficients), default=0)

    def add_row(self, row: BoundRow, alive: _Alive, adjusted: Numbers) -> int:
        """Add the row's multiplier to the families it touches; returns what it adds to the bound itself."""
        y = row.multiplier
        if isinstance(row, ClusterRow):
            own = alive.of(row.members)
            adjusted[own[self.disjoint(alive, own, row.members)]] += y
            return -y
        if isinstance(row, SubsetRow):
            bit = {v: 1 << i for i, v in enumerate(row.members)}
            patterns = 1 << len(bit)
            worth = np.zeros(len(bit) * patterns, dtype=adjusted.dtype)
            for child, parents, coefficient in row.coefficients:
                worth[row.members.index(child) * patterns + sum(bit[u] for u in parents)] = coefficient * y
            own = alive.of(row.members)
            at = np.repeat(np.arange(len(bit)) * patterns, [len(alive.own[v]) for v in row.members])
            for u in row.members:
                at += np.where(alive.words[u // 64][own] >> np.uint64(u % 64) & np.uint64(1), bit[u], 0)
            adjusted[own] -= worth[at]
            return row.rhs * y
        if isinstance(row, LimitRow):
            begins = self.words([sum(1 << u for u in row.parents)])
            for word, limit in zip(alive.words, begins, strict=True):
                adjusted -= np.bitwise_count(word & limit).astype(adjusted.dtype) * y
            return row.rhs * y
        for literal in row.literals:
            own = alive.own[literal.child]
            if literal.meets:
                false = self.disjoint(alive, own, literal.others)
            else:
                others = self.words([sum(1 << u for u in set(literal.others))])
                both = zip(alive.words, others, strict=True)
                false = np.logical_and.reduce([word[own] & wanted == wanted for word, wanted in both])
            adjusted[own[false]] -= y
        return (len(row.literals) - 1) * y

    def disjoint(self, alive: _Alive, own: Places, others: Sequence[int]) -> NDArray[np.bool_]:
        """Which of the families have no parent among others."""
        common = np.zeros(len(own), dtype=np.uint64)
        for word, wanted in zip(alive.words, self.words([sum(1 << u for u in set(others))]), strict=True):
            if wanted[0]:
                common |= word[own] & wanted
        return common == 0


class _Alive:
    """Families that a better graph could use, those of a variable together: its number, the mask, the units."""

    def __init__(self, child: Places, words: Words, units: NDArray[np.int64]) -> None:
        self.child, self.words, self.units = child, words, units
        self.own: dict[int, Places] = {int(v): np.flatnonzero(child == v) for v in np.unique(child)}

    def of(self, members: Sequence[int]) -> Places:
        """Where the families of some variables are."""
        return np.concatenate([self.own[v] for v in members])

    def listed(self, v: int) -> Families:
        """Those of a variable."""
        own = self.own[v]
        words = [word[own].tolist() for word in self.words]
        masks = [sum(word << 64 * w for w, word in enumerate(each)) for each in zip(*words, strict=True)]
        return list(zip(masks, self.units[own].tolist(), strict=True))

    def kept(self, keep: NDArray[np.bool_]) -> _Alive:
        """Without some of them."""
        return _Alive(self.child[keep], [word[keep] for word in self.words], self.units[keep])


def _variables(row: ClauseRow | LimitRow) -> set[int]:
    """The variables that a row speaks of."""
    if isinstance(row, LimitRow):
        return set(row.parents)
    return {v for literal in row.literals for v in (literal.child, *literal.others)}


def _implied(row: ClauseRow | LimitRow, rules: Rules) -> bool:
    """Whether every graph that obeys the constraints satisfies the row, as far as this checker sees."""
    return rules.valid_clause(row) if isinstance(row, ClauseRow) else rules.valid_limit(row)


def _check_subset_row(row: SubsetRow) -> None:
    """Re-prove that no acyclic graph on the members exceeds the right-hand side."""
    m = len(row.members)
    if m > LARGEST_SUBSET:
        raise CheckFailed(f"a subset row has {m} members; at most {LARGEST_SUBSET} can be checked")
    bit = {v: 1 << i for i, v in enumerate(row.members)}
    worth: list[dict[int, int]] = [{0: 0} for _ in row.members]  # a pattern that is not listed has coefficient 0
    listed = set()
    for child, parents, coefficient in row.coefficients:
        if child not in bit or not bit.keys() >= set(parents) or child in parents:
            raise CheckFailed(f"a subset row on {row.members!r} has a coefficient for {child!r} given {parents!r}")
        pattern = sum(bit[u] for u in set(parents))
        if not _whole(coefficient) or not 0 < coefficient <= LARGEST_SUM // m or (child, pattern) in listed:
            raise CheckFailed(
                f"a subset row on {row.members!r} has the coefficient {coefficient!r} for {child!r} given {parents!r}; "
                f"expected one whole number > 0, and no larger than {LARGEST_SUM // m}"
            )
        listed.add((child, pattern))
        worth[row.members.index(child)][pattern] = coefficient
    most = best_choice([list(own.items()) for own in worth])
    assert most is not None
    if not _whole(row.rhs) or most > row.rhs:
        raise CheckFailed(
            f"a subset row on {row.members!r} claims at most {row.rhs!r}, but an acyclic graph reaches {most}"
        )


def _whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)
