"""Branch and cut: the solver. Its parts, in the order they work:

    greedy        a good graph by local search
    clusters      dual ascent from several orders: a first bound, a first filter, first rows     (solvers.clusters)
    root          LP loop with pricing, filtering, clusters, local cuts, polishing               (ilp.root)
    finish        what is left in small strongly connected parts is solved by DP                 (ilp.finish)
    tree          SCIP on the families that survive                                              (ilp.tree)
    evidence      the stages that prove the bound, as few as will do                             (ilp.evidence)

All of them write into one ledger of exact integers (ilp.ledger).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from solvers.clusters import dual_ascent, reduced_costs
from solvers.greedy import FamilyIndex, search
from solvers.ilp.evidence import row_bound
from solvers.ilp.families import Families
from solvers.ilp.ledger import Ledger
from solvers.ilp.localcuts import LocalCuts
from solvers.ilp.refine import refine, within_rounding
from solvers.ilp.root import Root, RootSettings, first_relaxation
from solvers.ilp.rows import Cluster
from solvers.ilp.tree import TOLERANCE, TreeResult, TreeSettings, solve_tree
from solvers.protocol import Budget, Progress, ProgressCallback
from solvers.solution import Evidence, Exhausted, Solution, Status
from solvers.table import ScoreTable, mask_members


@dataclass(frozen=True)
class Ilp:
    """Branch and cut with local cuts and exact bounds.

    starts, kicks  the local search for the first graph
    ascents        random orders of the dual ascent
    """

    seed: int = 0
    starts: int = 6
    kicks: int = 60
    ascents: int = 5
    root: RootSettings = field(default_factory=RootSettings)
    tree: TreeSettings = field(default_factory=TreeSettings)

    def solve(
        self,
        table: ScoreTable,
        budget: Budget | None = None,
        start: Sequence[int] | None = None,
        progress: ProgressCallback | None = None,
        known: Sequence[int] | None = None,
    ) -> Solution:
        """`known`, the rows of an optimal graph, is for debugging: every step is checked against it."""
        table.check_feasible()
        budget = budget or Budget()
        rng = np.random.default_rng(self.seed)
        index = FamilyIndex.of(table)
        rows = search(index, self.seed, self.starts, self.kicks, start, budget)
        ledger = Ledger(table, rows, Families.of(table, np.arange(len(table))), known)
        nearness, clusters = self._ascend(ledger, budget, rng)
        ledger.restrict()
        typical = float(int(table.units[table.offsets[:-1]].sum()) - ledger.score)
        relaxation = first_relaxation(ledger, nearness[ledger.families.rows], clusters, self.root.near, typical)
        local = LocalCuts(rng)
        root = Root(ledger, index, local, rng, self.root, relaxation)
        root.run(budget)
        if within_rounding(ledger, relaxation):
            refine(ledger, relaxation, index, local, rng, budget)
        result = None
        if not ledger.closed and not budget.exhausted():
            result = solve_tree(ledger, relaxation, index, rng, budget, self.tree, lambda b, k: None, self.seed)
        return self._solution(ledger, root, budget, result)

    def _ascend(
        self, ledger: Ledger, budget: Budget, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], list[Cluster]]:
        table = ledger.table
        costs = reduced_costs(table.offsets, table.units)
        nearness = costs
        clusters: dict[Cluster, None] = {}
        for _ in range(self.ascents):
            if ledger.closed or budget.exhausted():
                break
            ascent = dual_ascent(table.offsets, table.masks, costs, rng.permutation(table.n))
            ledger.settle_ascent(ascent)
            nearness = np.minimum(nearness, ascent.costs)
            clusters |= {Cluster(mask_members(mask)): None for mask in ascent.clusters}
        return nearness, list(clusters)

    def _solution(self, ledger: Ledger, root: Root, budget: Budget, tree: TreeResult | None) -> Solution:
        table = ledger.table
        score = table.total(ledger.rows)
        searched = tree is not None and tree.complete
        evidence: Evidence
        if searched and not ledger.closed:
            tolerance = TOLERANCE * root.relaxation.scale * table.n * table.quantum
            bound, evidence = score, Exhausted("scip branch and cut", tolerance)
        else:
            bound, evidence = math.ldexp(float(ledger.bound), -table.exponent), row_bound(ledger)
        return Solution(
            status=Status.OPTIMAL if bound == score else Status.FEASIBLE,
            choice=tuple(int(row) for row in ledger.rows),
            score=score,
            bound=bound,
            evidence=evidence,
            table_digest=table.digest,
            solver="ilp",
            statistics={
                "rounds": root.rounds,
                "clusters": root.clusters_added,
                "local cuts": root.local_added,
                "families": len(table),
                "survivors": int(ledger.alive.sum()),
                "nodes": 0 if tree is None else tree.nodes,
                "cpu": budget.cpu_elapsed(),
            },
        )
