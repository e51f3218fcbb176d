"""Hierarchical Dirichlet smoothing against integration, published chains, another sampler, and Geweke's test."""

from __future__ import annotations

import json

import numpy as np
import pytest

from optbn.smoothing.blocks import Blocks, plan
from optbn.smoothing.convergence import Moments, Record
from optbn.smoothing.hdp import HDP
from optbn.smoothing.kernels.hdp import Chain
from optbn.smoothing.tree import CountTree
from tests.naive import smoothing as naive
from tests.paths import GOLDEN

EXACT = json.loads((GOLDEN / "bnc" / "hdp_exact.json").read_text())
PUBLISHED = json.loads((GOLDEN / "bnc" / "hdp_java_mcmc.json").read_text())


def tree_of(leaves):
    """{"0,2": [counts]} as a tree, its variables in the order of the key."""
    contexts = np.array([[int(c) for c in key.split(",")] for key in leaves])
    counts = np.array(list(leaves.values()), dtype=float)
    return CountTree.from_configurations(contexts, counts, (contexts.max(axis=0) + 1).tolist())


def by_path(tree, rows):
    return {",".join(map(str, path)): row for path, row in zip(naive.paths(tree), rows, strict=True)}


def fit(tree, seed=1, **settings):
    return HDP(**settings).fit(tree, np.random.default_rng(seed))


@pytest.mark.parametrize("key", [k for k in EXACT if "improper" not in k])  # Gamma(0, 0) has no posterior
def test_posterior_means_by_integration(key):
    _, tying, _, root = key.split("|")
    tree = tree_of(EXACT[key]["leaves"])
    compat = "published" if "root=code" in key else None
    settings = {"tying": tying.lower(), "alpha0": float(root.split("a0=")[1]), "compat": compat}
    runs = [fit(tree, seed, sweeps=1500, chains=1, **settings).probabilities for seed in range(40)]
    found = by_path(tree, np.mean(runs, axis=0))
    error = by_path(tree, np.std(runs, axis=0, ddof=1) / np.sqrt(40))
    for path, wanted in EXACT[key]["posterior_mean"].items():
        if not path.startswith("E["):
            assert (np.abs(found[path] - wanted) <= 4 * error[path]).all(), path


@pytest.mark.parametrize("key", PUBLISHED)
def test_the_published_code_by_its_own_root(key):
    case = PUBLISHED[key]
    rows = np.array(case["rows_y_x_count"])
    _, tying, _ = key.split("|")
    K = 1 + rows[:, 0].max()
    contexts, at = np.unique(rows[:, 1:-1], axis=0, return_inverse=True)
    counts = np.zeros((len(contexts), K))
    np.add.at(counts, (at.ravel(), rows[:, 0]), rows[:, -1])
    tree = CountTree.from_configurations(contexts, counts, (contexts.max(axis=0) + 1).tolist())
    estimate = fit(tree, tying=tying.lower(), sweeps=20_000, chains=2, compat="published")
    found = by_path(tree, estimate.probabilities)
    ours = estimate.diagnostics["monte_carlo_error"]
    for path, (mean, se) in case["mean_se"].items():
        assert (np.abs(found[path] - mean) <= 4.5 * np.hypot(se, ours) + 1e-5).all(), path


@pytest.mark.parametrize(("tying", "seed"), [("level", 0), ("single", 1), ("same_parent", 2), ("none", 3)])
def test_against_the_collapsed_sampler(tying, seed):
    generator = np.random.default_rng(seed)
    contexts = np.array([[a, b] for a in range(2) for b in range(2)])
    counts = generator.multinomial(5, generator.dirichlet([1.0] * 3), 4).astype(float)
    tree = CountTree.from_configurations(contexts, counts, (2, 2))
    slow = np.mean([naive.hdp_collapsed(tree, tying, 1000, s) for s in range(3)], axis=0)
    fast = fit(tree, tying=tying, sweeps=20_000)
    assert np.abs(slow - fast.probabilities).max() < 0.012


