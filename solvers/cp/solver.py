"""`ClusterSearch`: the search of `solvers.cp.kernels.search` as a solver, with an optional proof.

A local search gives the first incumbent (or none, for tests), the kernel runs in slices of some 50 ms, and between
slices the budget, the progress report and the arrays that must grow are looked after. All costs are integers, so when
the tree is empty the incumbent is optimal to the last unit.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from solvers.cp.kernels import search as kernel
from solvers.cp.workspace import Workspace
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
    """

    candidates: int = 4
    passes: int = 3
    ahead: int = 20
    greedy: bool = True
    seed: int = 0

    def solve(
        self,
        table: ScoreTable,
        budget: Budget | None = None,
        start: Sequence[int] | None = None,
        progress: ProgressCallback | None = None,
    ) -> Solution:
        """The best graph, proved by exhaustion unless the budget ends first."""
        from solvers.greedy import search as local_search

        table.check_feasible()
        budget = budget or Budget()
        work = Workspace(table, self.seed)
        if self.greedy:
            work.start_from(local_search(table, seed=self.seed, start=start, budget=budget))
        elif start is not None:
            work.start_from(np.asarray(start, dtype=np.int64))
        top = int(work.best.sum())
        bound = 0
        records = np.empty(0, dtype=np.int64)
        state = work.state
        step, reported = 64, -np.inf
        done = False
        while not (done or budget.exhausted()):
            begun = time.perf_counter()
            state[kernel.LIMIT] = state[kernel.NODES] + step
            code = kernel.search(
                work.costs,
                work.levels,
                work.pool,
                state,
                work.room,
                work.incumbent,
                records,
                self.candidates,
                self.passes,
                self.ahead,
                work.words,
            )
            if code == kernel.DONE:
                done = True
            elif code == kernel.SLICE:
                taken = max(time.perf_counter() - begun, 1e-6)
                step = max(1, int(step * min(4.0, SLICE_SECONDS / taken)))
            else:
                work.grow(code)
            bound = max(bound, work.bound())
            score = table.total(work.incumbent) if work.incumbent[0] >= 0 else None
            if progress is not None and (done or budget.elapsed() - reported > REPORT_SECONDS):
                reported = budget.elapsed()
                progress(Progress(score, table.score_of(top - bound), int(state[kernel.NODES]), reported, "search"))
            if score is not None and table.score_of(top - bound) - score <= budget.gap:
                break
        return self._solution(table, work, top - bound, budget)

    def _solution(self, table: ScoreTable, work: Workspace, bound: int, budget: Budget) -> Solution:
        found = work.incumbent[0] >= 0
        score = table.total(work.incumbent) if found else None
        optimal = score is not None and table.score_of(bound) == score
        evidence: Evidence | None = Exhausted("cp") if work.bound() > 0 else None
        return Solution(
            status=Status.OPTIMAL if optimal else Status.FEASIBLE if found else Status.UNKNOWN,
            choice=tuple(work.incumbent.tolist()) if found else None,
            score=score,
            bound=table.score_of(bound),
            evidence=evidence,
            table_digest=table.digest,
            solver="cp",
            statistics={
                "nodes": int(work.state[kernel.NODES]),
                "depth": int(work.state[kernel.DEEPEST]),
                "unsupported": int(work.state[kernel.DROPPED]),
                "evictions": int(work.state[kernel.EVICTIONS]),
                "incumbents": int(work.state[kernel.FOUND]),
                "cpu": budget.cpu_elapsed(),
            },
        )
