"""Sampled orders against exact sums, and what the chains say of themselves."""

from __future__ import annotations

import numpy as np
import pytest

import optbn
from optbn.learning.constraints import all_families
from optbn.scores import load_score
from optbn.scores.scoring import Scoring
from optbn_solvers import ScoreTable
from optbn_solvers.base.errors import TableError
from optbn_solvers.front.kernels import sampled as kernel
from optbn_solvers.front.posterior import posterior
from optbn_solvers.front.sampled import sampled_posterior


def table_of(name: str, rows: int, parents: int) -> ScoreTable:
    data = optbn.load_network(name).sample(rows, 1)
    return all_families(Scoring.of(data, load_score("bdeu"), parents), 1)


@pytest.mark.parametrize(("name", "rows", "parents"), [("asia", 100, 3), ("sachs", 200, 2), ("child", 500, 2)])
def test_estimates_are_those_of_the_exact_sums(name, rows, parents):
    """child has 20 variables."""
    table = table_of(name, rows, parents)
    exact = posterior(table, over="orders").arcs
    found = sampled_posterior(table, seed=3)
    assert found.agreed and found.r_hat < 1.05 and found.effective >= 200
    assert np.abs(found.arcs - exact).max() < 0.12
    assert np.abs(found.arcs - exact).mean() < 0.012


def test_a_window_over_all_variables_is_a_draw_from_the_exact_distribution():
    """The recurrence's sum is that over all orders, and one move from anywhere is an independent draw."""
    table = table_of("asia", 60, 2)
    weights = table.scores - np.repeat(table.scores[table.offsets[:-1]], np.diff(table.offsets))
    families = table.offsets, table.masks, weights
    rng, exact = np.random.default_rng(1), posterior(table, over="orders")
    order, scores, arcs, mean = np.arange(table.n), np.zeros(table.n), np.empty((table.n,) * 2), 0.0
    for _ in range(4000):
        total = kernel.reorder(order, scores, 0, table.n, rng.random(table.n), *families)
        kernel.arcs_of(order, scores, *families, arcs)
        mean = mean + arcs / 4000
    best = table.scores[table.offsets[:-1]].sum()
    assert total + best == pytest.approx(exact.log_total, abs=1e-9)
    assert np.abs(mean - exact.arcs).max() < 4.5 * 0.5 / np.sqrt(4000)


@pytest.mark.twin
def test_moves_keep_the_sums_of_the_order():
    """What moves keep up to date are the sums, by their definition, of the families before each variable."""
    table = table_of("asia", 50, 2)
    weights = table.scores - np.repeat(table.scores[table.offsets[:-1]], np.diff(table.offsets))
    rng = np.random.default_rng(1)
    order, scores = rng.permutation(table.n), np.empty(table.n)
    room = np.empty((table.n, table.n))
    kernel.arcs_of(order, scores, table.offsets, table.masks, weights, room)
    for _ in range(20):
        kernel.sweep(order, scores, rng.permutation(table.n), rng.random(table.n), table.offsets, table.masks, weights)
        kernel.reorder(order, scores, 2, 5, rng.random(5), table.offsets, table.masks, weights)
        assert sorted(order) == list(range(table.n))
        for v in range(table.n):
            before = set(order[: order.tolist().index(v)].tolist())
            within = [weights[row] for row in table.rows(v) if before.issuperset(table.parents(row))]
            assert scores[v] == pytest.approx(np.logaddexp.reduce(within), abs=1e-9)


def test_the_same_seed_gives_the_same_and_bad_numbers_are_named():
    table = table_of("asia", 50, 2)
    one, two = (sampled_posterior(table, sweeps=20, seed=5) for _ in range(2))
    assert (one.arcs == two.arcs).all() and one.draws == 40
    with pytest.raises(TableError, match="at least 2 chains"):
        sampled_posterior(table, chains=1)
