"""The compiled random variates follow their distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

from optbn.base import variates
from optbn.smoothing.kernels.rising import log_rising_ratio
from tests.naive import smoothing as naive


@njit(cache=True)
def many(which, a, b, state, out):
    for i in range(len(out)):
        if which == 0:
            out[i] = variates.uniform(state)
        elif which == 1:
            out[i] = variates.normal(state)
        elif which == 2:
            out[i] = variates.gamma(a, state)
        elif which == 3:
            out[i] = variates.log_gamma(a, state)
        elif which == 4:
            out[i] = variates.minus_log_beta(a, b, state)
        else:
            out[i] = variates.tables(np.int64(a), b, state)


def draws(which, a=0.0, b=0.0, n=20_000, seed=1):
    out = np.empty(n)
    many(which, a, b, np.array([seed], dtype=np.uint64), out)
    return out


@pytest.mark.parametrize(
    ("which", "a", "b", "cdf"),
    [
        (0, 0.0, 0.0, stats.uniform.cdf),
        (1, 0.0, 0.0, stats.norm.cdf),
        (2, 0.3, 0.0, stats.gamma(0.3).cdf),
        (2, 1.0, 0.0, stats.gamma(1.0).cdf),
        (2, 7.5, 0.0, stats.gamma(7.5).cdf),
        (3, 0.05, 0.0, lambda x: stats.gamma(0.05).cdf(np.exp(x))),
        (4, 0.8, 3.0, lambda x: stats.beta(0.8, 3.0).sf(np.exp(-x))),
        (4, 40.0, 900.0, lambda x: stats.beta(40.0, 900.0).sf(np.exp(-x))),
    ],
)
def test_continuous_variates(which, a, b, cdf):
    assert stats.kstest(draws(which, a, b), cdf).pvalue > 1e-4


def test_shape_zero_is_zero_and_tiny_shapes_stay_finite_in_logs():
    assert (draws(2, 0.0) == 0.0).all()
    assert np.isfinite(draws(3, 1e-8)).all()


@pytest.mark.parametrize(
    ("n", "a"),
    [(2, 0.7), (7, 3.0), (200, 0.02), (200, 1.5), (900, 1.5), (1500, 5.0), (300, 20.0), (400, 90.0), (60, 1e5)],
)
def test_tables_of_a_restaurant(n, a):
    drawn = draws(5, float(n), a, n=40_000).astype(int)
    p = naive.table_distribution(n, a)
    observed = np.bincount(drawn, minlength=n + 1)
    cells = [0.0], [0]  # join neighbours until 20 are expected
    for expected, seen in zip(p * len(drawn), observed, strict=True):
        cells[0][-1] += expected
        cells[1][-1] += seen
        if cells[0][-1] >= 20:
            cells[0].append(0.0)
            cells[1].append(0)
    wanted, found = (np.array([*c[:-2], c[-2] + c[-1]]) if len(c) > 1 else np.array(c) for c in cells)
    assert stats.chisquare(found, wanted * found.sum() / wanted.sum()).pvalue > 1e-4 or len(found) == 1


def test_tables_of_a_large_restaurant_and_its_edges():
    n, a = 1_000_000, 4.0
    i = np.arange(1, n)
    mean, variance = 1 + (a / (a + i)).sum(), (a * i / (a + i) ** 2).sum()
    drawn = draws(5, float(n), a, n=20_000)
    assert abs(drawn.mean() - mean) < 4 * np.sqrt(variance / len(drawn))
    assert abs(drawn.var() / variance - 1) < 0.05
    assert (draws(5, 1.0, 3.0, n=10) == 1).all()
    assert (draws(5, 0.0, 3.0, n=10) == 0).all()
    assert (draws(5, 9.0, 0.0, n=10) == 1).all()


def test_ratios_of_rising_factorials_are_their_factors() -> None:
    random = np.random.default_rng(3)
    for n in (0, 1, 23, 24, 25, 60, 5000):
        for x, y in 10 ** random.uniform(-6, 4, (40, 2)):
            exact = math.fsum(math.log(x + i) - math.log(y + i) for i in range(n))
            assert log_rising_ratio(x, y, n) == pytest.approx(exact, rel=1e-11, abs=1e-9)