@pytest.mark.twin
def test_short_chains():
    """The same, as far as a chain goes that can be run without the compiler."""
    tree = tree_of({"0,0": [3, 1], "0,1": [1, 0], "1,0": [0, 4]})
    slow = naive.hdp_collapsed(tree, "level", 1500, 0)
    assert np.abs(slow - fit(tree, tying="level", sweeps=1500, chains=1).probabilities).max() < 0.03


@pytest.mark.parametrize("tying", ["level", "same_parent"])
def test_decision_trees_have_leaves_at_any_depth(tying):
    counts = np.array([[6, 5], [4, 0], [2, 5], [1, 4], [1, 1]], dtype=float)
    tree, _ = CountTree.from_splits([-1, 0, 0, 2, 2], counts)
    slow = np.mean([naive.hdp_collapsed(tree, tying, 1000, s) for s in range(3)], axis=0)
    assert np.abs(slow - fit(tree, tying=tying, sweeps=20_000).probabilities).max() < 0.012


@pytest.mark.parametrize(
    ("tying", "shape", "right"),
    [("level", (2,), True), ("none", (2, 2), True), ("single", (2, 2), True), ("level", (2, 2), False)],
)
def test_geweke(tying, shape, right):
    """(alpha, phi, data) drawn from the model, and by alternating the sampler with new data given its state, agree.

    The last case samples with a wrong prior of the concentrations, and must be caught.
    """
    generator = np.random.default_rng(7)
    K, rounds, own = 3, 8000, 6
    contexts = np.array(list(np.ndindex(*shape)))
    tree = CountTree.from_configurations(contexts, np.full((len(contexts), K), 2.0), shape)
    leaves = np.flatnonzero(tree.is_leaf)
    inner = np.flatnonzero(~tree.is_leaf)
    prior, alpha0 = HDP(tying=tying), 2.0
    wrong = prior if right else HDP(tying=tying, shape=2.6)
    groups = plan(tree, tying)

    def latent():
        alpha = generator.gamma(prior.shape, 1 / prior.rate, len(groups.fixed))
        phi = np.full((len(tree.parent), K), 1.0 / K)
        for u in inner:
            a = np.full(K, alpha0 / K) if u == 0 else alpha[groups.group[u]] * phi[tree.parent[u]]
            phi[u] = generator.dirichlet(np.maximum(a, 1e-12))
        return alpha, phi

    def data(alpha, phi):
        counts = np.zeros_like(tree.counts)
        for u in leaves:
            theta = generator.dirichlet(np.maximum(alpha[groups.group[u]] * phi[tree.parent[u]], 1e-12))
            counts[u] = generator.multinomial(own, theta / theta.sum())
        return counts

    def statistics(alpha, phi, counts):
        n = counts[leaves]
        return [
            *np.log(alpha[:2]), alpha.mean(), (phi[inner] ** 2).mean(), phi[0, 0], (n**2).mean(), n[0, 0],
            (n[0] * n[-1]).mean(), (phi[0] * n.mean(axis=0)).sum(), np.log(alpha[-1]) * (n**2).mean(),
        ]  # fmt: skip

    forward = np.array([statistics(a, p, data(a, p)) for a, p in (latent() for _ in range(rounds))])
    alpha, phi = latent()
    chain = np.empty_like(forward)
    counts = data(alpha, phi)
    state = Blocks(
        groups, np.array([11], dtype=np.uint64), Chain(alpha, np.full(len(alpha), 0.8), phi.ravel(), *[np.zeros(0)] * 2)
    )
    for i in range(rounds):
        state.layout = plan(tree.reweighted(counts), tying, every_level=True)
        state.chain = state.chain._replace(n=state.layout.counts.copy(), total=state.layout.totals.copy())
        moments = Moments.empty(1, counts.size, 1)  # recorded sweeps do not tune their steps
        record = Record(moments, np.zeros(0), np.zeros(len(alpha)), np.zeros(len(alpha)), np.zeros(0))
        state.advance(wrong, 1, record, 0)
        phi = state.chain.phi.reshape(phi.shape)
        counts = data(state.chain.alpha, phi)
        chain[i] = statistics(state.chain.alpha, phi, counts)
    batches = chain.reshape(40, -1, chain.shape[1]).mean(axis=1)
    error = np.sqrt(batches.var(axis=0, ddof=1) / 40 + forward.var(axis=0) / rounds)
    z = np.abs(chain.mean(axis=0) - forward.mean(axis=0)) / error
    assert (z.max() < 4.2) == right, z


