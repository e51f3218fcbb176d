"""MaxSAT beyond what every solver promises: bounds when it is stopped, and what it refuses."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import optbn
from optbn_solvers import Budget, Status
from optbn_solvers.base.errors import SolverError
from optbn_solvers.methods.maxsat import MaxSat, encode
from optbn_solvers.search.solver import ClusterSearch
from tests.naive.solvers import optimum_by_subsets, random_table


def test_bounds_hold_whenever_it_is_stopped():
    """A clock that jumps: however many looks it gets, bound >= optimum >= score."""
    table = random_table(np.random.default_rng(1), 13, "dense", most=4, rows=30)
    best = ClusterSearch().solve(table).score
    stopped = 0
    for looks in (10, 25, 50):
        ticks = iter(range(10**9))
        seen = []
        budget = Budget(wall=looks, clock=lambda ticks=ticks: next(ticks))
        solution = MaxSat().solve(table, budget, progress=seen.append)
        assert solution.bound >= best >= solution.score
        assert all(report.bound >= best >= report.score for report in seen)
        stopped += solution.status is Status.FEASIBLE
    assert stopped


def test_the_formula_alone():
    """Without what the ascent adds, the formula's optimum is the table's."""
    from pysat.examples.rc2 import RC2Stratified

    rng = np.random.default_rng(2)
    for _ in range(20):
        table = random_table(rng, 5, "plain", rows=8)
        formula, families = encode(table, np.arange(len(table)), table.masks[:0], lambda: False)
        model = RC2Stratified(formula, adapt=True, minz=True).compute()
        rows = [families[literal] for literal in model if literal in families]
        assert table.total_units(rows) == optimum_by_subsets(table)


def test_levels_are_those_of_rc2():
    """Of soft clauses with all kinds of weights, from every level on."""
    from pysat.examples.rc2 import RC2Stratified
    from pysat.formula import WCNF

    from optbn_solvers.methods.cores import Cores

    rng = np.random.default_rng(4)
    for highest in (1, 3, 40, 10**6, 2**60):
        for _ in range(20):
            weights = rng.integers(1, highest + 1, rng.integers(1, 40)) ** int(rng.integers(1, 3))
            formula = WCNF()
            for literal, weight in enumerate(weights.tolist(), start=1):
                formula.append([literal], weight=abs(weight) + 1)
            ours, theirs = Cores(formula), RC2Stratified(formula, adapt=True, minz=True)
            for level in range(len(theirs.blop) + 1):
                ours.levl = theirs.levl = level
                ours.next_level()
                theirs.next_level()
                assert ours.levl == theirs.levl


def test_nothing_goes_on_when_it_is_stopped():
    """On a formula with thousands of weights, and cores that take minutes to minimise."""
    table = optbn.score_table(optbn.load_network("win95pts").sample(1000, 0), "bic", 3)
    before, budget = threading.active_count(), Budget()
    assert MaxSat().solve(table, budget, progress=lambda _: budget.stop()).status is Status.FEASIBLE
    asked = time.monotonic()
    while threading.active_count() > before and time.monotonic() < asked + 10:
        time.sleep(0.01)
    assert threading.active_count() == before


def test_too_many_variables():
    table = random_table(np.random.default_rng(3), 101, "plain", rows=2)
    with pytest.raises(SolverError, match="at most 100 variables, and this one has 101; auto"):
        MaxSat().solve(table)
