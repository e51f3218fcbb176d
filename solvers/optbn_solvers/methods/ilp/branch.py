"""Branching with exact bounds, for the few dozen nodes that are usually left after the root.

A node is a set of families that may still be used. It is worked on like the root, for a few rounds, in the same LP
(columns that may not be used are fixed at 0), and its bound comes from the same integer arithmetic, on its own
families: a case is closed when the ledger says so, never because the LP does.

The question that splits a node: *does v's parent set meet C?*, for a set C taken from a row with a large multiplier
(a cluster or a local cut on C + v), whose answer is half true in the LP's point. "No" makes v a source within C + v,
"yes" takes that away from it. Far better than asking for arcs, where one answer usually costs nothing because the arc
can be turned around: .3-.6 times the nodes, and with arcs some instances do not end. Each of several questions is
tried for a few dozen dual simplex steps in both answers (strong branching); an answer that closes at once is ruled
out for good, otherwise the best question is the one whose answers both lower the bound the most (largest product).
Nodes with the largest bound first.

The LP of a node stays feasible: the incumbent's families stay, at a penalty where the node forbids them. What closed
a node, and its question, is recorded (`ilp.record`), so that the tree is evidence. Nodes share the LP, and rows that
are slack at some are dropped soon: a node begins with those of its own last stage again, or its few rounds would go
into finding them (dna.test: 195 nodes and a gap of .45, then 94 and none).

A tree that meets a much better graph is left (`outgrown`): at the root that graph drops families by reduced costs, and
the rows found for those that are left serve all nodes.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.table import mask_members
from optbn_solvers.methods.ilp.record import BITS, Node, Question, Record
from optbn_solvers.relaxation.improve import Improver
from optbn_solvers.relaxation.ledger import Ledger
from optbn_solvers.relaxation.localcuts import LEVELS, LocalCuts
from optbn_solvers.relaxation.orders import FamilyIndex
from optbn_solvers.relaxation.program import Relaxation
from optbn_solvers.relaxation.refine import refine, within_rounding
from optbn_solvers.relaxation.root import Root, RootSettings, settle
from optbn_solvers.relaxation.rows import Row, Rule
from optbn_solvers.relaxation.separate import MANY, Point, stuck_cluster

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class BranchSettings:
    """How the tree is grown (measured: solvers/optbn_solvers/methods/ilp/README.md)."""

    most_nodes: int = 5000
    questions: int = 16
    enough: int = 5  # questions in a row that were no better than the best
    steps: int = 50  # of the dual simplex method per answer tried
    rows: int = 40  # with the largest multipliers, to take sets from
    work: float = 60.0  # of local cuts per round, milliseconds
    outgrown: float = 0.5  # of the gap it began with: a tree is left when a better graph leaves less
    node: RootSettings = field(
        default_factory=lambda: RootSettings(stall_rounds=2, stall_gain=0.1, most_rounds=4, keep=True, smooth=0.0)
    )


@dataclass(eq=False)
class Branching:
    """A search below the ledger's bound. `bound` (units) holds for all graphs at any time; `record` is the tree."""

    ledger: Ledger
    relaxation: Relaxation
    index: FamilyIndex
    rng: np.random.Generator
    settings: BranchSettings
    report: Callable[[int, int], None]  # bound, nodes
    improver: Improver | None = None
    bound: int = field(init=False)
    record: Record = field(init=False)
    nodes: int = 0

    def __post_init__(self) -> None:
        self.bound = self.ledger.bound
        self.record = Record(self.ledger)
        self._penalty = 2.0 * self.ledger.gap
        node = self.settings.node
        self._node = replace(node, large=node.large and self.ledger.families.n >= MANY)
        self._local = LocalCuts(self.rng, work=self.settings.work, most=20, few=4, level=len(LEVELS) - 1)
        self._failed = False
        self._least = int(self.settings.outgrown * self.ledger.gap)

    @property
    def outgrown(self) -> bool:
        """The root would do with the best graph of now what it could not with that of then, and the tree is young."""
        top = self.ledger
        return top.gap < self._least and self.bound - top.score > self.settings.outgrown * top.gap

    def run(self, budget: Budget) -> bool:
        """Until everything is searched (True), the tree is outgrown, the budget or the nodes are used up, or the LP
        fails."""
        top = self.ledger
        ticket = itertools.count()
        size = len(top.alive)
        open_nodes = [(-self.record.root.bound, next(ticket), self.record.root)]
        while open_nodes:
            self._lower(-open_nodes[0][0])
            if self.nodes == self.settings.most_nodes or budget.exhausted() or self.outgrown:
                return False
            _, _, node = heapq.heappop(open_nodes)
            assert node.alive is not None
            before = np.unpackbits(node.alive, count=size).astype(np.bool_)
            books = top.case(before, node.bound)
            if books.closed:
                continue
            self.nodes += 1
            for case in self._work(node, books, before, budget):
                if case.bound > top.score:
                    heapq.heappush(open_nodes, (-case.bound, next(ticket), case))
            if self._failed and not budget.exhausted():
                return False
            if self.improver is not None:
                self.improver.work(Point(top.families, *self.relaxation.support()))
        self._lower(top.score)
        return True

    def leave(self) -> None:
        """The linear program is the root's again."""
        self._use(self.ledger)

    def _lower(self, bound: int) -> None:
        bound = max(bound, self.ledger.score)
        if bound < self.bound:
            self.bound = bound
            self.report(bound, self.nodes)

    def _work(self, node: Node, books: Ledger, before: Mask, budget: Budget) -> list[Node]:
        """What is left of a node, whose families are `before`: nothing, itself with fewer, or two cases."""
        self._failed = False
        if np.count_nonzero(books.alive) == books.families.n:  # one family per child: a graph, or none
            whole = np.flatnonzero(books.alive)
            if stuck_cluster(Point(books.families, whole, np.ones(len(whole)))) is None:
                self.ledger.offer(books.families.rows[whole])
            self.record.end(node)
            return []
        self._use(books)
        self._bring_back(node)
        Root(books, self.index, self._local, self.rng, self._node, self.relaxation).run(budget)
        if not books.closed and within_rounding(books, self.relaxation):
            largest = self._node.largest_part
            refine(books, self.relaxation, self.index, self._local, self.rng, budget, largest, BITS)
        self.ledger.offer(books.rows)
        if not books.closed:
            self._use(books)
            if not self.relaxation.solve(budget):
                self._failed = True
            else:
                settle(books, self.relaxation)
        self.record.keep(node, before, books)
        if books.closed:
            return []
        return [node] if self._failed else self._split(node, books, budget)

    def _bring_back(self, node: Node) -> None:
        """The rows that hold the node's bound, of which other nodes have dropped those that are slack there."""
        there = {id(row) for row in self.relaxation.rows}
        self.relaxation.add_rows([row for row in self.record.rows(node) if id(row) not in there])

    def _use(self, books: Ledger) -> None:
        self.relaxation.restrict(books.alive, books.families.positions(books.rows), self._penalty)

    def _split(self, node: Node, books: Ledger, budget: Budget) -> list[Node]:
        """Ask the best of several questions; answers that close at once are ruled out on the way."""
        lp, families = self.relaxation, books.families
        best: tuple[Question, list[Ledger]] | None = None
        most, worse = -1.0, 0
        for question, meets in self._questions(books):
            if budget.exhausted() or worse == self.settings.enough:
                break
            own = families.children == question[0]
            cases = [books.case(books.alive & ~(own & out), books.bound) for out in (~meets, meets)]
            for case in cases:
                if not case.closed:
                    self._use(case)
                    lp.probe(self.settings.steps)
                    settle(case, lp)
            left = [case for case in cases if not case.closed]
            if len(left) < 2:
                answers = self.record.ask(node, books, question, cases)
                if not left:
                    return []
                best, most, worse = None, -1.0, 0  # questions tried before are of a larger set
                node, books = answers[cases.index(left[0])], books.case(left[0].alive, left[0].bound)
                continue
            product = float(max(1, books.bound - cases[0].bound)) * float(max(1, books.bound - cases[1].bound))
            worse += 1
            if product > most:
                most, best, worse = product, (question, cases), 0
        if best is None:
            return [node]
        return self.record.ask(node, books, *best)

    def _questions(self, node: Ledger) -> Iterator[tuple[Question, Mask]]:
        """((child v, set C), bool[families]: meets C), the most doubtful first: of sets, else of single variables of
        the point, else of any: while some child has two families left there is a question that tells them apart."""
        lp, families = self.relaxation, node.families
        point = Point(families, *lp.support())
        children = families.children[point.which]
        starts, parents = families.lists(point.which)
        holder = np.repeat(np.arange(len(point.which)), np.diff(starts))
        doubt: dict[tuple[int, tuple[int, ...]], float] = {}
        holding = [r for r in np.argsort(-lp.duals, kind="stable") if lp.duals[r] > 0 and _asks(lp.rows[r])]
        for r in holding[: self.settings.rows]:
            row = lp.rows[r]
            if isinstance(row, Rule):
                asked_of = [(literal.child, literal.others) for literal in row.literals]
            else:
                asked_of = [(v, tuple(u for u in row.members if u != v)) for v in row.members]
            for v, others in asked_of:
                inside = np.zeros(families.n, dtype=np.bool_)
                inside[list(others)] = True
                meeting = np.zeros(len(point.which))
                meeting[holder[inside[parents]]] = 1.0
                doubt[v, others] = abs(float((meeting * point.x)[children == v].sum()) - 0.5)
        single = {(int(v), (int(u),)): abs(point.arcs[u, v] - 0.5) for u, v in np.argwhere(point.arcs > 1e-6)}
        several = np.flatnonzero(np.bincount(families.children[node.alive], minlength=families.n) > 1)
        for v in several[:1]:
            first, second = np.flatnonzero(node.alive & (families.children == v))[:2]
            other = mask_members(families.masks[first] ^ families.masks[second])[0]
            single.setdefault((int(v), (other,)), 1.0)
        order = sorted(doubt, key=lambda q: doubt[q]) + sorted(single, key=lambda q: single[q])
        tried = 0
        for child, others in order:
            if tried == self.settings.questions or (tried and len(others) == 1):
                break
            mask = np.zeros(families.masks.shape[1], dtype=np.uint64)
            for u in others:
                mask[u >> 6] |= np.uint64(1 << (u & 63))
            meets = ((families.masks & mask) != 0).any(axis=1)
            own = node.alive & (families.children == child)
            if (own & meets).any() and (own & ~meets).any():
                tried += 1
                yield (child, tuple(sorted(others))), meets


def _asks(row: Row) -> bool:
    """Whether a row has sets to ask about."""
    return isinstance(row, Rule) or len(row.members) > 2
