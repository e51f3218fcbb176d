"""What evidence proves: part by part, a bound in units, and what is only claimed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from optbn_solvers.base.errors import CheckFailed, OutOfTime, TooMuch
from optbn_solvers.base.solution import ClusterRow, Evidence, Exhausted, Parts, Proof, RowBound, Tree
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.verify.families import Families, members_of
from optbn_solvers.verify.layers import Work, best_above
from optbn_solvers.verify.obeying import Obeying
from optbn_solvers.verify.reading import Reading, Units
from optbn_solvers.verify.stages import Stages

FITS = 1 << 62  # a proof's bound must be below

# The bound in units that a proof proves of a table; a tree proves the one that is stated, or CheckFailed.
ProofChecker = Callable[[ScoreTable, int, Proof | Tree], int]


@dataclass(frozen=True)
class Bound:
    """A bound in units: what is proved, what follows if the claims are believed, and those claims."""

    proved: int
    accepted: Units
    claims: tuple[str, ...] = ()
    ended: bool = True


class Bounds:
    """The evidence of one solution: `choice` is the graph in hand, `stated` the bound that the solution claims."""

    def __init__(
        self,
        reading: Reading,
        choice: Sequence[int] | None,
        stated: Units,
        proof_checker: ProofChecker | None,
        work: Work,
    ) -> None:
        self.reading, self.n = reading, reading.n
        self.choice, self.stated = choice, stated
        self.proof_checker, self.work = proof_checker, work
        self.stages = Stages(self.n, reading.rules, work.out_of_time)

    def bound(self, evidence: Evidence | None) -> Bound:
        """The bound over all acyclic graphs."""
        if not isinstance(evidence, Parts):
            return self.part(tuple(range(self.n)), evidence, self.stated)
        rest = set(range(self.n))
        bounds = []
        for part in evidence.parts:
            if not part.members or not rest.issuperset(part.members) or len(set(part.members)) < len(part.members):
                raise CheckFailed("the parts of the evidence are not disjoint sets of variables")
            if len(part.members) == self.n and part.members != tuple(range(self.n)):
                raise CheckFailed("a part of the evidence has all variables, but not in the order of the table")
            rest.difference_update(part.members)
            bounds.append(self.part(part.members, part.evidence, part.bound))
        bounds += [self.part((v,), None, 0) for v in sorted(rest)]
        return Bound(
            sum(b.proved for b in bounds), sum(b.accepted for b in bounds), tuple(c for b in bounds for c in b.claims)
        )

    def unchecked(self) -> Bound:
        """What is known without the evidence: the sum of the best scores; the bound that is stated is a claim."""
        plain = sum(max(units for _, units in families) for families in self.reading.usable)
        return Bound(
            plain, self.stated, (f"the bound {self.reading.score(self.stated)!r}: not checked, no time left",), False
        )

    def part(self, members: tuple[int, ...], evidence: Evidence | None, stated: Units) -> Bound:
        """The bound over the variables of one part; `stated` is what an unchecked claim gives it."""
        if self.work.out_of_time():
            raise OutOfTime
        if evidence is None:
            return Bound(plain := self.rows(members, RowBound(())), plain)
        if isinstance(evidence, RowBound):
            return Bound(proved := self.rows(members, evidence), proved)
        whole = len(members) == self.n
        if self.proof_checker is not None and (isinstance(evidence, Tree) or (isinstance(evidence, Proof) and whole)):
            if isinstance(stated, float):
                raise CheckFailed(f"the evidence is a proof, but the bound is {stated!r}")
            if not -FITS < stated < FITS:
                raise CheckFailed("the evidence is a proof, but the bound is beyond 2^62 units; no graph's score is")
            alone = self.reading.reduced if whole else self.reading.alone(members)
            return Bound(proved := self.proof_checker(alone, math.floor(stated), evidence), proved)
        known = (evidence.rows if isinstance(evidence, Exhausted) else None) or RowBound(())
        proved, left = self.stages.bound_and_rest(members, self.reading.inside(members), known, self.in_hand(members))
        if isinstance(evidence, Exhausted) and stated < proved and not isinstance(stated, float):
            found = self.search(members, left, known, math.floor(stated))
            if found is not None and (whole or self.reading.rules is None or found <= stated):
                return Bound(found, found)
            proved = min(proved, proved if found is None else found)  # of a part, constraints tell more
        if isinstance(evidence, Proof):
            how = f"the proof file {evidence.path} was not opened"
        elif isinstance(evidence, Tree):
            how = f"its tree of {evidence.nodes} nodes was not checked"
        elif isinstance(evidence, Exhausted):
            how = self.claim(members, evidence, stated)
        else:
            raise CheckFailed(f"evidence of an unknown kind: {type(evidence).__name__}")
        where = "" if len(members) == self.n else f" for {len(members)} variables ({self.reading.listing(members)})"
        return Bound(proved, min(stated, proved), (f"the bound {self.reading.score(stated)!r}{where}: {how}",))

    def claim(self, members: tuple[int, ...], evidence: Exhausted, stated: Units) -> str:
        """What the solver says of its search: all of it was done only where nothing better is left."""
        choice = self.choice
        if choice is None or stated > self.reading.score_of(members, choice):
            return f"{evidence.method}, stopped"
        return f"searched completely by {evidence.method}" + (
            f", within {evidence.tolerance:g}" if evidence.tolerance else ""
        )

    def rows(self, members: tuple[int, ...], evidence: RowBound) -> int:
        """The bound over the variables `members` that the stages of rows prove, in exact integers."""
        return self.stages.bound(members, self.reading.inside(members), evidence, self.in_hand(members))

    def in_hand(self, members: tuple[int, ...]) -> int | None:
        """The units that the graph, if there is one, has for some variables."""
        choice = self.choice
        return None if choice is None else self.reading.score_of(members, choice)

    def search(
        self, members: tuple[int, ...], left: list[list[tuple[int, int]]], known: RowBound, stated: int
    ) -> int | None:
        """A bound on a part by the checker's own search for more than is stated among the families that are left.

        None where that would be too much work.
        """
        in_hand = self.in_hand(members)
        if not all(left):
            return in_hand  # the rows say that nothing is better
        bit = {u: 1 << i for i, u in enumerate(members)}
        if len(members) < self.n:  # counted by places among the members
            left = [[(sum(bit[u] for u in members_of(mask)), units) for mask, units in own] for own in left]
        families = Families.of(left)
        if families is None:
            return None
        target = stated if in_hand is None else max(stated, in_hand)
        fine = known.denominator
        clusters = [
            (sum(bit[u] for u in row.members), row.multiplier // fine)
            for row in (known.stages[-1] if known.stages else ())
            if isinstance(row, ClusterRow)
        ]
        try:
            if self.reading.rules is None or len(members) < self.n:
                return best_above(families, target, self.work, clusters).units
            return Obeying(families, self.reading.rules, target, self.work, clusters).most_units()
        except (TooMuch, OutOfTime):
            return None
