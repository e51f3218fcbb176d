"""`ClusterSearch`: the search of `optbn_solvers.search.kernels.search` as a solver, with an optional proof.

A local search gives the first incumbent (or none, for tests). The search gets some nodes; unless those end it, or it
promises to end soon, the root is made stronger (`relaxation.strengthen`), and the search begins anew with many more
nodes, and so on: easy tables never see a linear program, hard ones lose little. The kernel runs in slices of some
50 ms, between which the budget, the progress report, the proof and the arrays that must grow are looked after.

All costs are integers, so when the tree is empty the incumbent is optimal to the last unit.
"""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.protocol import Capabilities
from optbn_solvers.base.run import Method, Run
from optbn_solvers.base.solution import Evidence, Exhausted, RowBound
from optbn_solvers.proofs.writer import DEFAULT_LIMIT, ProofWriter, TreeWriter
from optbn_solvers.relaxation.orders import search as local_search
from optbn_solvers.relaxation.strengthen import Begin, strengthen
from optbn_solvers.search.kernels import path
from optbn_solvers.search.kernels import search as kernel
from optbn_solvers.search.start import Known, Start, apply
from optbn_solvers.search.workspace import Workspace

SLICE_SECONDS = 0.05
MOST_NODES = 1_000_000  # in one
REPORT_SECONDS = 0.2
FIRST_ROUNDS = 16  # of the root loop; four times as many each time it comes back


@dataclass(frozen=True)
class ClusterSearch(Method):
    """Depth-first branch and bound on overpaid clusters.

    candidates  branches looked at ahead at each node
    passes      rounds of multiplier moves at each node, at most
    ahead       new clusters a look-ahead may find
    greedy      begin with the graph of a local search
    restarts    attempts that may be given up for a stronger root; the last attempt has no limit
    nodes       how many the first attempt has for sure; later ones have 16 times those of the one before
    patience    an attempt goes on after its nodes if it seems to need at most this many times as many more
    most        nodes after which the last attempt is given up too, unless it seems to end soon; as another solver is
                to go on then, it does not get more than what it seemed to need
    rows        rows known before, to begin with: those of another solver's evidence, or of a table this one is part of;
                or what a ledger left, of which the best graph is the start (optbn_solvers.search.below)
    proof       a file to write the proof to (solvers/optbn_solvers/proofs/README.md)
    proof_limit bytes that a proof may take; beyond that it is given up
    carried     without a file: bytes of the search tree that the solution may carry as its evidence
    """

    candidates: int = 4
    passes: int = 3
    ahead: int = 20
    greedy: bool = True
    seed: int = 0
    restarts: int = 3
    nodes: int = 500
    patience: int = 5
    most: int | None = None
    rows: RowBound | Known | Start | None = None
    proof: str | None = None
    proof_limit: int = DEFAULT_LIMIT
    carried: int = 0
    capabilities: ClassVar = Capabilities("cp")

    def search(self, run: Run) -> Evidence | None:
        """The best graph, with a proof where wanted; a bound and the best so far when the budget ends first."""
        return _Search(self, run).solve()


