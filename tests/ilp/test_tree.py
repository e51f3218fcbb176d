"""SCIP as the last resort: the traps of its Python interface, each shown to be avoided."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from pyscipopt.scip import PY_SCIP_STAGE as SCIP_STAGE

from optbn_solvers.base.protocol import Budget
from optbn_solvers.methods.ilp import callbacks, tree
from optbn_solvers.methods.ilp.tree import ScipRun, TreeSettings, solve_tree
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.ledger import Ledger, WrongProof
from optbn_solvers.relaxation.orders import FamilyIndex, search
from optbn_solvers.relaxation.program import Relaxation
from optbn_solvers.relaxation.rows import Cluster
from tests.naive.solvers import KINDS, optimum, random_table, values_of_subsets


def bare(table, known=None) -> tuple[Ledger, Relaxation, FamilyIndex]:
    """A ledger with a poor graph, and an LP without rows: all the work is left to SCIP."""
    rows = [table.find(v, []) for v in range(table.n)]
    if None in rows:  # an empty set so bad that the table left it out
        rows = search(table, starts=1, kicks=0)
    poor = np.array(rows, dtype=np.int64)
    families = Families.of(table, np.arange(len(table)))
    ledger = Ledger(table, poor, families, known)
    costs = np.zeros(len(table), dtype=np.int64)
    return ledger, Relaxation(families, np.arange(len(table)), costs, float(ledger.gap)), FamilyIndex.of(table)


def solve(table, budget=None, known=None, report=lambda bound, nodes: None, **settings):
    ledger, lp, index = bare(table, known)
    rng = np.random.default_rng(0)
    result = solve_tree(ledger, lp, index, rng, budget or Budget(), TreeSettings(**settings), report)
    return ledger, result


def hard_table(n: int = 24):
    """Enough ties and cycles that SCIP is busy for a while."""
    return random_table(np.random.default_rng(1), n, "dense", rows=40)


def test_it_finds_the_optimum_with_no_rows_to_begin_with(monkeypatch):
    monkeypatch.setattr(callbacks, "polish", lambda *_: False)
    rng = np.random.default_rng(1)
    for case in range(24):
        table = random_table(rng, 3 + case % 5, ["plain", "ties", "signs", "dense", "huge", "tiny"][case % 6])
        best = optimum(table) if table.n <= 5 else values_of_subsets(table)[(1 << table.n) - 1]
        ledger, result = solve(table)
        assert result.complete
        assert best - result.tolerance <= ledger.score <= best


def test_without_separation_its_handler_still_rejects_cycles(monkeypatch):
    """needscons=False, locks and enforcement: no cut is ever offered, and no cyclic graph comes back."""
    monkeypatch.setattr(callbacks, "polish", lambda *_: False)
    monkeypatch.setattr(callbacks, "violated_clusters", lambda *_, **__: {})
    monkeypatch.setattr(callbacks.LocalCuts, "round", lambda *_: [])
    rng = np.random.default_rng(2)
    for case in range(12):
        table = random_table(rng, 5, KINDS[case % 3])
        ledger, result = solve(table)
        assert result.complete
        assert optimum(table) - result.tolerance <= ledger.score <= optimum(table)


def test_presolve_does_not_cut_off_solutions_behind_the_locks(monkeypatch):
    monkeypatch.setattr(callbacks, "polish", lambda *_: False)
    rng = np.random.default_rng(3)
    parameters = tuple(p for p in TreeSettings().parameters if not p[0].startswith("presolving"))
    for case in range(12):
        table = random_table(rng, 5, KINDS[case % 3])
        ledger, result = solve(table, parameters=parameters)
        assert result.complete
        assert optimum(table) - result.tolerance <= ledger.score


def test_symmetry_handling_and_threads_are_off():
    ledger, lp, index = bare(random_table(np.random.default_rng(0), 4))
    run = ScipRun(ledger, lp, index, np.random.default_rng(0), TreeSettings(), lambda *_: None, 0, Budget())
    assert run.model.getParam("misc/usesymmetry") == 0
    assert run.model.getParam("parallel/maxnthreads") == 1


class OddError(Exception):
    pass


@pytest.mark.parametrize(
    ("module", "within"), [(callbacks, "violated_clusters"), (callbacks, "select_rows"), (tree, "stuck_cluster")]
)
def test_an_exception_in_a_callback_keeps_its_type(monkeypatch, module, within):
    def fail(*_, **__):
        raise OddError("from inside")

    monkeypatch.setattr(module, within, fail)
    with pytest.raises(OddError, match="from inside"):
        solve(hard_table(8))


def test_an_exception_in_the_report_keeps_its_type():
    def fail(bound, nodes):
        raise OddError("from the report")

    with pytest.raises(OddError, match="from the report"):
        solve(hard_table(12), report=fail)


def test_it_stops_within_half_a_second_of_being_asked():
    table = hard_table()
    solve(table, Budget(wall=0.2))  # warm
    budget = Budget()
    asked = []
    threading.Timer(0.6, lambda: (asked.append(time.monotonic()), budget.stop())).start()
    ledger, result = solve(table, budget)
    if asked:  # else it was done before
        assert time.monotonic() - asked[0] < 2.0  # half a second of work; the machine may be busy
        assert not result.complete
    assert ledger.bound >= ledger.score


@pytest.fixture
def heard():
    """Ctrl-C is, also where the tests were started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("how", ["budget", "Ctrl-C"])
