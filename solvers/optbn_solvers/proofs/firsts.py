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
Sets are numbers: bit v for variable v.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

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
        self.grown: dict[int, tuple[int, int]] = {}  # set -> (the set it grew from, the variable that came to it)
        self.literal: dict[tuple[int, int], str] = {(1 << v, v): "" for v in range(encoding.n)}
        self.implies: dict[tuple[int, int], int] = {}  # the row that says what a literal implies
        self.some: dict[int, int] = {}  # the row "one of them is first"
        self.disjoint: dict[tuple[int, int], int] = {(1 << v, v): row for v, row in enumerate(encoding.some)}
        self.clusters: dict[int, int] = {}
        self.words = max(1, -(-encoding.n // 64))
        self.there = np.array([self._words(1 << v) for v in range(encoding.n)], dtype=np.uint64)
        self.count = encoding.n

    def expect(self, sets: Iterable[int]) -> None:
        """What will be wanted: what is frequent there is added first, so that more sets begin alike."""
        often = Counter(v for members in sets for v in members_of(members))
        self.frequent = sorted(range(self.encoding.n), key=lambda v: (-often[v], v))

    def make(self, wanted: int) -> None:
        """Literals for a set, from the largest of its subsets that has some."""
        have = self._largest(wanted)
        for c in self.frequent:
            if (wanted & ~have) >> c & 1:
                self._grow(have, c)
                have |= 1 << c

    def cluster(self, members: int) -> int:
        """The number of the row: at least one family disjoint from the members."""
        if members not in self.clusters:
            self.make(members)
            rows = [self._disjoint(v, members) for v in members_of(members)]
            if members in self.some:
                rows.append(self.some[members])
            first, *more = map(str, rows)
            self.clusters[members] = self.lines.pol(" ".join([first, *(f"{row} +" for row in more)]))
        return self.clusters[members]

    def _largest(self, members: int) -> int:
        """The largest subset that has literals."""
        there = self.there[: self.count]
        inside = (there & ~self._words(members) == 0).all(axis=1)
        sizes = np.bitwise_count(there).sum(axis=1)
        at = int(np.argmax(np.where(inside, sizes, 0)))
        return sum(int(word) << 64 * w for w, word in enumerate(there[at]))

    def _words(self, members: int) -> NDArray[np.uint64]:
        return np.array([members >> 64 * w & WORD for w in range(self.words)], dtype=np.uint64)

    def _grow(self, have: int, c: int) -> None:
        """The literals of a set and one variable more."""
        lines, members, wanted = self.lines, members_of(have), have | 1 << c
        self.grown[wanted] = have, c
        if self.count == len(self.there):
            self.there = np.concatenate([self.there, np.zeros_like(self.there)])
        self.there[self.count] = self._words(wanted)
        self.count += 1
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
            if v == c:
                links = [f"{self._link(u, v)} +" for u in members_of(have)]
                formula = [str(self.encoding.some[v]), *links, *self._again(v, have, 0)]
            else:
                formula = [str(self._disjoint(v, have)), f"{self._link(c, v)} +", *self._again(v, 1 << c, have)]
            if (members, v) in self.implies:
                formula.append(f"{self.implies[members, v]} + s")
            self.disjoint[members, v] = self.lines.pol(" ".join(formula))
        return self.disjoint[members, v]

    def _link(self, u: int, v: int) -> int | str:
        """The row "no family of v with u, or u comes before v"; where there are no such families, the literal."""
        return self.encoding.link.get((u, v), before(u, v))

    def _again(self, v: int, new: int, old: int) -> list[str]:
        """Families that the links to `new` subtract, though they meet `old`, or several times."""
        formula = []
        for row, parents in self.encoding.families[v]:
            times = (parents & new).bit_count()
            if times and not parents & old:
                times -= 1
            if times:
                formula.append(f"{self.encoding.choice(row)}{f' {times} *' if times > 1 else ''} +")
        return formula
