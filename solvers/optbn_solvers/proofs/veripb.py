"""Evidence of rows and trees as a VeriPB proof (format 3.0) for the problem of `proofs.opb`.

Every step is one of: soli (the graph), red (a new variable stands for a conjunction, or for a sum that is small), rup
(unit propagation sees it), pol (a sum of rows with multipliers), del.

    cluster C   proofs.firsts: one of its members comes first
    subset row  proofs.subset_rows
    node        of a tree, or stage: the sum of the rows, times their multipliers, and the objective; families that are
                then too dear go, under the literal "at this node". A branch on v and C is on the literal that the
                family of v is disjoint from C. What has no support goes as v must be the first in some cluster
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
from optbn_solvers.proofs.firsts import Firsts
from optbn_solvers.proofs.lines import Lines, false
from optbn_solvers.proofs.nodes import Node, Row, nodes_of_rows, nodes_of_tree
from optbn_solvers.proofs.opb import Encoding, before, opposite
from optbn_solvers.proofs.replay import Part, Replay
from optbn_solvers.proofs.subset_rows import Choices, SubsetRows


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
    """The whole proof."""

    def __init__(self, encoding: Encoding, out: TextIO) -> None:
        self.encoding, self.lines = encoding, Lines(out, encoding.count)
        self.firsts = Firsts(encoding, self.lines)
        self.choices = Choices(encoding, self.lines)
        self.subsets = SubsetRows(encoding, self.lines, self.firsts, self.choices)

    def run(self, choice: Sequence[int], parts: list[tuple[tuple[int, ...], Proved]]) -> None:
        """Write it."""
        encoding, lines = self.encoding, self.lines
        loss = sum(encoding.loss[row] for row in choice)
        lines.out.write(f"pseudo-Boolean proof version 3.0\nf {encoding.count};\n")
        better = lines.step(f"soli {' '.join(self.assignment(choice))}")
        whole = len(parts) == 1 and len(parts[0][0]) == encoding.n
        if not whole:
            parts = [part for part in parts if any(encoding.loss[choice[v]] for v in part[0])]
        replays = [_replayed(encoding.table, members, evidence, choice) for members, evidence in parts]
        self.prepare(replays)
        if whole:
            self.part(replays[0], better, "")
        else:
            least = [self.bounded(replay, choice) for replay in replays]
            lines.pol(" ".join([str(better), *(f"{number} +" for number in least)]))
        last = lines.clause()
        lines.out.write(f"output NONE;\nconclusion BOUNDS {loss} : {last} {loss};\nend pseudo-Boolean proof;\n")

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

    def prepare(self, replays: Sequence[Replay]) -> None:
        """Literals and rows of all parts, as they can use each other."""
        sets, clusters, subsets = set[int](), set[int](), []
        for replay in replays:
            for node in replay.nodes:
                sets |= {bits(inside) for inside, _ in node.support.values()}
            rows = [replay.rows[number] for number in sorted(replay.used())]
            clusters |= {bits(row.members) for row in rows if isinstance(row, ClusterRow)}
            subsets += [row for row in rows if isinstance(row, SubsetRow)]
        self.firsts.expect([*sets, *clusters])
        for members in by_size(sets):
            self.firsts.make(members)
        for row in subsets:
            self.subsets.row(row)
        for members in by_size(clusters):
            self.firsts.cluster(members)

    def bounded(self, replay: Replay, choice: Sequence[int]) -> int:
        """The number of the row "the part loses at least what it loses in the graph"."""
        encoding, lines = self.encoding, self.lines
        losses = [(encoding.loss[row], encoding.choice(row)) for v in replay.own for row in encoding.table.rows(v)]
        loss = sum(encoding.loss[choice[v]] for v in replay.own)
        z = lines.new()
        room = sum(c for c, _ in losses) - (loss - 1)
        less = lines.red([*((-c, x) for c, x in losses), (max(room, 0), opposite(z))], -(loss - 1), z, 0)
        more = lines.red([*losses, (loss, z)], loss, z, 1)
        self.part(replay, less, z)
        never = lines.clause(opposite(z))
        return lines.pol(f"{more} {never} {loss} * +")

    def part(self, replay: Replay, base: int, here: str) -> None:
        """What rows or a tree prove; `base` is the row "the members lose less than in the graph", under `here`."""
        literals = {-1: here}
        done = replay.done()
        for at, node in enumerate(replay.nodes):
            if node.skipped:
                continue
            literal = literals[node.parent]
            if node.side is not None and (branch := replay.nodes[node.parent].branch) is not None:
                disjoint = self.branch(*branch)
                literal = self.lines.both([literal, disjoint if node.side else opposite(disjoint)])
            literals[at] = literal
            self.node(replay, node, base, literal)
            for above in done.get(at, ()):
                self.lines.clause(false(literals[above]))

    def node(self, replay: Replay, node: Node, base: int, here: str) -> None:
        """What is dead at a node of a tree, and that it is closed."""
        choice, clause = self.encoding.choice, self.lines.clause

        def drop(families: Sequence[int]) -> None:
            for f in families:
                clause(false(here), opposite(choice(int(replay.part.rows[f]))))

        for v, (inside, families) in node.support.items():
            members = sum(1 << u for u in inside)
            for u in inside:
                if u != v:  # it has no family left that is disjoint from the others, so it does not come first
                    clause(false(here), opposite(self.firsts.literal[members, u]))
            drop(families)
        if node.summed:
            stage = self.stage(replay, node, base)
            drop(node.dropped)
            if node.closed:
                clause(false(here))
            self.lines.forget(stage, stage)
        elif node.closed:
            clause(false(here))

    def stage(self, replay: Replay, node: Node, base: int) -> int:
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
        return self.lines.pol(" ".join(formula))

    def proved_row(self, row: Row) -> int:
        """The number of a row."""
        return self.firsts.cluster(bits(row.members)) if isinstance(row, ClusterRow) else self.subsets.row(row)

    def branch(self, v: int, inside: tuple[int, ...]) -> str:
        """A literal that says that the family of v is disjoint from a set."""
        avoid = bits(inside)
        disjoint = (row for row, parents in self.encoding.families[v] if not parents & avoid)
        return self.choices.branch(v, frozenset(disjoint))


def bits(members: Sequence[int]) -> int:
    """A set of variables."""
    return sum(1 << u for u in members)


def by_size(sets: Iterable[int]) -> list[int]:
    """Sets, small ones first: larger ones grow from them."""
    return sorted(sets, key=lambda members: (members.bit_count(), members))


def _replayed(table: ScoreTable, members: tuple[int, ...], evidence: Proved, choice: Sequence[int]) -> Replay:
    """The nodes of a part, with what has to be proved of each."""
    tree = isinstance(evidence, Tree)
    read = nodes_of_tree(evidence, members) if isinstance(evidence, Tree) else nodes_of_rows(evidence)
    replay = Replay(Part.of(table, members, choice), *read, supports=tree)
    replay.run()
    return replay
