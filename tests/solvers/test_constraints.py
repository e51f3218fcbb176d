"""Constraints: every solver against all acyclic graphs, and what is said of them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from optbn_solvers import SOLVERS, Budget, Constraints, Status, solve
from optbn_solvers.base.errors import CheckFailed, ConstraintError, InfeasibleError
from optbn_solvers.base.protocol import capabilities
from optbn_solvers.base.solution import ClauseRow, Exhausted, LimitRow, Solution
from optbn_solvers.base.solution_json import from_json, to_json
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.front.filtering import allowed_families
from optbn_solvers.front.registry import solver_class
from optbn_solvers.verify import verify
from optbn_solvers.verify.rules import Rules
from tests.naive.constraints import best_obeying, obeys, random_constraints
from tests.naive.solvers import all_dags, random_table, random_unpruned_table, scores_of_all_dags

SHORT = 0.02  # CPU seconds for those that would go on as long as they may


def cases(count: int, seed: int):
    """Random tables (half of them with dominated families) under random constraints."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        n = 3 + made % 3
        table = random_unpruned_table(rng, n) if made % 2 else random_table(rng, n, "dense")
        try:
            constraints = random_constraints(rng, table.names)
        except ConstraintError:
            continue
        made += 1
        yield table, constraints


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_against_all_acyclic_graphs(name):
    exact = capabilities(solver_class(name)).exact
    count = 90 if exact else 40
    limits = {} if exact else {"budget": Budget(cpu=SHORT)}
    obeyed = refused = 0
    for table, constraints in cases(count, seed=11):
        best = best_obeying(table, constraints)
        if best is None:
            refused += 1
            with pytest.raises((InfeasibleError, ConstraintError)):
                found = solve(table, name, constraints=constraints, only_listed=True, **limits)
                assert found.status is Status.OPTIMAL, "a local search may not find out"
                raise AssertionError(f"a graph that cannot be: {found}")
            continue
        obeyed += 1
        found = solve(table, name, constraints=constraints, only_listed=True, **limits)
        assert found.bound >= table.score_of(best)
        if exact:
            assert found.status is Status.OPTIMAL and found.score == table.score_of(best)
        again = from_json(table, to_json(table, found))
        unchecked = {name: value for name, value in found.statistics.items() if name != "checked"}
        assert again == replace(found, statistics=unchecked) and again.constraints == constraints
        verify(table, again)
    assert obeyed > count // 3 and refused > count // 20


@pytest.mark.parametrize("name", sorted(name for name in SOLVERS if capabilities(solver_class(name)).exact))
def test_agreement_under_constraints(name):
    """More variables than can be enumerated: the same optimum as dynamic programming, case by case."""
    rng = np.random.default_rng(21)
    done = 0
    while done < 12:
        n = min(int(rng.integers(6, 10)), capabilities(solver_class(name)).largest)
        table = random_unpruned_table(rng, n) if done % 2 else random_table(rng, n, "plain", rows=15)
        try:
            constraints = random_constraints(rng, table.names, most=2)
            if constraints.max_arcs is not None or constraints.max_children:
                continue  # slow case by case; the next test has them
            best = solve(table, "dp", Budget(cpu=10), constraints=constraints, only_listed=True)
        except (InfeasibleError, ConstraintError):
            continue
        assert best.status is Status.OPTIMAL
        assert solve(table, name, constraints=constraints, only_listed=True).score == best.score
        done += 1


def test_claims_under_constraints_are_checked_against_all_acyclic_graphs():
    """The optimum is proved, less is refused, a bound above it is not gone below."""
    rng = np.random.default_rng(17)
    proved = 0
    for table, constraints in cases(150, seed=31):
        graphs = sorted(scores_of_all_dags(table).items(), key=lambda item: -item[1])
        best = next((graph for graph, _ in graphs if obeys(graph, constraints, table.names)), None)
        if best is None:
            continue
        found = claim(table, constraints, best, 0)
        assert verify(table, found).optimal
        proved += 1
        tried = (graphs[i][0] for i in rng.integers(len(graphs), size=20))
        other = next((graph for graph in tried if obeys(graph, constraints, table.names)), best)
        worse = claim(table, constraints, other, 0)
        if worse.score < found.score:
            with pytest.raises(CheckFailed, match="is lower than its evidence gives"):
                verify(table, worse)
            above = claim(table, constraints, other, int(rng.integers(1, 1 << 45)))
            if above.bound >= found.score:
                assert found.score <= verify(table, above).bound <= above.bound
    assert proved > 110


def claim(table: ScoreTable, constraints: Constraints, graph: tuple[int, ...], more: int) -> Solution:
    """Somebody's word that no graph has more units than this one and `more`."""
    choice = tuple(table.find(v, [u for u in range(table.n) if mask >> u & 1]) for v, mask in enumerate(graph))
    score = table.total(choice)
    bound = table.score_of(table.total_units(choice) + more)
    status = Status.OPTIMAL if bound == score else Status.FEASIBLE
    evidence = Exhausted("somebody")
    return Solution(status, choice, score, bound, evidence, table.digest, "test", constraints=constraints)


