"""The tree of branching, kept small while it grows, and written down as a proof (see optbn_solvers/proofs/README.md).

A node is what its families were reduced by: stages of rows with multipliers, in order, then a question, or nothing
where it was closed or is still open. The proof is for a target: no graph has more units. Closed nodes stay closed for
any target that is at least the incumbent's score, and an open one with a bound of at most the target is as good as
closed. So a tree that was searched completely proves the score, and one that was stopped proves its bound.

Most stages of a node only led to better ones: of each node the shortest suffix (of length 1, 2, 4, ..) that leaves no
more families and no higher bound is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import StoppedError
from optbn_solvers.base.solution import ClusterRow, SubsetRow, Tree
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.proofs.format import BRANCH, FILTER, LEAF
from optbn_solvers.proofs.writer import Records, TreeWriter
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.ledger import Ledger, Stage
from optbn_solvers.relaxation.replay import Replay, fewest
from optbn_solvers.relaxation.rows import Row

BITS = 8  # multipliers of a tree count 2^-8 units at the finest: what the compiled checker reads
Question = tuple[int, tuple[int, ...]]  # (v, C): do the parents of v meet C?


@dataclass(frozen=True, eq=False)
class Step:
    """A stage in little memory: the rows' numbers in the record, and their multipliers."""

    numbers: NDArray[np.int32]
    multipliers: NDArray[np.int64]


@dataclass(eq=False)
class Node:
    """No graph of its families has more than `bound` units."""

    bound: int
    alive: NDArray[np.uint8] | None  # packed; None once it has been worked on
    steps: list[Step] = field(default_factory=list)
    question: Question | None = None
    cases: tuple[Node, ...] = ()  # yes, no


class Record:
    """The tree so far, below the ledger of the root."""

    def __init__(self, top: Ledger) -> None:
        self.top = top
        self.begun_with = top.families.rows[top.alive]
        self.root = Node(top.bound, np.packbits(top.alive))
        self._rows: list[Row] = []
        self._numbers: dict[int, int] = {}  # by identity: the list keeps them

    def keep(self, node: Node, before: NDArray[np.bool_], after: Ledger) -> None:
        """The stages of a node's ledger, which began with the families `before`, become its steps."""
        stages = after.stages
        kept: Sequence[Stage] = stages
        length = 1
        while length < len(stages):
            trial = self.top.case(before, node.bound)
            for stage in stages[-length:]:
                trial.settle(stage, [row.entries(trial.families) for row, _ in stage.rows])
            if trial.bound <= after.bound and (after.closed or not (trial.alive & ~after.alive).any()):
                kept = stages[-length:]
                break
            length *= 2
        node.steps += [self._step(stage) for stage in kept]
        node.bound, node.alive = after.bound, np.packbits(after.alive)

    def ask(self, node: Node, books: Ledger, question: Question, cases: Sequence[Ledger]) -> list[Node]:
        """The node splits into the two cases of a question, yes and no, each with what its ledger found; returns them.

        The ledger `books` of the node may have fewer families than when it was kept: they went by earlier questions.
        """
        answers = []
        for case in cases:
            answer = Node(case.bound, np.packbits(case.alive))
            answer.steps = [self._step(stage) for stage in case.stages]
            answers.append(answer)
        node.question, node.cases, node.alive = question, (answers[0], answers[1]), None
        return answers

    def rows(self, node: Node) -> list[Row]:
        """The rows that the node's last stage is made of."""
        return [self._rows[number] for number in node.steps[-1].numbers.tolist()] if node.steps else []

    def end(self, node: Node) -> None:
        """The node's families are one graph, or none: without multipliers its bound is exact."""
        node.steps.append(Step(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)))

    def _step(self, stage: Stage) -> Step:
        numbers = []
        for row, _ in stage.rows:
            if id(row) not in self._numbers:
                self._numbers[id(row)] = len(self._rows)
                self._rows.append(row)
            numbers.append(self._numbers[id(row)])
        multipliers = [y for _, y in _coarse(stage).rows]
        return Step(np.array(numbers, dtype=np.int32), np.array(multipliers, dtype=np.int64))

    def tree(self, limit: int, late: Callable[[], bool]) -> Tree | None:
        """The proof that no graph beats the largest bound of the open nodes, or the best graph's score when there is
        none; None when it would take more than `limit` bytes, or it is late."""
        filters = self._filters(late)
        if filters is None:
            return None
        steps = [self._step(stage) for stage in filters]
        with TreeWriter(limit, 1 << BITS) as writer:
            written = _Writing(self.top.table, self._rows, writer)
            y = np.zeros(len(self._rows), dtype=np.int64)
            for step in steps:
                y = written.node(FILTER, y, step)
            waiting = [(self.root, y)]
            while waiting:
                node, y = waiting.pop()
                if writer.given_up or late():
                    return None
                for step in node.steps[:-1]:
                    y = written.node(FILTER, y, step)
                last = node.steps[-1] if node.steps else None
                y = written.node(BRANCH if node.question else LEAF, y, last, node.question)
                waiting += [(case, y) for case in reversed(node.cases)]
            written.flush()
            proof = writer.finish((), written.nodes)
        assert proof is None or isinstance(proof, Tree)
        return proof

    def _filters(self, late: Callable[[], bool]) -> Sequence[Stage] | None:
        """Stages of the root that leave no more families than the tree began with; None where it takes what is finer
        than BITS, or it is late."""
        top = self.top
        replay = Replay(top.table, top.rows, late)
        others = np.ones(len(top.table), dtype=np.bool_)
        others[self.begun_with] = False
        try:
            return fewest(replay, [_coarse(stage) for stage in top.stages], lambda: not (replay.alive & others).any())
        except StoppedError:
            return None


