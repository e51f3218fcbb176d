"""The graph to begin from: whatever form it has, it is checked before compiled code reads it."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from optbn_solvers import SOLVERS, Budget, Constraints, ScoreTable, Status, solve
from optbn_solvers.base.errors import StartError
from optbn_solvers.base.protocol import capabilities
from optbn_solvers.base.start import rows_of_start
from optbn_solvers.front.registry import solver_class
from tests.naive.solvers import random_table

TABLE = ScoreTable.from_dict(
    {
        "a": {(): -5.0, ("b",): -3.0},
        "b": {(): -4.0, ("a",): -2.5, ("a", "c"): -1.0},
        "c": {(): -1.0},
    }
)
EMPTY = [TABLE.find(v, ()) for v in range(3)]


@pytest.mark.parametrize("solver", sorted(SOLVERS))
@pytest.mark.parametrize(
    ("start", "message"),
    [
        ([0, 1], "the start has 2 rows for the 3 variables"),
        ([0, 2, 10**6], "row 1000000 of the start is no parent set of 'c', which has the rows 5 to 5"),
        ([-1, 2, 5], "row -1 of the start is no parent set of 'a'"),
        ([2, 0, 5], "row 2 of the start is no parent set of 'a'"),
        ([0, 2, 5], "a cycle: a -> b -> a"),
        ({"a": ["b"], "b": ["a"]}, "a cycle: a -> b -> a"),
        ({"a": ["bb"]}, "names 'bb', which is not a variable of the table; did you mean 'b'"),
        ([("a", "b", "c")], "is no arc"),
        ([0.5, 2, 5], "is no arc"),
    ],
)
def test_a_wrong_start_is_named(solver, start, message):
    with pytest.raises(StartError, match=message):
        solve(TABLE, solver, start=start)


def test_a_start_by_names_is_the_start_by_rows():
    wanted = [TABLE.find(0, ()), TABLE.find(1, (0,)), TABLE.find(2, ())]
    graph = nx.DiGraph([("a", "b")])
    graph.add_node("c")
    for start in (wanted, np.array(wanted), {"b": ["a"]}, [("a", "b")], graph, (arc for arc in [("a", "b")])):
        assert rows_of_start(TABLE, start) == (wanted, "")
    assert rows_of_start(TABLE, []) == (EMPTY, "") == rows_of_start(TABLE, {})
    assert rows_of_start(TABLE, None) == (None, "")


def test_what_the_table_lacks_gives_way_to_a_subset():
    rows, note = rows_of_start(TABLE, {"c": ["a"], "b": ["a", "c"]} | {"b": ["a"]})
    assert rows == [TABLE.find(0, ()), TABLE.find(1, (0,)), TABLE.find(2, ())] and "subsets of the parents of c" in note


def test_a_start_of_another_table_is_left_out_with_a_note():
    other = random_table(np.random.default_rng(0), 5)
    old = solve(other, "dp")
    found = solve(TABLE, "ilp", start=old)
    assert found.status is Status.OPTIMAL and "another table" in found.statistics["start"]
    assert "start" not in solve(TABLE, "ilp", start=found).statistics


def test_a_start_that_breaks_the_constraints_is_left_out_with_a_note():
    found = solve(TABLE, "ilp", start=[("a", "b")], constraints=Constraints(forbidden=[("a", "b")]))
    assert found.status is Status.OPTIMAL and "breaks the constraints" in found.statistics["start"]


def test_a_start_without_its_rows_under_required_arcs_is_left_out():
    table = ScoreTable.from_dict({"a": {("b",): -1.0}, "b": {(): -1.0}})
    rows, note = rows_of_start(table, {})
    assert rows is None and "no parent set of 'a'" in note


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_no_time_at_all_under_limits_still_gives_a_graph(solver):
    """The empty graph obeys any limit: nobody may say that no graph is known."""
    table = random_table(
        np.random.default_rng(3), min(10, capabilities(solver_class(solver)).largest), "dense", rows=20
    )
    stopped = Budget()
    stopped.stop()
    for limit in (0, 3):
        found = solve(table, solver, stopped, constraints=Constraints(max_arcs=limit))
        assert found.choice is not None
        assert sum(len(table.parents(row)) for row in found.choice) <= limit
