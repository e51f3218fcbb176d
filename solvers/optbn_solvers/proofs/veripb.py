"""Evidence of rows as a VeriPB proof (format 3.0) for the problem of `proofs.opb`.

Every step is one of: soli (the graph), red (a new variable stands for a conjunction, or for a sum that is small), rup
(unit propagation sees it), pol (a sum of rows with multipliers).

    cluster C   F(C, v), "v comes first in C", is made member by member of C; one of them holds; each leaves only the
                families of v disjoint from C; the sum of these is the row
    subset row  by the recursion over U within C that the checker uses, under I(U), "U comes before the rest of C":
                q(U) says that the coefficients on U are at most f(U); for each v that may come last in U the families
                of v are worth b there, the rest f(U - v), and f(U - v) + b <= f(U)
    stage       the sum of the rows, times their multipliers, and the objective; families that are then too dear go
    part        the same, under z, "the part loses less than in the graph"; in the end z is false
Of a part, families keep their parents outside: they are no obstacle to any of these rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TextIO

from optbn_solvers.base.errors import NoProofError
from optbn_solvers.base.solution import ClusterRow, Evidence, Parts, RowBound, Solution, SubsetRow
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.proofs.opb import Encoding, Terms, at_least, before, opposite

LARGEST_SUBSET = 9  # members: the derivation of a subset row has 2^m m steps


def write_problem_and_proof(table: ScoreTable, solution: Solution, problem: TextIO, proof: TextIO) -> None:
    """The OPB file and the proof that the solution's graph is optimal; NoProofError if its evidence has other kinds."""
    if solution.choice is None or solution.bound != solution.score:
        raise NoProofError("only an optimal graph has a proof to export")
    if solution.constraints is not None:
        raise NoProofError("proofs under constraints cannot be exported")
    encoding = Encoding(table)
    encoding.write(problem)
    _Writer(encoding, proof).run(solution.choice, parts_of(table, solution.evidence))


def parts_of(table: ScoreTable, evidence: Evidence | None) -> list[tuple[tuple[int, ...], RowBound]]:
    """(variables, rows) for each part; the variables in none of them take their best families."""
    if evidence is None:
        return []
    if isinstance(evidence, RowBound):
        return [(tuple(range(table.n)), evidence)]
    if isinstance(evidence, Parts) and all(isinstance(part.evidence, RowBound) for part in evidence.parts):
        return [(part.members, part.evidence) for part in evidence.parts if isinstance(part.evidence, RowBound)]
    raise NoProofError(
        "only rows can be exported, and this evidence has other parts; solve with --solver ilp --set search_nodes=0"
    )