def _coarse(stage: Stage) -> Stage:
    """The stage with multipliers in 2^-BITS units."""
    if stage.bits <= BITS:
        return Stage([(row, y << (BITS - stage.bits)) for row, y in stage.rows], BITS)
    return Stage([(row, y >> (stage.bits - BITS)) for row, y in stage.rows], BITS)


class _Writing:
    """The numbers of a proof on their way to the writer."""

    def __init__(self, table: ScoreTable, rows: Sequence[Row], writer: TreeWriter) -> None:
        self.rows, self.writer = rows, writer
        self.everything = Families.of(table, np.arange(len(table)))
        self.nodes = 0
        self._names = np.full(len(rows), -1, dtype=np.int64)  # in the proof
        self._known: dict[object, int] = {}
        self._out: list[NDArray[np.int64]] = []

    def node(
        self, kind: int, y: NDArray[np.int64], step: Step | None, question: Question | None = None
    ) -> NDArray[np.int64]:
        """Write a node below one with the multipliers `y`; returns its own. Without a step they stay."""
        now = y
        if step is not None:
            now = np.zeros_like(y)
            np.add.at(now, step.numbers, step.multipliers)
        changed = np.flatnonzero(now != y)
        for r in changed[self._names[changed] < 0].tolist():
            evidence = self.rows[r].evidence(self.everything, 0)
            assert isinstance(evidence, ClusterRow | SubsetRow)
            self._names[r] = self._name(evidence)
        set_of_question = self._name(ClusterRow(question[1], 0)) if question else 0
        pairs = np.stack([self._names[changed], now[changed] - y[changed]], axis=1).ravel()
        self._out += [np.array([kind, len(changed)]), pairs]
        if question:
            self._out.append(np.array([question[0], set_of_question, 0]))  # 0: yes comes first
        self.nodes += 1
        if len(self._out) > 1000:
            self.flush()
        return now

    def flush(self) -> None:
        self.writer.append(np.concatenate([np.zeros(0, dtype=np.int64), *self._out]))
        self._out = []

    def _name(self, row: ClusterRow | SubsetRow) -> int:
        statement = (row.members, row.coefficients, row.rhs) if isinstance(row, SubsetRow) else row.members
        if statement not in self._known:
            self._known[statement] = len(self._known)
            alone = Records()
            alone.number(row)
            self._out.append(alone.numbers())
        return self._known[statement]
