"""Decisions: the least expected cost by hand, rejection, and what scikit-learn asks of an estimator."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

from optbn.base.errors import UnsupportedError
from optbn.classifiers import NaiveBayes
from optbn.classifiers.costs import Decide
from tests.classifiers.examples import mixed


def test_scikit_learn_accepts_it() -> None:
    check_estimator(Decide(NaiveBayes()))


def test_the_least_expected_cost_is_said() -> None:
    X, y = mixed(0, 150)
    y = y.where(X["hours"] != 2, "some")
    costs = np.array([[0.0, 5.0, 1.0], [2.0, 0.0, 1.0], [9.0, 1.0, -1.0]])
    fitted = Decide(NaiveBayes(), costs, reject=0.4, rejected="?").fit(X, y)
    p = NaiveBayes().fit(X, y).predict_proba(X)
    for r, said in enumerate(fitted.predict(X)):
        expected = {c: sum(p[r, i] * costs[i, j] for i in range(3)) for j, c in enumerate(["no", "some", "yes"])}
        best = min(expected, key=expected.__getitem__)
        assert said == ("?" if expected[best] > 0.4 else best)
        assert fitted.expected_costs(X)[r] == pytest.approx(list(expected.values()))


def test_without_costs_it_is_the_classifier() -> None:
    X, y = mixed(0, 150)
    assert list(Decide(NaiveBayes()).fit(X, y).predict(X)) == list(NaiveBayes().fit(X, y).predict(X))
    careful = Decide(NaiveBayes(), {"yes": 100.0}).fit(X, y)
    p = careful.predict_proba(X)[:, 1]
    assert ((careful.predict(X) == "yes") == (p * 100.0 > 1 - p)).all()
    quiet = Decide(NaiveBayes(), reject=0.2).fit(X, y)
    assert all(
        (said is None) == (max(row) < 0.8) for said, row in zip(quiet.predict(X), quiet.predict_proba(X), strict=True)
    )


def test_bad_costs_are_named() -> None:
    X, y = mixed(0, 40)
    for settings, expected in (
        ({"costs": [[0, 1]]}, "2 rows of 2, one for each class"),
        ({"costs": [[0, np.nan], [1, 0]]}, "expected finite numbers"),
        ({"costs": {"maybe": 2.0}}, "costs are given for 'maybe', which is none of"),
        ({"reject": -1.0}, "reject=-1.0: expected a cost of at least 0"),
        ({"reject": 0.1, "rejected": "yes"}, "rejected='yes' is a class"),
    ):
        with pytest.raises(UnsupportedError, match=expected):
            Decide(NaiveBayes(), **settings).fit(X, y)
