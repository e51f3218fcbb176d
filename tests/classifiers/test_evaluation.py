"""Scores of probabilities and cross-validation, against scikit-learn and hand-worked numbers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics
from sklearn.naive_bayes import GaussianNB

from optbn.base.errors import DataError
from optbn.evaluate import proper_scores as scores
from optbn.evaluate.cross_validation import bias_variance, cross_validate, stratified_folds
from tests.folds import read_folds
from tests.naive import classifiers as naive
from tests.paths import shared_neighbour


def test_scores_are_those_of_scikit_learn() -> None:
    random = np.random.default_rng(0)
    p, y = random.dirichlet([1.0, 2, 1], 200), random.integers(0, 3, 200)
    p[::5] = np.round(p[::5], 1)
    p[:, 2] = np.maximum(1 - p[:, 0] - p[:, 1], 0)
    p = np.maximum(p, 1e-3)
    p /= p.sum(axis=1, keepdims=True)
    assert scores.log_loss(p, y) == pytest.approx(metrics.log_loss(y, p))
    assert scores.zero_one(p, y) == pytest.approx(1 - metrics.accuracy_score(y, p.argmax(axis=1)))
    assert scores.auc(p, y) == pytest.approx(metrics.roc_auc_score(y, p, multi_class="ovr", average="macro"))
    assert scores.brier(p, y) == pytest.approx(((p - np.eye(3)[y]) ** 2).sum(axis=1).mean())
    assert scores.rmse(p, y) == pytest.approx(np.sqrt(((p - np.eye(3)[y]) ** 2).mean()))


def test_calibration_by_hand() -> None:
    p = np.array([[0.9, 0.1], [0.95, 0.05], [0.4, 0.6], [0.5, 0.5]])
    found = scores.calibration(p, np.array([0, 1, 1, 0]))
    assert found.rows == (1, 1, 2) and found.accuracy == (1.0, 1.0, 0.5)
    assert found.confidence == pytest.approx((0.5, 0.6, 0.925))
    assert found.ece == pytest.approx((0.5 + 0.4 + 2 * 0.425) / 4)


def test_scores_refuse_what_are_no_probabilities() -> None:
    with pytest.raises(DataError, match=r"row 2: .* are not probabilities that sum to 1"):
        scores.rmse(np.array([[0.5, 0.5], [0.5, 0.6]]), np.array([0, 1]))
    with pytest.raises(DataError, match="row 1: class 2, but there are 2 columns"):
        scores.rmse(np.array([[0.5, 0.5]]), np.array([2]))
    assert scores.log_loss(np.array([[1.0, 0.0]]), np.array([1])) == np.inf
    assert np.isnan(scores.auc(np.array([[1.0, 0.0]]), np.array([1])))


def test_bias_and_variance() -> None:
    random = np.random.default_rng(0)
    predictions, y = random.integers(0, 3, (5, 40)), random.integers(0, 3, 40)
    found = bias_variance(predictions, y, 3)
    assert (found.bias, found.variance) == pytest.approx(
        naive.bias_variance(predictions, y, 3, lambda x: sum(x) / len(x))
    )
    assert found.bias + found.variance == pytest.approx(found.loss)
    always = bias_variance(np.tile(y, (3, 1)), y, 3)
    assert (always.bias, always.variance, always.loss) == (0, 0, 0)
    with pytest.raises(DataError, match="at least two rounds"):
        bias_variance(predictions[:1], y, 3)


def test_every_row_is_predicted_by_a_classifier_that_has_not_seen_it() -> None:
    random = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[random.integers(0, 3, 90)]
    X = random.normal(size=(90, 2)) + (y == "a")[:, None]
    folds = stratified_folds(y, 3, seed=0, rounds=2)
    found = cross_validate(GaussianNB(), X, y, folds)
    for r, fold in enumerate(folds):
        assert set(np.bincount(fold)) == {30}
        for k in range(3):
            alone = GaussianNB().fit(X[fold != k], y[fold != k]).predict_proba(X[fold == k])
            assert found.probabilities[r, fold == k] == pytest.approx(alone)
    assert set(found.scores()) == {"rmse", "zero_one", "log_loss", "brier", "auc", "ece"}
    assert found.bias_variance().loss == pytest.approx(found.scores()["zero_one"])


def test_a_class_that_training_lacks_has_probability_zero() -> None:
    y = np.array(["a"] * 5 + ["b"] * 5 + ["z"])
    fold = np.array([0, 1] * 5 + [0])
    found = cross_validate(GaussianNB(), np.arange(11.0)[:, None], y, [fold])
    assert (found.probabilities[0, fold == 0, 2] == 0).all()


def test_folds_that_do_not_fit() -> None:
    with pytest.raises(DataError, match=r"round 1: folds for .5,. rows, but there are 6"):
        cross_validate(GaussianNB(), np.zeros((6, 1)), [0, 1] * 3, [[0, 1, 0, 1, 0]])
    with pytest.raises(DataError, match="all rows are in one fold"):
        cross_validate(GaussianNB(), np.zeros((6, 1)), [0, 1] * 3, [[0] * 6])
    with pytest.raises(DataError, match="6 rows cannot be cut into 7 folds"):
        stratified_folds([0, 1] * 3, 7, 0)


def test_given_folds() -> None:
    five_by_two = read_folds(shared_neighbour("golden", "bnc", "folds", "iris.json"))
    assert len(five_by_two) == 5 and all(set(fold) == {0, 1} and len(fold) == 150 for fold in five_by_two)
    ten = read_folds(shared_neighbour("golden", "bnc", "folds10", "iris.json"))
    assert len(ten) == 1 and set(np.bincount(ten[0])) == {15}
