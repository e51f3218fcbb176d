"""MaxSAT: an independent witness for small or sparse tables.

Variables: x(v, P), one per family that a dual ascent leaves, exactly one per child; b(u, w), "u before w", one per
pair. Hard: a family puts its parents before its child; b has no cyclic triple; every cluster of the dual ascent has a
member with a family disjoint from it (implied by the rest, but cores are found sooner). Soft: not x(v, P), weighted by
the exact integer cost of the family. Core-guided and stratified (RC2 of python-sat), so large weights do not matter;
the weight of the cores found so far is a valid bound at every moment.

Instead of b one may add the clusters of the cycles of each model and go on. Measured (CPU s, order / cycles, both with
the clusters of the ascent): asia .05 / .05, child .04 / .04, sachs 3 / 3 (unstratified; else > 40), insurance 8 / > 40;
without those clusters insurance takes > 40 either way. So the order variables stayed. (With cycles the stratified
solver must not harden clauses by its models' costs: clauses that come later make that wrong, and it then calls a
feasible table unsatisfiable.) Useful up to some 25 variables and a few hundred families that survive the ascent; `cp`
is faster everywhere. It is here because it shares nothing with the others but the ascent and the local search.

Source: A. Ignatiev, A. Morgado, J. Marques-Silva, "RC2: an efficient MaxSAT solver", JSAT 11, 2019; J. Cussens,
"Bayesian network learning by compiling to weighted MAX-SAT", UAI 2008, for the order variables.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pysat.card import CardEnc, EncType
from pysat.formula import WCNF

from optbn_solvers.base.errors import SolverError
from optbn_solvers.base.protocol import Budget, Capabilities
from optbn_solvers.base.run import Method, Run
from optbn_solvers.base.solution import Evidence, Exhausted
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.methods.cores import Cores
from optbn_solvers.relaxation.ascent import dual_ascent, reduced_costs
from optbn_solvers.relaxation.orders import search

LOOK_SECONDS = 0.05
REPORT_SECONDS = 0.5
MOST_VARIABLES = 100  # the transitivity of the order takes n^3 / 3 clauses


@dataclass(frozen=True)
class MaxSat(Method):
    """Core-guided MaxSAT on exact integer weights.

    ascents  random orders of the dual ascent that filters families and finds clusters
    """

    ascents: int = 5
    seed: int = 0
    capabilities: ClassVar = Capabilities("maxsat", largest=MOST_VARIABLES)

    def search(self, run: Run) -> Evidence | None:
        """The best graph; when the budget ends first, that of the local search and the bound of the cores."""
        table, budget = run.table, run.budget
        run.take(search(table, seed=self.seed, start=run.start, budget=budget))
        top, score = run.plain, table.total_units(run.best)
        alive, clusters, raised = self._ascend(table, top - score, budget)
        run.lower(max(score, top - raised))
        encoded = None if run.proved else encode(table, alive, clusters, budget.exhausted)
        if encoded is not None:
            formula, families = encoded
            solved = _Oracle(formula, budget)
            while not solved.wait(LOOK_SECONDS):
                run.lower(max(score, top - solved.cost))
                if budget.exhausted() or (budget.gap > 0 and run.content):
                    solved.stop()
                    break
                run.report("cores", REPORT_SECONDS)
            model = solved.model()
            if model is not None:
                run.settle([families[literal] for literal in model if literal in families])
        run.report("cores")
        run.statistics = {"families": len(alive), "clusters": len(clusters)}
        return Exhausted("maxsat") if run.bound < top else None

    def _ascend(self, table: ScoreTable, gap: int, budget: Budget) -> tuple[NDArray[np.int64], NDArray[np.uint64], int]:
        """(rows that a graph at most `gap` below the best choice can have, clusters, what the bound took off)."""
        rng = np.random.default_rng(self.seed)
        costs = reduced_costs(table.offsets, table.units)
        keep = np.ones(len(table), dtype=np.bool_)
        clusters = np.empty((0, table.masks.shape[1]), dtype=np.uint64)
        raised = 0
        for _ in range(self.ascents):
            if budget.exhausted():
                break
            ascent = dual_ascent(table.offsets, table.masks, costs, rng.permutation(table.n))
            keep &= ascent.costs <= gap - ascent.raised
            clusters = np.unique(np.concatenate([clusters, ascent.clusters]), axis=0)
            raised = max(raised, ascent.raised)
        return np.flatnonzero(keep), clusters, raised


def encode(
    table: ScoreTable, rows: NDArray[np.int64], clusters: NDArray[np.uint64], stopped: Callable[[], bool]
) -> tuple[WCNF, dict[int, int]] | None:
    """(the formula over some rows of the table, {literal: row}); None if stopped, for it may take seconds."""
    formula = WCNF()
    families = dict(enumerate(rows.tolist(), start=1))
    own: list[list[int]] = [[] for _ in range(table.n)]
    parents = {}
    costs = reduced_costs(table.offsets, table.units)
    for literal, row in families.items():
        own[table.children[row]].append(literal)
        parents[literal] = table.parents(row)
        if costs[row]:
            formula.append([-literal], weight=int(costs[row]))
    last = len(families)
    for literals in own:
        formula.append(literals)
        kind = EncType.seqcounter if len(literals) > 6 else EncType.pairwise
        at_most_one = CardEnc.atmost(literals, 1, top_id=last, encoding=kind)
        last = max(last, at_most_one.nv)
        formula.extend(at_most_one.clauses)
    before = [[0] * table.n for _ in range(table.n)]
    for u in range(table.n):
        for w in range(u + 1, table.n):
            last += 1
            before[u][w], before[w][u] = last, -last
    for v, literals in enumerate(own):
        if stopped():
            return None
        formula.extend([[-literal, before[u][v]] for literal in literals for u in parents[literal]])
    for a in range(table.n):  # no cycle a -> b -> c -> a; each cyclic triple once
        if stopped():
            return None
        others = [(b, c) for b in range(a + 1, table.n) for c in range(a + 1, table.n) if b != c]
        formula.extend([[-before[a][b], -before[b][c], -before[c][a]] for b, c in others])
    children, masks = table.children[rows], table.masks[rows]
    words, bits = children // 64, (children % 64).astype(np.uint64)
    for cluster in clusters:
        if stopped():
            return None
        inside = (cluster[words] >> bits & np.uint64(1)).astype(np.bool_)
        formula.append((np.flatnonzero(inside & ~(masks & cluster).any(axis=1)) + 1).tolist())
    return formula, families


class _Oracle:
    """RC2 in a thread of its own, so that the main thread keeps hearing Ctrl-C; what it raises is raised by `model`."""

    def __init__(self, formula: WCNF, budget: Budget) -> None:
        self._solver = Cores(formula)
        self._answer: list[int] | None = None
        self._error: BaseException | None = None
        self._stopped = False
        self._thread = threading.Thread(target=budget.counting(self._compute), daemon=True)
        self._thread.start()

    def _compute(self) -> None:
        try:
            self._answer = self._solver.compute(expect_interrupt=True)
        except BaseException as error:
            self._error = error

    def wait(self, seconds: float) -> bool:
        """Wait some time; is it done?"""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def stop(self) -> None:
        """It may go on for a moment; its cost is no bound any more (a core is counted again)."""
        self._stopped = True
        self._solver.stop()
        self.wait(LOOK_SECONDS)

    @property
    def cost(self) -> int:
        """The weight of the cores found so far: a valid bound until it is stopped."""
        return int(self._solver.cost)

    def model(self) -> list[int] | None:
        """The literals of an optimal model; None if it was stopped before."""
        if self._stopped:
            return None
        if self._error is not None:
            raise self._error
        if self._answer is None:
            raise SolverError("RC2 calls a feasible table unsatisfiable; this is a bug")
        return self._answer
