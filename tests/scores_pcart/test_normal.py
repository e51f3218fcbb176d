"""Leaves and sums of real responses as vectors against the same as numbers (kernels/normal.py, moments.py)."""

from __future__ import annotations

import numpy as np
import pytest

from optbn.scores.kernels.moments import add_row, add_squares
from optbn.scores.kernels.normal import _plain_leaves, normal_leaves
from optbn.scores.kernels.simd import WIDTH, add_bits
from optbn_solvers.base.compiled import kernel


@kernel
def run(mean, spread, value, slots, weights, lanes, terms):
    """One call from compiled code, where an intrinsic can be called."""
    normal_leaves(mean, spread, value, slots, weights, lanes, terms)


@pytest.mark.twin
def test_moments_and_leaves_are_those_of_plain_numbers():
    rng = np.random.default_rng(1)
    for _ in range(200):
        reals, cats = int(rng.integers(1, 20)), int(rng.integers(0, 5))
        begin = int(rng.integers(0, reals))
        mean = rng.normal(size=(3, reals + 7)) * 10.0 ** rng.integers(-3, 4)
        spread = rng.exponential(size=(3, reals + 7)) * 10.0 ** rng.integers(-3, 4)
        value = np.zeros((3, cats + reals + 7))
        slots = (2, 0, 1) if rng.random() < 0.8 else (2, 2, 0)
        share = float(rng.random()) if slots[1] != 2 else 0.0
        rest = (
            slots,
            (share, share * int(rng.integers(1, 1000))),
            (begin, reals, cats),
            (1.0, float(rng.random()), float(rng.integers(1, 500)) / 2, float(rng.normal())),
        )
        other = mean.copy(), spread.copy(), value.copy()
        run(mean, spread, value, *rest)
        _plain_leaves(*other, *rest)
        for found, plain in zip((mean, spread), other, strict=False):
            np.testing.assert_allclose(found[:, :reals], plain[:, :reals], rtol=1e-13, atol=1e-14 * np.abs(plain).max())
        inside = slice(cats + begin, cats + reals)
        np.testing.assert_allclose(value[2, inside], other[2][2, inside], rtol=1e-13, atol=1e-11)


@pytest.mark.twin
def test_logarithms_are_right_to_two_units_in_the_last_place():
    rng = np.random.default_rng(2)
    x = np.concatenate([
        np.exp(rng.uniform(-700, 700, 100_000)), 1 + rng.normal(0, 1e-6, 1000), rng.uniform(0.5, 2, 10_000),
        [1.0, 2.0, 0.5, np.sqrt(0.5), np.finfo(float).tiny, np.finfo(float).max],
    ])  # fmt: skip
    found = np.empty((2, len(x) + 7))
    spread = np.zeros((2, len(x) + 7))
    spread[0, : len(x)] = x
    run(np.zeros_like(spread), spread, found, (0, 0, 1), (0.0, 0.0), (0, len(x), 0), (0.0, 0.0, -1.0, 0.0))
    exact = np.log(x)
    assert (np.abs(found[0, : len(x)] - exact) <= 2 * np.spacing(np.abs(exact))).all()


@kernel
def add_all(target, squares, site, source, columns, weights):
    """Sums and squares around 0.5 of the first columns of all rows."""
    middle = np.full(target.shape, 0.5)
    for i in range(len(site)):
        add_row(target, site[i], source, i, columns, weights[i])
        add_squares(squares, site[i], source, i, middle, columns, weights[i])


@pytest.mark.twin
def test_sums_over_rows_are_those_of_plain_numbers():
    rng = np.random.default_rng(3)
    for columns in range(20):
        whole = -(-columns // WIDTH) * WIDTH  # rows have whole vectors
        source = rng.normal(size=(50, whole))
        site, weights = rng.integers(0, 4, 50), rng.integers(1, 4, 50).astype(float)
        found = np.zeros((4, whole)), np.zeros((4, whole))
        plain = np.zeros((4, whole)), np.zeros((4, whole))
        add_all(*found, site, source, columns, weights)
        for i in range(50):
            plain[0][site[i]] += weights[i] * source[i]
            plain[1][site[i]] += weights[i] * (source[i] - 0.5) ** 2
        for one, other in zip(
            found, plain, strict=True
        ):  # the kernels fill whole vectors, plain Python what is asked for
            np.testing.assert_array_equal(one[:, :columns], other[:, :columns])


@kernel
def add_all_bits(target, site, bits):
    """Every row's bits to its site."""
    for i in range(len(site)):
        add_bits(target, site[i], bits, i)


@pytest.mark.twin
def test_bits_are_added_to_bytes():
    rng = np.random.default_rng(4)
    for words in (1, 2, 5):
        codes = rng.integers(0, 2, (300, 64 * words)).astype(np.uint8)
        bits = np.packbits(codes, axis=1, bitorder="little").view(np.uint64)
        site = rng.integers(0, 3, 300)
        target = np.zeros((3, 64 * words), np.uint8)
        add_all_bits(target, site, bits)
        for s in range(3):
            np.testing.assert_array_equal(target[s], codes[site == s].sum(axis=0))
