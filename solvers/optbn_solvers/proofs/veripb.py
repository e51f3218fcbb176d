"""Evidence of rows and trees as a VeriPB proof (format 3.0) for the problem of `proofs.opb`.

Every step is one of: soli (the graph), red (a new variable stands for a conjunction, or for a sum that is small), rup
(unit propagation sees it), pol (a sum of rows with multipliers).

    cluster C   under s, "no family of C is disjoint from it", each member has another before it; and if among the
                first k members each has another of them before it, then also among the first k - 1: s is false
    subset row  by the recursion over U within C that the checker uses, under I(U), "U comes before the rest of C":
                q(U) says that the coefficients on U are at most f(U); for each v that may come last in U the families
                of v are worth b there, the rest f(U - v), and f(U - v) + b <= f(U)
    node        of a tree, or stage: the sum of the rows, times their multipliers, and the objective; families that are
                then too dear go, under the branches above; b(v, C) says that the family of v is disjoint from C; what
                has no support goes by a cluster of which v must be the first
    part        the same, under z, "the part loses less than in the graph"; in the end z is false
Only what a leaf needs in the end is derived (`proofs.replay`).
Of a part, families keep their parents outside: they are no obstacle to any of these rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TextIO

from optbn_solvers.base.errors import NoProofError
from optbn_solvers.base.solution import ClusterRow, Evidence, Parts, RowBound, Solution, SubsetRow, Tree
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.proofs.nodes import Node, Row, nodes_of_rows, nodes_of_tree
from optbn_solvers.proofs.opb import Encoding, Terms, at_least, before, opposite
from optbn_solvers.proofs.replay import Lifted, Part, Replay

LARGEST_SUBSET = 12  # members: the derivation of a subset row has 2^m m steps


def write_problem_and_proof(table: ScoreTable, solution: Solution, problem: TextIO, proof: TextIO) -> None:
    """The OPB file and the proof that the solution's graph is optimal; NoProofError if its evidence has other kinds."""
    if solution.choice is None or solution.bound != solution.score:
        raise NoProofError("only an optimal graph has a proof to export")
    if solution.constraints is not None:
        raise NoProofError("proofs under constraints cannot be exported")
    encoding = Encoding(table)
    encoding.write(problem)
    _Writer(encoding, proof).run(solution.choice, parts_of(table, solution.evidence))


Proved = RowBound | Tree


def parts_of(table: ScoreTable, evidence: Evidence | None) -> list[tuple[tuple[int, ...], Proved]]:
    """(variables, evidence) for each part; the variables in none of them take their best families."""
    if evidence is None:
        return []
    if isinstance(evidence, Proved):
        return [(tuple(range(table.n)), evidence)]
    if isinstance(evidence, Parts) and all(isinstance(part.evidence, Proved) for part in evidence.parts):
        return [(part.members, part.evidence) for part in evidence.parts if isinstance(part.evidence, Proved)]
    raise NoProofError(
        "only rows and trees can be exported, and this evidence has other parts; solve with --certify, or with "
        "--solver cp"
    )


