"""Branch and cut as a whole."""

from __future__ import annotations

import json

import pytest

from solvers.files import read_table
from solvers.ilp import Ilp
from solvers.solution import Status
from solvers.verify import verify
from tests.paths import shared_neighbour


@pytest.mark.parametrize("name", ["asia_1000_bdeu1_p3", "child_1000_bdeu1_p3", "insurance_1000_bdeu1_p3"])
def test_shared_instances_are_solved_with_a_proof(name):
    table = read_table(shared_neighbour("golden", "solver", f"{name}.jkl"))
    optimum = json.loads(shared_neighbour("golden", "solver", "optima.json").read_text())[name]["optimum"]
    solution = Ilp().solve(table)
    assert solution.status is Status.OPTIMAL
    assert solution.score == pytest.approx(optimum, abs=1e-6)
    assert verify(table, solution).optimal
