"""The last resort: SCIP on the families that survive, when exact branching (ilp.branch) has used up its nodes.

One binary per family, one equation per child, the root's rows. Costs are (incumbent's units at the child - units), in
the root's scale, so that the incumbent is 0 and SCIP's relative tolerances act on small numbers. Acyclicity is a
constraint handler of our own (ilp.callbacks). What SCIP proves, it proves in floating
point: an answer from here is evidence `Exhausted` with a tolerance. Whatever it says, graphs go through the ledger.

What is easy to get wrong, each with a test in tests/ilp/test_tree.py:
  - symmetry handling stays off: SCIP sees symmetries of the relaxation, which its lazy constraint does not have, and
    has cut off optima that way; concurrent solving and copies lose the handler and stay off too
  - needscons=False, or a handler without constraint objects is never called; the locks say that raising any variable
    may break acyclicity, or presolve takes it for unconstrained
  - an exception in a callback would lose its type: it is kept, SCIP is interrupted, and it is raised afterwards
  - SCIP runs without the interpreter lock in a thread of its own, so that clocks and Ctrl-C are served meanwhile
  - default strong branching takes most of the time: few candidates, few iterations (figures in README.md)
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pyscipopt import Model, quicksum
from pyscipopt.scip import PY_SCIP_PARAMSETTING as SCIP_PARAMSETTING
from pyscipopt.scip import PY_SCIP_STAGE as SCIP_STAGE

from optbn_solvers.base.protocol import Budget
from optbn_solvers.methods.ilp.callbacks import Acyclic, Watch
from optbn_solvers.relaxation.ledger import Ledger, WrongProof
from optbn_solvers.relaxation.orders import FamilyIndex
from optbn_solvers.relaxation.program import Relaxation
from optbn_solvers.relaxation.rows import Entries, Row
from optbn_solvers.relaxation.separate import Point, stuck_cluster

TOLERANCE = 1e-6  # SCIP's, on the reduced cost of one family per child, in the LP's scale
CHECK_EVERY = 0.05  # seconds between looks at the budget


@dataclass(frozen=True)
class TreeSettings:
    """How SCIP goes about it (measured: solvers/optbn_solvers/methods/ilp/README.md)."""

    frequency: int = 10  # nodes in the tree between separations
    most_rows: int = 40
    most_parallel: float = 0.9
    parameters: tuple[tuple[str, Any], ...] = (
        ("misc/usesymmetry", 0),
        ("presolving/maxrounds", 0),
        ("presolving/maxrestarts", 0),
        ("conflict/enable", False),
        ("branching/relpscost/initcand", 8),
        ("branching/relpscost/maxlookahead", 1),
        ("branching/relpscost/inititer", 20),
        ("nodeselection/childsel", "u"),
        ("timing/clocktype", 1),
        ("parallel/maxnthreads", 1),
    )


@dataclass(frozen=True)
class TreeResult:
    """What SCIP said: whether it searched everything, within which tolerance (units), and its nodes."""

    complete: bool
    tolerance: float
    nodes: int


def solve_tree(
    ledger: Ledger,
    relaxation: Relaxation,
    index: FamilyIndex,
    rng: np.random.Generator,
    budget: Budget,
    settings: TreeSettings,
    report: Callable[[int, int], None],
    seed: int = 0,
) -> TreeResult:
    """Run SCIP until done or out of budget. `report(bound in units, nodes)` is called when its bound improves."""
    run = ScipRun(ledger, relaxation, index, rng, settings, report, seed, budget)
    thread = threading.Thread(target=budget.counting(run.optimize), daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(CHECK_EVERY)
            if budget.exhausted():
                run.interrupt()
    except BaseException:
        while thread.is_alive():
            run.interrupt()
            thread.join(CHECK_EVERY)
        raise
    if run.error is not None:
        raise run.error
    return run.result()


@dataclass(eq=False)
class ScipRun:
    """The model and what its callbacks share."""

    ledger: Ledger
    relaxation: Relaxation
    index: FamilyIndex
    rng: np.random.Generator
    settings: TreeSettings
    report: Callable[[int, int], None]
    seed: int
    budget: Budget
    error: BaseException | None = None
    model: Model = field(init=False)

    def __post_init__(self) -> None:
        ledger, families = self.ledger, self.ledger.families
        self.scale = self.relaxation.scale
        self.base = ledger.score
        keep = ledger.alive.copy()
        keep[families.positions(ledger.rows)] = True
        self.used = np.flatnonzero(keep)
        self.place = np.full(len(families), -1, dtype=np.int64)
        self.place[self.used] = np.arange(len(self.used))
        own = ledger.table.units[ledger.rows][families.children[self.used]]
        costs = (own - families.units[self.used]) / self.scale
        model = self.model = Model("tree")
        model.hideOutput()
        self.variables = [model.addVar(vtype="B", obj=cost) for cost in costs.tolist()]
        children = families.children[self.used]
        for child in range(families.n):
            model.addCons(quicksum(self.variables[j] for j in np.flatnonzero(children == child)) == 1)
        for row, entries in zip(self.relaxation.rows, self.relaxation.entries, strict=True):
            terms = self._terms(entries)
            if len({int(children[j]) for j, _ in terms}) > 1:
                left = quicksum(a * self.variables[j] for j, a in terms)
                model.addCons(left <= row.rhs, initial=True, removable=True)
        model.includeConshdlr(
            Acyclic(self),
            "acyclic",
            "one family per child, acyclic",
            sepapriority=1_000_000,
            enfopriority=-10,
            chckpriority=-10,
            sepafreq=1,
            propfreq=-1,
            eagerfreq=-1,
            maxprerounds=0,
            needscons=False,
        )
        model.includeEventhdlr(Watch(self), "watch", "bounds and graphs as they come")
        model.setHeuristics(SCIP_PARAMSETTING.OFF)
        model.setParam("randomization/randomseedshift", self.seed)
        for name, value in self.settings.parameters:
            model.setParam(name, value)
        self.add_graph()

    def optimize(self) -> None:
        """The thread's work."""
        try:
            self.model.optimizeNogil()
        except BaseException as error:
            self.fail(error)

    def interrupt(self) -> None:
        """Repeat it until it works: SCIP forgets a stop that comes before it begins or while it presolves, and refuses
        one in the moment before it searches, with an error on stderr besides."""
        if self.model.getStage() != SCIP_STAGE.INITSOLVE:
            with suppress(Exception):  # that moment came in between; pyscipopt has no other class for it
                self.model.interruptSolve()

    def fail(self, error: BaseException) -> None:
        """Keep the first exception and stop."""
        if self.error is None:
            self.error = error
        self.interrupt()

    def result(self) -> TreeResult:
        model, ledger = self.model, self.ledger
        complete = model.getStatus() in ("optimal", "infeasible")
        known = ledger.known
        if complete and known is not None and ledger.table.total_units(known) > ledger.score + self.tolerance():
            raise WrongProof("the tree was searched without finding the known optimum")
        return TreeResult(complete, self.tolerance(), model.getNTotalNodes())

    def tolerance(self) -> float:
        """In units."""
        return TOLERANCE * self.scale * self.ledger.families.n

    def units_above(self) -> float:
        """SCIP's bound, in units above the ledger's score (infinite before the first)."""
        below = -self.model.getDualbound() * self.scale
        return float("inf") if below > 1e18 else max(0.0, below + self.tolerance() + self.base - self.ledger.score)

    def point(self, solution: Any) -> Point:
        """A solution (None: the LP's) as a point."""
        value = self.model.getSolVal
        x = np.array([value(solution, variable) for variable in self.variables])
        on = np.flatnonzero(x > 1e-7)
        return Point(self.ledger.families, self.used[on], x[on])

    def add_row(self, row: Row, entries: Entries) -> bool:
        """Add a cut; returns whether it makes the node infeasible."""
        model = self.model
        cut = model.createEmptyRowUnspec("cut", lhs=None, rhs=float(row.rhs), local=False, removable=True)
        model.cacheRowExtensions(cut)
        for j, a in self._terms(entries):
            model.addVarToRow(cut, self.variables[j], a)
        model.flushRowExtensions(cut)
        infeasible = bool(model.addCut(cut, forcecut=True))
        model.addPoolCut(cut)
        model.releaseRow(cut)
        return infeasible

    def add_graph(self, trial: bool = False) -> None:
        """Tell SCIP the ledger's graph."""
        at = self.ledger.families.positions(self.ledger.rows)
        if (at < 0).any() or (self.place[at] < 0).any():
            return
        model = self.model
        solution = model.createSol()
        for j in self.place[at]:
            model.setSolVal(solution, self.variables[j], 1.0)
        if trial:
            model.trySol(solution)
        else:
            model.addSol(solution)

    def wrong(self, point: Point) -> list[Row]:
        """Rows that an integral point violates: it has a cycle or breaks constraints (none if it is not integral)."""
        whole = Point(point.families, point.which[point.x > 0.5], point.x[point.x > 0.5])
        if len(whole.which) < point.families.n:
            return []
        stuck = stuck_cluster(whole)
        if stuck is not None:
            return [stuck]
        rules = self.ledger.rules
        return [] if rules is None else list(rules.broken(point.families.rows[np.sort(whole.which)]))

    def _terms(self, entries: Entries) -> list[tuple[int, float]]:
        index, value = entries
        at = self.place[index]
        present = at >= 0
        return list(zip(at[present].tolist(), value[present].astype(float).tolist(), strict=True))
