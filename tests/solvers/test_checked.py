"""The front door and the budget: nothing unchecked comes out, clocks are kept, Ctrl-C stops."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import dataclass, replace

import numpy as np
import pytest

import solvers
from solvers import Budget, Status, solve
from solvers.checked import stopping_on_interrupt
from solvers.dp import SubsetDP
from solvers.errors import CheckFailed, UnknownSolverError
from solvers.protocol import Progress
from solvers.registry import load_solver
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
    monkeypatch.setattr(solvers.registry, "solver_class", lambda name: Liar)
    with pytest.raises(CheckFailed):
        solve(random_table(np.random.default_rng(1), 6), "liar", how=how)


def test_what_was_checked_is_said():
    checked = solve(random_table(np.random.default_rng(1), 6), "dp").statistics["checked"]
    assert not checked["claimed"]
    checked = solve(random_table(np.random.default_rng(1), 13), "dp").statistics["checked"]
    assert "acyclic" in checked["proved"][0] and "dynamic programming" in checked["claimed"][0]


def test_settings_must_exist():
    with pytest.raises(UnknownSolverError, match="'dp' has no setting 'speed'; it has: threads"):
        load_solver("dp", speed=3)


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