def test_limits_are_rows_of_branch_and_cut():
    """Fewer and fewer arcs: never better, the bound is proved by rows that the checker finds in the constraints."""
    table = random_table(np.random.default_rng(5), 7, "dense")
    free = solve(table, "ilp")
    arcs = sum(len(table.parents(row)) for row in free.choice)
    before = free.score
    for limit in (arcs - 1, arcs // 2, 3):
        found = solve(table, "ilp", constraints=Constraints(max_arcs=limit, max_children={"*": 2}))
        assert found.status is Status.OPTIMAL and found.score <= before
        before = found.score


def test_a_row_that_the_constraints_do_not_imply_is_refused():
    rng = np.random.default_rng(8)
    refused = 0
    while refused < 20:
        table = random_table(rng, 5, "dense")
        constraints = random_constraints(rng, table.names)
        try:
            found = solve(table, "ilp", constraints=constraints, only_listed=True)
        except (InfeasibleError, ConstraintError):
            continue
        verify(table, found)
        others = Rules(Constraints(roots=table.names[:1]), table.names)
        for stage in getattr(found.evidence, "stages", ()):
            for row in stage:
                if isinstance(row, ClauseRow):
                    assert Rules(constraints, table.names).valid_clause(row)
                    assert not others.valid_clause(row)
                    fewer = replace(row, literals=row.literals[:-1])
                    if Rules(constraints, table.names).valid_clause(fewer):  # what the checker accepts is true
                        for graph in all_dags(5)[::50].tolist():
                            if obeys(tuple(graph), constraints, table.names):
                                assert any(true_of(literal, graph) for literal in fewer.literals)
                    refused += 1
                if isinstance(row, LimitRow):
                    assert not Rules(constraints, table.names).valid_limit(replace(row, rhs=row.rhs - 1))
                    refused += 1


def true_of(literal, graph) -> bool:
    others = sum(1 << u for u in literal.others)
    common = graph[literal.child] & others
    return bool(common) if literal.meets else common != others


def test_the_checker_reads_constraints_as_they_are_defined():
    """Its verdict on every acyclic graph of four variables is the naive one; a clause holds in all graphs that obey."""
    rng = np.random.default_rng(3)
    names = ("a", "b", "c", "d")
    for _ in range(40):
        constraints = random_constraints(rng, names)
        try:
            rules = Rules(constraints, names)
        except ConstraintError:
            continue
        for graph in all_dags(4).tolist():
            arcs = {(u, v) for v, mask in enumerate(graph) for u in range(4) if mask >> u & 1}
            assert (rules.wrong(arcs) is None) == obeys(tuple(graph), constraints, names)


def test_clauses_are_broken_by_their_graph_and_by_no_graph_that_obeys():
    rng = np.random.default_rng(4)
    seen = set()
    table = full_table(4)
    for _ in range(60):
        constraints = random_constraints(rng, table.names, most=1)
        try:
            residual = allowed_families(table, constraints).residual
        except (InfeasibleError, ConstraintError):
            continue
        graphs = all_dags(4).tolist()
        obeying = [graph for graph in graphs if obeys(tuple(graph), constraints, table.names)]
        for graph in graphs[:: 1 + len(graphs) // 60]:
            for each in residual:
                clause = each.broken(graph)
                if clause is not None:
                    seen.add(type(each).__name__)
                    assert not any(true_of(literal, graph) for literal in clause)
                    assert all(any(true_of(literal, other) for literal in clause) for other in obeying)
    assert seen == {"Adjacency", "Ancestor", "ArcLimit", "ChildLimit", "Independence", "NoAncestor", "Order"}


def full_table(n: int) -> ScoreTable:
    """Every family, larger ones better."""
    names = "abcdefgh"[:n]
    sets = {v: [s for k in range(n) for s in itertools.combinations(names.replace(v, ""), k)] for v in names}
    return ScoreTable.from_dict({v: {s: float(len(s)) for s in sets[v]} for v in names})


def test_what_is_wrong_is_said_by_name():
    table = full_table(3)
    for constraints, error, message in (
        ({"required": [("a", "x")]}, ConstraintError, "'x', which is not a variable"),
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, ConstraintError, "'a' -> 'b' must be and may not be"),
        ({"order": [("a", "b"), ("b", "a")]}, ConstraintError, "before itself"),
        ({"tiers": [("a",), ("a",)]}, ConstraintError, "in tier 1 and in tier 2"),
        ({"max_arcs": -1}, ConstraintError, "whole number from 0"),
        ({"independences": [(("a",), ("a",), ())]}, ConstraintError, "disjoint"),
        ({"roots": "a"}, ConstraintError, "several names"),
        ({"ancestors": [("a", "b")], "max_arcs": 0}, InfeasibleError, "no acyclic graph"),
    ):
        with pytest.raises(error, match=message):
            solve(table, "dp", constraints=Constraints(**constraints))


def test_a_graph_that_does_not_obey_is_refused():
    table = full_table(4)
    found = solve(table, "dp")
    arcs = sum(len(table.parents(row)) for row in found.choice)
    with pytest.raises(CheckFailed, match="does not obey the constraints"):
        verify(table, replace(found, constraints=Constraints(max_arcs=arcs - 1)))


def test_a_start_that_does_not_obey_is_no_start():
    table = full_table(4)
    start = solve(table, "dp").choice
    found = solve(table, "ilp", start=start, constraints=Constraints(max_arcs=2))
    assert found.status is Status.OPTIMAL and sum(len(table.parents(row)) for row in found.choice) == 2


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_a_stopped_budget_keeps_a_start_that_obeys(name):
    rng = np.random.default_rng(6)
    table = random_table(rng, min(9, capabilities(solver_class(name)).largest), "dense")
    constraints = Constraints(max_arcs=4, no_ancestors=[("v0", "v1")])
    start = solve(table, "ilp", constraints=constraints)
    budget = Budget()
    budget.stop()
    found = solve(table, name, budget, start.choice, constraints=constraints)
    assert found.score == start.score and found.bound >= start.score
