"""Branch and cut: the solver. Its parts, in the order they work:

    greedy        a good graph by local search
    clusters      dual ascent from several orders: a first bound, a first filter, first rows     (relaxation.ascent)
    root          LP loop with pricing, filtering, clusters, local cuts, polishing               (ilp.root)
    improve       local search for a share of the time of a long root and of the tree            (relaxation.improve)
    finish        what is left in small strongly connected parts is solved by DP                 (ilp.finish)
    refine        the last digits of a root that closed                                          (ilp.refine)
    cp            between the rounds of a small table's root: cluster search below it, while it costs little beside
                  them, and longer if it promises to end soon                                   (ilp.look)
    branch        a short tree with exact bounds                                                 (ilp.branch)
    record        that tree as evidence                                                          (ilp.record)
    tree          SCIP on the families that survive, if the tree is not short                    (ilp.tree)
    rules         what constraints say, as rows, when a graph breaks them                        (ilp.rules)
    evidence      the stages that prove the bound, as few as will do                             (ilp.evidence)
    certify       a proof in a file, where wanted                                                (ilp.certify)

All of them write into one ledger of exact integers (ilp.ledger).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.atomic import check_place
from optbn_solvers.base.protocol import Budget, Capabilities, ProgressCallback
from optbn_solvers.base.residual import Residual
from optbn_solvers.base.run import Run
from optbn_solvers.base.solution import Evidence, Exhausted, Solution, Status, Tree
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.methods.ilp.branch import Branching, BranchSettings
from optbn_solvers.methods.ilp.certify import certified
from optbn_solvers.methods.ilp.look import look
from optbn_solvers.methods.ilp.tree import TreeSettings, solve_tree
from optbn_solvers.proofs.writer import CARRIED
from optbn_solvers.relaxation.cases import Cases
from optbn_solvers.relaxation.evidence import row_bound
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.improve import Improver
from optbn_solvers.relaxation.ledger import Ledger
from optbn_solvers.relaxation.localcuts import LocalCuts
from optbn_solvers.relaxation.orders import FamilyIndex, search
from optbn_solvers.relaxation.refine import refine, within_rounding
from optbn_solvers.relaxation.repair import obeying
from optbn_solvers.relaxation.root import THOROUGH, Root, RootSettings, ascend, first_relaxation
from optbn_solvers.relaxation.rules import Rules
from optbn_solvers.search.below import below

FIRST_LOOK = 24  # rounds of the root before the cluster search looks below it; then twice as many, and so on
LAST_LOOK = 1000  # nodes, when the root has stalled
SHORT, AHEAD = 10.0, 0.5  # seconds: less time than this is for the graph first, for such a share of it
TREE_SECONDS, TREE_SHARE = 0.5, 0.03  # after the budget is used up, and of what it was: to write the tree down
HELD_BACK = 0.2  # seconds of local search that go by before its share begins: small tables need none of it
LARGE = 600_000  # variables times families
LAST_SECONDS = 0.2  # after the budget is used up: to find few rows that prove the bound


@dataclass(frozen=True)
class Ilp:
    """Branch and cut with local cuts and exact bounds.

    starts, kicks  the local search for the first graph
    ascents        random orders of the dual ascent
    root, thorough, branch, tree  settings of the phases
    search_share   of the time of a thorough root and the tree that local search gets
    search_nodes   what a look of the cluster search below the root may take, for each round of the root so far, unless
                   it promises to end soon (0: none)
    residual       constraints that the families of the table do not say (optbn_solvers.base.residual)
    carried        bytes of a search tree below the root that the solution may carry as its evidence
    proof          a file for a proof (see proofs/), written when the root closes or there is such a tree
    certify        when there is none, let the cluster search finish the proof from the root's rows
    """

    seed: int = 0
    starts: int = 3
    kicks: int = 60
    ascents: int = 5
    root: RootSettings = field(default_factory=RootSettings)
    thorough: RootSettings = THOROUGH
    search_share: float = 0.2
    branch: BranchSettings = field(default_factory=BranchSettings)
    tree: TreeSettings = field(default_factory=TreeSettings)
    search_nodes: int = 6
    residual: tuple[Residual, ...] = ()
    carried: int = CARRIED
    proof: str | None = None
    certify: bool = False
    capabilities: ClassVar = Capabilities("ilp")

    def solve(
        self,
        table: ScoreTable,
        budget: Budget | None = None,
        start: Sequence[int] | None = None,
        progress: ProgressCallback | None = None,
        known: Sequence[int] | None = None,
    ) -> Solution:
        """The best graph and a bound. `known` (the rows of an optimum) is for debugging: every step is checked.

        The relaxation is held together by a graph that obeys the constraints; if none is found, they are met case by
        case (optbn_solvers.relaxation.cases) instead.
        """
        run = Run(self, table, budget, start, progress)
        if self.proof is not None:
            check_place(self.proof)
        budget = run.budget
        rows = search(FamilyIndex.of(table), self.seed, self.starts, self.kicks, start, budget)
        rules = Rules(table, self.residual, budget) if self.residual else None
        if rules is not None:
            first = rules.obeying(rows)
            if run.start is not None and (first is None or table.total(first) < table.total(run.start)):
                first = run.start
            if first is None:
                first = obeying(table, self.residual, budget)
            if first is None:
                return Cases(replace(self, residual=()), self.residual).solve(table, budget, None, progress)
            rows = first
        cutting = _Solve(self, run, known, rules)
        solution = cutting.solve(rows)
        if self.proof is None or solution.status is not Status.OPTIMAL:
            return solution
        return certified(table, solution, cutting.ledger, self.proof, self.certify, budget, progress)


class _Solve:
    """The phases. The ledger has the graph and the bound; the run's bound is the ledger's or what the tree has proved
    since."""

    def __init__(self, settings: Ilp, run: Run, known: Sequence[int] | None, rules: Rules | None) -> None:
        self.settings, self.run, self.table, self.budget = settings, run, run.table, run.budget
        self.known, self.rules = known, rules
        self.phase = "root"
        self.method: Tree | Exhausted | None = None  # who lowered the bound below the ledger's, if anybody did

    def solve(self, rows: NDArray[np.int64]) -> Solution:
        """From a graph that obeys."""
        table, budget, settings = self.table, self.budget, self.settings
        rng = np.random.default_rng(settings.seed)
        index = FamilyIndex.of(table)
        ledger = self.ledger = Ledger(
            table, rows, Families.of(table, np.arange(len(table))), self.known, self._announce, self.rules
        )
        self._announce()
        nearness, clusters = ascend(ledger, settings.ascents, rng, budget)
        if not (ledger.closed or self.run.content or budget.exhausted()):
            ledger.restrict()
            typical = float(sum(table.units[table.offsets[:-1]].tolist()) - ledger.score)
            near = nearness[ledger.families.rows]
            relaxation = first_relaxation(ledger, near, clusters, settings.root.near, typical)
            improver = Improver(ledger, index, rng, settings.search_share, budget, credit=-HELD_BACK)
            root = Root(ledger, index, LocalCuts(rng), rng, settings.root, relaxation)
            self._work(root, improver)
        return self._solution()

    def _work(self, root: Root, improver: Improver) -> None:
        """The root, and between its rounds looks below it, for as long as these cost little beside it; then the tree. A
        large table has a thorough root at once: there every round costs more than what it does in vain."""
        ledger, settings = self.ledger, self.settings
        large = self.table.n * len(ledger.families) > LARGE
        root.improver = improver
        if large and self.budget.remaining() < SHORT:
            improver.credit = AHEAD * self.budget.remaining()
            improver.work()
        looks = not large and settings.search_nodes > 0 and self.rules is None
        rounds = FIRST_LOOK
        while looks:
            how = replace(settings.root, most_rounds=rounds, overlaps=rounds > FIRST_LOOK)
            if self._root(root, how):
                return
            looks = root.rounds == rounds  # it has not ended by itself
            if self._cluster_search(settings.search_nodes * rounds if looks else LAST_LOOK):
                return
            rounds *= 2
        if self._root(root, settings.thorough):
            return
        self._branch(root, improver)

    def _root(self, root: Root, how: RootSettings) -> bool:
        """Run the root so; whether there is nothing more to do."""
        ledger, relaxation = self.ledger, root.relaxation
        root.settings = how
        root.run(self.budget)
        if not ledger.closed and within_rounding(ledger, relaxation):
            refine(ledger, relaxation, root.index, root.local, root.rng, self.budget, how.largest_part)
        self.run.statistics |= {"rounds": root.rounds, "clusters": root.clusters_added, "local cuts": root.local_added}
        if self.rules is not None:
            self.run.statistics["constraint rows"] = len(self.rules.rows)
        self.run.statistics["survivors"] = int(ledger.alive.sum())
        self.run.statistics["root gap"] = math.ldexp(float(ledger.gap), -self.table.exponent)
        return ledger.closed or self.run.content or self.budget.exhausted()

    def _branch(self, root: Root, improver: Improver) -> None:
        """Branch; back to the root when a much better graph turns up; hand over to SCIP when the tree is not short."""
        ledger, settings = self.ledger, self.settings
        trees: list[Branching] = []
        while not trees or trees[-1].outgrown:
            if trees:
                trees[-1].leave()
                self.phase = "root again"
                if self._root(root, settings.thorough):
                    break
            self.phase = "branching"
            root.compact()
            before = self.run.nodes if trees else 0
            tree = Branching(
                ledger, root.relaxation, root.index, root.rng, settings.branch, self._lower, improver, nodes=before
            )
            trees.append(tree)
            complete = tree.run(self.budget)
            self.run.statistics["nodes"] = self.run.nodes = tree.nodes
            if self.budget.exhausted() or self.run.content:
                break
        best = min(trees, key=lambda tree: tree.bound)
        if best.bound < ledger.bound:
            written = best.record.tree(settings.carried, self._too_late()) if self.rules is None else None
            self.method = written or Exhausted("branch and cut in exact integers")
        if not (complete or ledger.closed or self.budget.exhausted() or self.run.content):
            self._scip(root)

    def _scip(self, root: Root) -> None:
        """The last resort."""
        ledger, settings, relaxation = self.ledger, self.settings, root.relaxation
        self.phase = "scip"
        result = solve_tree(
            ledger, relaxation, root.index, root.rng, self.budget, settings.tree, self._announce_scip, settings.seed
        )
        self.run.statistics["nodes"] += result.nodes
        if result.complete:
            self.run.lower(ledger.score)
            self.method = Exhausted("scip branch and cut", math.ldexp(result.tolerance, -self.table.exponent))

    def _cluster_search(self, nodes: int) -> bool:
        """Try the search on clusters below the root (ilp.look); did it end?"""
        start = below(self.ledger, self.budget.exhausted)
        if start is None:
            return False
        self.phase = "search"
        self.method = look(self.ledger, self.run, start, nodes, self.settings.seed, self.settings.carried)
        if self.method is not None:
            self._announce()
        return self.method is not None

    def _lower(self, bound: int, nodes: int) -> None:
        self.run.lower(bound)
        self.run.nodes = nodes
        self._announce()

    def _announce(self) -> None:
        """Report the score and the bound as they stand."""
        self._look()
        self.run.report(self.phase)

    def _announce_scip(self, bound: int, nodes: int) -> None:
        """SCIP's own bound is reported, and not kept: it is no proof before the tree is done."""
        self._look()
        self.run.nodes = nodes
        self.run.report(self.phase, bound=max(self.ledger.score, min(self.run.bound, bound)))

    def _look(self) -> None:
        """Take over what the ledger has."""
        ledger = self.ledger
        self.run.take(ledger.rows, max(ledger.score, min(self.run.bound, ledger.bound)))

    def _late(self) -> Callable[[], bool]:
        """When to be content with the evidence that there is, although less might do."""
        if self.ledger.closed:
            return lambda: self.budget.overdue(0.5)
        end = self.budget.elapsed() + LAST_SECONDS
        return lambda: self.budget.elapsed() >= end or self.budget.overdue(0.5)

    def _too_late(self) -> Callable[[], bool]:
        """When to give up a tree that is being written: a stopped one gets a little time of its own."""
        if not self.budget.exhausted():
            return self.budget.exhausted
        end = self.budget.elapsed() + TREE_SECONDS + TREE_SHARE * self.budget.elapsed()
        return lambda: self.budget.elapsed() >= end or self.budget.overdue(0.5)

    def _solution(self) -> Solution:
        ledger, run = self.ledger, self.run
        self._look()
        evidence: Evidence | None = self.method
        if self.method is None or run.bound == ledger.bound:
            evidence = row_bound(ledger, self._late())
        elif isinstance(self.method, Exhausted):  # what the tree says is not checked; what the root says can be
            evidence = replace(self.method, rows=row_bound(ledger, self._late()))
        run.statistics["families"] = len(self.table)
        return run.solution(evidence)
