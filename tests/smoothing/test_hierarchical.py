"""The hierarchical multinomial-Dirichlet model: bound, moments, covariances, against exact numbers and simulation."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import special

from optbn.base.errors import LimitError, UnsupportedError
from optbn.smoothing.ascent import Distinct
from optbn.smoothing.hierarchical import Hierarchical, posterior
from optbn.smoothing.kernels.hierarchical import bound, derivatives, polygammas, slope_by_strength
from optbn.smoothing.tree import CountTree
from tests.naive import smoothing as naive
from tests.paths import GOLDEN

CASES = {
    key: case
    for key, case in json.loads((GOLDEN / "bnc" / "hier_md_vi_exact.json").read_text()).items()
    if "counts_y_by_x" in case
}


def settings(key):
    return CASES[key]["s"], float(key.split("alpha0=")[1])


@pytest.mark.parametrize("key", CASES)
def test_variational_means_are_near_the_exact_ones(key):
    s, alpha0 = settings(key)
    counts = np.array(CASES[key]["counts_y_by_x"], dtype=float)
    found = posterior(counts, s, alpha0)
    limit = 0.0072 if s <= counts.shape[1] else 0.022
    assert np.abs(found.theta() - CASES[key]["E_theta"]).max() <= limit
    assert found.log_evidence < CASES[key]["log_evidence"]
    assert (np.diff(found.trace) >= 0).all() and found.trace[-1] > found.trace[0]
    published = posterior(counts, s, alpha0, tolerance=1e-9, compat="published")
    assert np.abs(published.mean / s - CASES[key]["VI"]["kappa"]).max() < 1e-6
    assert abs(published.precision / CASES[key]["VI"]["tau"] - 1) < 1e-5
    assert abs(published.log_evidence - CASES[key]["VI"]["Ltilde"]) < 1e-9
    if (counts.sum(axis=1) > 0).all():
        assert np.allclose(published.theta(), found.theta(), atol=1e-6)
    else:  # empty contexts are left out by default, and each would loosen the bound
        assert found.log_evidence > published.log_evidence


def test_the_bound_is_the_published_one_in_other_words():
    """Lemma 6 (Kim, Voelker, Saul 2013): E log Gamma(s beta) for beta ~ Dir(tau kappa), above the mean of draws."""
    generator = np.random.default_rng(4)
    for _ in range(200):
        K = int(generator.integers(2, 6))
        kappa, tau, s = generator.dirichlet(np.ones(K)), np.exp(generator.normal(2, 1)), np.exp(generator.normal(1, 1))
        a, slope = s * kappa, special.digamma(tau) - special.digamma(tau * kappa)
        lemma = special.gammaln(a) + s * (1 - kappa) / tau + (1 - a) * (np.log(kappa) + slope)
        log_beta = special.digamma(tau * kappa) - special.digamma(tau)
        beta_log_beta = kappa * (special.digamma(tau * kappa + 1) - special.digamma(tau + 1))
        ours = special.gammaln(1 + a) - a * np.log(a) + s * beta_log_beta + a * np.log(s) - log_beta - np.log(s)
        assert np.allclose(lemma, ours, rtol=1e-9, atol=1e-9)
    draws = generator.dirichlet(tau * kappa, 20_000)
    assert (special.gammaln(s * draws).mean(axis=0) < lemma + 0.05 * np.abs(lemma)).all()


def test_published_contexts_without_rows_count_in_networks():
    """A table of two parents: all nine configurations are contexts, though two never occur."""
    import optbn

    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, 60), rng.integers(0, 3, 60)
    b = np.where((a == 2) & (b > 0), 0, b)
    c = (rng.random(60) < 0.2 + 0.1 * a + 0.2 * b).astype(int)
    data = optbn.Dataset.from_arrays({"a": a.astype(str), "b": b.astype(str), "c": c.astype(str)})
    settings = {"s": "levels", "alpha0": 1.0, "compat": "published"}
    found = (
        optbn.fit({"a": (), "b": (), "c": ("a", "b")}, data, "hierarchical", **settings).cpd("c").leaves.probabilities
    )
    counts = np.zeros((3, 3, 2))
    np.add.at(counts, (a, b, c), 1)
    assert (counts.reshape(9, 2).sum(axis=1) == 0).sum() == 2
    assert np.allclose(found, posterior(counts.reshape(9, 2), compat="published").theta())
    assert not np.allclose(found, posterior(counts.reshape(9, 2)).theta(), atol=1e-6)


@pytest.mark.parametrize("key", CASES)
def test_exact_moments_by_quadrature(key):
    s, alpha0 = settings(key)
    found = posterior(np.array(CASES[key]["counts_y_by_x"], dtype=float), s, alpha0, "exact")
    assert np.abs(found.mean - CASES[key]["E_alpha"]).max() < 1e-8
    assert np.abs(found.covariance - CASES[key]["Cov_alpha"]).max() < 1e-8
    assert np.abs(found.theta() - CASES[key]["E_theta"]).max() < 1e-8
    assert abs(found.log_evidence - CASES[key]["log_evidence"]) < 1e-8


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(6))
def test_exact_moments_by_enumeration(seed):
    generator = np.random.default_rng(seed)
    Y, K = generator.integers(1, 4), generator.integers(2, 4)
    counts = generator.integers(0, 4, (Y, K))
    s, alpha0 = [0.5, 2.0, 7.0][seed % 3], [1.0, 0.25][seed % 2]
    counts[counts.sum(axis=1) == 0, 0] = 1
    mean, square, evidence = naive.polynomial_moments(counts, s, alpha0)
    found = posterior(counts, s, alpha0, "exact")
    assert np.allclose(found.mean, s * mean, atol=1e-12)
    assert np.allclose(found.covariance, s * s * (square - np.outer(mean, mean)), atol=1e-10)
    assert abs(found.log_evidence - evidence) < 1e-10


@pytest.mark.parametrize("seed", range(25))
def test_the_bound_rises_stays_below_the_evidence_and_ends_at_a_stationary_point(seed):
    generator = np.random.default_rng(seed)
    Y, K = generator.integers(1, 9), generator.integers(2, 7)
    theta = generator.dirichlet(np.full(K, generator.choice([0.05, 0.5, 5.0])), Y)
    counts = np.stack([generator.multinomial(generator.integers(1, 40), t) for t in theta]).astype(float)
    s, alpha0 = float(generator.choice([0.3, 1.0, 10.0, K])), float(generator.choice([0.5, 1.0, 3.0]))
    found = posterior(counts, s, alpha0, tolerance=1e-10)
    assert (np.diff(found.trace) >= 0).all() and len(found.trace) < 40
    assert found.log_evidence < posterior(counts, s, alpha0, "exact").log_evidence
    kappa, tau = found.mean / s, found.precision
    assert abs(naive.lower_bound(counts, kappa, tau, s, alpha0) - found.log_evidence) < 1e-8
    for _ in range(4):  # nothing higher nearby
        step = 1e-3 * generator.normal(size=K)
        near = kappa * np.exp(step)
        near /= near.sum()
        there = naive.lower_bound(counts, near, tau * np.exp(1e-3 * generator.normal()), s, alpha0)
        assert there <= found.log_evidence + 1e-9


@pytest.mark.twin
def test_derivatives_by_finite_differences():
    generator = np.random.default_rng(0)
    counts = generator.integers(0, 9, (4, 3)).astype(float)
    start, value, times = np.array([0, 4, 8, 12]), counts.T.ravel().copy(), np.ones(12)
    args = (4.0, start, value, times, 2.5, np.array([0.7, 2.0, 0.3]))
    kappa, tau, h = generator.dirichlet([3.0] * 3), 11.0, 1e-5
    slope, curve, cross = np.empty(3), np.empty(3), np.empty(3)
    d, dd = derivatives(kappa, tau, *args, slope, curve, cross)

    def f(k, t):
        return bound(k, t, *args)

    for x in range(3):
        e = h * np.eye(3)[x]
        assert abs((f(kappa + e, tau) - f(kappa - e, tau)) / (2 * h) - slope[x]) < 1e-5
        assert abs((f(kappa + e, tau) - 2 * f(kappa, tau) + f(kappa - e, tau)) / h**2 - curve[x]) < 2e-3 * abs(curve[x])
        mixed = [f(kappa + i * e, tau * np.exp(j * h)) * i * j for i in (1, -1) for j in (1, -1)]
        assert abs(sum(mixed) / (4 * h * h) - cross[x]) < 1e-2 * max(1, abs(cross[x]))
    assert abs((f(kappa, tau * np.exp(h)) - f(kappa, tau * np.exp(-h))) / (2 * h) - d) < 1e-5
    second = (f(kappa, tau * np.exp(h)) - 2 * f(kappa, tau) + f(kappa, tau * np.exp(-h))) / h**2
    assert abs(second - dd) < 1e-3 * max(1, abs(dd))


@pytest.mark.twin
def test_the_slope_by_the_strength_is_that_of_the_bound():
    generator = np.random.default_rng(1)
    counts = generator.integers(0, 6, (5, 3)).astype(float)
    counts[0] = counts[1]
    table, kappa, tau, h = Distinct.of(counts), np.array([0.2, 0.5, 0.3]), 9.0, 1e-5
    for s in (0.4, 2.5, 30.0):
        above, below = (naive.lower_bound(counts, kappa, tau, s * np.exp(d), 0.7) for d in (h, -h))
        slope = slope_by_strength(kappa, tau, table.levels, table.contexts, s)
        assert slope == pytest.approx((above - below) / (2 * h), rel=1e-6)


@pytest.mark.twin
def test_polygammas():
    for x in (1e-4, 0.03, 0.9, 1.0, 2.5, 11.9, 12.1, 300.0, 1e7):
        wanted = special.digamma(x), special.polygamma(1, x), special.polygamma(2, x)
        assert np.allclose(polygammas(x), wanted, rtol=1e-11, atol=1e-14)


def test_prior_correlation_of_contexts():
    """Before any data, contexts correlate by (s + 1) / (s + s0 + 1)."""
    for s, alpha0, K in ((2.0, 1.0, 3), (0.5, 2.0, 2)):
        found = posterior(np.zeros((2, K)), s, alpha0)
        correlation = found.theta_covariance(0, 1)[0, 0] / found.theta_covariance(0, 0)[0, 0]
        assert abs(correlation - (s + 1) / (s + K * alpha0 + 1)) < 1e-12


def test_covariances_by_simulation():
    """The exact covariances of the contexts' distributions, by importance sampling from the prior."""
    counts = np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 2.0]])
    s, alpha0 = 2.0, 1.0
    generator = np.random.default_rng(0)
    beta = generator.dirichlet([alpha0] * 3, 400_000)
    alpha = s * beta
    log_w = sum((special.gammaln(alpha + n) - special.gammaln(alpha)).sum(axis=1) for n in counts)
    w = np.exp(log_w - log_w.max())
    w /= w.sum()
    nu = alpha[:, None, :] + counts
    total = nu.sum(axis=2, keepdims=True)
    mean = nu / total
    found = posterior(counts, s, alpha0, "exact")
    e = np.einsum("i,iyx->yx", w, mean)
    assert np.abs(e - found.theta()).max() < 2e-3
    for y, z in ((0, 0), (0, 1), (1, 1)):
        products = np.einsum("i,ix,iz->xz", w, mean[:, y], mean[:, z])
        if y == z:
            within = np.einsum("ix,xz->ixz", mean[:, y], np.eye(3)) - mean[:, y, :, None] * mean[:, y, None, :]
            products += np.einsum("i,ixz->xz", w, within / (total[:, y, :, None] + 1))
        wanted = products - np.outer(e[y], e[z])
        assert np.abs(found.theta_covariance(y, z) - wanted).max() < 2e-3
        assert np.abs(posterior(counts, s, alpha0).theta_covariance(y, z) - wanted).max() < 0.02
    deviations = np.sqrt([np.diag(found.theta_covariance(y, y)) for y in range(2)])
    assert np.allclose(found.theta_deviations(), deviations)