class _Writer:
    """Writes lines as they come; remembers the numbers of what may be used again."""

    def __init__(self, encoding: Encoding, out: TextIO) -> None:
        self.encoding, self.out = encoding, out
        self.number = encoding.count
        self.fresh = 0
        self.ends: dict[tuple[tuple[int, ...], int, bool], str] = {}
        self.some_end: dict[tuple[tuple[int, ...], bool], int | None] = {}
        self.proved: dict[object, tuple[int, int]] = {}  # what a row says -> its number, its right-hand side

    def run(self, choice: Sequence[int], parts: list[tuple[tuple[int, ...], RowBound]]) -> None:
        """The whole proof."""
        encoding = self.encoding
        loss = sum(encoding.loss[row] for row in choice)
        self.out.write(f"pseudo-Boolean proof version 3.0\nf {encoding.count} ;\n")
        better = self.step(f"soli {' '.join(self.assignment(choice))}")
        if len(parts) == 1 and len(parts[0][0]) == encoding.n:
            members, evidence = parts[0]
            self.part(members, evidence, choice, better, None)
        else:
            lossy = [part for part in parts if any(encoding.loss[choice[v]] for v in part[0])]
            least = [self.bounded(members, evidence, choice) for members, evidence in lossy]
            self.pol(" ".join([str(better), *(f"{number} +" for number in least)]))
        last = self.rup([], 1)
        self.out.write(f"output NONE ;\nconclusion BOUNDS {loss} : {last} {loss} ;\nend pseudo-Boolean proof ;\n")

    def assignment(self, choice: Sequence[int]) -> list[str]:
        """The graph, and an order that it goes with, as literals."""
        table, chosen = self.encoding.table, set(choice)
        order: list[int] = []
        while len(order) < table.n:
            order.append(
                next(v for v in range(table.n) if v not in order and set(table.parents(int(choice[v]))) <= set(order))
            )
        place = {v: i for i, v in enumerate(order)}
        literals = [self.encoding.choice(row) for row in range(len(table))]
        literals = [x if row in chosen else opposite(x) for row, x in enumerate(literals)]
        for u, v in itertools.combinations(range(table.n), 2):
            literals.append(before(u, v) if place[u] < place[v] else opposite(before(u, v)))
        return literals

    def step(self, line: str) -> int:
        """A line that derives one row; its number."""
        self.out.write(f"{line} ;\n")
        self.number += 1
        return self.number

    def rup(self, terms: Terms, rhs: int = 1) -> int:
        return self.step(f"rup {at_least(terms, rhs)}")

    def pol(self, formula: str) -> int:
        return self.step(f"pol {formula}")

    def red(self, terms: Terms, rhs: int, variable: str, value: int) -> int:
        return self.step(f"red {at_least(terms, rhs)} : {variable} -> {value}")

    def new(self) -> str:
        self.fresh += 1
        return f"y{self.fresh}"

    def both(self, literals: Sequence[str]) -> str:
        """A literal that stands for the conjunction; "" for an empty one, which is true."""
        if len(literals) < 2:
            return literals[0] if literals else ""
        y = self.new()
        self.red([(len(literals), opposite(y)), *((1, x) for x in literals)], len(literals), y, 0)
        self.red([(1, y), *((1, opposite(x)) for x in literals)], 1, y, 1)
        return y

    def end(self, among: tuple[int, ...], v: int, first: bool) -> str:
        """The literal "v comes first (or last) among them"; all of these are made at once, with "one of them does"."""
        if (among, first) not in self.some_end:
            self._ends(among, first)
        return self.ends[among, v, first]

    def _ends(self, among: tuple[int, ...], first: bool) -> None:
        def ahead(u: int, w: int) -> str:
            return before(u, w) if first else before(w, u)

        *rest, c = among
        if not rest:
            self.ends[among, c, first], self.some_end[among, first] = "", None
            return
        fewer = tuple(rest)
        for v in rest:
            smaller = self.end(fewer, v, first)
            self.ends[among, v, first] = self.both([*filter(None, [smaller]), ahead(v, c)])
        self.ends[among, c, first] = self.both([ahead(c, v) for v in rest])
        for v in rest:
            smaller = self.ends[fewer, v, first]
            premise: Terms = [(1, opposite(smaller))] if smaller else []
            self.rup([*premise, (1, self.ends[among, v, first]), (1, self.ends[among, c, first])])
        literals = [self.ends[among, v, first] for v in among]
        self.some_end[among, first] = None if len(among) == 2 else self.rup([(1, x) for x in literals])

    def cluster(self, members: tuple[int, ...]) -> tuple[int, int]:
        """(number, 1) of the row: at least one family disjoint from the members."""
        among = tuple(sorted(members))
        if among not in self.proved:
            encoding, inside = self.encoding, set(among)
            numbers = []
            for v in among:
                disjoint = [encoding.choice(row) for row, parents in encoding.families[v] if not parents & inside]
                first = self.end(among, v, True)
                premise: Terms = [(1, opposite(first))] if first else []
                numbers.append(self.rup([*premise, *((1, x) for x in disjoint)]))
            total = self.some_end[among, True]
            formula = " ".join([str(numbers[0]), *(f"{number} +" for number in numbers[1:])])
            self.proved[among] = (self.pol(formula if total is None else f"{formula} {total} +"), 1)
        return self.proved[among]

    def subset(self, row: SubsetRow) -> tuple[int, int]:
        """(number, f) of the row: the coefficients of the chosen patterns add up to at most f."""
        statement = (row.members, row.coefficients)
        if statement not in self.proved:
            if len(row.members) > LARGEST_SUBSET:
                raise NoProofError(f"a subset row of {len(row.members)} members is too large to be exported")
            self.proved[statement] = _Subset(self, row).derive()
        return self.proved[statement]

    def bounded(self, members: tuple[int, ...], evidence: RowBound, choice: Sequence[int]) -> int:
        """The number of the row "the part loses at least what it loses in the graph"."""
        losses = [
            (self.encoding.loss[row], self.encoding.choice(row)) for v in members for row in self.encoding.table.rows(v)
        ]
        loss = sum(self.encoding.loss[choice[v]] for v in members)
        z = self.new()
        room = sum(c for c, _ in losses) - (loss - 1)
        less = self.red([*((-c, x) for c, x in losses), (max(room, 0), opposite(z))], -(loss - 1), z, 0)
        more = self.red([*losses, (loss, z)], loss, z, 1)
        self.part(members, evidence, choice, less, z)
        never = self.rup([(1, opposite(z))])
        return self.pol(f"{more} {never} {loss} * +")

    def part(
        self, members: tuple[int, ...], evidence: RowBound, choice: Sequence[int], base: int, z: str | None
    ) -> None:
        """The stages; `base` is the row "the members lose less than in the graph", under z."""
        encoding, fine = self.encoding, evidence.denominator
        target = -fine * sum(encoding.loss[choice[v]] for v in members) + fine - 1
        dead: set[int] = set()
        guard: Terms = [] if z is None else [(1, opposite(z))]
        for stage in evidence.stages:
            adjusted = {row: -fine * encoding.loss[row] for v in members for row in encoding.table.rows(v)}
            formula, bound = [f"{base} {fine} *"], 0
            for row in stage:
                if row.multiplier:
                    number, constant = self._add(row, adjusted)
                    formula.append(f"{number} {row.multiplier} * +")
                    bound += constant
            tops = {}
            for v in members:
                alive = [adjusted[row] for row in encoding.table.rows(v) if row not in dead]
                tops[v] = max(alive, default=0)
                bound += tops[v]
                if tops[v]:
                    side = encoding.some[v] if tops[v] < 0 else encoding.only[v]
                    formula.append(f"{side} {abs(tops[v])} * +")
            self.pol(" ".join(formula))
            if bound <= target:
                return
            gone = [
                row
                for v in members
                for row in encoding.table.rows(v)
                if row not in dead and bound - (tops[v] - adjusted[row]) <= target
            ]
            for family in gone:
                self.rup([*guard, (1, opposite(encoding.choice(family)))])
            dead.update(gone)
            if any(all(row in dead for row in encoding.table.rows(v)) for v in members):
                return
        raise NoProofError("the rows do not prove the optimum of all families; this evidence cannot be exported")

    def _add(self, row: object, adjusted: dict[int, int]) -> tuple[int, int]:
        """(its number, what it adds to the bound) of a row; changes the adjusted losses of families."""
        encoding = self.encoding
        if isinstance(row, ClusterRow):
            number, _ = self.cluster(row.members)
            inside = set(row.members)
            for v in row.members:
                for family, parents in encoding.families[v]:
                    if not parents & inside:
                        adjusted[family] += row.multiplier
            return number, -row.multiplier
        if not isinstance(row, SubsetRow):
            raise NoProofError("rows that only constraints make valid cannot be exported")
        number, most = self.subset(row)
        worth = {(child, frozenset(parents)): a for child, parents, a in row.coefficients}
        inside = set(row.members)
        for v in row.members:
            for family, parents in encoding.families[v]:
                adjusted[family] -= row.multiplier * worth.get((v, parents & inside), 0)
        return number, row.multiplier * most


