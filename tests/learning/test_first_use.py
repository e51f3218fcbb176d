"""What is compiled on the first use of a machine does not count, and is said."""

import io
import time

import numba
import numpy as np
import pytest

import optbn
from optbn.learning import learn as learning
from optbn.learning.search_log import SearchLog
from optbn_solvers import Budget
from optbn_solvers.base.clock import Compiling, compiling, working


def test_limits_stand_still_while_kernels_are_compiled():
    budget, wall, counted = Budget(wall=60.0).started(), time.monotonic(), working()

    @numba.njit  # of which nothing is kept on disk
    def slow_to_compile(x):
        total = 0.0
        for i in range(x):
            total += np.sqrt(i) + np.sin(i) * np.arange(x).sum()
        return total

    before = compiling.kernels
    slow_to_compile(3)
    wall, counted = time.monotonic() - wall, working() - counted
    assert compiling.kernels > before
    assert budget.elapsed() < wall / 2 and counted < wall / 2


def test_making_within_making_counts_once():
    clock = Compiling()
    clock.begin()
    clock.begin()
    time.sleep(0.02)
    clock.end()
    assert clock.seconds >= 0.02
    clock.end()
    done = clock.seconds
    time.sleep(0.01)
    assert clock.seconds == done


def test_the_first_use_is_told_once_and_costs_no_quality(monkeypatch):
    data = optbn.load_network("asia").sample(300, 1)
    expected = optbn.learn(data, score="bic", smoother="mle", max_parents=2, time_limit=5.0)
    real = learning.prepare

    def slow(job, solver, smoother):
        job.watcher.compiling(None)
        compiling.begin()
        time.sleep(1.0)
        compiling.end()
        job.watcher.compiling(1.0)
        real(job, solver, smoother)

    monkeypatch.setattr(learning, "prepare", slow)
    log = SearchLog(io.StringIO())
    found = optbn.learn(data, score="bic", smoother="mle", max_parents=2, time_limit=1.0, watcher=log)
    assert found.report.outcome.restrictions == expected.report.outcome.restrictions
    assert found.network.structure == expected.network.structure
    assert log.stream.getvalue().count("compiled for the first use on this machine: 1.0 s") == 1
    (phase,) = [phase for phase in found.report.phases if phase.name == "compile"]
    assert phase.wall == pytest.approx(1.0, abs=0.2)
