"""The sieve discards what cannot be above its floor, and nothing else (optbn/scores/kernels/sieve.py)."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config

from optbn.scores.pcart import PCART, BoundTrees
from tests.scores_pcart.columns import all_sets, random_data

KINDS = ("c2", "c3", "c4", "o3", "c5", "r")


@pytest.fixture(autouse=True)
def the_sieve_alone(monkeypatch):
    monkeypatch.setattr(BoundTrees, "_least_regret", lambda self, v, leaves: -np.inf)
    monkeypatch.setattr("optbn.scores.pcart.FEWEST_SIEVED", 0)


@pytest.mark.twin
@pytest.mark.parametrize(("alpha", "power"), [(0.5, 0.25), (1.0, 0.25), (0.01, 5.0), (30.0, 0.25)])
def test_a_family_just_above_its_floor_is_answered_and_one_below_is_not(alpha, power):
    rng = np.random.default_rng(int(100 * alpha))
    answered = 0
    for _ in range(2 if config.DISABLE_JIT else 25):
        kinds = [KINDS[i] for i in rng.integers(0, len(KINDS), 5)]
        rows = int(rng.integers(1, 30 if config.DISABLE_JIT else 1500))
        bound = PCART(max_splits=2, alpha=alpha, gamma=float(rng.choice([0.25, 0.01]))).bind(
            random_data(rng, kinds, rows)
        )
        counted = ~bound.leaves.is_real
        for k in (1, 2, 3):
            sets, wanted = all_sets(5, k)
            exact = bound.block(sets, wanted)
            below = bound.block(sets, wanted, exact - 1e-6)
            np.testing.assert_array_equal(below, exact)
            above = bound.block(sets, wanted, exact + power)
            assert np.isneginf(above[:, counted]).all()
            np.testing.assert_array_equal(above[:, ~counted], exact[:, ~counted])
            answered += int(np.isfinite(exact).sum())
    assert answered > 50


@pytest.mark.twin
def test_responses_with_and_without_floors_go_side_by_side():
    """Those without one are not tried, and the order of all others by their levels stays."""
    rng = np.random.default_rng(5)
    for _ in range(2 if config.DISABLE_JIT else 20):
        kinds = [("c2", "c3", "c4", "c5", "r")[i] for i in rng.integers(0, 5, 6)]
        bound = PCART(max_splits=2).bind(random_data(rng, kinds, 25 if config.DISABLE_JIT else 300))
        sets, wanted = all_sets(6, 2)
        exact = bound.block(sets, wanted)
        floor = np.where(rng.random(exact.shape) < 0.5, -np.inf, exact - 1e-6)
        np.testing.assert_array_equal(bound.block(sets, wanted, floor), exact)


@pytest.mark.parametrize("alpha", [0.5, 0.01, 30.0])
def test_single_precision_holds_for_many_rows(alpha):
    rng = np.random.default_rng(1)
    bound = PCART(alpha=alpha).bind(random_data(rng, ["c2", "c3", "c2", "c4", "c6"], 400_000))
    sets, wanted = all_sets(5, 2)
    exact = bound.block(sets, wanted)
    np.testing.assert_array_equal(bound.block(sets, wanted, exact - 1e-6 * (1 + np.abs(exact))), exact)
    assert np.isneginf(bound.block(sets, wanted, exact + 50)).all()


def test_counts_beyond_single_precision_are_not_sieved(monkeypatch):
    data = random_data(np.random.default_rng(2), ["c2", "c3", "c2"], 100)
    monkeypatch.setattr("optbn.scores.trees.sieve.MOST_ROWS", 99)
    bound = PCART().bind(data)
    sets, wanted = all_sets(3, 2)
    exact = bound.block(sets, wanted)
    np.testing.assert_array_equal(bound.block(sets, wanted, exact + 1e-9), exact)


def test_lattices_too_large_for_the_scratch_are_not_sieved(monkeypatch):
    data = random_data(np.random.default_rng(3), ["c4", "c4", "c3", "c2"], 200)
    bound = PCART().bind(data)
    sets, wanted = all_sets(4, 2)
    exact = bound.block(sets, wanted)
    monkeypatch.setattr("optbn.scores.trees.costs.WORK_BYTES", 640)
    np.testing.assert_array_equal(bound.block(sets, wanted, exact - 1e-6), exact)


def test_rows_in_bits_are_counted_like_rows_in_bytes(monkeypatch):
    """Thousands of rows in a site, many times what a byte holds."""
    bound = PCART().bind(random_data(np.random.default_rng(4), ["c4", "c2", "c3", "o3", "c2"], 5000))
    sets, wanted = all_sets(5, 2)
    in_bits = bound.block(sets, wanted)
    no_bits = np.empty((0, 1), np.uint64), np.empty((0, 64), np.uint8), np.empty(0, np.int64)
    monkeypatch.setattr("optbn.scores.trees.space._bit_space", lambda onehot, reals: no_bits)
    np.testing.assert_array_equal(bound.block(sets, wanted), in_bits)
