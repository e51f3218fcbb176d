"""Cross-validation of probabilistic classifiers with given folds, and what it says about bias and variance.

Folds are an array per round: the fold of every row. Each fold is predicted by a classifier trained on the others; the
predictions of a round cover every row once, and scores are pooled over rows and rounds, not averaged over folds. A
class that the training rows lack gets probability 0, as the classifier could not have known it.

Bias and variance of zero-one loss are Kohavi and Wolpert's (1996), estimated as Webb (2000) does: over R rounds of
cross-validation every row x is predicted R times, by classifiers from different training sets. With f_c(x) the share of
predictions that say c, and s = 1/2 (1 - sum_c f_c^2),

    bias^2(x) = 1/2 sum_c ([c = y] - f_c)^2 - s / (R - 1),      variance(x) = s + s / (R - 1)

both unbiased for the R that there are; their sum is the mean zero-one loss.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optbn.base.errors import DataError
from optbn.data.dataset import Dataset
from optbn.evaluate.proper_scores import all_scores

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """probabilities  float64[rounds, n, C];  y  int64[n];  classes;  CPU seconds of training and predicting in all"""

    probabilities: NDArray[np.float64]
    y: NDArray[np.int64]
    classes: NDArray[Any]
    train_seconds: float
    predict_seconds: float

    def scores(self) -> dict[str, float]:
        """All scores, pooled over rounds."""
        rounds, n, C = self.probabilities.shape
        return all_scores(self.probabilities.reshape(rounds * n, C), np.tile(self.y, rounds))

    def bias_variance(self) -> BiasVariance:
        """Needs two rounds or more."""
        return bias_variance(self.probabilities.argmax(axis=2), self.y, len(self.classes))


@dataclass(frozen=True)
class BiasVariance:
    """Means over rows; `loss` is the mean zero-one loss, bias + variance."""

    bias: float
    variance: float
    loss: float


def cross_validate(
    classifier: Any, X: Any, y: ArrayLike, folds: Sequence[ArrayLike], progress: Progress | None = None
) -> CrossValidated:
    """Train an unfitted copy for every fold of every round."""
    from sklearn.base import clone

    y = np.asarray(y)
    classes, codes = np.unique(y, return_inverse=True)
    rounds = [_checked_folds(i, fold, len(y)) for i, fold in enumerate(folds)]
    if not rounds:
        raise DataError("there are no folds")
    found = np.zeros((len(rounds), len(y), len(classes)))
    train = predict = 0.0
    total = sum(len(np.unique(fold)) for fold in rounds)
    done = 0
    for r, fold in enumerate(rounds):
        for k in np.unique(fold):
            inside, outside = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            fresh = clone(classifier)
            start = time.process_time()
            fresh.fit(rows_of(X, inside), y[inside])
            middle = time.process_time()
            p = fresh.predict_proba(rows_of(X, outside))
            predict += time.process_time() - middle
            train += middle - start
            at = np.searchsorted(classes, fresh.classes_)
            found[r][np.ix_(outside, at)] = p
            done += 1
            if progress is not None:
                progress(done, total)
    return CrossValidated(found, codes.astype(np.int64), classes, train, predict)


def bias_variance(predictions: NDArray[np.integer], y: NDArray[np.integer], n_classes: int) -> BiasVariance:
    """Of predicted classes int[rounds, n]."""
    rounds = len(predictions)
    if rounds < 2:
        raise DataError("bias and variance need at least two rounds of cross-validation")
    share = np.stack([(predictions == c).mean(axis=0) for c in range(n_classes)], axis=1)
    truth = np.eye(n_classes)[y]
    spread = 0.5 * (1 - (share**2).sum(axis=1))
    correction = spread / (rounds - 1)
    bias = 0.5 * ((truth - share) ** 2).sum(axis=1) - correction
    variance = spread + correction
    return BiasVariance(float(bias.mean()), float(variance.mean()), float((predictions != y).mean()))


def stratified_folds(y: ArrayLike, k: int, seed: int, rounds: int = 1) -> list[NDArray[np.int64]]:
    """Random folds in which every class is spread evenly."""
    y = np.asarray(y)
    if not 2 <= k <= len(y):
        raise DataError(f"{len(y)} rows cannot be cut into {k} folds; expected 2 to {len(y)}")
    random = np.random.default_rng(seed)
    codes = np.unique(y, return_inverse=True)[1]
    found = []
    for _ in range(rounds):
        order = np.lexsort((random.random(len(y)), codes))
        fold = np.empty(len(y), dtype=np.int64)
        fold[order] = np.arange(len(y)) % k
        found.append(fold)
    return found


def rows_of(X: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a frame, an array or a Dataset."""
    from sklearn.utils import _safe_indexing

    return X.take(rows) if isinstance(X, Dataset) else _safe_indexing(X, rows)


def _checked_folds(i: int, fold: ArrayLike, n: int) -> NDArray[np.int64]:
    fold = np.asarray(fold)
    if fold.shape != (n,):
        raise DataError(f"round {i + 1}: folds for {fold.shape} rows, but there are {n}")
    if len(np.unique(fold)) < 2:
        raise DataError(f"round {i + 1}: all rows are in one fold, so there is nothing to train on")
    return fold