class _Writer:
    """Writes lines as they come; remembers the numbers of what may be used again."""

    def __init__(self, encoding: Encoding, out: TextIO) -> None:
        self.encoding, self.out = encoding, out
        self.number = encoding.count
        self.fresh = 0
        self.branches: dict[tuple[int, tuple[int, ...]], str] = {}
        self.ends: dict[tuple[tuple[int, ...], int], str] = {}
        self.known_ends: set[tuple[int, ...]] = set()
        self.proved: dict[object, int] = {}  # what a row says -> its number

    def run(self, choice: Sequence[int], parts: list[tuple[tuple[int, ...], Proved]]) -> None:
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

    def end(self, among: tuple[int, ...], v: int) -> str:
        """The literal "v comes last among them"; all of these are made at once, with "one of them does"."""
        if among not in self.known_ends:
            self._ends(among)
        return self.ends[among, v]

    def _ends(self, among: tuple[int, ...]) -> None:
        self.known_ends.add(among)
        *rest, c = among
        if not rest:
            self.ends[among, c] = ""
            return
        fewer = tuple(rest)
        for v in rest:
            smaller = self.end(fewer, v)
            self.ends[among, v] = self.both([*filter(None, [smaller]), before(c, v)])
        self.ends[among, c] = self.both([before(v, c) for v in rest])
        for v in rest:
            smaller = self.ends[fewer, v]
            premise: Terms = [(1, opposite(smaller))] if smaller else []
            self.rup([*premise, (1, self.ends[among, v]), (1, self.ends[among, c])])
        if len(among) > 2:
            self.rup([(1, self.ends[among, v]) for v in among])

    def cluster(self, members: tuple[int, ...]) -> int:
        """The number of the row: at least one family disjoint from the members."""
        among = tuple(sorted(members))
        if among not in self.proved:
            encoding, inside = self.encoding, set(among)
            disjoint = [
                encoding.choice(row) for v in among for row, parents in encoding.families[v] if not parents & inside
            ]
            none = self.new()
            self.red([(len(disjoint), opposite(none)), *((1, opposite(x)) for x in disjoint)], len(disjoint), none, 0)
            some = self.red([(1, none), *((1, x) for x in disjoint)], 1, none, 1)
            for last in range(len(among), 1, -1):
                for v in among[:last]:  # one of those up to the last comes before v
                    ahead = [(1, before(u, v)) for u in among[:last] if u != v]
                    self.rup([(1, opposite(none)), *ahead])
            never = self.rup([(1, opposite(none))])
            self.proved[among] = self.pol(f"{some} {never} +")
        return self.proved[among]

    def subset(self, row: SubsetRow) -> int:
        """The number of the row: the coefficients of the chosen patterns add up to at most what a graph can reach."""
        statement = (row.members, row.coefficients)
        if statement not in self.proved:
            if len(row.members) > LARGEST_SUBSET:
                raise NoProofError(f"a subset row of {len(row.members)} members is too large to be exported")
            self.proved[statement] = _Subset(self, row).derive()
        return self.proved[statement]

    def bounded(self, members: tuple[int, ...], evidence: Proved, choice: Sequence[int]) -> int:
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

    def part(self, members: tuple[int, ...], evidence: Proved, choice: Sequence[int], base: int, z: str | None) -> None:
        """What rows or a tree prove; `base` is the row "the members lose less than in the graph", under z."""
        tree = isinstance(evidence, Tree)
        read = nodes_of_tree(evidence, members) if isinstance(evidence, Tree) else nodes_of_rows(evidence)
        replay = Replay(Part.of(self.encoding.table, members, choice), *read, supports=tree)
        replay.run()
        guards: dict[int, Terms] = {-1: [] if z is None else [(1, opposite(z))]}
        done = replay.done()
        for at, node in enumerate(replay.nodes):
            if node.skipped:
                continue
            guard = guards[node.parent]
            if node.side is not None and (branch := replay.nodes[node.parent].branch) is not None:
                disjoint = self.branch(*branch)
                guard = [*guard, (1, opposite(disjoint) if node.side else disjoint)]
            guards[at] = guard
            self.node(replay, node, base, guard)
            for above in done.get(at, ()):
                self.rup(guards[above])

    def node(self, replay: Replay, node: Node, base: int, guard: Terms) -> None:
        """What is dead at a node of a tree, and that it is closed."""
        choice = self.encoding.choice

        def drop(families: Sequence[int]) -> None:
            for f in families:
                self.rup([*guard, (1, opposite(choice(int(replay.part.rows[f]))))])

        for inside, families in node.support.values():
            self.cluster(inside)
            drop(families)
        if node.dropped or (node.closed and node.empty is None):
            self.stage(replay, node, base)
            drop(node.dropped)
        if node.closed:
            self.rup(guard)

    def stage(self, replay: Replay, node: Node, base: int) -> None:
        """The sum of the rows, times their multipliers, and of what families lose."""
        formula = [f"{base} {replay.fine} *"]
        for number, y in node.multipliers.items():
            if y:
                formula.append(f"{self.proved_row(replay.rows[number])} {y} * +")
        adjusted, _ = replay.adjusted(node)
        for v, top in zip(replay.own, replay.tops(adjusted, node.placed).tolist(), strict=True):
            if top:
                side = self.encoding.some[v] if top < 0 else self.encoding.only[v]
                formula.append(f"{side} {abs(top)} * +")
        self.pol(" ".join(formula))

    def proved_row(self, row: Row) -> int:
        """The number of a row."""
        return self.cluster(row.members) if isinstance(row, ClusterRow) else self.subset(row)

    def branch(self, v: int, inside: tuple[int, ...]) -> str:
        """A literal that says that the family of v is disjoint from a set."""
        if (v, inside) not in self.branches:
            b = self.branches[v, inside] = self.new()
            families, avoid = self.encoding.families[v], set(inside)
            disjoint = [self.encoding.choice(row) for row, parents in families if not parents & avoid]
            some = self.red([(1, opposite(b)), *((1, x) for x in disjoint)], 1, b, 0)
            self.red([(len(disjoint), b), *((1, opposite(x)) for x in disjoint)], len(disjoint), b, 1)
            self.pol(f"{some} {self.encoding.only[v]} +")  # then none of the others
        return self.branches[v, inside]


class _Subset:
    """The derivation of one subset row."""

    def __init__(self, writer: _Writer, row: SubsetRow) -> None:
        self.writer, self.members, self.lifted = writer, frozenset(row.members), Lifted(row)
        encoding = writer.encoding
        self.terms = {
            v: [(self.best(v, parents), encoding.choice(family)) for family, parents in encoding.families[v]]
            for v in row.members
        }
        self.initial: dict[frozenset[int], str] = {}
        self.bounded: dict[frozenset[int], tuple[int | None, int]] = {frozenset(): (None, 0)}

    def derive(self) -> int:
        """The number of the row."""
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
        return number

    def best(self, v: int, inside: frozenset[int]) -> int:
        """What v can be worth with parents inside."""
        return self.lifted.best(v, _bits(inside))

    def _bound(self, among: frozenset[int]) -> None:
        """G(U): the coefficients on U are at most f(U), or U is not initial."""
        writer = self.writer
        most = self.lifted.within[_bits(among)]
        total = [(a, x) for v in sorted(among) for a, x in self.terms[v] if a]
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
            last = writer.end(key, v)
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
            formula += [f"{x} {b - a} * +" for a, x in self.terms[v] if a < b]
        number, _ = self.bounded[rest]
        if number is not None:
            formula.append(f"{number} +")
        if len(formula) > 1:
            writer.pol(" ".join(formula))


def _bits(members: Iterable[int]) -> int:
    return sum(1 << u for u in members)