def test_deviations_are_those_of_the_posterior():
    """One context, alpha known by its prior: theta's spread by integrating on a grid of alpha and phi."""
    tree = tree_of({"0": [3, 1], "1": [0, 2]})
    estimate = fit(tree, sweeps=40_000, deviations=True)
    grid = (np.arange(200) + 0.5) / 200
    alpha = np.geomspace(0.01, 30, 240)[:, None]
    from scipy.special import betaln

    log_w = np.log(alpha) + np.log(alpha) - alpha  # Gamma(2, 1) on a logarithmic grid
    log_w = log_w + 0.0 * grid  # root Dir(1, 1) is flat
    a, b = alpha * grid, alpha * (1 - grid)
    for n in tree.counts[1:]:
        log_w = log_w + betaln(a + n[0], b + n[1]) - betaln(a, b)
    w = np.exp(log_w - log_w.max())
    w /= w.sum()
    for u, n in ((1, tree.counts[1]), (2, tree.counts[2])):
        A, B = a + n[0], b + n[1]
        mean = (w * A / (A + B)).sum()
        second = (w * A * (A + 1) / ((A + B) * (A + B + 1))).sum()
        assert abs(estimate.probabilities[u, 0] - mean) < 0.004
        assert abs(estimate.deviations[u, 0] - np.sqrt(second - mean**2)) < 0.004


def test_runs_until_converged_and_says_so():
    tree = tree_of({"0": [12, 3], "1": [2, 9], "2": [1, 1]})
    found = fit(tree).diagnostics
    assert found["converged"] and found["r_hat"] <= 1.01 and found["effective_draws"] >= 400
    short = fit(tree, sweeps=16, burn_in=0, chains=1).diagnostics
    assert not short["converged"] and short["sweeps"] == 16
    stopped = fit(tree, max_sweeps=600, effective=1e9).diagnostics
    assert not stopped["converged"] and stopped["sweeps"] < 1200


def test_progress_counts_sweeps():
    seen = []
    HDP(sweeps=160, chains=2).sample(
        tree_of({"0": [3, 1], "1": [0, 2]}), np.random.default_rng(0), lambda *x: seen.append(x)
    )
    assert seen[-1] == (160, 160) and len(seen) == 16


def test_moments_of_known_chains():
    generator = np.random.default_rng(0)
    moments = Moments.empty(4, 2, 50)
    value = np.zeros((4, 1))
    for _ in range(64):
        for chain in range(4):
            draws = np.empty((50, 2))
            for i in range(50):
                value[chain] = 0.9 * value[chain] + generator.normal()
                draws[i] = value[chain, 0], generator.normal() + 3 * chain
            moments.add(chain, draws.sum(axis=0), (draws**2).sum(axis=0))
    ess, r_hat = moments.effective_draws(), moments.r_hat()
    assert 0.5 < ess[0] / (moments.draws / 19) < 2.0  # an autoregression of .9 has autocorrelation time 19
    assert r_hat[0] < 1.02 and r_hat[1] > 2
    assert abs(moments.variance()[0] - 1 / (1 - 0.81)) < 0.7
    moments.halve()
    assert moments.batches == 32 and moments.length == 100
    assert 0.5 < moments.effective_draws()[0] / (moments.draws / 19) < 2.0
