"""Selective KDB: selection by any smoother, and rows that are added later."""

from __future__ import annotations

import numpy as np
import pytest

from optbn.base.errors import UnsupportedError
from optbn.classifiers import SKDB, streamed
from optbn.classifiers.by_folds import FOLDS, losses_by_folds
from optbn.classifiers.forest import count_trees, grown_trees, smoothed
from optbn.classifiers.left_out import LOSSES
from optbn.classifiers.member import class_prior, normalised
from optbn.smoothing.hdp import HDP
from optbn.smoothing.m_estimate import MEstimate
from tests.classifiers.examples import coded, mixed, texts

SIZES = (2, 3, 2, 4)
PARENTS = {2: (), 0: (2,), 3: (0, 2), 1: (3, 0)}


@pytest.mark.parametrize("loss", LOSSES)
def test_selection_by_a_smoother_is_that_of_refits(loss: str) -> None:
    """Each truncation fitted without a fold and asked for its rows."""
    codes, y = coded(3, 90)
    batch, smoother, C = (codes, y, np.ones(90)), MEstimate(2.0), 3
    counts = np.bincount(y, minlength=C).astype(float)
    found = losses_by_folds(PARENTS, SIZES, counts, lambda: iter([batch]), smoother, loss, np.random.SeedSequence(5))
    deal = np.random.SeedSequence(5).spawn(1)[0]
    fold = np.floor(FOLDS * np.random.default_rng(deal).random(90))
    expected = np.zeros((3, 5))
    for f, k, n in np.ndindex(FOLDS, 3, 5):
        inside, out = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        kept = {i: p[:k] for i, p in list(PARENTS.items())[:n]}
        trees = count_trees([(codes[inside], y[inside], np.ones(len(inside)))], kept, SIZES, C)
        logs = np.tile(class_prior(np.bincount(y[inside], minlength=C).astype(float)), (len(out), 1))
        smoothed(kept, trees, smoother, np.random.SeedSequence(0)).add_logs(codes[out], logs)
        p = normalised(logs)
        own = p[np.arange(len(out)), y[out]]
        each = {"rmse": (1 - own) ** 2, "zero_one": p.argmax(axis=1) != y[out], "log_loss": -np.log(own)}
        expected[k, n] += each[loss].sum()
    assert found == pytest.approx(expected)


def test_the_smoother_selects() -> None:
    X, y = mixed(0, 300)
    made = SKDB(2, select_by="smoother", smoother=HDP(sweeps=20, chains=1)).fit(X, y)
    assert made.losses_.shape == (3, 5) and made.losses_[made.selected_] == made.losses_.min()
    with pytest.raises(UnsupportedError, match="select_by='hdp': expected one of m_estimate, smoother"):
        SKDB(select_by="hdp").fit(X, y)


def test_rows_added_to_trees_are_rows_counted_together() -> None:
    codes, y = coded(1, 80)
    codes[::9, 2] = -1
    parents, w = {2: (), 0: (2,), 3: (0, 2)}, np.random.default_rng(0).integers(1, 4, 80).astype(float)
    first, second = (codes[:50], y[:50], w[:50]), (codes[50:], y[50:], w[50:])
    before = count_trees([first], parents, SIZES, 3)
    whole = count_trees([(codes, y, w)], parents, SIZES, 3)
    for found, expected in zip(grown_trees(before, parents, second), whole, strict=True):
        for field in ("counts", "parent", "depth", "branch", "span"):
            assert np.array_equal(getattr(found, field), getattr(expected, field)), field


def test_rows_are_added(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, y = coded(2, 600)
    X = texts(codes, SIZES)
    whole = SKDB(2).fit(X, y)

    def added(size: int) -> SKDB:
        made = SKDB(2)
        for begin in range(0, 600, size):
            made.partial_fit(X[begin : begin + size], y[begin : begin + size], classes=[0, 1, 2])
        return made

    assert np.array_equal(added(100).predict_proba(X), whole.predict_proba(X))
    monkeypatch.setattr(streamed, "FEW", 50)
    monkeypatch.setattr(streamed, "HELD", 300)
    later = added(50)
    assert later.held_ is None and later.counts_.classes.sum() == 600
    assert set(later.counts_.parents) == set(whole.counts_.parents)
    if later.counts_.parents == whole.counts_.parents:
        for a, b in zip(later.counts_.trees, whole.counts_.trees, strict=True):
            assert np.array_equal(a.counts, b.counts)
    assert later.losses_.shape == whole.losses_.shape
    assert later.losses_ == pytest.approx(whole.losses_, rel=0.2)
    assert later.score(X, y) > whole.score(X, y) - 0.03


def test_a_costly_smoother_waits_until_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, y = coded(2, 300)
    X, times = texts(codes, SIZES), []
    fit = HDP.fit
    monkeypatch.setattr(HDP, "fit", lambda *a: times.append(1) or fit(*a))
    made = SKDB(1, smoother=HDP(sweeps=10, chains=1)).fit(X[:100], y[:100])
    before = len(times)
    for begin in range(100, 300, 20):
        made.partial_fit(X[begin : begin + 20], y[begin : begin + 20])
    assert len(times) == before and made.counts_.classes.sum() == 300
    p = made.predict_proba(X)
    assert before < len(times) <= before + 4 and np.array_equal(p, made.predict_proba(X))
