"""Effects of soft networks add up to their scores, and contributions of networks to theirs."""

from __future__ import annotations

import numpy as np
import pytest

from optbn.base.errors import UnknownNameError, UnsupportedError
from optbn.classifiers import AODE, ESKDB, KDB, NaiveBayes, ProbabilityTree
from optbn.classifiers.soft import Blend, SoftESKDB, SoftKDB
from optbn.classifiers.soft.explain import draw, main_effect, pair_effect
from tests.classifiers.examples import mixed


def test_effects_add_up_to_the_scores() -> None:
    X, y = mixed(1)
    y = y.where(X["hours"] != 2, "some")
    fitted = SoftKDB(k=2).fit(X, y)
    (network,) = fitted.members_[0].parts
    logs = np.log(network.at(fitted.members_[0].places(_table(fitted, X))))
    scores = logs - logs.mean(axis=1, keepdims=True)
    planes = np.moveaxis(network.scores, 2, 1).reshape(-1, network.scores.shape[1])[:3]
    own = planes[:, 0] - planes[:, 0].mean()
    assert fitted.contributions(X).sum(axis=1) + own == pytest.approx(scores, abs=1e-5)  # single precision
    row = X.iloc[[7]]  # its age is missing: of a number effects are given at some values only
    places = [column.name for column in fitted.members_[0].columns]
    total = own.copy()
    for i, name in enumerate(places):
        values, effects = main_effect(fitted, name)
        total += _at(values, effects, row[name].iloc[0])
        for other in places[:i]:
            a, b, surface = pair_effect(fitted, name, other)
            rows = np.stack([_at(b, line, row[other].iloc[0]) for line in surface])
            total += _at(a, rows, row[name].iloc[0])
    assert total == pytest.approx(scores[7], abs=1e-6)


def _table(fitted, X):
    from optbn.data.discretise.transformer import checked_table

    return checked_table(fitted, X, reset=False)


def _at(values, effects, value):
    """Effects at a value, the missing one last."""
    if value is None or value != value:
        return effects[-1]
    return effects[values.index(value)]


def test_contributions_of_counted_networks_add_up() -> None:
    X, y = mixed(1)
    for made in (NaiveBayes(), KDB(2)):
        fitted = made.fit(X, y)
        logs = np.log(fitted.predict_proba(X))
        prior = fitted.members_[0].prior
        total = fitted.contributions(X).sum(axis=1) + prior - prior.mean()
        assert total == pytest.approx(logs - logs.mean(axis=1, keepdims=True), abs=1e-9)
    for made in (AODE(), ESKDB(3), SoftESKDB(5), Blend(5, n_trees=5, n_counted=5)):
        found = made.fit(X, y).contributions(X)
        assert found.shape == (200, 4, 2) and np.abs(found.sum(axis=2)).max() < 1e-9
    importances = NaiveBayes().fit(X, y).importances(X)
    assert importances["size"] < importances["job"] and importances["size"] < importances["age"]
    with pytest.raises(AttributeError, match="ProbabilityTree does not add up attributes"):
        ProbabilityTree().fit(X, y).contributions(X)


def test_effects_are_drawn_and_names_are_checked(tmp_path) -> None:
    X, y = mixed(1)
    fitted = SoftESKDB(5).fit(X, y)
    draw(fitted, tmp_path / "effects.svg")
    assert (tmp_path / "effects.svg").read_text().count("<svg") == 1
    with pytest.raises(UnknownNameError, match="no column 'agee'"):
        main_effect(fitted, "agee")
    with pytest.raises(UnsupportedError, match="name two columns"):
        pair_effect(fitted, "age", "age")
    with pytest.raises(UnsupportedError, match="KDB has no soft networks"):
        main_effect(KDB().fit(X, y), "age")
