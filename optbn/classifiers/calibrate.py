"""Curves that calibrate probabilities, by isotonic regression, where rows left out say that one power is not enough.

Of each class (of two, of the second only) the rows left out are sorted by their probability, and neighbours are pooled
until the share of the class does not fall (the pool-adjacent-violators algorithm). A pool is a point: its mean
probability, and its share with one more row that agrees with the mean, so that nothing becomes impossible. Between
points the curve is linear, and what it gives for the classes is normalised.

A curve has as many freedoms as pools, so it has to show that it is better: made from four fifths of the rows, on the
other fifth, by ERRORS standard errors of the mean gain in log likelihood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError

FOLDS = 5
ERRORS = 2.0
LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class Curves:
    """points, values  for each class (of two, for the second): float64, both ascending"""

    points: tuple[NDArray[np.float64], ...]
    values: tuple[NDArray[np.float64], ...]

    def __call__(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows of calibrated probabilities."""
        C = p.shape[1]
        if C == 2:
            second = np.interp(p[:, 1], self.points[0], self.values[0])
            return np.stack([1.0 - second, second], axis=1)
        found = np.stack([np.interp(p[:, c], self.points[c], self.values[c]) for c in range(C)], axis=1)
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    @classmethod
    def of(cls, p: NDArray[np.float64], classes: NDArray[np.int64], weights: NDArray[np.float64]) -> Curves:
        """From predictions for rows left out."""
        which: Sequence[int] = (1,) if p.shape[1] == 2 else range(p.shape[1])
        pools = [_pools(p[:, c], (classes == c).astype(np.float64), weights) for c in which]
        return cls(tuple(x for x, _ in pools), tuple(y for _, y in pools))

    @classmethod
    def from_record(cls, record: Sequence[Any], n_classes: int) -> Curves:
        """The curves, or a DataError that says what does not fit."""
        points = tuple(np.array(curve.points, dtype=np.float64) for curve in record)
        values = tuple(np.array(curve.values, dtype=np.float64) for curve in record)
        fine = len(record) == (1 if n_classes == 2 else n_classes)
        for x, y in zip(points, values, strict=True):
            fine = fine and len(x) == len(y) > 0 and bool((np.diff(x) > 0).all() and (np.diff(y) >= 0).all())
            fine = fine and bool(((y > 0) & (y < 1)).all() and ((x >= 0) & (x <= 1)).all())
        if not fine:
            raise DataError("its curves do not fit its classes, or do not ascend from 0 to 1")
        return cls(points, values)


def _pools(
    x: NDArray[np.float64], own: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The points of one class, with the ends 0 and 1."""
    from sklearn.isotonic import isotonic_regression

    each, inverse = np.unique(x, return_inverse=True)
    counts = np.bincount(inverse, weights)
    shares = np.bincount(inverse, weights * own) / counts
    level = isotonic_regression(shares, sample_weight=counts)
    pool = np.cumsum(np.diff(level, prepend=level[0]) != 0)
    mass = np.bincount(pool, counts)
    mean = np.bincount(pool, counts * each) / mass
    share = (np.bincount(pool, counts * shares) + mean) / (mass + 1.0)
    share = np.clip(np.maximum.accumulate(share), LEAST, 1.0 - LEAST)
    points, first = np.unique(mean, return_index=True)
    values = share[first]
    # beyond the outermost pools probabilities go on to 0 and 1 as they came
    low, high = points[0], points[-1]
    if low > 0.0:
        points, values = np.append(0.0, points), np.append(LEAST, values)
    if high < 1.0:
        points, values = np.append(points, 1.0), np.append(values, 1.0 - LEAST)
    return points, values


def curves_if_better(p: NDArray[np.float64], classes: NDArray[np.int64], weights: NDArray[np.float64]) -> Curves | None:
    """The curves, or None where rows left out do not show that they are better than the probabilities themselves."""
    some = weights > 0
    p, classes, weights = p[some], classes[some], weights[some]
    if weights.sum() < 20 * FOLDS or p.shape[1] < 2:
        return None
    fold = np.empty(len(p), dtype=np.int64)
    # at random, but whatever the order of the rows; not in the order of p: folds would be too much alike
    fold[np.lexsort((p[:, 1], classes))] = np.random.default_rng(0).integers(0, FOLDS, len(p))
    after = np.empty(len(p))
    rows = np.arange(len(p))
    for k in range(FOLDS):
        out = fold == k
        found = Curves.of(p[~out], classes[~out], weights[~out])(p[out])
        after[out] = found[np.arange(len(found)), classes[out]]
    gain = np.log(np.maximum(after, LEAST)) - np.log(np.maximum(p[rows, classes], LEAST))
    mean = np.average(gain, weights=weights)
    error = np.sqrt(np.average((gain - mean) ** 2, weights=weights) / weights.sum())
    return Curves.of(p, classes, weights) if mean > ERRORS * error else None
