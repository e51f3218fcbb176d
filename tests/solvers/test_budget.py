"""Clocks and memory: of one solve, of its threads only, and of the container it runs in."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from optbn_solvers import Budget, Status, solve
from optbn_solvers.base.clock import TELLS_THREADS
from optbn_solvers.base.memory import available_memory, group_limits
from tests.naive.solvers import random_table


def burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


@pytest.mark.parametrize("name", ["wall", "cpu", "gap", "grace"])
@pytest.mark.parametrize("value", [-1, -1e-9, float("-inf"), float("nan")])
def test_limits_that_cannot_be(name, value):
    with pytest.raises(ValueError, match=f"the budget's {name} is"):
        Budget(**{name: value})


@pytest.mark.skipif(not TELLS_THREADS, reason="this system does not tell the time of threads")
def test_other_threads_are_not_counted_unless_they_work_for_the_solve():
    budget = Budget().started()
    other = threading.Thread(target=burn, args=(0.1,))
    other.start()
    other.join()
    assert budget.cpu_elapsed() < 0.05
    with ThreadPoolExecutor(1) as pool:
        pool.submit(budget.counting(burn), 0.1).result()
        assert 0.1 <= budget.cpu_elapsed() < 0.19
        pool.submit(burn, 0.1).result()  # the same thread, for somebody else
    assert budget.cpu_elapsed() < 0.19
    burn(0.05)
    assert budget.cpu_elapsed() >= 0.15


def test_a_solve_starts_its_own_clock_and_a_part_shares_it():
    now = [0.0]
    budget = Budget(wall=5.0, clock=lambda: now[0])
    first = budget.started()
    now[0] = 4.0
    assert first.elapsed() == 4.0 and budget.started().elapsed() == 0.0
    assert first.started() is first and first.within(1.0).started().elapsed() == 4.0
    budget.stop()
    assert first.stopped and first.exhausted()


def test_a_budget_used_twice_gives_the_same_answer_twice():
    table = random_table(np.random.default_rng(1), 12, "dense", rows=40)
    now = [0.0]
    budget = Budget(wall=5.0, clock=lambda: now[0])
    for _ in range(2):
        assert solve(table, "ilp", budget).status is Status.OPTIMAL
        now[0] += 100.0


def test_the_limits_of_control_groups(tmp_path):
    groups, membership = tmp_path / "cgroup", tmp_path / "self"
    inner = groups / "pod" / "box"
    inner.mkdir(parents=True)
    membership.write_text("0::/pod/box\n")
    assert group_limits(groups, membership) == []
    (inner / "memory.max").write_text("max\n")
    (groups / "pod" / "memory.max").write_text("4096\n")
    assert group_limits(groups, membership) == [4096]
    old = groups / "memory" / "docker"
    old.mkdir(parents=True)
    (old / "memory.limit_in_bytes").write_text("2048\n")
    membership.write_text("5:cpu:/x\n4:rdma,memory:/docker\n0::/pod/box\n")
    assert sorted(group_limits(groups, membership)) == [2048, 4096]
    assert group_limits(groups, tmp_path / "none") == []
    assert 0 < Budget().bytes <= available_memory() // 2


@pytest.mark.parametrize("looks", [*range(1, 30, 3), 100, 300])
def test_a_clock_that_runs_out_anywhere_leaves_a_graph(looks):
    table = random_table(np.random.default_rng(0), 12, most=4, rows=100)
    ticks = iter(range(10**9))
    found = solve(table, "auto", budget=Budget(wall=looks, clock=lambda: float(next(ticks))))
    assert found.choice is not None and found.bound >= found.score
