"""The best graphs, classes and windows against all acyclic graphs."""

from __future__ import annotations

import numpy as np
import pytest

from optbn_solvers import Budget
from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.errors import ConstraintError, InfeasibleError, StoppedError, TableError
from optbn_solvers.front.near import best_graphs, class_of
from tests.kbest import k_best
from tests.naive.constraints import obeys, random_constraints
from tests.naive.solvers import all_dags, random_table, random_unpruned_table, scores_of_all_dags


def masks_of(table, choice):
    return tuple(int(table.masks[row, 0]) for row in choice)


def test_against_all_acyclic_graphs():
    rng = np.random.default_rng(1)
    for trial in range(20):
        table = random_unpruned_table(rng, 2 + trial % 4)
        ranked = sorted(scores_of_all_dags(table).values(), reverse=True)
        for k in (1, 3, 50):
            found = best_graphs(table, k, only_listed=True)
            assert [table.units_of(score) for score in found.scores] == ranked[:k] and found.complete
            assert len(set(found.choices)) == len(found.choices)
            assert [table.total_units(choice) for choice in found.choices] == ranked[:k]


def test_windows():
    rng = np.random.default_rng(2)
    for trial in range(30):
        table = random_unpruned_table(rng, 3 + trial % 3)
        graphs = scores_of_all_dags(table)
        best = max(graphs.values())
        window = float(rng.integers(0, 5)) / 2
        wanted = {graph for graph, units in graphs.items() if table.score_of(best - units) <= window}
        found = best_graphs(table, 100_000, within=window, only_listed=True)
        assert found.complete and {masks_of(table, choice) for choice in found.choices} == wanted
        shares, arcs = found.shares(), found.probabilities()
        for u in range(table.n):
            for v in range(table.n):
                having = [graph for graph in wanted if graph[v] >> u & 1]
                assert shares[u, v] == pytest.approx(len(having) / len(wanted))
                mass = sum(np.exp(table.score_of(graphs[g] - best)) for g in having)
                assert arcs[u, v] == pytest.approx(mass / sum(np.exp(table.score_of(graphs[g] - best)) for g in wanted))
        if len(wanted) > 1:
            assert not best_graphs(table, len(wanted) - 1, within=window, only_listed=True).complete


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("graphs", [0, 1, 5])
def test_stopped_in_a_window(per_class, graphs):
    """The best is among what was found, whenever that was."""
    table = random_unpruned_table(np.random.default_rng(8), 5)
    known = best_graphs(table, 1, only_listed=True)
    budget, heard = Budget(), []

    def listen(event):
        heard.append(event)
        if len(heard) == graphs:
            budget.stop()

    if not graphs:
        budget.stop()
    found = best_graphs(
        table,
        1000,
        within=20.0,
        per_class=per_class,
        budget=budget,
        progress=listen,
        best=known.choices[0],
        only_listed=True,
    )
    assert not found.complete and found.scores[0] == known.scores[0] and len(set(found.choices)) == len(found.choices)
    assert len(found.choices) <= graphs + 1 and np.isfinite(found.shares()).all()
    assert all(event.score == event.bound == known.scores[0] for event in heard)


@pytest.mark.parametrize("window", [1e290, 1.7e308])
def test_a_window_without_measure_holds_all_graphs(window):
    table = random_unpruned_table(np.random.default_rng(4), 4)
    found = best_graphs(table, 100_000, within=window, only_listed=True)
    assert found.complete and len(found.choices) == len(scores_of_all_dags(table))


def test_one_per_class():
    """Against classes by enumeration: graphs with the same adjacencies and immoralities."""
    rng = np.random.default_rng(3)
    for trial in range(30):
        table = random_unpruned_table(rng, 3 + trial % 3)
        best: dict[object, int] = {}
        for graph, units in scores_of_all_dags(table).items():
            name = naive_class(graph)
            best[name] = max(units, best.get(name, units))
        for k in (2, 10):
            found = best_graphs(table, k, per_class=True, only_listed=True)
            assert [table.units_of(score) for score in found.scores] == sorted(best.values(), reverse=True)[:k]
            assert len({naive_class(masks_of(table, choice)) for choice in found.choices}) == len(found.choices)


def naive_class(graph):
    """All d-separations of pairs given one other variable or none, and the adjacencies: enough on few variables."""
    n = len(graph)
    adjacent = frozenset((u, v) for u in range(n) for v in range(u) if graph[u] >> v & 1 or graph[v] >> u & 1)
    colliders = frozenset(
        (a, v, b)
        for v in range(n)
        for a in range(n)
        for b in range(a)
        if graph[v] >> a & 1 and graph[v] >> b & 1 and (a, b) not in adjacent
    )
    return adjacent, colliders


def test_classes_of_four_variables():
    """185 equivalence classes of the 543 graphs on four variables (Gillispie and Perlman 2002)."""
    assert len({class_of(graph) for graph in all_dags(4).tolist()}) == 185


def test_under_constraints():
    rng = np.random.default_rng(4)
    done = 0
    while done < 25:
        table = random_unpruned_table(rng, 4)
        try:
            constraints = random_constraints(rng, table.names)
            found = best_graphs(table, 5, constraints=constraints, only_listed=True)
        except (ConstraintError, InfeasibleError):
            continue
        obeying = [u for g, u in scores_of_all_dags(table).items() if obeys(g, constraints, table.names)]
        assert [table.units_of(score) for score in found.scores] == sorted(obeying, reverse=True)[:5]
        done += 1


def test_the_same_as_by_subsets():
    """More variables than can be enumerated, with subset rows at the root."""
    rng = np.random.default_rng(5)
    for n in (9, 13, 14):
        table = random_table(rng, n, "dense", rows=10)
        expected = [table.total_units(choice) for choice in k_best(table, 40, only_listed=True)]
        found = best_graphs(table, 40, only_listed=True)
        assert [table.units_of(score) for score in found.scores] == expected


def test_what_cannot_be_is_refused():
    table = random_table(np.random.default_rng(6), 8, "dense")
    with pytest.raises(TableError, match="expected a number from 1"):
        best_graphs(table, 0, only_listed=True)
    with pytest.raises(TableError, match="expected a number from 0"):
        best_graphs(table, 3, within=-1.0, only_listed=True)
    stopped = Budget()
    stopped.stop()
    with pytest.raises(StoppedError):
        best_graphs(table, 3, budget=stopped, only_listed=True)
    with pytest.raises(InfeasibleError):
        best_graphs(table, 3, constraints=Constraints(ancestors=[("v0", "v1")], max_arcs=0), only_listed=True)
