"""Pitman-Yor smoothing and rows predicted by all others, against sums over all numbers of tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from optbn.base.errors import LimitError, UnsupportedError
from optbn.smoothing.hdp import HDP
from optbn.smoothing.tree import CountTree
from tests.naive import smoothing as naive

GRID = np.exp(np.linspace(-5.0, 3.5, 60))
PRIOR = GRID**2 * np.exp(-GRID)  # Gamma(2, 1) on a logarithmic grid


def tree_of(counts, sizes):
    contexts = np.array(list(np.ndindex(*sizes)))
    return CountTree.from_configurations(contexts, np.array(counts, dtype=float), sizes)


TREES = {
    "two contexts": tree_of([[3, 1, 0], [1, 2, 0]], (2,)),
    "two levels": tree_of([[2, 1], [1, 0], [0, 2], [1, 1]], (2, 2)),
    "a decision tree": CountTree.from_splits(
        [-1, 0, 0, 2, 2], np.array([[4, 3], [3, 0], [1, 3], [0, 2], [1, 1]], dtype=float)
    )[0],
}


def exactly(tree, discounts):
    """Evidence and means with the concentration (and the discounts) integrated out."""
    found = naive.pitman_yor(tree, GRID, discounts)
    weights = np.array([[PRIOR[i] * found[a, d][0] for d in discounts] for i, a in enumerate(GRID)])
    means = np.array([[found[a, d][1] for d in discounts] for a in GRID])
    return weights.sum(), (weights[..., None, None] * means).sum(axis=(0, 1)) / weights.sum()


@pytest.mark.parametrize("discount", [0.3, 0.8, "learned"])
@pytest.mark.parametrize("name", TREES)
def test_means_against_all_numbers_of_tables(name, discount):
    tree = TREES[name]
    _, wanted = exactly(tree, np.arange(0.05, 1.0, 0.1) if discount == "learned" else [discount])
    sampler = HDP(tying="single", discount=discount, sweeps=30_000)
    found = sampler.fit(tree, np.random.default_rng(1))
    assert np.abs(found.probabilities - wanted).max() < 5 * found.diagnostics["monte_carlo_error"] + 1e-3
    if discount != "learned":
        assert found.diagnostics["discount"] == pytest.approx(discount)


@pytest.mark.twin
def test_short_chains():
    """The same, as far as a chain goes that can be run without the compiler."""
    tree = TREES["two contexts"]
    sampler = HDP(tying="single", discount=0.3, sweeps=800, chains=1)
    found = sampler.fit(tree, np.random.default_rng(1))
    assert np.abs(found.probabilities - exactly(tree, [0.3])[1]).max() < 0.03


@pytest.mark.parametrize("discount", [0.0, 0.4])
@pytest.mark.parametrize("name", TREES)
def test_rows_predicted_by_all_others(name, discount):
    tree = TREES[name]
    found = HDP(tying="single", discount=discount, sweeps=30_000).leave_one_out(tree, np.random.default_rng(2))
    whole = exactly(tree, [discount])[0]
    for u, k in np.argwhere(tree.counts > 0):
        if np.any(tree.parent == u):
            assert np.isnan(found[u, k])
            continue
        counts = tree.counts.copy()
        v = u
        while v >= 0:
            counts[v, k] -= 1
            v = tree.parent[v]
        rest = exactly(replace(tree, counts=counts), [discount])[0]
        assert found[u, k] == pytest.approx(whole / rest, abs=0.01), (u, k)
    assert np.isnan(found[tree.counts == 0]).all()


@pytest.mark.parametrize("tying", ["level", "same_parent", "none"])
def test_a_small_discount_is_the_dirichlet_model(tying):
    tree = TREES["two levels"]
    dirichlet = HDP(tying=tying, sweeps=20_000, deviations=True).fit(tree, np.random.default_rng(0))
    tiny = HDP(tying=tying, sweeps=20_000, deviations=True, discount=1e-6).fit(tree, np.random.default_rng(0))
    assert np.abs(dirichlet.probabilities - tiny.probabilities).max() < 0.008
    assert np.abs(dirichlet.deviations - tiny.deviations).max() < 0.005


def test_deviations_are_those_of_two_more_rows():
    """E theta^2 is the probability that two more rows are both of the level: evidence with two rows more."""
    tree = TREES["two contexts"]
    found = HDP(tying="single", discount=0.4, sweeps=60_000, deviations=True).fit(tree, np.random.default_rng(0))
    whole = exactly(tree, [0.4])[0]
    for u, k in ((1, 0), (2, 1)):
        counts = tree.counts.copy()
        counts[[0, u], k] += 2
        second = exactly(replace(tree, counts=counts), [0.4])[0] / whole
        assert found.deviations[u, k] == pytest.approx(np.sqrt(second - found.probabilities[u, k] ** 2), abs=0.004)


def test_what_cannot_be_seated_is_refused():
    with pytest.raises(UnsupportedError, match=r"discount is 1\.0"):
        HDP(discount=1.0)
    with pytest.raises(UnsupportedError, match="'learnt'"):
        HDP(discount="learnt")
    with pytest.raises(UnsupportedError, match="published"):
        HDP(discount=0.2, compat="published")
    with pytest.raises(LimitError, match="discount=0"):
        HDP(discount=0.2).fit(tree_of([[1e9, 1.0]], (1,)), np.random.default_rng(0))