def test_contexts_without_rows_are_answered_by_the_shared_mean():
    counts = np.array([[4.0, 1.0], [0.0, 0.0], [3.0, 0.0]])
    with_empty, without = posterior(counts), posterior(counts[[0, 2]])
    assert np.allclose(with_empty.mean, without.mean)
    assert np.allclose(with_empty.theta()[1], without.mean / 2.0)
    tree = CountTree.from_configurations(np.array([[0], [2]]), counts[[0, 2]], (3,))
    estimate = Hierarchical("levels", alpha0=1.0).fit(tree, np.random.default_rng(0))
    assert np.allclose(estimate.at(tree, tree.cells()), with_empty.theta())


def some_contexts(seed):
    """Counts drawn from the model itself, with a strength that differs a lot."""
    generator = np.random.default_rng(seed)
    Y, K = generator.integers(1, 20), generator.integers(2, 6)
    beta = generator.dirichlet(np.ones(K))
    strength = generator.choice([0.1, 1.0, 10.0, 1000.0])
    theta = generator.dirichlet(strength * beta + 1e-6, Y)
    return np.stack([generator.multinomial(generator.integers(1, 60), t) for t in theta]).astype(float)


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.twin), *range(1, 20)])
@pytest.mark.parametrize("spread", [0.5, 1.5, np.inf])
def test_a_learned_strength_is_the_likeliest_of_a_grid(seed, spread):
    counts = some_contexts(seed)
    K = counts.shape[1]

    def value(log_s):
        prior = -0.5 * ((log_s - np.log(K)) / spread) ** 2
        return posterior(counts, float(np.exp(log_s))).log_evidence + prior

    found = posterior(counts, "learned", spread=spread)
    grid = np.linspace(np.log(K) - 12, np.log(K) + 12, 97)
    best = max(value(log_s) for log_s in grid)
    if np.isinf(spread) and abs(np.log(found.s / K)) > 12:  # the evidence rises to an end that nothing reaches
        assert found.log_evidence > best - 0.05
    else:
        assert value(np.log(found.s)) > best - 1e-6
    assert found.log_evidence == pytest.approx(posterior(counts, found.s).log_evidence, abs=1e-8)


