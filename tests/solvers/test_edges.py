"""Losses of arcs and adjacencies, and warm variations, against all acyclic graphs and fresh solves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from optbn_solvers import Budget, solve
from optbn_solvers.base.errors import StoppedError
from optbn_solvers.front.edges import edges
from optbn_solvers.front.warm import Warm
from tests.naive.solvers import random_table, random_unpruned_table, scores_of_all_dags


def best_of(table, graphs, obeys):
    """The loss of the best graph that obeys, by looking at every one."""
    best = max(graphs.values())
    units = [total for graph, total in graphs.items() if obeys(graph)]
    return table.score_of(best - max(units)) if units else math.inf


@pytest.mark.parametrize("seed", range(25))
def test_every_loss_is_that_of_the_best_graph(seed):
    rng = np.random.default_rng(seed)
    n = 2 + seed % 4
    table = random_unpruned_table(rng, n) if seed % 2 else random_table(rng, n)
    graphs = scores_of_all_dags(table)
    found = edges(table)
    assert found.proved
    for u in range(n):
        for v in range(n):
            if u == v:
                continue

            def has(graph, a=u, b=v):
                return graph[b] >> a & 1

            def joined(graph, a=u, b=v):
                return graph[b] >> a & 1 or graph[a] >> b & 1

            assert found.forced[u, v] == best_of(table, graphs, has)
            assert found.apart[u, v] == best_of(table, graphs, lambda g, joined=joined: not joined(g))
            assert found.without[u, v] == best_of(table, graphs, lambda g, has=has: not has(g))
            assert found.adjacent[u, v] == best_of(table, graphs, joined)


@pytest.mark.parametrize("seed", range(4))
def test_variations_are_as_a_fresh_solve_finds_them(seed):
    rng = np.random.default_rng(seed)
    table = random_table(rng, 14, "ties" if seed % 2 else "plain", 3, 40)
    warm = Warm.of(table)
    for _ in range(10):
        keep = rng.random(len(table)) < 0.8
        keep[table.offsets[1:] - 1] = True  # the smallest set of each variable, so that a graph exists
        answer = warm.best(keep)
        part = table.restricted(table.select(keep, prune=True))
        fresh = solve(part)
        assert answer.units == part.units_of(fresh.score) == answer.bound == answer.claim
        assert table.total_units(answer.choice) == answer.units and keep[list(answer.choice)].all()


def test_without_time_there_is_no_optimum_to_compare_with():
    with pytest.raises(StoppedError, match="more time"):
        Warm.of(random_table(np.random.default_rng(0), 20, most=4, rows=200), Budget(wall=0))


def test_pairs_that_no_time_is_left_for_are_unknown():
    table = random_table(np.random.default_rng(1), 6)
    warm, budget = Warm.of(table), Budget()
    budget.stop()
    found = edges(table, warm, budget)
    assert not found.proved and np.isnan(found.forced).any()
    assert (found.forced_at_least == 0).all()
