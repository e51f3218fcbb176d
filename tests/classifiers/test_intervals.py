"""Intervals of predicted probabilities: beside draws from the posterior, on known networks, and where none are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from optbn.base.errors import UnsupportedError
from optbn.classifiers import ESKDB, KDB, TAN, NaiveBayes
from optbn.classifiers.saved import from_json


class Truth:
    """A naive Bayes network of four attributes with three levels each."""

    def __init__(self, classes, rng):
        self.rng = rng
        self.prior = rng.dirichlet(np.full(classes, 5.0))
        self.theta = rng.dirichlet(np.ones(3), (4, classes))

    def sample(self, n):
        y = self.rng.choice(len(self.prior), n, p=self.prior)
        u = self.rng.random((n, 4, 1))
        x = (u > self.theta[:, y].transpose(1, 0, 2).cumsum(axis=2)).sum(axis=2).clip(max=2)
        return x, y

    def posterior(self, x):
        logs = np.log(self.prior) + sum(np.log(self.theta[j][:, x[:, j]]).T for j in range(4))
        p = np.exp(logs - logs.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)


def frame(x):
    return pd.DataFrame({f"x{j}": [f"v{v}" for v in column] for j, column in enumerate(x.T)})


@pytest.mark.parametrize(("smoother", "classes"), [("hierarchical", 2), ("laplace", 3), ("m_estimate", 2)])
def test_intervals_hold_the_truth_as_often_as_they_say(smoother, classes):
    rng, inside = np.random.default_rng(1), []
    for _ in range(60):
        truth = Truth(classes, rng)
        x, y = truth.sample(300)
        model = NaiveBayes(smoother=smoother).fit(frame(x), y)
        new = truth.sample(100)[0]
        low, high = model.predict_interval(frame(new), 0.9)
        p = truth.posterior(new)
        inside.append(((low <= p) & (p <= high)).mean())
    assert 0.86 < np.mean(inside) < 0.94


def test_beside_draws_from_the_posterior():
    rng = np.random.default_rng(2)
    truth = Truth(3, rng)
    x, y = truth.sample(400)
    model = NaiveBayes(smoother="laplace").fit(frame(x), y)
    new = truth.sample(6)[0]
    low, high = model.predict_interval(frame(new), 0.8)
    counts = np.bincount(y, minlength=3)
    logs = np.log(rng.dirichlet(counts + 1 / 3, 20_000))[:, None, :].repeat(6, axis=1)
    for j in range(4):
        table = np.zeros((3, 3))
        np.add.at(table, (y, x[:, j]), 1)
        for c in range(3):
            logs[:, :, c] += np.log(rng.dirichlet(table[c] + 1, 20_000))[:, new[:, j]]
    p = np.exp(logs)
    p /= p.sum(axis=2, keepdims=True)
    ends = np.quantile(p, [0.1, 0.9], axis=0)
    assert np.abs(np.array([low, high]) - ends).max() < 0.02


@pytest.mark.parametrize("made", [NaiveBayes(), TAN(), KDB(2)])
def test_they_hold_the_prediction_and_shrink_with_rows(made):
    rng = np.random.default_rng(3)
    truth, widths = Truth(2, rng), []
    new = frame(truth.sample(50)[0])
    for n in (100, 10_000):
        x, y = truth.sample(n)
        model = made.fit(frame(x), y)
        low, high = model.predict_interval(new)
        p = model.predict_proba(new)
        assert ((low <= p) & (p <= high)).all() and (low >= 0).all() and (high <= 1).all()
        wider = model.predict_interval(new, 0.99)
        assert (wider[0] <= low).all() and (wider[1] >= high).all()
        widths.append((high - low).mean())
    assert widths[1] < 0.3 * widths[0]


def test_what_has_no_posterior_says_so():
    x, y = Truth(2, np.random.default_rng(4)).sample(100)
    for model in (NaiveBayes("mle"), ESKDB(2, calibrate=False)):
        with pytest.raises(UnsupportedError, match="has no intervals here"):
            model.fit(frame(x), y).predict_interval(frame(x))
    fitted = NaiveBayes().fit(frame(x), y)
    with pytest.raises(UnsupportedError, match="interval is 90"):
        fitted.predict_interval(frame(x), 90)
    with pytest.raises(UnsupportedError, match="read from a file"):
        from_json(fitted.to_json()).predict_interval(frame(x))