def test_a_learned_strength_is_near_that_of_the_truth():
    generator = np.random.default_rng(5)
    theta = generator.dirichlet(300.0 * generator.dirichlet(np.ones(5)), 60)
    counts = np.stack([generator.multinomial(100, t) for t in theta]).astype(float)
    assert 100 < posterior(counts, "learned").s < 900
    assert Hierarchical(alpha0=1.0).posterior(counts).s == posterior(counts, "learned").s
    assert Hierarchical(alpha0=1.0, method="exact").posterior(counts[:4, :2]).s == pytest.approx(
        posterior(counts[:4, :2], "learned").s
    )


def test_a_learned_strength_depends_on_no_order_and_no_names():
    counts = some_contexts(3)
    found = posterior(counts, "learned", tolerance=1e-10)
    turned = posterior(counts[::-1, ::-1].copy(), "learned", tolerance=1e-10)
    assert turned.s == pytest.approx(found.s, rel=1e-6)
    assert np.allclose(turned.theta(), found.theta()[::-1, ::-1], atol=1e-7)


@pytest.mark.parametrize("counts", [np.zeros((3, 4)), np.full((3, 1), 2.0)])
def test_without_rows_or_with_one_level_the_strength_is_the_number_of_levels(counts):
    assert posterior(counts, "learned").s == counts.shape[1]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("s", ["learned", 3.0])
