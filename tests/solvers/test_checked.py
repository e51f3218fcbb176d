"""The front door and the budget: nothing unchecked comes out, clocks are kept, Ctrl-C stops."""

from __future__ import annotations

import os
import re
import signal
import threading
from dataclasses import dataclass, replace
from typing import get_type_hints

import numpy as np
import pytest

import optbn_solvers.front.checked
from optbn_solvers import SOLVERS, Budget, Status, solve
from optbn_solvers.base.errors import CheckFailed, SettingError, UnknownSolverError
from optbn_solvers.base.protocol import Progress, capabilities
from optbn_solvers.front.checked import stopping_on_interrupt
from optbn_solvers.front.registry import FROM_ONE, load_solver, solver_class
from optbn_solvers.methods.dp import SubsetDP
from optbn_solvers.relaxation.root import RootSettings
from tests.naive.solvers import random_table


@dataclass(frozen=True)
class Liar:
    """Finds the optimum and then changes something."""

    how: str = "score"

    def solve(self, table, budget=None, start=None, progress=None):
        found = SubsetDP().solve(table)
        if self.how == "score":
            return replace(found, score=found.score + 1, bound=found.bound + 1)
        if self.how == "bound":
            return replace(found, evidence=None)
        return replace(found, choice=found.choice[::-1])


@pytest.mark.parametrize("how", ["score", "bound", "graph"])
def test_a_lying_solver_is_not_believed(how, monkeypatch):
    monkeypatch.setattr(optbn_solvers.front.registry, "solver_class", lambda name: Liar)
    with pytest.raises(CheckFailed):
        solve(random_table(np.random.default_rng(1), 6), "liar", how=how)


def test_what_was_checked_is_said():
    checked = solve(random_table(np.random.default_rng(1), 6), "dp").statistics["checked"]
    assert not checked["claimed"]
    table = random_table(np.random.default_rng(1), 23)
    found = optbn_solvers.front.checked.checked(table, solve(table, "dp"), Budget(), work=0).statistics["checked"]
    assert "acyclic" in found["proved"][0] and "dynamic programming" in found["claimed"][0]


def test_settings_must_exist():
    with pytest.raises(UnknownSolverError, match="'dp' has no setting 'speed'; it has: threads"):
        load_solver("dp", speed=3)


@pytest.mark.parametrize(
    ("solver", "settings", "message"),
    [
        ("greedy", {"starts": -1}, "'starts' of the solver 'greedy' is -1, expected a whole number from 0"),
        ("cp", {"candidates": "x"}, "'candidates' of the solver 'cp' is 'x'"),
        ("cp", {"candidates": 0}, "expected a whole number from 1"),
        ("ilp", {"starts": 1.5}, "'starts' of the solver 'ilp' is 1.5"),
        ("ilp", {"seed": 2**31}, "expected a whole number from 0 to 2,147,483,647"),
        ("astar", {"greedy": 1}, "expected true or false"),
        ("dp", {"threads": -1}, "'threads' of the solver 'dp' is -1"),
        ("greedy", {"seconds": float("nan")}, "expected a number from 0"),
        ("cp", {"proof": 3}, "expected a text"),
    ],
)
def test_settings_that_cannot_be(solver, settings, message):
    with pytest.raises(SettingError, match=re.escape(message)):
        load_solver(solver, **settings)
    with pytest.raises(ValueError, match="not a number"):
        Budget(wall=float("nan"))


WHOLE_NUMBERS = [
    (name, setting)
    for name in sorted(SOLVERS)
    if capabilities(solver_class(name)).exact
    for setting, hint in get_type_hints(solver_class(name)).items()
    if hint in (int, int | None)
]


@pytest.mark.parametrize("value", [0, 1, 10**5])
@pytest.mark.parametrize(("solver", "setting"), WHOLE_NUMBERS)
def test_the_ends_of_settings(solver, setting, value):
    table = random_table(np.random.default_rng(3), 8, "dense", rows=20)
    if value == 0 and setting in FROM_ONE:
        return
    assert solve(table, solver, Budget(cpu=1), **{setting: value}).score == solve(table, "dp").score


def test_larger_parts_than_the_checker_takes_are_left_to_the_search():
    table = random_table(np.random.default_rng(3), 15, "plain")
    found = solve(table, "ilp", root=RootSettings(largest_part=16))
    assert found.score == solve(table, "dp").score


def test_a_proof_needs_a_folder_before_the_search(tmp_path):
    table = random_table(np.random.default_rng(1), 6)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        solve(table, "ilp", proof=str(tmp_path / "none" / "p"))


def test_ctrl_c_during_the_check_keeps_the_answer(monkeypatch):
    check, calls = optbn_solvers.front.checked.verify, []

    def interrupted(table, solution, proof_checker, out_of_time, work):
        calls.append(out_of_time())
        if len(calls) == 1:
            raise KeyboardInterrupt
        return check(table, solution, proof_checker, out_of_time, work)

    monkeypatch.setattr(optbn_solvers.front.checked, "verify", interrupted)
    table = random_table(np.random.default_rng(1), 9)
    found = solve(table, "ilp")
    assert found.score == SubsetDP().solve(table).score and calls == [False, True]
    assert not found.statistics["checked"]["ended"] and found.statistics["checked"]["claimed"]


def test_the_first_interrupt_stops_and_the_second_raises():
    budget = Budget()
    before = signal.getsignal(signal.SIGINT)
    with stopping_on_interrupt(budget):
        assert not budget.exhausted()
        os.kill(os.getpid(), signal.SIGINT)
        assert budget.stopped and budget.exhausted() and budget.remaining() == 0
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_solving_in_another_thread():
    table = random_table(np.random.default_rng(2), 6)
    found = []
    thread = threading.Thread(target=lambda: found.append(solve(table, "dp")))
    thread.start()
    thread.join()
    assert found[0].status is Status.OPTIMAL


def test_either_clock_runs_out():
    now = {"wall": 100.0, "cpu": 7.0}
    for which in ("wall", "cpu"):
        now.update(wall=100.0, cpu=7.0)
        budget = Budget(**{which: 5.0}, clock=lambda: now["wall"], cpu_clock=lambda: now["cpu"])
        assert budget.remaining() == 5 and not budget.exhausted()
        now[which] += 2
        assert budget.remaining() == 3 and not budget.exhausted()
        now[which] += 3
        assert budget.remaining() == 0 and budget.exhausted() and not budget.stopped


def test_the_gap_of_a_report():
    assert Progress(None, 5.0, 0, 0.0).gap == float("inf")
    assert Progress(-2.0, 5.0, 0, 0.0).gap == 7.0
