"""The cluster search: exact from nothing, from poor graphs and from good ones; sizes, widths, slices, relabelling.

A good incumbent hides wrong pruning (an order search usually finds the optimum), so most cases here begin with none.
"""

from __future__ import annotations

import numpy as np
import pytest

from optbn_solvers import Budget, Status
from optbn_solvers.base.errors import InfeasibleError
from optbn_solvers.base.kernels.masks import pack_sets
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.search.solver import ClusterSearch
from optbn_solvers.search.workspace import Workspace
from tests.naive.solvers import KINDS, optimum_by_subsets, random_table


def random_tables(count: int, largest: int, seed: int):
    rng = np.random.default_rng(seed)
    for trial in range(count):
        n = int(rng.integers(1, largest + 1))
        most, rows = int(rng.integers(1, 5)), int(rng.integers(4, 30))
        yield trial, random_table(rng, n, KINDS[trial % len(KINDS)], most=most, rows=rows)


@pytest.mark.parametrize("passes", [0, 1, 3])
def test_without_an_incumbent(passes):
    infeasible = 0
    for trial, table in random_tables(600 if passes else 150, 8 if passes else 6, seed=passes):
        best = optimum_by_subsets(table)
        solver = ClusterSearch(greedy=False, seed=trial, candidates=1 + trial % 4, passes=passes)
        if best is None:
            infeasible += 1
            with pytest.raises(InfeasibleError):
                solver.solve(table)
            continue
        solution = solver.solve(table)
        assert solution.status is Status.OPTIMAL
        assert table.total_units(solution.choice) == best
    assert infeasible


def test_from_a_poor_graph():
    """Any acyclic graph may be the start; here each variable has the worst family that a random order allows."""
    rng = np.random.default_rng(5)
    for trial, table in random_tables(300, 8, seed=6):
        best = optimum_by_subsets(table)
        start = poor_graph(table, rng)
        if start is None:
            continue
        solution = ClusterSearch(greedy=False, seed=trial).solve(table, start=start)
        assert solution.status is Status.OPTIMAL
        assert table.total_units(solution.choice) == best


def poor_graph(table: ScoreTable, rng: np.random.Generator) -> list[int] | None:
    """The worst family of each variable that fits a random order; None where the order has no graph."""
    placed: set[int] = set()
    choice = [-1] * table.n
    for v in rng.permutation(table.n).tolist():
        fits = [row for row in table.rows(v) if placed.issuperset(table.parents(row))]
        if not fits:
            return None
        choice[v] = fits[-1]
        placed.add(v)
    return choice


def relabelled(table: ScoreTable, where: np.ndarray) -> ScoreTable:
    """The same table with variable v called where[v]."""
    sets = [[int(where[u]) for u in table.parents(row)] for row in range(len(table))]
    return ScoreTable.build(
        [f"w{v}" for v in range(table.n)], where[table.children], pack_sets(sets, table.n), table.scores
    )


def test_relabelling_shifting_and_dominated_families():
    rng = np.random.default_rng(7)
    for trial, table in random_tables(60, 8, seed=8):
        best = optimum_by_subsets(table)
        if best is None:
            continue
        solver = ClusterSearch(greedy=False, seed=trial)
        other = relabelled(table, rng.permutation(table.n))
        assert solver.solve(other).score == table.score_of(best)
        # one more parent for the same score, or less, helps nobody; a shift of one child's scores moves the optimum
        children, masks, scores = table.children, table.masks.copy(), table.scores.copy()
        extra = masks.copy()
        extra[np.arange(len(table)), 0] |= np.uint64(1) << ((children + 1) % table.n).astype(np.uint64)
        fine = children != (children + 1) % table.n
        fine &= [table.find(c, (*table.parents(r), (c + 1) % table.n)) is None for r, c in enumerate(children)]
        worse = ScoreTable.build(
            table.names,
            np.concatenate([children, children[fine]]),
            np.concatenate([masks, extra[fine]]),
            np.concatenate([scores, scores[fine]]),
        )
        assert solver.solve(worse).score == table.score_of(best)
        moved = ScoreTable(
            table.names, table.offsets, table.masks, table.units + 1000 * (children == 0), table.exponent
        )
        assert moved.total_units(solver.solve(moved).choice) == best + 1000