def test_a_learned_prior_is_the_likeliest_around(seed, s):
    """Of one number for all levels on a grid; of one for each level, none nearby is better."""
    counts = some_contexts(seed)
    K = counts.shape[1]

    def value(alpha0, strength):
        away = np.append(np.log(alpha0), np.log(strength / K) if s == "learned" else 0.0) / 1.5
        return posterior(counts, strength, np.ones(K) * alpha0, tolerance=1e-9).log_evidence - 0.5 * away @ away

    found = posterior(counts, s, "learned")
    assert np.ptp(found.alpha0) == 0.0
    best = value(found.alpha0[:1], found.s)
    assert all(value(np.array([a]), found.s) <= best + 1e-5 for a in np.exp(np.linspace(-3, 3, 25)))
    each = posterior(counts, s, "each")
    best, generator = value(each.alpha0, each.s), np.random.default_rng(0)
    for _ in range(12):
        moved = each.alpha0 * np.exp(0.05 * generator.normal(size=K))
        assert value(moved, each.s * (np.exp(0.05 * generator.normal()) if s == "learned" else 1.0)) <= best + 1e-5
    assert each.log_evidence == pytest.approx(posterior(counts, each.s, each.alpha0).log_evidence, abs=1e-8)
    turned = posterior(counts[:, ::-1].copy(), s, "each")
    assert np.allclose(np.log(turned.alpha0), np.log(each.alpha0[::-1]), atol=5e-3)


