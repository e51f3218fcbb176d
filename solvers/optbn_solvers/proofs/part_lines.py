"""The nodes of a tree, or stages of rows, in a proof.

A node is reached under a literal, `here`. What its rows prove comes from one sum: the objective, the rows times their
multipliers, and for each variable "one family" times the best adjusted score, so that unit propagation sees which
families are too dear, and that none is left. What several nodes below one another or beside one another have in common
is added up once: the least multipliers among all the sums at and below a node. Sums are deleted when they have served.

    branch      on v and C: on the literal that the family of v is disjoint from C
    support     families without support go, as v must be the first in some set of variables: no other one is, having no
                family left that is disjoint from it
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from optbn_solvers.base.errors import NoProofError
from optbn_solvers.base.solution import ClusterRow, SubsetRow
from optbn_solvers.proofs.firsts import Firsts
from optbn_solvers.proofs.lines import Lines, false
from optbn_solvers.proofs.nodes import Node, Row
from optbn_solvers.proofs.opb import Encoding, opposite
from optbn_solvers.proofs.opb_constraints import DemandedRows, Demands
from optbn_solvers.proofs.replay import Replay
from optbn_solvers.proofs.subset_rows import Choices, SubsetRows

Multipliers = Mapping[int, int]  # of rows, by their number; above 0


class Derived:
    """The lines of a proof, and what was derived and may be used again."""

    def __init__(self, encoding: Encoding, demands: Demands | None, out: TextIO) -> None:
        self.encoding, self.demands = encoding, demands
        self.lines = Lines(out, encoding.own_rows + (len(demands.rows) if demands else 0))
        self.firsts = Firsts(encoding, self.lines)
        self.choices = Choices(encoding, self.lines)
        self.subsets = SubsetRows(encoding, self.lines, self.firsts, self.choices)
        self.demanded = DemandedRows(demands, self.lines) if demands else None

    def row(self, row: Row) -> int:
        """The number of a row."""
        if isinstance(row, ClusterRow):
            return self.firsts.cluster(bits(row.members))
        if isinstance(row, SubsetRow):
            return self.subsets.row(row)
        if self.demanded is None:
            raise NoProofError("the evidence speaks of constraints, but there are none")
        return self.demanded.row(row)

    def branch(self, v: int, inside: Sequence[int]) -> str:
        """A literal that says that the family of v is disjoint from a set."""
        avoid = bits(inside)
        disjoint = (row for row, parents in self.encoding.families[v] if not parents & avoid)
        return self.choices.branch(v, frozenset(disjoint))


@dataclass(frozen=True)
class Sum:
    """A row that nodes add to: its number, what it was multiplied with, the multipliers of the rows in it."""

    number: int
    times: int
    multipliers: Multipliers


class PartLines:
    """What evidence proves of a part; `base` is the row "the members lose less than in the graph", under `here`."""

    def __init__(self, derived: Derived, replay: Replay, base: int, here: str) -> None:
        self.derived, self.replay, self.lines = derived, replay, derived.lines
        self.literals = {-1: here}
        self.sums = {-1: Sum(base, 1, {})}
        self.common = common(replay)

    def write(self) -> None:
        """All nodes; before them, which families the constraints exclude."""
        for family in self.replay.excluded:
            self.drop(self.literals[-1], [family])
        nodes, ends = self.replay.nodes, self.replay.ends()
        ending: dict[int, list[int]] = defaultdict(list)  # the nodes whose last one is here, the lowest first
        for at in range(len(nodes) - 1, -1, -1):
            if not nodes[at].skipped:
                ending[ends[at]].append(at)
        for at, node in enumerate(nodes):
            if not node.skipped:
                self.literals[at], self.sums[at] = self.here(node), self.sum_below(at, node)
                self.node(at, node)
                for above in ending[at]:
                    self.leave(above)

    def here(self, node: Node) -> str:
        """The literal of a node."""
        literal = self.literals[node.parent]
        if node.side is None or (branch := self.replay.nodes[node.parent].branch) is None:
            return literal
        disjoint = self.derived.branch(*branch)
        return self.lines.both([literal, disjoint if node.side else opposite(disjoint)])

    def sum_below(self, at: int, node: Node) -> Sum:
        """What the sums at and below a node begin with."""
        above, wanted = self.sums[node.parent], self.common.get(at)
        if wanted is None or (above.times == self.replay.fine and wanted == above.multipliers):
            return above
        return Sum(self.lines.pol(" ".join(self.added(above, wanted))), self.replay.fine, wanted)

    def added(self, above: Sum, wanted: Multipliers) -> list[str]:
        """From one sum to a larger one."""
        formula = [str(above.number)]
        if above.times < self.replay.fine:  # only the first one, which has no rows in it
            formula.append(f"{self.replay.fine} *")
        for number, y in wanted.items():
            if more := y - above.multipliers.get(number, 0):
                formula.append(f"{self.derived.row(self.replay.rows[number])} {more} * +")
        return formula

    def leave(self, at: int) -> None:
        """All that is below a node is done: a branch is closed, and a sum has served."""
        node = self.replay.nodes[at]
        if node.branch is not None and not node.closed:
            self.lines.clause(false(self.literals[at]))
        if (mine := self.sums[at].number) != self.sums[node.parent].number:
            self.lines.forget(mine, mine)

    def node(self, at: int, node: Node) -> None:
        """What is dead at a node, and that it is closed."""
        here, clause, literal = self.literals[at], self.lines.clause, self.derived.firsts.literal
        for v, (inside, families) in node.support.items():
            members = bits(inside)
            for u in inside:
                if u != v:
                    clause(false(here), opposite(literal[members, u]))
            self.drop(here, families)
        if node.summed:
            number = self.sum_at(at, node)
            self.drop(here, node.dropped)
            if node.closed:
                clause(false(here))
            self.lines.forget(number, number)
        elif node.closed:
            clause(false(here))

    def drop(self, here: str, families: Sequence[int]) -> None:
        """Under a literal, families are impossible; of several, unit propagation sees each without assuming it."""
        dead = [opposite(self.derived.encoding.choice(int(self.replay.part.rows[f]))) for f in families]
        if dead:
            self.lines.rup([(len(dead), false(here))] * bool(here) + [(1, x) for x in dead], len(dead))

    def sum_at(self, at: int, node: Node) -> int:
        """The number of the sum of a node."""
        replay, encoding = self.replay, self.derived.encoding
        formula = self.added(self.sums[at], positive(node))
        adjusted, _ = replay.adjusted(node.multipliers)
        for v, top in zip(replay.own, replay.tops(adjusted, node.placed).tolist(), strict=True):
            if top:
                side = encoding.some[v] if top < 0 else encoding.only[v]
                formula.append(f"{side} {abs(top)} * +")
        return self.lines.pol(" ".join(formula))


def common(replay: Replay) -> dict[int, Multipliers]:
    """Where sums begin alike: a node at or below which there are several -> the least multipliers of all of them."""
    found: dict[int, Multipliers] = {}
    least: dict[int, Multipliers] = {}
    for at in range(len(replay.nodes) - 1, -1, -1):
        node = replay.nodes[at]
        if node.skipped:
            continue
        several = [positive(node)] if node.summed else []
        several += [least.pop(child) for child in replay.children[at] if child in least]
        if not several:
            continue
        least[at], *others = sorted(several, key=len)
        for other in others:
            least[at] = {number: min(y, other[number]) for number, y in least[at].items() if number in other}
        if others:
            found[at] = least[at]
    return found


def positive(node: Node) -> Multipliers:
    """The multipliers of the rows that a node uses."""
    return {number: y for number, y in node.multipliers.items() if y}


def bits(members: Sequence[int]) -> int:
    """A set of variables."""
    return sum(1 << u for u in members)