class _Subset:
    """The derivation of one subset row."""

    def __init__(self, writer: _Writer, row: SubsetRow) -> None:
        self.writer, self.members = writer, frozenset(row.members)
        self.worth = {(child, frozenset(parents)): a for child, parents, a in row.coefficients}
        encoding = writer.encoding
        self.terms = {
            v: [
                (self.worth.get((v, parents & self.members), 0), encoding.choice(family), parents & self.members)
                for family, parents in encoding.families[v]
            ]
            for v in row.members
        }
        self.most: dict[frozenset[int], int] = {frozenset(): 0}
        self.initial: dict[frozenset[int], str] = {}
        self.bounded: dict[frozenset[int], tuple[int | None, int]] = {frozenset(): (None, 0)}

    def derive(self) -> tuple[int, int]:
        """(number, f(C))."""
        for size in range(len(self.members) + 1):
            for among in map(frozenset, itertools.combinations(sorted(self.members), size)):
                rest = self.members - among
                ahead = [before(u, w) for u in sorted(among) for w in sorted(rest)]
                self.initial[among] = self.writer.both(ahead)
                if among:
                    self._bound(among)
        number, _ = self.bounded[self.members]
        if number is None:
            raise NoProofError("a subset row of the evidence has no families, it cannot be exported")
        return number, self.most[self.members]

    def best(self, v: int, inside: frozenset[int]) -> int:
        """What v can be worth with parents inside."""
        return max([a for (child, parents), a in self.worth.items() if child == v and parents <= inside], default=0)

    def _bound(self, among: frozenset[int]) -> None:
        """G(U): the coefficients on U are at most f(U), or U is not initial."""
        writer = self.writer
        most = self.most[among] = max(self.most[among - {v}] + self.best(v, among - {v}) for v in among)
        total = [(a, x) for v in sorted(among) for a, x, _ in self.terms[v] if a]
        room = sum(a for a, _ in total) - most
        if not total:
            self.bounded[among] = (None, 0)
            return
        if room <= 0:
            formula = " + ".join(f"{opposite(x)} {a} *" for a, x in total[:1])
            formula += "".join(f" {opposite(x)} {a} * +" for a, x in total[1:])
            self.bounded[among] = (writer.pol(formula), 0)
            return
        q = writer.new()
        small = writer.red([*((-a, x) for a, x in total), (room, opposite(q))], -most, q, 0)
        large = writer.red([*total, (most + 1, q)], most + 1, q, 1)
        here = self.initial[among]
        premise: Terms = [(1, opposite(here))] if here else []
        key = tuple(sorted(among))
        for v in key:
            self._last(v, among, large)
            last = writer.end(key, v, False)
            writer.rup([*premise, *([(1, opposite(last))] if last else []), (1, q)])
        if premise:
            implied = writer.rup([*premise, (1, q)])
        else:
            implied = writer.rup([(1, q)])
        self.bounded[among] = (writer.pol(f"{small} {implied} {room} * +"), room if premise else 0)

    def _last(self, v: int, among: frozenset[int], large: int) -> None:
        """v is worth b when its parents are inside; those of its families that are worth more stay in the sum."""
        writer, rest = self.writer, among - {v}
        b = self.best(v, rest)
        formula = [str(large)]
        if b:
            formula.append(f"{writer.encoding.only[v]} {b} * +")
            formula += [f"{x} {b - a} * +" for a, x, _ in self.terms[v] if a < b]
        number, _ = self.bounded[rest]
        if number is not None:
            formula.append(f"{number} +")
        if len(formula) > 1:
            writer.pol(" ".join(formula))
