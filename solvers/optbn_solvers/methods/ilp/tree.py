"""The last resort: SCIP on the families that survive, when exact branching (ilp.branch) has used up its nodes.

One binary per family, one equation per child, the root's rows. Costs are (incumbent's units at the child - units), in
the root's scale, so that the incumbent is 0 and SCIP's relative tolerances act on small numbers. Acyclicity is a
constraint handler of our own: at the root it separates clusters and local cuts in every round, in the tree at every
`frequency`-th node, and it rejects cyclic integral points with a cluster. What SCIP proves, it proves in floating
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
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyscipopt import Conshdlr, Eventhdlr, Model, quicksum
from pyscipopt.scip import PY_SCIP_EVENTTYPE as SCIP_EVENTTYPE
from pyscipopt.scip import PY_SCIP_PARAMSETTING as SCIP_PARAMSETTING
from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT

from optbn_solvers.base.protocol import Budget
from optbn_solvers.relaxation.ledger import Ledger, WrongProof
from optbn_solvers.relaxation.localcuts import LocalCuts
from optbn_solvers.relaxation.orders import FamilyIndex
from optbn_solvers.relaxation.polish import polish
from optbn_solvers.relaxation.program import Relaxation
from optbn_solvers.relaxation.root import select_rows
from optbn_solvers.relaxation.rows import Entries, Row
from optbn_solvers.relaxation.separate import Point, stuck_cluster, violated_clusters

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
    run = _Run(ledger, relaxation, index, rng, settings, report, seed, budget)
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
class _Run:
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
            _Acyclic(self),
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
        model.includeEventhdlr(_Watch(self), "watch", "bounds and graphs as they come")
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
        """Repeat it until it works: SCIP forgets a stop that comes before it begins or while it presolves."""
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


def _guarded(safe: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Run a callback; on an exception keep it, stop SCIP and return `safe`."""

    def wrap(callback: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(self: Any, *arguments: Any, **named: Any) -> Any:
            if self.run.error is not None:
                return safe
            try:
                return callback(self, *arguments, **named)
            except BaseException as error:
                self.run.fail(error)
                return safe

        return guarded

    return wrap


class _Acyclic(Conshdlr):
    """Acyclicity as SCIP sees it."""

    def __init__(self, run: _Run) -> None:
        self.run = run
        self.local = LocalCuts(run.rng)
        self.local_in_tree = LocalCuts(run.rng, work=100.0, most=20, few=4)

    @_guarded({"result": SCIP_RESULT.DIDNOTRUN})
    def conssepalp(self, constraints: Any, useful: int) -> dict[str, Any]:
        run, model = self.run, self.run.model
        deep = model.getDepth() > 0
        if deep and model.getNNodes() % run.settings.frequency:
            return {"result": SCIP_RESULT.DIDNOTRUN}
        point = run.point(None)
        if polish(run.ledger, run.index, point, run.rng, 2):
            run.add_graph(trial=True)
        clusters = violated_clusters(point, run.rng, most_seeds=150 if deep else 400)
        rows: list[Row] = [*clusters, *run.ledger.rule_rows()]
        if max(clusters.values(), default=0.0) < 0.2 or len(clusters) < 20:
            rows += (self.local_in_tree if deep else self.local).round(point, run.budget)
        chosen = select_rows(point, rows, run.settings.most_rows, run.settings.most_parallel)
        run.ledger.check_rows([row for row, _ in chosen])
        for row, entries in chosen:
            if run.add_row(row, entries):
                return {"result": SCIP_RESULT.CUTOFF}
        return {"result": SCIP_RESULT.SEPARATED if chosen else SCIP_RESULT.DIDNOTFIND}

    @_guarded({"result": SCIP_RESULT.INFEASIBLE})
    def consenfolp(self, constraints: Any, useful: int, infeasible: bool) -> dict[str, Any]:
        run = self.run
        point = run.point(None)
        wrong = run.wrong(point)
        if not wrong:
            return {"result": SCIP_RESULT.FEASIBLE}
        rows: list[Row] = [*wrong, *violated_clusters(point, run.rng, most_seeds=150)]
        chosen = select_rows(point, rows, run.settings.most_rows, run.settings.most_parallel)
        run.ledger.check_rows([row for row, _ in chosen])
        for row, entries in chosen:
            if run.add_row(row, entries):
                return {"result": SCIP_RESULT.CUTOFF}
        return {"result": SCIP_RESULT.SEPARATED}

    @_guarded({"result": SCIP_RESULT.INFEASIBLE})
    def consenfops(self, constraints: Any, useful: int, infeasible: bool, objective: bool) -> dict[str, Any]:
        return {"result": self._judge(None)}

    @_guarded({"result": SCIP_RESULT.INFEASIBLE})
    def conscheck(self, constraints: Any, solution: Any, *more: Any, **named: Any) -> dict[str, Any]:
        return {"result": self._judge(solution)}

    def _judge(self, solution: Any) -> Any:
        return SCIP_RESULT.INFEASIBLE if self.run.wrong(self.run.point(solution)) else SCIP_RESULT.FEASIBLE

    @_guarded(None)
    def conslock(self, constraint: Any, locktype: Any, positive: int, negative: int) -> None:
        for variable in self.run.variables:
            both = positive + negative  # constraints may also demand arcs
            self.run.model.addVarLocksType(
                variable,
                locktype,
                negative if self.run.ledger.rules is None else both,
                positive if self.run.ledger.rules is None else both,
            )


class _Watch(Eventhdlr):
    """Takes every new graph to the ledger and every better bound to the report."""

    EVENTS = (SCIP_EVENTTYPE.BESTSOLFOUND, SCIP_EVENTTYPE.NODEFEASIBLE, SCIP_EVENTTYPE.NODEBRANCHED)
    PRUNED = SCIP_EVENTTYPE.NODEINFEASIBLE

    def __init__(self, run: _Run) -> None:
        self.run = run
        self.reported = float("inf")

    @_guarded(None)
    def eventinit(self) -> None:
        for event in (*self.EVENTS, self.PRUNED):
            self.run.model.catchEvent(event, self)

    @_guarded(None)
    def eventexit(self) -> None:
        for event in (*self.EVENTS, self.PRUNED):
            self.run.model.dropEvent(event, self)

    @_guarded(None)
    def eventexec(self, event: Any) -> None:
        run, model = self.run, self.run.model
        if event.getType() == SCIP_EVENTTYPE.BESTSOLFOUND:
            point = run.point(model.getBestSol())
            which = point.which[point.x > 0.5]
            if len(which) == run.ledger.families.n:
                run.ledger.offer(run.ledger.families.rows[np.sort(which)])
        elif event.getType() == self.PRUNED:
            self._check_pruned()
        above = run.units_above()
        if above < self.reported:
            self.reported = above
            run.report(run.ledger.score + int(np.ceil(above)), model.getNNodes())

    def _check_pruned(self) -> None:
        """Debugging: the node in hand, found to hold nothing better, does not hold the known optimum."""
        ledger = self.run.ledger
        if ledger.known is None or ledger.table.total_units(ledger.known) <= ledger.score:
            return
        at = ledger.families.positions(np.array(ledger.known, dtype=np.int64))
        places: NDArray[np.int64] = self.run.place[at]
        if all(self.run.model.getTransformedVar(self.run.variables[j]).getUbLocal() > 0.5 for j in places):
            raise WrongProof("a pruned node holds the known optimum")
