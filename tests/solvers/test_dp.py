"""Subset dynamic programming: its kernel against a recursion on sets, threads, memory, stopping."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import optbn_solvers.methods.dp
from optbn_solvers import Budget, Status, solve
from optbn_solvers.base.errors import CheckFailed, TooLargeError
from optbn_solvers.base.files import read_table
from optbn_solvers.base.solution import Exhausted, RowBound
from optbn_solvers.methods.dp import SubsetDP
from optbn_solvers.relaxation.orders import search
from optbn_solvers.verify import verify
from tests.naive.solvers import optimum_by_subsets, random_table, values_of_subsets
from tests.paths import shared_neighbour


@pytest.mark.twin
@pytest.mark.parametrize(("low", "mid"), [(13, 5), (3, 2), (1, 1), (6, 1), (7, 0)])
def test_every_value_of_the_recurrence(low, mid, monkeypatch):
    """However the variables are split into low, mid and top, all 2^n values are those of the slow recursion."""
    monkeypatch.setattr(optbn_solvers.methods.dp, "LOW", low)
    monkeypatch.setattr(optbn_solvers.methods.dp, "MID", mid)
    rng = np.random.default_rng(low)
    for n, kind in ((1, "plain"), (3, "bare"), (6, "dense"), (9, "bare"), (9, "ties")):
        table = random_table(rng, n, kind, rows=15)
        sweep = optbn_solvers.methods.dp._Sweep(table, threads=1)
        for _ in sweep.slices(Budget()):
            pass
        wanted = values_of_subsets(table)
        got = {mask: value for mask, value in enumerate(sweep.f.tolist()) if value > -np.inf}
        assert got == wanted


def test_threads_do_not_change_the_answer(monkeypatch):
    monkeypatch.setattr(optbn_solvers.methods.dp, "ALONE", 3)
    monkeypatch.setattr(optbn_solvers.methods.dp, "LOW", 4)
    monkeypatch.setattr(optbn_solvers.methods.dp, "MID", 2)
    table = random_table(np.random.default_rng(1), 11, "dense")
    solutions = [solve(table, "dp", threads=threads) for threads in (1, 3)]
    assert solutions[0].choice == solutions[1].choice
    assert table.total_units(solutions[0].choice) == optimum_by_subsets(table)


def test_small_tables_come_with_a_proof():
    rng = np.random.default_rng(4)
    for n, kind in ((1, "plain"), (4, "bare"), (6, "bare"), (9, "dense"), (12, "dense")):
        table = random_table(rng, n, kind)
        if optimum_by_subsets(table) is None:
            continue
        solution = SubsetDP().solve(table)
        assert verify(table, solution).optimal
        low = replace(solution.evidence.stages[0][0], rhs=solution.evidence.stages[0][0].rhs - 1)
        with pytest.raises(CheckFailed, match="but an acyclic graph reaches"):
            verify(table, replace(solution, evidence=RowBound(((low,),))))
    assert isinstance(SubsetDP().solve(random_table(rng, 13)).evidence, Exhausted)


def test_too_large_says_what_it_needs():
    table = random_table(np.random.default_rng(2), 20)
    with pytest.raises(TooLargeError, match=r"20 variables need 8 x 2\^20 bytes; at most 17 variables fit"):
        SubsetDP().solve(table, Budget(memory=2**20))
    with pytest.raises(TooLargeError):
        SubsetDP().solve(random_table(np.random.default_rng(2), 63))


def test_28_variables_fit_into_8_gigabytes():
    optbn_solvers.methods.dp.check_memory(28, 8, Budget(memory=8 * 2**30))


def test_stopping_in_the_middle_keeps_a_graph_and_a_bound():
    table = random_table(np.random.default_rng(3), 22, "dense")
    start = search(table, starts=1, kicks=1)
    looks = iter(range(10**6))
    budget = Budget(wall=8, clock=lambda: float(next(looks)))
    solution = SubsetDP(threads=2).solve(table, budget, start=start)
    assert solution.choice == tuple(start)
    assert solution.status is Status.FEASIBLE and 0 < solution.statistics["subsets"] < 2**22
    best = SubsetDP().solve(table)
    assert best.status is Status.OPTIMAL and solution.score <= best.score <= solution.bound


def test_the_shared_instances():
    folder = shared_neighbour("golden", "solver")
    optima = json.loads((folder / "optima.json").read_text())
    for name, entry in optima.items():
        if entry["n"] <= 20:
            solution = solve(read_table(folder / f"{name}.jkl"), "dp")
            assert solution.status is Status.OPTIMAL
            assert solution.score == pytest.approx(entry["optimum"], abs=1e-6)
