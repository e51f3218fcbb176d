"""Evidence of rows and trees as a VeriPB proof (format 3.0) for the problem of `proofs.opb`.

Every step is one of: soli (the graph), red (a new variable stands for a conjunction, or for a sum that is small), rup
(unit propagation sees it), pol (a sum of rows with multipliers), del.

    cluster C   proofs.firsts: one of its members comes first
    subset row  proofs.subset_rows
    node        of a tree, or stage: proofs.part_lines
    part        the same, under z, "the part loses less than in the graph"; in the end z is false
Only what a leaf needs in the end is derived (`proofs.replay`).
Of a part, families keep their parents outside: they are no obstacle to any of these rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TextIO

import numpy as np

from optbn_solvers.base.errors import NoProofError
from optbn_solvers.base.solution import ClusterRow, Evidence, Parts, RowBound, Solution, SubsetRow, Tree
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.proofs.firsts import by_size
from optbn_solvers.proofs.nodes import Bools, nodes_of_rows, nodes_of_tree
from optbn_solvers.proofs.opb import Encoding, before, opposite
from optbn_solvers.proofs.opb_constraints import Demands
from optbn_solvers.proofs.part_lines import Derived, PartLines, bits
from optbn_solvers.proofs.replay import Part, Replay


def write_problem_and_proof(
    table: ScoreTable, solution: Solution, problem: TextIO, proof: TextIO, usable: Bools | None = None
) -> None:
    """The OPB file and the proof that the solution's graph is optimal; NoProofError if its evidence has other kinds.

    usable   bool[families]: those that the constraints of the solution allow
    """
    if solution.choice is None or solution.bound != solution.score:
        raise NoProofError("only an optimal graph has a proof to export")
    if usable is None:
        usable = np.ones(len(table), dtype=np.bool_)
    parts = parts_of(table, solution.evidence)
    encoding = Encoding(table)
    demands = None if solution.constraints is None else Demands(encoding, solution.constraints)
    encoding.write(problem, demands.rows if demands else (), len(demands.variables) if demands else 0)
    _Writer(encoding, demands, proof).run(solution.choice, parts, usable)


Proved = RowBound | Tree


def parts_of(table: ScoreTable, evidence: Evidence | None) -> list[tuple[tuple[int, ...], Proved]]:
    """(variables, evidence) for each part; the variables in none of them take their best families."""
    everything = tuple(range(table.n))
    if evidence is None or isinstance(evidence, Proved):
        return [(everything, evidence or RowBound(()))]
    listed = evidence.parts if isinstance(evidence, Parts) else ()
    parts = [(part.members, part.evidence) for part in listed if isinstance(part.evidence, Proved)]
    if not isinstance(evidence, Parts) or len(parts) < len(listed):
        raise NoProofError(
            "only rows and trees can be exported, and this evidence has other parts, for which no tree was found; "
            "solve with --solver cp or ilp"
        )
    rest = sorted(set(everything).difference(*(members for members, _ in parts)))
    return [*parts, *(((v,), RowBound(())) for v in rest)]


class _Writer(Derived):
    """The whole proof."""

    def run(self, choice: Sequence[int], parts: list[tuple[tuple[int, ...], Proved]], usable: Bools) -> None:
        """Write it."""
        encoding, lines = self.encoding, self.lines
        loss = sum(encoding.loss[row] for row in choice)
        lines.out.write(f"pseudo-Boolean proof version 3.0\nf {lines.number};\n")
        better = lines.step(f"soli {' '.join(self.assignment(choice))}")
        whole = len(parts) == 1 and len(parts[0][0]) == encoding.n
        if not whole:
            parts = [part for part in parts if any(encoding.loss[choice[v]] for v in part[0])]
        replays = [_replayed(encoding.table, members, evidence, choice, usable) for members, evidence in parts]
        self.prepare(replays)
        if whole:
            PartLines(self, replays[0], better, "").write()
        else:
            least = [self.bounded(replay, choice) for replay in replays]
            lines.pol(" ".join([str(better), *(f"{number} +" for number in least)]))
        last = lines.clause()
        lines.out.write(f"output NONE;\nconclusion BOUNDS {loss} : {last} {loss};\nend pseudo-Boolean proof;\n")

    def assignment(self, choice: Sequence[int]) -> list[str]:
        """The graph, and an order that it goes with, as literals."""
        table, chosen = self.encoding.table, set(choice)
        first: dict[int, set[int]] = {v: set(table.parents(int(row))) for v, row in enumerate(choice)}
        for u, v in self.demands.chains if self.demands is not None else ():
            first[v].add(u)
        order: list[int] = []
        while len(order) < table.n:
            order.append(next(v for v in range(table.n) if v not in order and first[v] <= set(order)))
        place = {v: i for i, v in enumerate(order)}
        literals = [self.encoding.choice(row) for row in range(len(table))]
        literals = [x if row in chosen else opposite(x) for row, x in enumerate(literals)]
        for u, v in itertools.combinations(range(table.n), 2):
            literals.append(before(u, v) if place[u] < place[v] else opposite(before(u, v)))
        if self.demands is not None:
            literals += self.demands.true([sum(1 << u for u in table.parents(int(row))) for row in choice])
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
        self.firsts.expect(sets, clusters)
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
        PartLines(self, replay, less, z).write()
        never = lines.clause(opposite(z))
        return lines.pol(f"{more} {never} {loss} * +")


def _replayed(
    table: ScoreTable, members: tuple[int, ...], evidence: Proved, choice: Sequence[int], usable: Bools
) -> Replay:
    """The nodes of a part, with what has to be proved of each."""
    tree = isinstance(evidence, Tree)
    read = nodes_of_tree(evidence, members) if isinstance(evidence, Tree) else nodes_of_rows(evidence)
    replay = Replay(Part.of(table, members, choice, usable), *read, supports=tree)
    replay.run()
    return replay
