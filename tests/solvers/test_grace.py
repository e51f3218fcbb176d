"""A budget's grace: evidence is written down and checked in the time there is; what was not checked is not proved."""

from __future__ import annotations

import numpy as np
import pytest

from optbn_solvers import Budget, Status, load_solver, solve
from optbn_solvers.base.solution import RowBound
from optbn_solvers.verify import verify
from tests.naive.solvers import random_table


class Hurry:
    """A clock that stands still until the solver reports that the gap is closed, and leaps then."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def listen(self, event) -> None:
        if event.gap == 0:
            self.now = 100.0


def test_without_grace_all_stages_are_told_and_they_prove_the_bound():
    for seed in range(8):
        table = random_table(np.random.default_rng(seed), 10, "dense")
        plenty = load_solver("ilp", search_nodes=0).solve(table)
        clock = Hurry()
        budget = Budget(wall=10.0, grace=0.0, clock=clock)
        hurried = load_solver("ilp", search_nodes=0).solve(table, budget, progress=clock.listen)
        assert hurried.score == plenty.score
        if isinstance(plenty.evidence, RowBound) and hurried.status is Status.OPTIMAL:
            assert isinstance(hurried.evidence, RowBound)
            assert len(hurried.evidence.stages) >= len(plenty.evidence.stages)
            assert verify(table, hurried).optimal and verify(table, plenty).optimal


@pytest.mark.parametrize("grace", [0.0, float("inf")])
def test_what_was_not_checked_is_not_proved(grace):
    unended = 0
    for seed in range(8):
        table = random_table(np.random.default_rng(seed), 10, "dense")
        clock = Hurry()
        budget = Budget(wall=10.0, grace=grace, clock=clock)
        found = solve(table, "ilp", budget, progress=clock.listen, search_nodes=0)
        checked = found.statistics["checked"]
        assert any("acyclic" in sentence for sentence in checked["proved"])
        if not checked["ended"]:
            unended += 1
            assert "not checked, no time left" in checked["claimed"][0]
            assert not verify(table, found, out_of_time=lambda: True).optimal
    assert (unended > 3) == (grace == 0.0)
