"""Curves: the pools of isotonic regression, when they are used, and what they do to ensembles."""

from __future__ import annotations

import numpy as np
import pytest

from optbn.base.errors import DataError
from optbn.classifiers import ESKDB
from optbn.classifiers.calibrate import Curves, curves_if_better
from optbn.classifiers.saved import from_json


def pools(x: np.ndarray, own: np.ndarray, w: np.ndarray) -> list[tuple[float, float]]:
    """Pool adjacent violators by hand: (mean of x, share with one more row that agrees with it)."""
    blocks = [[w[i], w[i] * own[i], w[i] * x[i]] for i in np.argsort(x)]
    done: list[list[float]] = []
    for block in blocks:
        done.append(list(block))
        while len(done) > 1 and done[-2][1] / done[-2][0] >= done[-1][1] / done[-1][0]:
            last = done.pop()
            done[-1] = [a + b for a, b in zip(done[-1], last, strict=True)]
    return [(s / m, (o + s / m) / (m + 1)) for m, o, s in done]


@pytest.mark.twin
def test_points_are_pools() -> None:
    for seed in range(5):
        random = np.random.default_rng(seed)
        x = random.random(200)
        y = (random.random(200) < x**2).astype(int)
        w = random.random(200) + 0.5
        made = Curves.of(np.stack([1 - x, x], axis=1), y, w)
        expected = pools(x, y, w)
        inner = [(a, b) for a, b in zip(made.points[0], made.values[0], strict=True) if 0 < a < 1]
        shares = np.maximum.accumulate([share for _, share in expected])
        assert [a for a, _ in inner] == pytest.approx([mean for mean, _ in expected])
        assert [b for _, b in inner] == pytest.approx(shares)


@pytest.mark.parametrize("C", [2, 4])
def test_curves_are_used_where_they_help_and_sum_to_one(C: int) -> None:
    random = np.random.default_rng(C)
    n = 4000
    p = random.dirichlet(np.ones(C), n)
    y = np.array([random.choice(C, p=row) for row in p])
    w = np.ones(n)
    assert curves_if_better(p, y, w) is None  # nothing to correct
    wrong = p**0.5 / (p**0.5).sum(axis=1, keepdims=True)
    wrong = 0.7 * wrong + 0.3 * np.eye(C)[0]
    found = curves_if_better(wrong, y, w)
    assert found is not None
    after = found(wrong)
    assert np.abs(after.sum(axis=1) - 1).max() < 1e-12 and (after > 0).all()
    rows = np.arange(n)
    assert -np.log(after[rows, y]).mean() < -np.log(wrong[rows, y]).mean() - 0.02
    assert np.isfinite(found(np.eye(C))).all() and (found(np.eye(C)) > 0).all()
    assert curves_if_better(wrong[:50], y[:50], w[:50]) is None


def test_curves_are_kept_in_files() -> None:
    random = np.random.default_rng(0)
    y = (random.random(300) < 0.5).astype(int)
    fitted = ESKDB(3).fit(np.stack([random.normal(y), random.normal(y)], axis=1), y)
    fitted.curves_ = Curves((np.array([0.0, 0.3, 1.0]),), (np.array([0.1, 0.2, 0.9]),))
    X = random.normal(size=(20, 2))
    assert np.array_equal(from_json(fitted.to_json()).predict_proba(X), fitted.predict_proba(X))
    fitted.curves_ = Curves((np.array([0.3, 0.3]),), (np.array([0.1, 0.2]),))
    with pytest.raises(DataError, match="damaged, its curves"):
        from_json(fitted.to_json())