def test_a_stop_before_scip_begins_is_not_lost(monkeypatch, heard, how):
    """SCIP forgets it; it used to be said once, and the search went on."""
    optimize, budget, told = ScipRun.optimize, Budget(), threading.Event()

    def late(run):
        if how == "budget":
            budget.stop()
        else:
            _thread.interrupt_main()
        told.wait(1.0)
        optimize(run)

    interrupt = ScipRun.interrupt
    monkeypatch.setattr(ScipRun, "optimize", late)
    monkeypatch.setattr(ScipRun, "interrupt", lambda run: (interrupt(run), told.set()))
    if how == "budget":
        _, result = solve(hard_table(40), budget)
        assert not result.complete
    else:
        with pytest.raises(KeyboardInterrupt):
            solve(hard_table(40), budget)


def test_a_stop_that_scip_refuses_is_no_error():
    """In the moment before it searches; the stop is repeated until it works."""

    class Beginning:
        stage, asked = SCIP_STAGE.INITSOLVE, 0

        def getStage(self):
            return self.stage

        def interruptSolve(self):
            self.asked += 1
            raise Exception("SCIP: method cannot be called at this time in solution process!")

    model = Beginning()
    ScipRun.interrupt(SimpleNamespace(model=model))
    assert not model.asked
    model.stage = SCIP_STAGE.SOLVING  # by the time that the stage was asked for
    ScipRun.interrupt(SimpleNamespace(model=model))
    assert model.asked == 1


def test_ctrl_c_gets_through_while_scip_works(heard):
    table = hard_table(40)
    threading.Timer(0.5, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        solve(table)
        time.sleep(2)  # only if it was done before half a second had passed


def test_reported_bounds_hold(monkeypatch):
    monkeypatch.setattr(callbacks, "polish", lambda *_: False)
    rng = np.random.default_rng(5)
    for _ in range(6):
        table = random_table(rng, 7, "dense", rows=30)
        best = values_of_subsets(table)[(1 << 7) - 1]
        bounds = []
        ledger, _ = solve(table, report=lambda bound, nodes, to=bounds: to.append(bound))
        assert all(bound >= best for bound in bounds)
        assert ledger.score <= best


def test_a_false_row_is_noticed_when_the_optimum_is_known(monkeypatch):
    """Debug mode: rows and pruned nodes are checked against a known optimum."""
    monkeypatch.setattr(callbacks, "polish", lambda *_: False)
    table = random_table(np.random.default_rng(6), 5)
    ledger, _ = solve(table)
    known = ledger.rows.tolist()
    solve(table, known=known)

    class TooStrong(Cluster):
        @property
        def rhs(self) -> int:
            return 0

    everything = TooStrong(tuple(range(5)))
    monkeypatch.setattr(callbacks, "violated_clusters", lambda *_, **__: {everything: 1.0})
    with pytest.raises(WrongProof):
        solve(table, known=known)
