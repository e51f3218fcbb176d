"""`ClusterSearch`: the search of `solvers.cp.kernels.search` as a solver, with an optional proof.

A local search gives the first incumbent (or none, for tests), the kernel runs in slices of some 50 ms, and between
slices the budget, the progress report, the proof and the arrays that must grow are looked after. All costs are
integers, so when the tree is empty the incumbent is optimal to the last unit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from solvers.cp.kernels import search as kernel
from solvers.cp.workspace import Workspace
from solvers.proofs.writer import DEFAULT_LIMIT, ProofWriter
from solvers.protocol import Budget, Progress, ProgressCallback
from solvers.solution import Evidence, Exhausted, Solution, Status
from solvers.table import ScoreTable

SLICE_SECONDS = 0.05
REPORT_SECONDS = 0.2


@dataclass(frozen=True)
class ClusterSearch:
    """Depth-first branch and bound on overpaid clusters.

    candidates  branches looked at ahead at each node
    passes      rounds of multiplier descent at each node, at most
    ahead       new clusters a look-ahead may find
    greedy      begin with the graph of a local search
    proof       a file to write the proof to (solvers/proofs/README.md)
    proof_limit bytes that a proof may take; beyond that it is given up
    """

    candidates: int = 4
    passes: int = 3
    ahead: int = 20
    greedy: bool = True
    seed: int = 0
    proof: str | None = None
    proof_limit: int = DEFAULT_LIMIT

    def solve(
        self,
        table: ScoreTable,
        budget: Budget | None = None,
        start: Sequence[int] | None = None,
        progress: ProgressCallback | None = None,
    ) -> Solution:
        """The best graph, with a proof if asked for; a bound and what is found when the budget ends first."""
        from solvers.greedy import search as local_search

        table.check_feasible()
        budget = budget or Budget()
        work = Workspace(table, self.seed)
        if self.greedy:
            work.start_from(local_search(table, seed=self.seed, start=start, budget=budget))
        elif start is not None:
            work.start_from(np.asarray(start, dtype=np.int64))
        statistics: dict[str, Any] = {}
        with ProofWriter(table, self.proof, self.proof_limit) if self.proof else nullcontext() as writer:
            bound = self._search(table, work, budget, progress, writer)
            evidence: Evidence | None = Exhausted("cp") if bound > 0 else None
            if writer is not None:
                if writer.given_up:
                    statistics["proof"] = f"given up, it would take more than {self.proof_limit} bytes"
                elif work.finished:
                    evidence = writer.finish(work.incumbent.tolist(), int(work.state[kernel.RECORDS]))
                    statistics["proof bytes"] = writer.size
                else:
                    statistics["proof"] = "not finished"
        return self._solution(
            table, work, bound, evidence, {**work.statistics(), **statistics, "cpu": budget.cpu_elapsed()}
        )

    def _search(
        self,
        table: ScoreTable,
        work: Workspace,
        budget: Budget,
        progress: ProgressCallback | None,
        writer: ProofWriter | None,
    ) -> int:
        """Run the slices; returns the bound as a cost."""
        state, top = work.state, int(work.best.sum())
        if writer is not None:
            work.make_room_for_records()
        step, bound, reported = 64, 0, -math.inf
        while not (work.finished or budget.exhausted()):
            begun = time.perf_counter()
            state[kernel.LIMIT] = state[kernel.NODES] + step
            code = kernel.search(
                work.costs,
                work.levels,
                work.pool,
                state,
                work.room,
                work.incumbent,
                work.records,
                self.candidates,
                self.passes,
                self.ahead,
                work.words,
            )
            if writer is not None and not writer.append(work.take_records()):
                writer = None
                work.records = np.empty(0, dtype=np.int64)
            if code == kernel.SLICE:
                taken = max(time.perf_counter() - begun, 1e-6)
                step = max(1, int(step * min(4.0, SLICE_SECONDS / taken)))
            elif code != kernel.DONE:
                work.grow(code)
            bound = max(bound, work.bound())
            score = table.total(work.incumbent) if work.incumbent[0] >= 0 else None
            if progress is not None and (work.finished or budget.elapsed() - reported > REPORT_SECONDS):
                reported = budget.elapsed()
                progress(Progress(score, table.score_of(top - bound), int(state[kernel.NODES]), reported, "search"))
            if writer is None and score is not None and table.score_of(top - bound) - score <= budget.gap:
                break
        return bound

    def _solution(
        self, table: ScoreTable, work: Workspace, bound: int, evidence: Evidence | None, statistics: dict[str, Any]
    ) -> Solution:
        found = work.incumbent[0] >= 0
        score = table.total(work.incumbent) if found else None
        top = table.score_of(int(work.best.sum()) - bound)
        return Solution(
            status=Status.OPTIMAL if top == score else Status.FEASIBLE if found else Status.UNKNOWN,
            choice=tuple(work.incumbent.tolist()) if found else None,
            score=score,
            bound=top,
            evidence=evidence,
            table_digest=table.digest,
            solver="cp",
            statistics=statistics,
        )
