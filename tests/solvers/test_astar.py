"""The order graph: bounds against what is true, the search without a good graph to begin with, and stopped."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import optbn_solvers.methods.astar
import optbn_solvers.relaxation.root
import optbn_solvers.relaxation.strengthen
from optbn_solvers import Budget, ScoreTable, Status, solve
from optbn_solvers.methods.astar import Heuristic, OrderSearch
from optbn_solvers.methods.kernels import ordergraph
from optbn_solvers.relaxation.ledger import Ledger
from optbn_solvers.relaxation.root import RootSettings
from optbn_solvers.relaxation.strengthen import Begin, cluster_root
from tests.naive.astar import cost_to_go
from tests.naive.solvers import KINDS, optimum_by_subsets, random_table


def empty_graph(table: ScoreTable) -> list[int]:
    """A poor start, where there is one."""
    return [table.find(v, []) for v in range(table.n)]


def tables(count: int, seed: int, sizes=(5, 9), kinds=KINDS, rows=25):
    rng = np.random.default_rng(seed)
    for trial in range(count):
        table = random_table(rng, int(rng.integers(*sizes)), kinds[trial % len(kinds)], rows=rows)
        best = optimum_by_subsets(table)
        if best is not None:
            yield table, best


@pytest.fixture
def no_help(monkeypatch):
    """The linear program finds no graph and settles nothing: everything is left to the search."""
    monkeypatch.setattr(optbn_solvers.relaxation.strengthen, "RootSettings", partial(RootSettings, largest_part=1))
    monkeypatch.setattr(optbn_solvers.relaxation.root, "polish", lambda *_: False)
    monkeypatch.setattr(Ledger, "offer", lambda *_: False)


@pytest.mark.twin
@pytest.mark.parametrize("group", [3, 17])
@pytest.mark.parametrize("rounds", [1, 60])
def test_bounds_are_below_what_is_true(monkeypatch, no_help, group, rounds):
    """Of any set of placed variables, with multipliers good and bad, in one group or several.

    Only what is better than the graph in hand counts: families that no such graph has may be left out.
    """
    monkeypatch.setattr(optbn_solvers.methods.astar, "GROUP", group)
    tight = total = 0
    for table, _ in tables(40, seed=1, kinds=("plain", "dense", "ties")):
        start = np.array(empty_graph(table), dtype=np.int64)
        ledger = cluster_root(Begin(table, start, Budget()), rounds)
        if ledger.closed:
            continue
        upper = int(table.units[table.offsets[:-1]].sum()) - ledger.score
        heuristic = Heuristic(table, ledger, 1 << 30)
        assert heuristic.patterns.shape[0] == max(1, -(-table.n // group))
        states = np.arange(1 << table.n, dtype=np.int64)
        h = np.zeros(len(states), dtype=np.int64)
        heuristic.bounds(states, h)
        for state, left in enumerate(cost_to_go(table)):
            total += 1
            if left is not None and left < upper:
                assert h[state] <= left
                tight += h[state] == left
    assert tight > total // 10


def test_without_a_graph_to_begin_with(no_help):
    """Local search finds most optima, and would hide what the search drops wrongly."""
    searched = 0
    for trial, (table, best) in enumerate(tables(150, seed=2, sizes=(3, 11))):
        start = empty_graph(table) if trial % 2 and None not in empty_graph(table) else None
        found = OrderSearch(greedy=False, rounds=(0, 1, 60)[trial % 3], seed=trial).solve(table, start=start)
        assert found.status is Status.OPTIMAL and table.total_units(found.choice) == best
        searched += found.statistics["states"] > table.n
    assert searched > 60


@pytest.mark.twin
def test_small_hash_tables_grow(monkeypatch, no_help):
    """Successors that do not fit wait for a larger table."""
    monkeypatch.setattr(optbn_solvers.methods.astar, "SLICE", 3)
    monkeypatch.setattr(optbn_solvers.methods.astar, "FIRST", 1)
    for table, best in tables(20, seed=3, sizes=(8, 11), kinds=("plain", "dense")):
        found = OrderSearch(greedy=False, rounds=0).solve(table, start=empty_graph(table))
        assert table.total_units(found.choice) == best


def test_memory_and_time_end_it_with_a_bound(no_help):
    for table, best in tables(10, seed=4, sizes=(9, 12), kinds=("dense",), rows=60):
        for budget in (Budget(memory=10_000), Budget(gap=table.score_of(1 << 44))):
            found = solve(table, "astar", budget, start=empty_graph(table), greedy=False, rounds=0)
            assert table.units_of(found.score) <= best <= table.units_of(found.bound)


def test_an_order_leads_back_to_its_graph():
    state = np.zeros(1, dtype=np.int64)
    keys, values, used = np.full(64, ordergraph.EMPTY), np.zeros(64, dtype=np.int64), np.zeros(1, dtype=np.int64)
    table = random_table(np.random.default_rng(5), 4, "plain")
    masks, costs = table.masks[:, 0].astype(np.int64), np.arange(len(table))
    end = ordergraph.expand(0, state, state, table.offsets, masks, costs, 1000, keys, values, used)
    first = {1 << v: int(table.find(v, [])) for v in range(4)}
    assert end == 1 and used[0] == 4
    assert {int(k): int(x) for k, x in zip(keys, values, strict=True) if k != ordergraph.EMPTY} == first
