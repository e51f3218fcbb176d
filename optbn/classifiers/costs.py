"""Decisions from probabilities: what a mistake costs, and when not to decide.

`Decide` wraps a classifier with probabilities. costs[i, j] is the cost of predicting the j-th class where the i-th is
true; `Decide` predicts the class of the least expected cost, or, without costs, the most probable one. `reject` is the
cost of not deciding: where every class is expected to cost more, the prediction is `rejected` (Chow 1970).
Probabilities are those of the classifier, so costs may change without training anew, and decisions are worth as much
as its calibration.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from optbn.base.errors import UnsupportedError


class Decide(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """classifier  unfitted
    costs       float[C, C], a row for each true class and a column for each predicted one, in the order of `classes_`;
                or {class: cost of not recognising it}; None: every mistake costs 1
    reject      the cost of not deciding; None: a class is always predicted
    rejected    the prediction where nothing is decided; it must not be a class

    After fitting: `classifier_`, `classes_`, `costs_`.
    """

    def __init__(self, classifier: Any, costs: Any = None, reject: float | None = None, rejected: Any = None) -> None:
        self.classifier = classifier
        self.costs = costs
        self.reject = reject
        self.rejected = rejected

    classes_: NDArray[Any]
    costs_: NDArray[np.float64]

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Decide:
        """Fit a copy of the classifier."""
        made = clone(self.classifier)
        self.classifier_ = made.fit(X, y) if sample_weight is None else made.fit(X, y, sample_weight=sample_weight)
        self.classes_ = self.classifier_.classes_
        for learned in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.classifier_, learned):
                setattr(self, learned, getattr(self.classifier_, learned))
        self.costs_ = self._matrix()
        if self.reject is not None and not (np.isfinite(self.reject) and self.reject >= 0):
            raise UnsupportedError(f"reject={self.reject!r}: expected a cost of at least 0, or None")
        if self.reject is not None and any(self.rejected == c for c in self.classes_.tolist()):
            raise UnsupportedError(
                f"rejected={self.rejected!r} is a class; choose another value for rows where nothing is decided"
            )
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Those of the classifier."""
        check_is_fitted(self)
        return np.asarray(self.classifier_.predict_proba(X))

    def expected_costs(self, X: Any) -> NDArray[np.float64]:
        """float64[n, C]: the expected cost of predicting each class."""
        return np.asarray(self.predict_proba(X) @ self.costs_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the least expected cost; of equal ones the more probable, then the first."""
        p = self.predict_proba(X)
        expected = p @ self.costs_
        least = expected.min(axis=1, keepdims=True)
        best = np.where(expected <= least + 1e-12 * np.abs(least), p, -1.0).argmax(axis=1)
        decisions = self.classes_[best]
        if self.reject is None:
            return np.asarray(decisions)
        decisions = decisions.astype(object)
        decisions[least[:, 0] > self.reject] = self.rejected
        return np.asarray(decisions)

    def _matrix(self) -> NDArray[np.float64]:
        C = len(self.classes_)
        if self.costs is None:
            return 1.0 - np.eye(C)
        if isinstance(self.costs, dict):
            strange = [c for c in self.costs if c not in self.classes_.tolist()]
            if strange:
                raise UnsupportedError(f"costs are given for {strange[0]!r}, which is none of {self.classes_.tolist()}")
            found = np.array([[float(self.costs.get(c, 1.0))] * C for c in self.classes_.tolist()])
            np.fill_diagonal(found, 0.0)
        else:
            found = np.asarray(self.costs, dtype=np.float64)
        if found.shape != (C, C) or not np.isfinite(found).all():
            raise UnsupportedError(
                f"costs: expected finite numbers, {C} rows of {C}, one for each class, not {found.shape}"
            )
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.classifier).input_tags
        return tags
