"""The independent checker. It believes no solver: it reads the table and the answer, and nothing else.

Plain numpy on exact integers, obviously right before fast. It shares no code with any solver (only the data types),
and every answer passes through it before anyone sees it. The mathematics of the evidence is in `base.solution`;
what is used here, in one line each:

    part      cut the variables into parts and let each part ignore arcs from outside: a relaxation, so the parts'
              bounds add up to a bound, and rows whose members lie in the part remain valid for it
    cluster   a set of variables in an acyclic graph has a member without parents in the set
    subset    sum of a[v, P & C] <= r for every DAG: re-proved by maximising the left side over the DAGs on C, by
              f(U) = max over v in U of f(U - v) + max { a[v, T] : T within U - v }
    clause, limit   what the constraints say of every graph, in the checker's own words (optbn_solvers.verify.rules)
    filter    a family that cannot be in a graph better than the one in hand is dropped before the next stage

    search    where a solver only claims something, the checker looks for a better graph by itself: layer by layer
              through the sets of placed variables (optbn_solvers.verify.layers), under constraints case by case
              (optbn_solvers.verify.obeying)

Rows and stages are in optbn_solvers.verify.stages. A check that is not to take longer than somebody wants to wait can
be given up (`out_of_time`): then the evidence counts as claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from optbn_solvers.base.errors import CheckFailed, OutOfTime, TooMuch
from optbn_solvers.base.memory import half_of_memory
from optbn_solvers.base.solution import (
    ClusterRow,
    Evidence,
    Exhausted,
    Parts,
    Proof,
    RowBound,
    Solution,
    Status,
    Tree,
)
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.verify.families import Families, members_of, within
from optbn_solvers.verify.layers import MANY, Work, best_above
from optbn_solvers.verify.obeying import Obeying
from optbn_solvers.verify.rules import Rules
from optbn_solvers.verify.stages import Stages

FITS = 1 << 62  # a proof's bound must be below
WORK = MANY

# The bound in units that a proof proves of a table; a tree proves the one that is stated, or CheckFailed.
ProofChecker = Callable[[ScoreTable, int, Proof | Tree], int]
Units = int | float | Fraction  # exact; a float is only ever +inf


@dataclass(frozen=True)
class Verdict:
    """What was checked. `bound` is what is proved; `proved` and `claimed` are sentences for people.

    ended   False: there was no time to check the evidence
    """

    score: float | None
    bound: float
    proved: tuple[str, ...]
    claimed: tuple[str, ...]
    ended: bool = True

    @property
    def optimal(self) -> bool:
        """The graph is proved to be optimal (not only claimed)."""
        return self.score is not None and self.bound == self.score


def verify(
    table: ScoreTable,
    solution: Solution,
    proof_checker: ProofChecker | None = None,
    out_of_time: Callable[[], bool] = lambda: False,
    work: float = WORK,
) -> Verdict:
    """Check every statement of a solution; CheckFailed names the first that is false.

    The graph is always checked; once `out_of_time` says so, the evidence for the bound is not gone on with. What is
    only claimed is checked by searches of the checker's own, which do at most this much `work` (STEPS of it a second).
    """
    if solution.table_digest != table.digest:
        raise CheckFailed(
            f"the solution belongs to another score table (digest {solution.table_digest[:12]}, "
            f"this table has {table.digest[:12]})"
        )
    check = _Check(table, solution, proof_checker, out_of_time, work)
    proved: list[str] = []
    total = None
    if solution.choice is not None:
        total = check.graph(solution.choice)
        proved.append(f"the graph is acyclic, its families exist and add up to {solution.score!r}")
        if solution.constraints:
            proved.append(f"it obeys the constraints ({', '.join(solution.constraints.given())})")
    if solution.status is Status.OPTIMAL and solution.bound != solution.score:
        raise CheckFailed(f"the status is optimal, but the bound {solution.bound!r} is not the score")
    if solution.status is not Status.UNKNOWN and solution.choice is None:
        raise CheckFailed(f"the status is {solution.status}, but there is no graph")

    try:
        found = check.bound(solution.evidence)
    except OutOfTime:
        found = check.unchecked()
    if total is not None and found.proved < total:
        raise CheckFailed(
            f"the evidence 'proves' a bound of {check.score(found.proved)!r}, below the score of the graph: it is wrong"
        )
    if check.stated < found.accepted:
        source = "the sum of the best scores" if solution.evidence is None else "its evidence gives"
        raise CheckFailed(f"the bound {solution.bound!r} is lower than {source}, {check.score(found.accepted)!r}")
    obeying = " that obeys the constraints" if solution.constraints else ""
    proved.append(f"no acyclic graph of these families{obeying} scores more than {check.score(found.proved)!r}")
    claimed = found.claims if check.stated < found.proved else ()
    return Verdict(solution.score, check.score(found.proved), tuple(proved), claimed, found.ended or not claimed)


@dataclass(frozen=True)
class _Bound:
    """A bound in units: what is proved, what follows if the claims are believed, and those claims."""

    proved: int
    accepted: Units
    claims: tuple[str, ...] = ()
    ended: bool = True


class _Check:
    """One solution against one table, read into plain lists: per variable its families (mask, units)."""

    def __init__(
        self,
        table: ScoreTable,
        solution: Solution,
        proof_checker: ProofChecker | None,
        out_of_time: Callable[[], bool],
        work: float,
    ) -> None:
        self.work = Work(work, half_of_memory(), out_of_time)
        self.table, self.solution, self.proof_checker = table, solution, proof_checker
        self.out_of_time = out_of_time
        self.n, self.names, self.exponent = table.n, table.names, table.exponent
        self.first: list[int] = table.offsets.tolist()
        packed, width = table.masks.astype("<u8").tobytes(), 8 * table.words
        masks = [int.from_bytes(packed[i : i + width], "little") for i in range(0, len(packed), width)]
        families = list(zip(masks, table.units.tolist(), strict=True))
        self.families: list[list[tuple[int, int]]] = [
            families[self.first[v] : self.first[v + 1]] for v in range(self.n)
        ]
        constraints = solution.constraints
        if constraints and (strangers := constraints.strangers(table.names)):
            raise CheckFailed(f"the constraints name {strangers[0]!r}, which is not a variable of the table")
        self.rules = Rules(constraints, table.names) if constraints else None
        self.usable, self.reduced = self.families, table  # what the bound is about
        if self.rules is not None:
            kept = [
                [row for row in table.rows(v) if self.rules.allows(v, members_of(families[row][0]))]
                for v in range(self.n)
            ]
            if not all(kept):
                raise CheckFailed(f"no family of {self.names[kept.index([])]!r} obeys the constraints")
            if not self.rules.demanding:  # no optimum needs a family that one of its subsets beats
                needed = [dict(within([families[row] for row in rows], (1 << self.n) - 1)) for rows in kept]
                kept = [[row for row in rows if families[row][0] in needed[v]] for v, rows in enumerate(kept)]
            self.usable = [[families[row] for row in rows] for rows in kept]
            self.reduced = table.restricted(np.concatenate(kept))
        if math.isnan(solution.bound):
            raise CheckFailed("the bound is not a number")
        self.stated = self.units(solution.bound)
        self.stages = Stages(self.n, self.rules, out_of_time)

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

    def graph(self, choice: Sequence[int]) -> int:
        """The exact score of an acyclic choice of families that obeys the constraints."""
        if len(choice) != self.n:
            raise CheckFailed(f"the graph has {len(choice)} families, but there are {self.n} variables")
        for v, row in enumerate(choice):
            if not self.first[v] <= row < self.first[v + 1]:
                raise CheckFailed(f"row {row} of the table is not a family of {self.names[v]!r}")
        chosen = [self.families[v][row - self.first[v]] for v, row in enumerate(choice)]
        masks = [mask for mask, _ in chosen]
        placed, left = 0, set(range(self.n))
        while left:
            ready = [v for v in left if masks[v] & ~placed == 0]
            if not ready:
                raise CheckFailed(f"the graph has a cycle: {' -> '.join(self.names[v] for v in _cycle(masks, left))}")
            left.difference_update(ready)
            placed |= sum(1 << v for v in ready)
        total = sum(units for _, units in chosen)
        given = self.solution.score
        if given is None or not math.isfinite(given) or self.units(given) != total:
            raise CheckFailed(f"the score is given as {given!r}, but the families add up to {self.score(total)!r}")
        if self.rules is not None:
            wrong = self.rules.wrong({(u, v) for v, mask in enumerate(masks) for u in members_of(mask)})
            if wrong is not None:
                raise CheckFailed(f"the graph does not obey the constraints: {wrong}")
        return total

    def bound(self, evidence: Evidence | None) -> _Bound:
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
        return _Bound(
            sum(b.proved for b in bounds), sum(b.accepted for b in bounds), tuple(c for b in bounds for c in b.claims)
        )

    def unchecked(self) -> _Bound:
        """What is known without the evidence: the sum of the best scores; the bound that is stated is a claim."""
        plain = sum(max(units for _, units in families) for families in self.usable)
        return _Bound(plain, self.stated, (f"the bound {self.score(self.stated)!r}: not checked, no time left",), False)

    def part(self, members: tuple[int, ...], evidence: Evidence | None, stated: Units) -> _Bound:
        """The bound over the variables of one part; `stated` is what an unchecked claim gives it."""
        if self.out_of_time():
            raise OutOfTime
        if evidence is None:
            return _Bound(plain := self.rows(members, RowBound(())), plain)
        if isinstance(evidence, RowBound):
            return _Bound(proved := self.rows(members, evidence), proved)
        whole = len(members) == self.n
        if self.proof_checker is not None and (isinstance(evidence, Tree) or (isinstance(evidence, Proof) and whole)):
            if isinstance(stated, float):
                raise CheckFailed(f"the evidence is a proof, but the bound is {stated!r}")
            if not -FITS < stated < FITS:
                raise CheckFailed("the evidence is a proof, but the bound is beyond 2^62 units; no graph's score is")
            alone = self.reduced if whole else self.alone(members)
            return _Bound(proved := self.proof_checker(alone, math.floor(stated), evidence), proved)
        known = (evidence.rows if isinstance(evidence, Exhausted) else None) or RowBound(())
        proved, left = self.stages.bound_and_rest(members, self.inside(members), known, self.in_hand(members))
        if isinstance(evidence, Exhausted) and stated < proved and not isinstance(stated, float):
            found = self.search(members, left, known, math.floor(stated))
            if found is not None and (whole or self.rules is None or found <= stated):
                return _Bound(found, found)
            proved = min(proved, proved if found is None else found)  # of a part, constraints tell more
        if isinstance(evidence, Proof):
            how = f"the proof file {evidence.path} was not opened"
        elif isinstance(evidence, Tree):
            how = f"its tree of {evidence.nodes} nodes was not checked"
        elif isinstance(evidence, Exhausted):
            how = self.claim(members, evidence, stated)
        else:
            raise CheckFailed(f"evidence of an unknown kind: {type(evidence).__name__}")
        where = "" if len(members) == self.n else f" for {len(members)} variables ({self.listing(members)})"
        return _Bound(proved, min(stated, proved), (f"the bound {self.score(stated)!r}{where}: {how}",))

    def claim(self, members: tuple[int, ...], evidence: Exhausted, stated: Units) -> str:
        """What the solver says of its search: all of it was done only where nothing better is left."""
        choice = self.solution.choice
        if choice is None or stated > self.score_of(members, choice):
            return f"{evidence.method}, stopped"
        return f"searched completely by {evidence.method}" + (
            f", within {evidence.tolerance:g}" if evidence.tolerance else ""
        )

    def score_of(self, members: Sequence[int], choice: Sequence[int]) -> int:
        """The units of the families that a graph has for some variables."""
        return sum(self.families[v][choice[v] - self.first[v]][1] for v in members)

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

    def rows(self, members: tuple[int, ...], evidence: RowBound) -> int:
        """The bound over the variables `members` that the stages of rows prove, in exact integers."""
        return self.stages.bound(members, self.inside(members), evidence, self.in_hand(members))

    def in_hand(self, members: tuple[int, ...]) -> int | None:
        """The units that the graph, if there is one, has for some variables."""
        choice = self.solution.choice
        return None if choice is None else self.score_of(members, choice)

    def inside(self, members: tuple[int, ...]) -> list[list[tuple[int, int]]]:
        """The families of some variables, without their parents outside."""
        listed = [self.usable[v] for v in members]
        if len(members) == self.n:
            return listed
        return [within(families, sum(1 << u for u in members)) for families in listed]

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
            if self.rules is None or len(members) < self.n:
                return best_above(families, target, self.work, clusters).units
            return Obeying(families, self.rules, target, self.work, clusters).most_units()
        except (TooMuch, OutOfTime):
            return None

    def listing(self, variables: Sequence[int]) -> str:
        return ", ".join(self.names[v] for v in variables[:5]) + (", ..." if len(variables) > 5 else "")


def _cycle(masks: Sequence[int], left: set[int]) -> list[int]:
    """A cycle among variables that all have a parent in `left`, in the direction of the arcs, closed."""
    walk = [min(left)]
    while len(set(walk)) == len(walk):
        walk.append(next(u for u in members_of(masks[walk[-1]]) if u in left))
    return walk[walk.index(walk[-1]) :][::-1]