def wide_table(rng: np.random.Generator, n: int, group: int) -> tuple[ScoreTable, int | None]:
    """Groups of `group` variables far apart in 0..n-1, and the sum of the groups' optima."""
    children, sets, scores = [], [], []
    where = rng.permutation(n)
    total = 0.0
    for first in range(0, n, group):
        part = where[first : first + group]
        table = random_table(rng, len(part), "ties", rows=6)
        best = optimum_by_subsets(table)
        assert best is not None
        total += table.score_of(best)
        for row in range(len(table)):
            children.append(part[table.children[row]])
            sets.append([int(part[u]) for u in table.parents(row)])
            scores.append(table.scores[row])
    wide = ScoreTable.build(
        [f"v{v}" for v in range(n)], np.array(children), pack_sets(sets, n), np.array(scores, dtype=float)
    )
    return wide, round(total / wide.quantum)


@pytest.mark.parametrize("n", [63, 64, 65, 70, 130, 256])
def test_many_variables(n):
    rng = np.random.default_rng(n)
    table, best = wide_table(rng, n, 5)
    solution = ClusterSearch(greedy=n % 2 == 0).solve(table)
    assert solution.status is Status.OPTIMAL
    assert table.total_units(solution.choice) == best


def hard_table(n: int = 14, seed: int = 3) -> ScoreTable:
    """Dense enough for some hundred nodes."""
    return random_table(np.random.default_rng(seed), n, "dense", most=4, rows=60)


def test_answers_do_not_depend_on_room_or_slices():
    """Tiny arrays that must grow again and again, and a clock that ends every slice, change nothing in the answer."""
    from optbn_solvers.search import workspace

    table = hard_table(11)
    best = optimum_by_subsets(table)
    before = workspace.FIRST_LEVELS, workspace.FIRST_CLUSTERS
    workspace.FIRST_LEVELS, workspace.FIRST_CLUSTERS = 3, 8
    try:
        solution = ClusterSearch(greedy=False).solve(table)
    finally:
        workspace.FIRST_LEVELS, workspace.FIRST_CLUSTERS = before
    assert solution.statistics["nodes"] > 20
    assert table.total_units(solution.choice) == best


@pytest.mark.parametrize("effort", [0, 30, 300])
def test_answers_do_not_depend_on_the_effort_of_a_slice(effort, monkeypatch):
    """Bounds that end early and go on in the next slice, or are given up, leave the answer as it is."""
    from optbn_solvers.search import workspace

    monkeypatch.setattr(workspace, "EFFORT", effort)
    for trial, table in random_tables(150, 8, seed=9):
        best = optimum_by_subsets(table)
        if best is not None:
            solution = ClusterSearch(greedy=False, seed=trial).solve(table)
            assert solution.status is Status.OPTIMAL
            assert table.total_units(solution.choice) == best


def test_progress_and_budget():
    """bound >= optimum >= score all the way; a budget that is over gives what is known, with a valid bound."""
    table = hard_table()
    best = ClusterSearch().solve(table).score
    seen = []
    ClusterSearch(greedy=False).solve(table, progress=seen.append)
    assert seen
    for report in seen:
        assert report.bound >= best
        assert report.score is None or report.score <= best
    for looks in range(0, 40, 3):
        ticks = iter(range(10**9))
        budget = Budget(wall=looks, clock=lambda ticks=ticks: next(ticks))
        solution = ClusterSearch(greedy=looks % 2 == 0).solve(table, budget)
        assert solution.bound >= best
        assert solution.score is None or solution.score <= best
        assert (solution.status is Status.OPTIMAL) == (solution.bound == solution.score)


def test_a_promise_to_end_soon_is_believed_only_so_long(monkeypatch):
    """A tree may seem nearly done for ever; the last attempt, after which another solver goes on, then ends."""
    monkeypatch.setattr(Workspace, "share_done", lambda work: 0.999)
    table = random_table(np.random.default_rng(3), 16, "dense", rows=80)
    whole = ClusterSearch(greedy=False, restarts=0, most=2, patience=10**6).solve(table)
    short = ClusterSearch(greedy=False, restarts=0, most=2, patience=5).solve(table)
    assert whole.status is Status.OPTIMAL and whole.statistics["nodes"] > 10 * short.statistics["nodes"]
    assert short.bound > whole.score >= short.score
