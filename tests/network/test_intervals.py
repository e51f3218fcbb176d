"""Intervals of parameters and answers against the Beta they are, derivatives by differences, and networks drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta

import optbn
from optbn.base.errors import NetworkError, UnsupportedError
from optbn.data.dataset import Categorical
from optbn.network.formats import decode, encode
from optbn.network.intervals import beta_interval, drawn
from optbn.smoothing.fitting import fitted
from tests.naive.intervals import parameter_interval
from tests.network.test_network import mixed_network

ASIA = optbn.load_network("asia")
SMOOTHERS = [("bdeu", {}), ("laplace", {}), ("hierarchical", {}), ("hdp", {"sweeps": 400})]


def test_an_answer_that_is_a_parameter_has_its_beta():
    data = ASIA.sample(200, 1)
    network = optbn.fit(ASIA, data, "bdeu", ess=4.0)
    answer = network.query("smoke", interval=0.8)
    n = np.bincount(data.column("smoke"), minlength=2)
    expected = beta(n + 2.0, 200 - n + 2.0)
    assert np.allclose(answer.low, expected.ppf(0.1)) and np.allclose(answer.high, expected.ppf(0.9))
    assert np.allclose(answer.sd, expected.std())
    low, high = parameter_interval(network, "smoke", 0.8)
    assert np.allclose(low[0], answer.low) and np.allclose(high[0], answer.high)
    given = network.query("bronc", {"smoke": "yes"}, interval=0.8)
    assert np.allclose(given.low, parameter_interval(network, "bronc", 0.8)[0][0])


def test_an_interval_reaches_what_never_happened():
    """Beta(.2, 40.8) is highest at 0, Beta(40.8, .2) at 1; Beta(.1, .7) at both, and the likelier one is reached."""
    a, b = np.array([0.2, 40.8, 0.1, 0.7]), np.array([40.8, 0.2, 0.7, 0.1])
    p = a / (a + b)
    low, high = beta_interval(p, p * (1 - p) / (a + b + 1), 0.9)
    assert np.allclose(low, [0.0, beta(40.8, 0.2).ppf(0.05), 0.0, beta(0.7, 0.1).ppf(0.05)])
    assert np.allclose(high, [beta(0.2, 40.8).ppf(0.95), 1.0, beta(0.1, 0.7).ppf(0.95), 1.0])
    both = beta_interval(np.array([0.5]), np.array([0.25 / 1.6]), 0.9)  # Beta(.3, .3)
    assert both[0] == 0.0 and both[1] == 1.0


def test_the_variance_is_that_of_numerical_derivatives():
    network = optbn.fit(ASIA, ASIA.sample(300, 1), "bdeu", ess=8.0)
    evidence = {"xray": "yes", "dysp": "no"}
    answer = network.query(["lung", "smoke"], evidence, interval=0.9)
    total = np.zeros((2, 2))
    for i, name in enumerate(network.names):
        p = network.cpds[i].probabilities.reshape(-1, 2)
        for cell, worth in enumerate(network.precision[name]):
            # with two levels, theta moves along one line: its variance is p (1 - p) / (worth + 1)
            step, moved = 1e-6 * p[cell].min(), []
            for sign in (1.0, -1.0):
                rows = p.copy()
                rows[cell] += sign * np.array([step, -step])
                cpd = replace(network.cpds[i], probabilities=rows.reshape(network.cpds[i].probabilities.shape))
                other = replace(network, cpds=(*network.cpds[:i], cpd, *network.cpds[i + 1 :]))
                moved.append(other.query(["lung", "smoke"], evidence).probabilities)
            slope = (moved[0] - moved[1]) / (2 * step)
            total += slope**2 * p[cell].prod() / (worth + 1.0)
    assert np.allclose(answer.sd, np.sqrt(total), rtol=1e-4)


@pytest.mark.parametrize(("smoother", "settings"), SMOOTHERS)
def test_linear_propagation_and_draws_agree(smoother, settings):
    network = optbn.fit(ASIA, ASIA.sample(2000, 1), smoother, **settings)
    answer = network.query("bronc", {"dysp": "yes", "smoke": "no"}, interval=0.9)
    draws = [drawn(network, seed).query("bronc", {"dysp": "yes", "smoke": "no"}).probabilities for seed in range(400)]
    assert np.allclose(np.std(draws, axis=0), answer.sd, rtol=0.12)
    assert np.allclose(np.quantile(draws, 0.05, axis=0), answer.low, atol=0.25 * answer.sd.max())
    assert np.allclose(np.quantile(draws, 0.95, axis=0), answer.high, atol=0.25 * answer.sd.max())


def test_draws_have_the_moments_of_their_dirichlet():
    network = optbn.fit(ASIA, ASIA.sample(30, 1), "bdeu", ess=0.5)
    rows = np.array([drawn(network, seed).cpd("dysp").leaves.probabilities for seed in range(2000)])
    p, worth = network.cpd("dysp").leaves.probabilities, network.precision["dysp"]
    sd = np.sqrt(p * (1 - p) / (worth[:, None] + 1))
    assert (np.abs(rows.mean(axis=0) - p) < 4 * sd / np.sqrt(2000)).all()
    assert np.allclose(rows.std(axis=0), sd, rtol=0.15)


@pytest.mark.parametrize(("smoother", "settings"), SMOOTHERS)
def test_precision_is_kept_by_json_and_of_every_cell(smoother, settings):
    network = fitted(ASIA, ASIA.sample(50, 1), smoother, **settings).network
    back = decode(encode(network, "json"), "json")
    for name in network.names:
        assert np.array_equal(network.precision[name], back.precision[name])
        assert len(network.precision[name]) == network.cpd(name).leaves.cells
    # what was never seen is known less well than what was
    seen = network.precision["smoke"][0]
    assert network.precision["dysp"].min() < seen


def test_domains_have_precision_and_more_rows_are_worth_more():
    data = ASIA.sample(500, 1)
    town = (np.arange(500) >= 400).astype(np.uint8)
    both = optbn.Dataset((*data.names, "town"), (*data.domains, Categorical(("a", "b"))), (*data.columns, town))
    towns = optbn.fit_domains(ASIA.structure, both, "town")
    a, b = (towns[t].query("lung", {"xray": "yes"}, interval=0.9) for t in "ab")
    assert (a.high - a.low < b.high - b.low).all()


def test_what_has_no_interval_says_so():
    with pytest.raises(UnsupportedError, match="fit it with hdp"):
        ASIA.query("lung", interval=0.9)
    with pytest.raises(UnsupportedError, match="between 0 and 1"):
        ASIA.query("lung", interval=90)
    for smoother, settings in (("m_branch", {}), ("mle", {}), ("m_estimate", {"m": 0.0})):
        assert not optbn.fit(ASIA, ASIA.sample(50, 1), smoother, **settings).precision
    mixed = mixed_network()
    real = next(name for name in mixed.names if not hasattr(mixed.domain(name), "levels"))
    with pytest.raises(UnsupportedError, match="intervals are for probabilities of levels"):
        optbn.fit(mixed, mixed.sample(50, 1), "bdeu").query(real, interval=0.9)
    with pytest.raises(NetworkError, match="finite numbers above 0"):
        replace(ASIA, precision={"lung": np.array([1.0])})
