"""Model averaging against sums over all acyclic graphs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import optbn_solvers.front.posterior
from optbn_solvers import Budget
from optbn_solvers.base.errors import StoppedError, TableError, TooLargeError
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.front.posterior import posterior
from tests.naive.solvers import posterior_of_all_dags, random_table, random_unpruned_table


@pytest.mark.twin
@pytest.mark.parametrize("over", ["graphs", "orders"])
@pytest.mark.parametrize("low", [10, 2])
def test_against_all_acyclic_graphs(over, low, monkeypatch):
    monkeypatch.setattr(optbn_solvers.front.posterior, "LOW", low)
    rng = np.random.default_rng(1)
    for trial in range(40):
        n = int(rng.integers(1, 6))
        kind = ["plain", "signs", "dense", "bare"][trial % 4]
        table = random_table(rng, n, kind) if trial % 2 else random_unpruned_table(rng, n)
        wanted = posterior_of_all_dags(table, over)
        if wanted is None:
            continue
        families, total = wanted
        found = posterior(table, over, only_listed=True)
        assert found.log_total == pytest.approx(total, abs=1e-9, rel=1e-12)
        assert found.families == pytest.approx(families, abs=1e-10)


def test_scores_that_differ_by_thousands():
    """Where the best family's weight is e^3000 times another's, both are still right."""
    rng = np.random.default_rng(2)
    for over in ("graphs", "orders"):
        for _ in range(10):
            table = random_table(rng, 5, "plain", rows=8)
            scores = -600.0 * np.round(table.scores - table.scores.max()) ** 2 + rng.random(len(table))
            steep = ScoreTable.build(table.names, table.children, table.masks, scores, keep_dominated=True)
            families, total = posterior_of_all_dags(steep, over)
            found = posterior(steep, over, only_listed=True)
            assert found.log_total == pytest.approx(total, rel=1e-12)
            assert found.families == pytest.approx(families, abs=1e-9)


@pytest.mark.parametrize("over", ["graphs", "orders"])
def test_probabilities_add_up_and_relabelling_changes_nothing(over):
    rng = np.random.default_rng(3)
    table = random_table(rng, 12, "dense")
    found = posterior(table, over, only_listed=True)
    sums = np.bincount(table.children, found.families)
    assert sums == pytest.approx(np.ones(12), abs=1e-9)
    for u, v in itertools.product(range(12), repeat=2):
        rows = [row for row in table.rows(v) if u in table.parents(row)]
        assert found.arcs[u, v] == pytest.approx(found.families[rows].sum(), abs=1e-12)
    p = rng.permutation(12)
    place = np.argsort(p)
    masks = np.array([[sum(1 << int(place[u]) for u in table.parents(row))] for row in range(len(table))], np.uint64)
    other = ScoreTable.build([table.names[v] for v in p], place[table.children], masks, table.scores)
    again = posterior(other, over, only_listed=True)
    assert again.arcs == pytest.approx(found.arcs[np.ix_(p, p)], abs=1e-9)
    assert again.log_total == pytest.approx(found.log_total, rel=1e-12)


def test_limits():
    table = random_table(np.random.default_rng(4), 12)
    with pytest.raises(TableError, match="expected 'graphs' or 'orders'"):
        posterior(table, "trees", only_listed=True)
    with pytest.raises(TooLargeError):
        posterior(table, "orders", Budget(memory=1000), only_listed=True)
    stopped = Budget()
    stopped.stop()
    for over in ("graphs", "orders"):
        with pytest.raises(StoppedError, match="stopped at"):
            posterior(table, over, stopped, only_listed=True)


@pytest.mark.parametrize("over", ["graphs", "orders"])
def test_a_finished_result_is_not_thrown_away(over):
    """The budget ends while the last slice runs."""
    table = random_unpruned_table(np.random.default_rng(6), 4)
    slices: list[str] = []
    budget = Budget()
    whole = posterior(table, over, budget, lambda event: slices.append(event.phase), only_listed=True)
    assert slices[-1] == "100%"

    def stop(event):
        seen.append(event.phase)
        if len(seen) == at:
            budget.stop()

    for at in range(1, len(slices) + 1):
        seen: list[str] = []
        budget = Budget()
        if slices[min(at, len(slices) - 1)] == "100%":  # stopped before the next slice, which is the last
            assert np.array_equal(posterior(table, over, budget, stop, only_listed=True).families, whole.families)
        else:
            with pytest.raises(StoppedError):
                posterior(table, over, budget, stop, only_listed=True)