def test_a_prior_with_a_number_for_each_level_by_simulation():
    counts, s, alpha0 = np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 1.0]]), 2.0, np.array([0.5, 2.0, 1.5])
    beta = np.random.default_rng(4).dirichlet(alpha0, 400_000)
    alpha = s * beta[:, None, :]
    logs = special.gammaln(s) - special.gammaln(s + counts.sum(1))
    terms = special.gammaln(counts + alpha) - special.gammaln(alpha)
    weights = np.exp((logs + terms.sum(axis=2)).sum(axis=1))
    found = posterior(counts, s, alpha0, "exact")
    assert np.exp(found.log_evidence) == pytest.approx(weights.mean(), rel=0.01)
    assert found.mean == pytest.approx(s * (weights @ beta) / weights.sum(), abs=0.01)
    rough = posterior(counts, s, alpha0)
    assert rough.log_evidence < found.log_evidence
    assert np.abs(rough.theta() - found.theta()).max() < 0.02


def test_priors_that_fit_no_variable_are_refused():
    for wrong in ("every", [1.0, -1.0], 0.0):
        with pytest.raises(UnsupportedError, match="alpha0"):
            Hierarchical(alpha0=wrong)
    with pytest.raises(UnsupportedError, match="2 numbers for a variable of 3 levels"):
        Hierarchical(alpha0=(1.0, 2.0)).posterior(np.ones((2, 3)))


def test_exact_refuses_what_is_out_of_reach():
    with pytest.raises(LimitError, match="variational"):
        posterior(np.full((10, 10), 1000.0), method="exact")


@pytest.mark.parametrize("method", ["variational", "exact"])
def test_an_integrated_strength_is_the_mean_over_a_fine_grid(method):
    """By hand: posteriors at 400 strengths, each weighed by its prior and the evidence."""
    generator = np.random.default_rng(6)
    counts = np.array([generator.multinomial(6, generator.dirichlet([2.0, 1.0, 1.0])) for _ in range(4)], dtype=float)
    found = Hierarchical(s="integrated", alpha0=1.0, method=method, spread=1.2).posterior(counts)
    logs = np.log(3) + 1.2 * np.linspace(-6, 6, 400)
    each = [posterior(counts, float(np.exp(log)), 1.0, method) for log in logs]
    weight = np.exp(
        [-0.5 * ((log - np.log(3)) / 1.2) ** 2 + one.log_evidence for log, one in zip(logs, each, strict=True)]
    )
    evidence = np.log(weight.sum() * (logs[1] - logs[0]) / (1.2 * np.sqrt(2 * np.pi)))
    weight /= weight.sum()
    means = np.array([one.theta() for one in each])
    mean = np.tensordot(weight, means, 1)
    second = np.tensordot(weight, means**2 + np.array([one.theta_deviations() for one in each]) ** 2, 1)
    assert np.allclose(found.theta(), mean, atol=1e-4)
    assert np.allclose(found.theta_deviations(), np.sqrt(second - mean**2), atol=1e-4)
    assert found.log_evidence == pytest.approx(evidence, abs=1e-3)
    learned = posterior(counts, "learned", 1.0, spread=1.2)
    assert 0.3 < found.s / learned.s < 3.0 and (found.theta_deviations() > 0).all()


def test_an_integrated_strength_in_networks_and_without_rows():
    import optbn

    asia = optbn.load_network("asia")
    found = optbn.fit(asia, asia.sample(300, 1), "hierarchical", s="integrated")
    learned = optbn.fit(asia, asia.sample(300, 1), "hierarchical")
    for name in asia.names:
        p, q = (network.cpd(name).leaves.probabilities for network in (found, learned))
        assert np.abs(p - q).max() < 0.12 and np.allclose(p.sum(axis=1), 1.0)
    empty = Hierarchical(s="integrated").posterior(np.zeros((2, 3)))
    assert np.allclose(empty.theta(), 1 / 3)
    with pytest.raises(UnsupportedError, match="needs a prior, a finite spread"):
        Hierarchical(s="integrated", spread=float("inf"))