class _Search:
    """Attempts, from the graph and the bound of the run."""

    def __init__(self, settings: ClusterSearch, run: Run) -> None:
        self.settings, self.run, self.table, self.budget = settings, run, run.table, run.budget
        self.evidence: Evidence | None = None
        self.known: RowBound | None = None  # the rows of the root, which can be checked whatever becomes of the search

    def solve(self) -> Evidence | None:
        settings, run, budget = self.settings, self.run, self.budget
        if settings.greedy:
            run.take(local_search(self.table, seed=settings.seed, start=run.start, budget=budget))
        self.known = settings.rows if isinstance(settings.rows, RowBound) else None
        rows = Known.of(self.table, settings.rows) if isinstance(settings.rows, RowBound) else settings.rows
        for number in range(settings.restarts + 1):
            last = number == settings.restarts
            if number and budget.exhausted():
                break
            self.attempt(rows, settings.most if last else settings.nodes * 16**number, last)
            if last or self.evidence is not None or budget.exhausted() or self.near_enough():
                break
            if run.rows is not None:
                rounds = FIRST_ROUNDS * 4**number
                self.known = strengthen(Begin(self.table, run.rows, budget, self.improve), rounds, settings.seed)
                rows = Known.of(self.table, self.known)
        evidence = self.evidence or (None if run.bound == run.plain else Exhausted("cp"))
        return replace(evidence, rows=self.known) if isinstance(evidence, Exhausted) else evidence

    def attempt(self, rows: Known | Start | None, nodes: int | None, last: bool) -> None:
        """One search from its root; with `nodes` it is given up where it does not promise to end soon after those."""
        settings, table, run = self.settings, self.table, self.run
        work = Workspace(table, settings.seed)
        begin: NDArray[np.int64] | None = None
        if run.rows is not None and run.score is not None:
            work.start_from(run.rows)
            if rows is not None:
                begin = work.begin_with(apply(rows, run.score) if isinstance(rows, Known) else rows, table)
        with self.writer() as writer:
            if writer is not None:
                work.make_room_for_records()
                if begin is not None:
                    writer.append(begin)
            self.search(work, writer, nodes, last)
            if work.finished:
                self.evidence = Exhausted("cp")
                if writer is not None:
                    proof = writer.finish(work.incumbent.tolist(), int(work.state[path.RECORDS]))
                    self.evidence = proof or self.evidence
        for name, count in work.statistics().items():
            run.statistics[name] = run.statistics.get(name, 0) + count
        run.statistics["attempts"] = run.statistics.get("attempts", 0) + 1
        if writer is not None:
            limit = f"given up, it would take more than {writer.limit} bytes"
            run.statistics["proof"] = limit if writer.given_up else f"{writer.size} bytes"

    def writer(self) -> AbstractContextManager[TreeWriter | None]:
        """For the proof of an attempt."""
        settings = self.settings
        if settings.proof is not None:
            return ProofWriter(self.table, settings.proof, settings.proof_limit)
        return TreeWriter(settings.carried) if settings.carried else nullcontext()

    def search(self, work: Workspace, writer: TreeWriter | None, nodes: int | None, last: bool) -> None:
        """Run the slices of one attempt.

        The last hundredth of a tree may hold nearly all of its nodes: a promise alone may be given for ever.
        """
        settings, state, run, best = self.settings, work.state, self.run, int(work.best.sum())
        step = 1
        while not (work.finished or self.budget.exhausted()):
            begun = time.perf_counter()
            state[path.LIMIT] = state[path.NODES] + step
            code = kernel.search(
                work.costs,
                work.levels,
                work.pool,
                state,
                work.room,
                work.incumbent,
                work.records,
                settings.candidates,
                settings.passes,
                settings.ahead,
                work.words,
            )
            if writer is not None and not writer.append(work.take_records()):
                work.records, writer = np.empty(0, dtype=np.int64), None
            if work.incumbent[0] >= 0:
                run.take(work.incumbent)
            run.lower(best - work.bound())
            if code == kernel.SLICE:
                taken = max(time.perf_counter() - begun, 1e-6)
                step = max(1, min(MOST_NODES, int(step * min(4.0, SLICE_SECONDS / taken))))
            elif code != kernel.DONE:
                work.grow(code)
            run.nodes = int(state[path.NODES])
            run.report("search", 0.0 if work.finished else REPORT_SECONDS)
            if nodes is not None and state[path.NODES] >= nodes:
                done, more = work.share_done(), settings.patience * nodes
                if state[path.NODES] * (1 - done) > more * done or (last and state[path.NODES] >= nodes + more):
                    break
            if (writer is None or settings.proof is None) and self.near_enough():
                break

    def improve(self, rows: NDArray[np.int64], bound: int) -> None:
        """News from the root loop."""
        self.run.take(rows, bound)
        self.run.nodes = 0
        self.run.report("search", REPORT_SECONDS)

    def near_enough(self) -> bool:
        """Bound and score are as close as the budget wants them; without a gap, the search goes on to its proof."""
        return self.budget.gap > 0 and self.run.content
