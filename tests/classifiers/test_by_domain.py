"""Classifiers of related data sets: by hand, beside pooling and separate fits, and for domains that come later."""

from __future__ import annotations

import logging

import numpy as np
import pandas as pd
import pytest

from optbn.base.errors import UnsupportedError
from optbn.classifiers import ByDomain, NaiveBayes
from optbn.classifiers.saved import from_json
from optbn.smoothing.borrowing import around


def related(rows=900, seed=1, towns=6):
    """A class and three attributes whose distributions differ from town to town; towns lie in two countries."""
    rng = np.random.default_rng(seed)
    town = rng.choice(towns, rows, p=np.arange(1, towns + 1) / (towns * (towns + 1) / 2))
    shift = np.random.default_rng(7).normal(size=(towns, 3)) * 0.8
    y = (rng.random(rows) < 0.3 + 0.08 * town).astype(int)
    x = [rng.random(rows) < 1 / (1 + np.exp(-(2 * y - 1) * (0.5 + j) - shift[town, j])) for j in range(3)]
    frame = pd.DataFrame({
        "a": np.where(x[0], "p", "q"), "town": [f"t{t}" for t in town], "b": np.where(x[1], "p", "q"),
        "country": np.where(town < 3, "north", "south"), "c": np.where(x[2], "p", "q"),
    })  # fmt: skip
    return frame, np.where(y, "yes", "no")


def log_loss(p, classes, y):
    return float(-np.log(p[np.arange(len(y)), np.searchsorted(classes, y)]).mean())


def test_naive_bayes_by_hand():
    X, y = related(300)
    X = X.drop(columns="country")
    model = ByDomain(NaiveBayes("laplace"), "town").fit(X, y)
    towns, C = sorted(set(X["town"])), 2
    of = np.searchsorted(towns, X["town"])
    is_yes = (y == "yes").astype(int)
    everyone = np.bincount(is_yes, minlength=C)
    counts = np.zeros((len(towns), C))
    np.add.at(counts, (of, is_yes), 1)
    joint = np.log(around(counts, ((everyone + 1 / C) / (len(y) + 1))[None])[0])[of]
    for name in "abc":
        x = (X[name] == "q").to_numpy().astype(int)
        common, own = np.ones((C, 2)), np.zeros((C, len(towns), 2))
        np.add.at(common, (is_yes, x), 1)
        np.add.at(own, (is_yes, of, x), 1)
        common /= common.sum(axis=1, keepdims=True)
        seen = own.sum(axis=2) > 0
        table = np.broadcast_to(common[:, None], own.shape).copy()
        table[seen] = around(own[seen], table[seen])[0]
        joint += np.log(table[:, of, x]).T
    p = np.exp(joint - joint.max(axis=1, keepdims=True))
    assert np.allclose(model.predict_proba(X), p / p.sum(axis=1, keepdims=True), atol=1e-9)


@pytest.mark.parametrize("name", ["nb", "tan", "kdb", "skdb", "eskdb", "kdf"])
def test_nearer_than_pooling_and_than_each_alone(name):
    (X, y), (new, truth) = related(240), related(6000, 2)
    kept, later = X.drop(columns="country"), new.drop(columns="country")
    ours = ByDomain(name, "town").fit(kept, y)
    found = log_loss(ours.predict_proba(later), ours.classes_, truth)
    alike = ByDomain(name).fit(kept.drop(columns="town"), y)
    pooled = log_loss(alike.predict_proba(later.drop(columns="town")), alike.classes_, truth)
    separate = 0.0
    for town in sorted(set(kept["town"])):
        rows, others = (kept["town"] == town).to_numpy(), (later["town"] == town).to_numpy()
        alone = ByDomain(name).fit(kept[rows].drop(columns="town"), y[rows])
        p = alone.predict_proba(later[others].drop(columns="town"))
        separate += log_loss(p, alone.classes_, truth[others]) * others.mean()
    assert found < min(pooled, separate)
    again = from_json(ours.to_json())
    assert np.array_equal(again.predict_proba(kept), ours.predict_proba(kept))


@pytest.mark.parametrize("domain", ["town", ["country", "town"]])
def test_new_domains_are_answered_by_the_widest_part_that_is_known(domain, caplog):
    X, y = related()
    X = X if len(domain) == 2 else X.drop(columns="country")
    model = ByDomain("tan", domain).fit(X, y)
    other = X.copy()
    other["town"] = "never seen"
    with caplog.at_level(logging.WARNING):
        p = model.predict_proba(other)
    assert "'town'" in caplog.text
    rest = [name for name in X.columns if name != "town"]
    rows = {}
    for answer, key in zip(p, map(tuple, other[rest].to_numpy()), strict=True):
        rows.setdefault(key, []).append(answer)
    assert all(np.ptp(np.array(same), axis=0).max() == 0 for same in rows.values())
    if len(domain) == 2:  # the country still counts, and beside nothing known of the country the towns say nothing
        wide = ByDomain("tan", "country").fit(X.drop(columns="town"), y)
        assert np.abs(p - wide.predict_proba(other.drop(columns="town"))).max() < 0.1
        other["country"] = "nowhere"
        same = model.predict_proba(other)
        other["town"] = X["town"]
        assert np.allclose(model.predict_proba(other), same)


@pytest.mark.parametrize("domain", ["town", ["country", "town"]])
def test_it_is_one_bayesian_network(domain):
    X, y = related(400)
    X = X if len(domain) == 2 else X.drop(columns="country")
    model = ByDomain("nb", domain).fit(X, y)
    network = model.network_
    p = model.predict_proba(X)
    for i in range(8):
        found = network.query("class", X.iloc[i].to_dict())
        assert found.probabilities == pytest.approx(p[i], abs=1e-9)


def test_files_weights_and_what_is_refused(tmp_path):
    X, y = related(200)
    kept = X.drop(columns="country")
    kept.assign(target=y).to_csv(tmp_path / "d.csv", index=False)
    one = ByDomain("kdb", "town").fit(kept, y)
    other = ByDomain("kdb", "town").fit_file(tmp_path / "d.csv", "target")
    assert np.allclose(other.predict_proba(kept), one.predict_proba(kept))
    twice = ByDomain("nb", "town").fit(pd.concat([kept, kept]), np.concatenate([y, y]))
    weighed = ByDomain("nb", "town").fit(kept, y, sample_weight=np.full(len(y), 2))
    assert np.allclose(twice.predict_proba(kept), weighed.predict_proba(kept))
    with pytest.raises(UnsupportedError, match="no column 'city'"):
        ByDomain("nb", "city").fit(kept, y)
    with pytest.raises(UnsupportedError, match="'year' holds numbers"):
        ByDomain("nb", "year").fit(kept.assign(year=1.0 + np.arange(len(y)) % 3), y)
    with pytest.raises(UnsupportedError, match="SoftKDB has no tables for domains"):
        ByDomain("soft", "town").fit(kept, y)
