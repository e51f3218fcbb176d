"""Local search: its kernels against slow twins, and what it promises its callers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from optbn_solvers.base.errors import InfeasibleError, SolverError
from optbn_solvers.base.files import read_table
from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.table import ScoreTable, mask_members
from optbn_solvers.methods.greedy import Greedy
from optbn_solvers.relaxation.kernels import kicks, orders, windows
from optbn_solvers.relaxation.orders import CLOSE, FamilyIndex, climb_order, improve, search
from tests.naive import solvers as naive
from tests.paths import shared_neighbour


def tables(count, sizes, kinds=("plain", "dense", "ties", "bare")):
    rng = np.random.default_rng(11)
    for trial in range(count):
        yield rng, naive.random_table(rng, sizes[trial % len(sizes)], kinds[trial % len(kinds)])


@pytest.mark.twin
def test_holders_list_the_rows_that_contain_each_parent():
    for _, table in tables(12, [1, 4, 9, 70]):
        index = FamilyIndex.of(table)
        starts, rows = index.starts, index.holders
        for v in range(table.n):
            for u in range(table.n):
                got = rows[starts[v * table.n + u] : starts[v * table.n + u + 1]].tolist()
                assert got == [row for row in table.rows(v) if u in table.parents(row)]
        for most, kept in ((len(table), index.related), (CLOSE, index.close)):
            together = {(v, u) for v in range(table.n) for row in table.rows(v)[:most] for u in table.parents(row)}
            for v in range(table.n):
                known = {u for u in range(table.n) if {(v, u), (u, v)} & together}
                assert set(mask_members(kept[v])) == known


@pytest.mark.twin
def test_best_rows_of_an_order():
    for rng, table in tables(21, [1, 4, 9, 63, 64, 65, 129]):
        order = rng.permutation(table.n)
        rows = np.empty(table.n, dtype=np.int64)
        orders.best_rows(table.offsets, table.masks, order, rows)
        assert rows.tolist() == naive.rows_of_order(table, order.tolist())


@pytest.mark.twin
def test_a_climb_ends_where_no_insertion_and_no_swap_helps():
    for trial, (rng, table) in enumerate(tables(24, [2, 5, 9, 12])):
        index = FamilyIndex.of(table)
        order = rng.permutation(table.n)
        begun = naive.total_of(table, naive.rows_of_order(table, order.tolist()))
        rows = np.empty(table.n, dtype=np.int64)
        index.climb(order, rows, swaps=bool(trial % 2))
        assert sorted(order.tolist()) == list(range(table.n))
        assert rows.tolist() == naive.rows_of_order(table, order.tolist())
        total = naive.total_of(table, rows.tolist())
        assert total >= begun
        near = naive.insertions(order.tolist()) + (naive.swaps(order.tolist()) if trial % 2 else [])
        assert all(naive.total_of(table, naive.rows_of_order(table, o)) <= total for o in near)


def test_a_climb_works_on_several_words():
    for rng, table in tables(4, [64, 70, 128, 130]):
        order = rng.permutation(table.n)
        rows = np.empty(table.n, dtype=np.int64)
        FamilyIndex.of(table).climb(order, rows)
        assert rows.tolist() == naive.rows_of_order(table, order.tolist())


@pytest.mark.twin
def test_a_kick_permutes():
    state = np.array([7], dtype=np.uint64)
    for n in (1, 2, 3, 10):
        for _ in range(200):
            order = np.arange(n)
            kicks.kick(order, 3, state)
            assert sorted(order.tolist()) == list(range(n))
            kicks.displace(order, np.full((n, 1), 0b101, dtype=np.uint64), 3, state)
            assert sorted(order.tolist()) == list(range(n))


@pytest.mark.twin
def test_a_window_is_put_into_its_best_order():
    gained = 0
    for rng, table in tables(60, [3, 6, 9, 70]):
        order = rng.permutation(table.n)
        rows = np.array(naive.rows_of_order(table, order.tolist()))
        if (rows < 0).any():
            continue
        width = int(rng.integers(1, min(5, table.n) + 1))
        at = int(rng.integers(table.n - width + 1))
        begun, most = order.tolist(), naive.best_window(table, order.tolist(), at, width)
        room = np.empty((width, 1 << width), dtype=np.int64)
        line = np.empty((2, 1 << width), dtype=np.int64)
        windows.reorder(table.offsets, table.masks, table.units, order, rows, at, room, line[0], line[1])
        assert order[:at].tolist() == begun[:at]
        assert sorted(order[at : at + width].tolist()) == sorted(begun[at : at + width])
        assert order[at + width :].tolist() == begun[at + width :]
        assert rows.tolist() == naive.rows_of_order(table, order.tolist())
        assert naive.total_of(table, rows.tolist()) == most
        gained += most > naive.total_of(table, naive.rows_of_order(table, begun))
    assert gained > 10


@pytest.mark.twin
def test_rearranging_never_loses_and_keeps_rows_and_order_together():
    for rng, table in tables(24, [1, 2, 7, 12]):
        index = FamilyIndex.of(table)
        order = rng.permutation(table.n)
        rows = np.array(naive.rows_of_order(table, order.tolist()))
        if (rows < 0).any():
            continue
        begun = naive.total_of(table, rows.tolist())
        state = np.array([3], dtype=np.uint64)
        total = windows.rearrange(table.offsets, table.masks, table.units, index.close, order, rows, state)
        assert rows.tolist() == naive.rows_of_order(table, order.tolist())
        assert total == naive.total_of(table, rows.tolist()) >= begun
        if table.n <= windows.WIDTH:  # one window has everything
            assert total == naive.optimum_by_subsets(table)


@pytest.mark.twin
def test_random_orders_fit_the_graph_and_reach_every_order():
    table = ScoreTable.from_dict({"a": {(): 0.0}, "b": {("a",): 0.0}, "c": {("a",): 0.0}})
    state = np.array([1], dtype=np.uint64)
    seen = set()
    for _ in range(50):
        order = np.empty(3, dtype=np.int64)
        assert kicks.random_order(table.offsets, table.masks, np.arange(3), state, order) == 3
        seen.add(tuple(order.tolist()))
    assert seen == {(0, 1, 2), (0, 2, 1)}


def test_search_returns_an_acyclic_graph_and_mostly_the_optimum():
    hits = 0
    for _, table in tables(40, [3, 4, 5], naive.KINDS):
        best = naive.optimum(table)
        if best is None:
            with pytest.raises(InfeasibleError):
                search(table)
            continue
        assert table.total_units(search(table, starts=0, kicks=20)) <= best  # one start at least
        total = table.total_units(search(table, starts=3, kicks=20))
        assert total <= best
        hits += total == best
    assert hits >= 30


def test_one_seed_one_answer():
    table = naive.random_table(np.random.default_rng(5), 12)
    assert search(table, seed=3).tolist() == search(table, seed=3).tolist()


def test_improve_never_loses_and_refuses_cycles():
    for rng, table in tables(10, [6, 9]):
        start = search(table, starts=1, kicks=0)
        assert table.total_units(improve(table, start, seed=int(rng.integers(99)))) >= table.total_units(start)
    table = ScoreTable.from_dict({"a": {(): 0.0, ("b",): 1.0}, "b": {(): 0.0, ("a",): 1.0}})
    with pytest.raises(SolverError, match="cycle"):
        improve(table, [table.find(0, [1]), table.find(1, [0])])


def test_climb_order_mends_an_infeasible_order_or_says_so():
    table = ScoreTable.from_dict({"a": {("b",): 0.0}, "b": {(): 0.0}})
    index = FamilyIndex.of(table)
    assert climb_order(index, [0, 1]).tolist() == [0, 1]


def test_the_solver_stops_at_once_when_every_variable_has_its_best_family():
    table = ScoreTable.from_dict({"a": {(): 0.0}, "b": {(): 0.0, ("a",): 1.0}})
    solution = Greedy(seconds=60).solve(table, Budget())
    assert solution.status == "optimal" and solution.statistics["cpu"] < 10


def test_the_shared_instances():
    """At most .2 % off in a fifth of a second each, and most of them optimal (the figure itself is a benchmark)."""
    folder = shared_neighbour("golden", "solver")
    optima = json.loads((folder / "optima.json").read_text())
    hits = 0
    for name, entry in optima.items():
        if entry["optimum"] is None or entry["families"] > 10_000:
            continue
        table = read_table(folder / f"{name}.jkl")
        score = table.total(search(table, seed=1, starts=6, kicks=60))
        assert score <= entry["optimum"] + 1e-5
        assert entry["optimum"] - score <= 0.002 * abs(entry["optimum"])
        hits += score > entry["optimum"] - 1e-5
    assert hits >= 8
