"""A subset row in a proof: sum of coefficients <= what acyclic graphs on its members C reach.

By the recursion that the checker uses, from the end: of W, the rest of the members, one comes first; when all others
are before W, its parents in C are among them:
    g(W) = max over v in W of best(v, C - W) + g(W - v)
What v is worth is counted in steps: h(v, a) says that its family is worth at least a. Under I(C - W), "all the others
come before W", the steps on W are at most g(W). q(W) says so; if v is first in W, the families of v that are worth
more than best(v, C - W) are impossible, and the row of W - v, added to the opposite of q(W), says that the others
cannot be worth so much.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from optbn_solvers.base.errors import NoProofError
from optbn_solvers.base.solution import SubsetRow
from optbn_solvers.proofs.firsts import Firsts
from optbn_solvers.proofs.lifted import Lifted
from optbn_solvers.proofs.lines import Lines, false
from optbn_solvers.proofs.opb import Encoding, Terms, before, members_of, opposite

LARGEST_SUBSET = 12  # members: the derivation has 2^m m steps


class Among(NamedTuple):
    """A literal that says that the family of a variable is one of some; the rows "if so, one", "not more of them"."""

    literal: str
    some: int
    most: int


class Choices:
    """Literals about the family of one variable."""

    def __init__(self, encoding: Encoding, lines: Lines) -> None:
        self.encoding, self.lines = encoding, lines
        self.made: dict[tuple[int, frozenset[int]], Among] = {}
        self.branches: set[tuple[int, frozenset[int]]] = set()

    def among(self, v: int, rows: frozenset[int]) -> Among:
        """The family of v is one of these rows."""
        if (v, rows) not in self.made:
            lines, choice = self.lines, self.encoding.choice
            y = lines.new()
            inside: Terms = [(1, choice(row)) for row, _ in self.encoding.families[v] if row in rows]
            outside: Terms = [(1, choice(row)) for row, _ in self.encoding.families[v] if row not in rows]
            some = lines.red([(1, opposite(y)), *inside], 1, y, 0)
            other = lines.red([(1, y), *outside], 1, y, 1)
            self.made[v, rows] = Among(y, some, lines.pol(f"{other} {self.encoding.only[v]} +"))
        return self.made[v, rows]

    def branch(self, v: int, rows: frozenset[int]) -> str:
        """The literal; where it holds, unit propagation sees that the family of v is none of the others."""
        among = self.among(v, rows)
        if (v, rows) not in self.branches:
            self.branches.add((v, rows))
            self.lines.pol(f"{among.some} {self.encoding.only[v]} +")
        return among.literal


class SubsetRows:
    """The subset rows of a proof."""

    def __init__(self, encoding: Encoding, lines: Lines, firsts: Firsts, choices: Choices) -> None:
        self.encoding, self.lines, self.firsts, self.choices = encoding, lines, firsts, choices
        self.ahead: dict[tuple[int, int], str] = {}  # (some, others) -> the literal "all of the some before the others"
        self.proved: dict[object, int] = {}

    def row(self, row: SubsetRow) -> int:
        """The number of the row: the coefficients of the chosen patterns add up to at most what a graph can reach."""
        statement = (row.members, row.coefficients)
        if statement not in self.proved:
            if len(row.members) > LARGEST_SUBSET:
                raise NoProofError(f"a subset row of {len(row.members)} members is too large to be exported")
            self.proved[statement] = _Derivation(self, row).derive()
        return self.proved[statement]

    def before(self, some: int, others: int) -> str:
        """The literal that all of the some come before all of the others."""
        if (some, others) not in self.ahead:
            pairs = [before(u, w) for u in members_of(some) for w in members_of(others)]
            self.ahead[some, others] = self.lines.both(pairs)
        return self.ahead[some, others]


class _Derivation:
    """Of one row."""

    def __init__(self, rows: SubsetRows, row: SubsetRow) -> None:
        self.rows, self.lines, self.lifted = rows, rows.lines, Lifted(row)
        self.members = sum(1 << v for v in row.members)
        self.steps = {v: self._steps(v) for v in row.members}
        self.proved: dict[int, tuple[int | None, int]] = {0: (None, 0)}  # W -> (row, its coefficient of I)
        self.g = cache(self._g)

    def derive(self) -> int:
        """The number of the row."""
        rests = sorted(_subsets(self.members), key=int.bit_count)
        for rest in rests:  # what other rows may use again is not forgotten
            self.rows.before(self.members & ~rest, rest)
            self.rows.firsts.make(rest)
        begun = self.lines.number
        for rest in rests:
            self._bound(rest)
        number, _ = self.proved[self.members]
        if number is None:
            raise NoProofError("a subset row of the evidence has no families, it cannot be exported")
        steps = [(size, among) for own in self.steps.values() for size, among in own]
        last = self.lines.pol(" ".join([str(number), *(f"{among.most} {size} * +" for size, among in steps)]))
        self.lines.forget(begun + 1, last - 1)
        return last

    def _steps(self, v: int) -> list[tuple[int, Among]]:
        """(how much more, the literal that the family of v is worth so much)."""
        worth = {row: self.lifted.best(v, parents) for row, parents in self.rows.encoding.families[v]}
        found, below = [], 0
        for level in sorted({a for a in worth.values() if a}):
            rows = frozenset(row for row, a in worth.items() if a >= level)
            found.append((level - below, self.rows.choices.among(v, rows)))
            below = level
        return found

    def _g(self, rest: int) -> int:
        """What the rest can be worth after the others."""
        others = self.members & ~rest
        return max((self.lifted.best(v, others) + self.g(rest & ~(1 << v)) for v in members_of(rest)), default=0)

    def _bound(self, rest: int) -> None:
        """Under I: the steps on the rest are at most g(rest)."""
        lines, most = self.lines, self.g(rest)
        total = [(size, among.literal) for v in members_of(rest) for size, among in self.steps[v]]
        room = sum(a for a, _ in total) - most
        if not total:
            self.proved[rest] = None, 0
            return
        if room <= 0:
            first, *more = [f"{opposite(x)} {a} *" for a, x in total]
            self.proved[rest] = lines.pol(" ".join([first, *(f"{each} +" for each in more)])), 0
            return
        q = lines.new()
        small = lines.red([*((-a, x) for a, x in total), (room, opposite(q))], -most, q, 0)
        large = lines.red([*total, (most + 1, q)], most + 1, q, 1)
        here = self.rows.before(self.members & ~rest, rest)
        for v in members_of(rest):
            number, _ = self.proved[rest & ~(1 << v)]
            if number is not None:
                lines.pol(f"{large} {number} +")
            if rest != 1 << v:
                lines.clause(false(here), false(self.rows.firsts.literal[rest, v]), q)
        implied = lines.clause(false(here), q)
        self.proved[rest] = lines.pol(f"{small} {implied} {room} * +"), room if here else 0


def _subsets(members: int) -> Iterator[int]:
    """All but the empty one."""
    rest = members
    while rest:
        yield rest
        rest = (rest - 1) & members
