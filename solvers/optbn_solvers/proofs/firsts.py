"""Who comes first in a set of variables, in a proof: literals, and with them the rows of clusters.

Sets grow by one variable, c, from sets that are there already (so that many clusters share most of their lines):
    F(c, C + c)   c comes before all of C
    F(v, C + c)   is a new variable: if F(v, C), it or F(c, C + c) is true; if it is true, v is first in C and comes
                  before c. (If v is not before c, c is before v and so before all of C.)
    one of F(., C + c) is true
    G(v, C)       one of the families of v that are disjoint from C, or not F(v, C): from G(v, C - c), and from the link
                  between c and v, as a sum; families with several parents in C, which are then subtracted too often,
                  are added again
    cluster C     the sum of G(., C) and of "one of F(., C) is true"
A set that no other one grows from needs no F(., C + c) of its own:
    R(v)              if F(v, C) and c comes before v, c comes before all of C (unit propagation sees it)
    cluster C + c     G(v, C), the link between c and v, and R(v) for each v; one of F(., C); G(c, C + c)
Where few families are left, the rows G are written as they are, and unit propagation sees them.
Sets are numbers: bit v for variable v.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.proofs.lines import Lines
from optbn_solvers.proofs.opb import Encoding, before, members_of, opposite

WORD = (1 << 64) - 1


class Firsts:
    """The literals and rows that are there, by set."""

    def __init__(self, encoding: Encoding, lines: Lines) -> None:
        self.encoding, self.lines = encoding, lines
        self.frequent: list[int] = list(range(encoding.n))
        self.base: dict[int, int] = {}  # set -> the one that it is to grow from
        self.inner: set[int] = set()  # sets that others grow from
        self.grown: dict[int, tuple[int, int]] = {}  # set -> (the set it grew from, the variable that came to it)
        self.literal: dict[tuple[int, int], str] = {(1 << v, v): "" for v in range(encoding.n)}
        self.implies: dict[tuple[int, int], int] = {}  # the row that says what a literal implies
        self.some: dict[int, int] = {}  # the row "one of them is first"
        self.disjoint: dict[tuple[int, int], int] = {(1 << v, v): row for v, row in enumerate(encoding.some)}
        self.clusters: dict[int, int] = {}
        self.there = Sets(encoding.n)
        self.width = max(1, -(-encoding.n // 64))
        self.names = [[encoding.choice(row) for row, _ in families] for families in encoding.families]
        self.masks = [np.array([words(p, self.width) for _, p in families]) for families in encoding.families]

    def expect(self, sets: Collection[int], clusters: Collection[int]) -> None:
        """What will be wanted: what is frequent there is added first, so that more sets begin alike."""
        often = Counter(v for members in (*sets, *clusters) for v in members_of(members))
        self.frequent = sorted(range(self.encoding.n), key=lambda v: (-often[v], v))
        there = Sets(self.encoding.n)
        for members in [*by_size(sets), *by_size(clusters)]:
            if members not in there:
                have = there.largest_within(members)
                for larger in self._steps(have, members):
                    self.base[larger] = have
                    self.inner.add(have)
                    there.add(larger)
                    have = larger
        self.inner |= set(sets)

    def make(self, wanted: int) -> None:
        """Literals for a set, from the one that it is to grow from, or the largest of its subsets that has some."""
        if wanted in self.there:
            return
        have = self.base.get(wanted)
        if have is None:
            have = self.there.largest_within(wanted)
        else:
            self.make(have)
        for larger in self._steps(have, wanted):
            self._grow(have, (larger ^ have).bit_length() - 1)
            have = larger

    def cluster(self, members: int) -> int:
        """The number of the row: at least one family disjoint from the members."""
        if members not in self.clusters:
            if members in self.base and members not in self.inner and members.bit_count() > 2:
                self.clusters[members] = self._outer(members, self.base[members])
            else:
                self.make(members)
                rows = [self._disjoint(v, members) for v in members_of(members)]
                if members in self.some:
                    rows.append(self.some[members])
                self.clusters[members] = self.lines.pol(added(map(str, rows)))
        return self.clusters[members]

    def _steps(self, have: int, wanted: int) -> Iterator[int]:
        """From one set to another, one variable more at a time."""
        for c in self.frequent:
            if wanted & ~have & 1 << c:
                have |= 1 << c
                yield have

    def _outer(self, members: int, inside: int) -> int:
        """The row of a cluster that no other set grows from; it has one variable more than the set inside."""
        self.make(inside)
        lines, literal, c = self.lines, self.literal, (members ^ inside).bit_length() - 1
        others = members_of(inside)
        first, implies = lines.defined([before(c, u) for u in others])
        parts = [str(self.some[inside])] if inside in self.some else []
        for v in others:
            if (c, v) not in self.encoding.link:  # no family of v has c
                parts.append(str(self._disjoint(v, inside)))
                continue
            comes = lines.clause(opposite(literal[inside, v]), first, before(v, c))
            again = self._again(v, 1 << c, inside)
            if self._is_short(alone := self._alone(v, members), again):
                parts.append(str(lines.clause(*alone, opposite(literal[inside, v]), first)))
            else:
                parts.append(added([str(self._disjoint(v, inside)), self._link(c, v), *again, str(comes)]) + " s")
        row = added(parts)
        if any((c, v) in self.encoding.link for v in others):
            own = self._from_links(c, inside, opposite(first), implies)
            row = f"{row} s {own} +"
        return lines.pol(row)

    def _from_links(self, v: int, others: int, unless: str, implies: int | None) -> str:
        """The formula of a row: a family of v that is disjoint from the others, or they do not all come after it."""
        again = self._again(v, others, 0)
        if self._is_short(alone := self._alone(v, others), again):
            return str(self.lines.clause(*alone, unless))
        links = [self._link(u, v) for u in members_of(others)]
        formula = added([str(self.encoding.some[v]), *links, *again])
        return formula if implies is None else f"{formula} {implies} + s"

    def _grow(self, have: int, c: int) -> None:
        """The literals of a set and one variable more."""
        lines, members, wanted = self.lines, members_of(have), have | 1 << c
        self.grown[wanted] = have, c
        self.there.add(wanted)
        if len(members) == 1:
            self.literal[wanted, members[0]], self.literal[wanted, c] = before(members[0], c), before(c, members[0])
            return
        mine, self.implies[wanted, c] = lines.defined([before(c, u) for u in members])
        self.literal[wanted, c] = mine
        for v in members:
            smaller = self.literal[have, v]
            larger = self.literal[wanted, v] = lines.new()
            lines.red([(1, opposite(smaller)), (1, larger), (1, mine)], 1, larger, 1)
            self.implies[wanted, v] = lines.red([(2, opposite(larger)), (1, smaller), (1, before(v, c))], 2, larger, 0)
        self.some[wanted] = lines.clause(*(self.literal[wanted, v] for v in (*members, c)))

    def _disjoint(self, v: int, members: int) -> int:
        """The number of G(v, members)."""
        if (members, v) not in self.disjoint:
            have, c = self.grown[members]
            unless, implies = opposite(self.literal[members, v]), self.implies.get((members, v))
            if v == c:
                formula = self._from_links(v, have, unless, implies)
            elif self._is_short(alone := self._alone(v, members), again := self._again(v, 1 << c, have)):
                formula = str(self.lines.clause(*alone, unless))
            else:
                formula = added([str(self._disjoint(v, have)), self._link(c, v), *again])
                formula += "" if implies is None else f" {implies} + s"
            self.disjoint[members, v] = int(formula) if formula.isdecimal() else self.lines.pol(formula)
        return self.disjoint[members, v]

    def _is_short(self, alone: Sequence[str], again: Sequence[str]) -> bool:
        """Whether a row is written as it is, which unit propagation sees: as a sum it would be longer."""
        return len(alone) <= len(again) + 2

    def _alone(self, v: int, members: int) -> list[str]:
        """The families of v without a parent among the members."""
        return [self.names[v][at] for at in np.flatnonzero(self._parents(v, members) == 0).tolist()]

    def _parents(self, v: int, members: int) -> NDArray[np.int64]:
        """How many parents each family of v has among the members."""
        found: NDArray[np.int64] = np.bitwise_count(self.masks[v] & words(members, self.width)).sum(axis=1, dtype=int)
        return found

    def _link(self, u: int, v: int) -> str:
        """The row "no family of v with u, or u comes before v"; where there are no such families, the literal."""
        return str(self.encoding.link.get((u, v), before(u, v)))

    def _again(self, v: int, new: int, old: int) -> list[str]:
        """Families that the links to `new` subtract, though they meet `old`, or several times."""
        times = self._parents(v, new)
        times -= (times > 0) & (self._parents(v, old) == 0)
        names = self.names[v]
        more = ((names[at], int(times[at])) for at in np.flatnonzero(times).tolist())
        return [x if count == 1 else f"{x} {count} *" for x, count in more]


class Sets:
    """Sets of variables, and the largest of them inside another one; each variable alone is there."""

    def __init__(self, n: int) -> None:
        self.width = max(1, -(-n // 64))
        self.known: set[int] = set()
        self.by_size: dict[int, tuple[int, NDArray[np.uint64]]] = {}  # how many there are, their words
        for v in range(n):
            self.add(1 << v)

    def __contains__(self, members: int) -> bool:
        return members in self.known

    def add(self, members: int) -> None:
        """One more."""
        if members in self.known:
            return
        self.known.add(members)
        count, listed = self.by_size.get(members.bit_count(), (0, np.zeros((16, self.width), dtype=np.uint64)))
        if count == len(listed):
            listed = np.concatenate([listed, np.zeros_like(listed)])
        listed[count] = words(members, self.width)
        self.by_size[members.bit_count()] = count + 1, listed

    def largest_within(self, members: int) -> int:
        """The first of the largest that are subsets."""
        outside = ~words(members, self.width)
        for size in range(members.bit_count(), 0, -1):
            count, listed = self.by_size.get(size, (0, None))
            if listed is not None and len(found := np.flatnonzero((listed[:count] & outside == 0).all(axis=1))):
                return sum(int(word) << 64 * w for w, word in enumerate(listed[found[0]]))
        raise ValueError("the empty set has no subsets that are wanted")


def words(members: int, width: int) -> NDArray[np.uint64]:
    """A set as words of 64 bits."""
    return np.array([members >> 64 * w & WORD for w in range(width)], dtype=np.uint64)


def added(rows: Iterable[str]) -> str:
    """The formula of a sum."""
    first, *more = rows
    return " ".join([first, *(f"{row} +" for row in more)])


def by_size(sets: Iterable[int]) -> list[int]:
    """Sets, small ones first: larger ones grow from them."""
    return sorted(sets, key=lambda members: (members.bit_count(), members))
