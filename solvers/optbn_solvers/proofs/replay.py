"""A tree or stages of rows, replayed family by family, and what of them is needed: for proofs in other formats.

Each node has rows with multipliers, and drops families (README.md of this folder, steps 3 to 5). Most of what is
dropped does not matter: only families whose adjusted score is above that of the alive ones need a reason. So the nodes
are replayed first, and then looked at backwards: what a leaf needs to be closed, what its parents must have dropped for
that, and so on. A node without anything to prove needs no multipliers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import NoProofError
from optbn_solvers.base.solution import ClauseRow, ClusterRow, LimitRow, SubsetRow
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.proofs.kernels.support import drop_unsupported
from optbn_solvers.proofs.lifted import Lifted
from optbn_solvers.proofs.nodes import Bools, Node, Row
from optbn_solvers.proofs.opb import members_of

LARGEST = 1 << 61  # sums of adjusted scores below it have 64 bits
OPEN = "the rows do not prove the optimum of all families; this evidence cannot be exported"

Ints = NDArray[np.int64]
Numbers = NDArray[Any]  # int64, or Python's integers in an array of objects


@dataclass(frozen=True)
class Part:
    """Families of some variables: rows of the table, their child, their parents among the members (as bits), what they
    lose. A graph that loses `loss` is to be proved to lose the least."""

    members: tuple[int, ...]
    rows: Ints
    child: Ints
    masks: list[int]
    losses: list[int]
    loss: int
    usable: Bools  # what constraints do not exclude

    @classmethod
    def of(cls, table: ScoreTable, members: tuple[int, ...], choice: Sequence[int], usable: Bools) -> Part:
        rows = [row for v in members for row in table.rows(v)]
        inside = sum(1 << v for v in members)
        masks = [sum(1 << u for u in table.parents(row)) & inside for row in rows]
        tops = {v: int(table.units[table.offsets[v]]) for v in members}
        child = [int(v) for v in table.children[rows]]
        losses = [tops[v] - int(table.units[row]) for v, row in zip(child, rows, strict=True)]
        loss = sum(tops[v] - int(table.units[choice[v]]) for v in members)
        return cls(members, np.array(rows), np.array(child), masks, losses, loss, usable[rows])


class Replay:
    """The nodes of one part; what is to be proved of them is noted in them, once `run` is done."""

    def __init__(self, part: Part, rows: list[Row], nodes: list[Node], fine: int, supports: bool) -> None:
        self.part, self.rows, self.nodes, self.fine, self.supports = part, rows, nodes, fine, supports
        self.target = -fine * part.loss + fine - 1  # nothing better is at most this
        self.own = {v: np.flatnonzero(part.child == v) for v in part.members}
        self.number = {v: i for i, v in enumerate(part.members)}
        self.place = np.array([self.number[v] for v in part.child.tolist()])
        self.words = self._words()
        self.excluded: list[int] = []  # families that the constraints exclude, where that is needed
        self.effects: dict[int, tuple[Ints, Numbers, int]] = {}
        self.children: list[list[int]] = [[] for _ in nodes]
        for at, node in enumerate(nodes):
            if node.parent >= 0:
                self.children[node.parent].append(at)
        weight = max((sum(node.multipliers.values()) for node in nodes), default=0)
        coefficients = len(part.members) + max(
            (a for row in rows if isinstance(row, SubsetRow) for *_, a in row.coefficients), default=1
        )
        largest = fine * max(part.losses) + weight * max(coefficients, 1)
        self.kind = np.int64 if largest * (2 * len(part.members) + 2) < LARGEST else object  # which does not overflow
        self.base = -fine * np.array(part.losses, dtype=self.kind)

    def _words(self) -> NDArray[np.uint64]:
        """The masks, counted by places among the members."""
        bit = {v: 1 << i for v, i in self.number.items()}
        masks = [sum(bit[u] for u in members_of(mask)) for mask in self.part.masks]
        width = range(0, max(1, len(bit)), 64)
        return np.array([[mask >> w & (1 << 64) - 1 for w in width] for mask in masks], dtype=np.uint64)

    def run(self) -> None:
        """Replay, then mark what is needed; NoProofError where something stays open."""
        for at, node in enumerate(self.nodes):
            self.enter(at, node)
        if not self.nodes:
            raise NoProofError(OPEN)
        self.justify_all(set())
        self.justify_all(self.needless())

    def justify_all(self, without: set[int]) -> None:
        """What is to be proved of each node; without some rows, where the others do."""
        wanted: list[Bools] = [np.zeros(len(self.place), dtype=np.bool_) for _ in self.nodes]
        for at in range(len(self.nodes) - 1, -1, -1):
            self.justify(at, wanted, without)

    def needless(self) -> set[int]:
        """Clusters that can be left out of all sums: without one the bound rises by no more than its multiplier.

        Rarely used ones first: each has to be derived.
        """
        uses: dict[int, list[tuple[int, int]]] = {}
        room: dict[int, int] = {}
        for at, node in enumerate(self.nodes):
            if node.summed:
                room[at] = self.room(node, *self.adjusted(node.multipliers))
                for number, y in node.multipliers.items():
                    if y:
                        uses.setdefault(number, []).append((at, y))
        found = set()
        for number in sorted(uses, key=lambda number: (len(uses[number]), sum(y for _, y in uses[number]))):
            if isinstance(self.rows[number], ClusterRow) and all(y <= room[at] for at, y in uses[number]):
                found.add(number)
                for at, y in uses[number]:
                    room[at] -= y
        return found

    def room(self, node: Node, adjusted: Numbers, constant: int) -> int:
        """By how much the bound of a node may rise and still prove what it has to; negative if it does not."""
        tops = self.tops(adjusted, node.placed)
        rooms = (tops[self.place] - adjusted)[node.dropped].tolist()
        if node.closed and node.empty is None:
            rooms.append(0)
        return self.target - int(tops.sum()) - constant + int(min(rooms))

    def enter(self, at: int, node: Node) -> None:
        """What is alive at a node, and whether it is closed."""
        alive = self.part.usable
        if node.parent >= 0:
            above = self.nodes[node.parent]
            node.skipped = above.skipped or above.closed
            if node.skipped:
                return
            alive = above.after
            if above.branch is not None:
                v, inside = above.branch
                alive = alive & ((self.part.child != v) | (self.disjoint(inside) == node.side))
        node.before = node.placed = node.after = alive
        adjusted, constant = self.adjusted(node.multipliers)
        if self.closes(node, adjusted, constant):
            return
        if self.supports:
            node.placed = node.after = self.supported(alive)
            if self.closes(node, adjusted, constant):
                return
        tops = self.tops(adjusted, node.placed)
        spare = int(tops.sum()) + constant - self.target
        node.after = node.placed & (tops[self.place] - adjusted < spare)
        if not self.children[at]:
            self.closes(node, None, 0)
            if not node.closed:
                raise NoProofError(OPEN)

    def closes(self, node: Node, adjusted: Numbers | None, constant: int) -> bool:
        """Is nothing better left at a node?"""
        node.empty = next((v for v, own in self.own.items() if not node.after[own].any()), None)
        node.closed = node.empty is not None or (
            adjusted is not None and int(self.tops(adjusted, node.after).sum()) + constant <= self.target
        )
        return node.closed

    def ends(self) -> list[int]:
        """Of each node, the last one that is looked at below it, or itself."""
        ends = list(range(len(self.nodes)))
        for at in range(len(self.nodes) - 1, 0, -1):
            node = self.nodes[at]
            if not node.skipped:
                ends[node.parent] = max(ends[node.parent], ends[at])
        return ends

    def justify(self, at: int, wanted: list[Bools], without: set[int]) -> None:
        """From what is wanted to be dead below a node to what it proves and what it wants of the nodes above."""
        node = self.nodes[at]
        if node.skipped:
            return
        node.support = {}
        want = wanted[at] & ~node.after
        if node.closed and node.empty is not None:
            want[self.own[node.empty]] = True
        by_bound = want & node.placed
        node.dropped = np.flatnonzero(by_bound).tolist()
        if node.summed:
            fewer = {number: y for number, y in node.multipliers.items() if number not in without}
            if len(fewer) < len(node.multipliers) and self.room(node, *self.adjusted(fewer)) >= 0:
                node.multipliers = fewer
            adjusted, _ = self.adjusted(node.multipliers)
            want |= ~node.placed & (adjusted > self.tops(adjusted, node.placed)[self.place])
        want &= ~node.placed
        unplaced = np.flatnonzero(want & node.before)
        for v in sorted(set(self.part.child[unplaced].tolist())):
            families = unplaced[self.part.child[unplaced] == v].tolist()
            inside = self.around(v, families, node.before)
            node.support[v] = inside, families
            disjoint = self.disjoint(inside)
            for u in inside:
                if u != v:
                    want[self.own[u][disjoint[self.own[u]]]] = True
        if node.parent >= 0:
            wanted[node.parent] |= want & ~node.before
        else:
            self.excluded = np.flatnonzero(want & ~node.before).tolist()

    def used(self) -> set[int]:
        """The numbers of the rows that something is proved with."""
        return {number for node in self.nodes if node.summed for number, y in node.multipliers.items() if y}

    def adjusted(self, multipliers: Mapping[int, int]) -> tuple[Numbers, int]:
        """(adjusted scores, what the rows add to the bound)."""
        adjusted, constant = self.base.copy(), 0
        for number, y in multipliers.items():
            if y:
                at, worth, rhs = self.effect(number)
                adjusted[at] -= y * worth
                constant += y * rhs
        return adjusted, constant

    def effect(self, number: int) -> tuple[Ints, Numbers, int]:
        """(families, coefficients, right-hand side) of a row that is at most its side."""
        if number not in self.effects:
            at, worth, rhs = self._effect(self.rows[number])
            self.effects[number] = at, worth.astype(self.kind), rhs
        return self.effects[number]

    def _effect(self, row: Row) -> tuple[Ints, Ints, int]:
        if isinstance(row, ClusterRow):
            at = np.flatnonzero(self.disjoint(row.members) & np.isin(self.part.child, row.members))
            return at, np.full(len(at), -1), -1
        if isinstance(row, LimitRow):
            begins = sum(1 << u for u in row.parents)
            counts = np.array([(mask & begins).bit_count() for mask in self.part.masks])
            return np.arange(len(counts)), counts, row.rhs
        if isinstance(row, ClauseRow):
            literals = {literal.child: literal for literal in row.literals}
            pairs = enumerate(zip(self.part.child.tolist(), self.part.masks, strict=True))
            false = [f for f, (v, mask) in pairs if v in literals and not literals[v].true(mask)]
            return np.array(false, dtype=np.int64), np.ones(len(false), dtype=np.int64), len(literals) - 1
        lifted = Lifted(row)
        at = np.flatnonzero(np.isin(self.part.child, row.members))
        worth = [lifted.best(int(self.part.child[f]), self.part.masks[f]) for f in at.tolist()]
        return at, np.array(worth, dtype=np.int64), lifted.most

    def tops(self, adjusted: Numbers, alive: Bools) -> Numbers:
        """The best adjusted score of each member."""
        tops = np.full(len(self.own), -(LARGEST**2) if self.kind is object else -LARGEST, dtype=self.kind)
        np.maximum.at(tops, self.place[alive], adjusted[alive])
        return tops

    def disjoint(self, inside: Sequence[int]) -> Bools:
        """Which families have no parent in a set."""
        wanted = sum(1 << u for u in inside)
        return np.array([mask & wanted == 0 for mask in self.part.masks], dtype=np.bool_)

    def supported(self, alive: Bools) -> Bools:
        """The families that can be in an acyclic choice."""
        left = np.flatnonzero(alive)
        offsets = np.searchsorted(self.place[left], np.arange(len(self.own) + 1))
        names = left.copy()
        n, words = len(self.own), self.words.shape[1]
        reach, order = np.empty((n + 1, words), dtype=np.uint64), np.empty((2, n), dtype=np.int64)
        drop_unsupported(offsets, self.words[left], names, reach, order)
        kept = np.zeros(len(alive), dtype=np.bool_)
        kept[names[: offsets[-1]]] = True
        return kept

    def rest(self, v: int, listed: dict[int, list[int]]) -> int:
        """What cannot be placed before v, and v."""
        rest, grown = sum(1 << u for u in self.own), True
        while grown:
            grown = False
            for u, masks in listed.items():
                if u != v and rest >> u & 1 and any(mask & rest == 0 for mask in masks):
                    rest &= ~(1 << u)
                    grown = True
        return rest

    def around(self, v: int, families: Sequence[int], alive: Bools) -> tuple[int, ...]:
        """A small set of variables, v among them, that these families of v meet, and all that the others have alive.

        So v comes first in it and has none of these families. Whatever hits the most of those that do not meet the set
        yet joins it, from what cannot be placed before v.
        """
        listed = {u: [self.part.masks[f] for f in own[alive[own]].tolist()] for u, own in self.own.items()}
        rest = self.rest(v, listed)
        inside, left = 1 << v, [self.part.masks[f] & rest for f in families]
        while left := [mask for mask in left if not mask & inside]:
            hits = Counter(u for mask in left for u in self.part.members if mask >> u & 1)
            u = max(hits, key=lambda u: (hits[u], -len(listed[u])))
            inside |= 1 << u
            left += [mask & rest for mask in listed[u]]
        return tuple(u for u in self.part.members if inside >> u & 1)
