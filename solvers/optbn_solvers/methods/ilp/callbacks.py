"""What SCIP calls while it searches the tree (ilp.tree): acyclicity as a constraint handler, and a watch on its news.

At the root the handler separates clusters and local cuts in every round, in the tree at every `frequency`-th node, and
it rejects cyclic integral points with a cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pyscipopt import Conshdlr, Eventhdlr
from pyscipopt.scip import PY_SCIP_EVENTTYPE as SCIP_EVENTTYPE
from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT

from optbn_solvers.relaxation.ledger import WrongProof
from optbn_solvers.relaxation.localcuts import LocalCuts
from optbn_solvers.relaxation.polish import polish
from optbn_solvers.relaxation.root import select_rows
from optbn_solvers.relaxation.rows import Row
from optbn_solvers.relaxation.separate import violated_clusters

if TYPE_CHECKING:
    from optbn_solvers.methods.ilp.tree import ScipRun


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


class Acyclic(Conshdlr):
    """Acyclicity as SCIP sees it."""

    def __init__(self, run: ScipRun) -> None:
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


class Watch(Eventhdlr):
    """Takes every new graph to the ledger and every better bound to the report."""

    EVENTS = (SCIP_EVENTTYPE.BESTSOLFOUND, SCIP_EVENTTYPE.NODEFEASIBLE, SCIP_EVENTTYPE.NODEBRANCHED)
    PRUNED = SCIP_EVENTTYPE.NODEINFEASIBLE

    def __init__(self, run: ScipRun) -> None:
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
