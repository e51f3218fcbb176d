"""Work in threads: answers and errors do not depend on who is done first."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import optbn
from optbn.base.errors import OptbnError
from optbn.base.threads import spread
from optbn_solvers.base.clock import compiling


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_the_first_error_in_order_is_the_one_that_is_raised(jobs):
    done = []

    def work(task: int) -> int:
        time.sleep(0.05 / (1 + task))  # later ones fail sooner
        if task in (2, 3, 4):
            raise ValueError(task)
        done.append(task)
        return task

    with pytest.raises(ValueError, match="2"):
        list(spread(range(100), work, jobs))
    assert {0, 1} <= set(done) and len(done) < 10


def test_results_come_as_they_are_done_and_all_of_them():
    gate = threading.Event()

    def work(task: int) -> int:
        if task == 0:
            gate.wait(5)
        elif task == 3:
            gate.set()
        return task

    found = list(spread(range(20), work, 2))
    assert sorted(found) == list(range(20)) and found[0] != 0


def test_collinear_columns_are_named_the_same_every_time():
    x = np.random.default_rng(0).normal(size=100)
    data = optbn.Dataset.from_arrays({"a": x, "b": 2 * x, "c": x**2, "d": -x})
    messages = set()
    for jobs in (1, 2, 3) * 5:
        with pytest.raises(OptbnError) as told:
            optbn.score_table(data, "bic", jobs=jobs)
        messages.add(str(told.value))
    assert len(messages) == 1, messages


@pytest.mark.parametrize("compiles", [True, False])
def test_an_interrupt_waits_for_work_but_not_for_what_compiles(compiles):
    begun, go, over, done = threading.Event(), threading.Event(), threading.Event(), []

    def work(task: int) -> int:
        if compiles:
            compiling.begin()
        begun.set()
        go.wait(0.5)
        if compiles:
            compiling.end()
        done.append(task)
        over.set()
        return task

    def tasks():
        yield 1
        begun.wait(5)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(spread(tasks(), work, 2))
    assert done == ([] if compiles else [1])
    go.set()
    over.wait(5)
