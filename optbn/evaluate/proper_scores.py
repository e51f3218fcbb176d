"""How good are predicted probabilities of classes?

With p the row's probabilities and y its class, over n rows and C classes:

    rmse        sqrt( mean over rows of (1/C) sum_c (p_c - [c = y])^2 ), as published results of this field have it
    zero_one    share of rows whose most probable class is another one
    log_loss    mean of -log p_y, natural
    brier       mean of sum_c (p_c - [c = y])^2
    auc         area under the ROC curve, each class against the rest, averaged over the classes that occur (and do not
                fill the data); ties count half
    ece         expected calibration error of the most probable class, in bins of equal width

Log loss, Brier score and RMSE are proper: nobody gains by saying something else than what they believe.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError

BINS = 10


def checked(p: NDArray[np.float64], y: NDArray[np.integer]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Probabilities float64[n, C] and class codes int64[n]; what is neither is refused by row."""
    p, y = np.asarray(p, dtype=np.float64), np.asarray(y)
    if p.ndim != 2 or y.ndim != 1 or len(p) != len(y) or not len(y):
        raise DataError(f"probabilities of shape {p.shape} and classes of shape {y.shape} do not belong together")
    bad = ~(np.isfinite(p).all(axis=1) & (p >= 0).all(axis=1) & (np.abs(p.sum(axis=1) - 1) < 1e-6))
    if bad.any():
        raise DataError(f"row {int(np.argmax(bad)) + 1}: {p[np.argmax(bad)]} are not probabilities that sum to 1")
    if y.min() < 0 or y.max() >= p.shape[1]:
        row = int(np.argmax((y < 0) | (y >= p.shape[1])))
        raise DataError(f"row {row + 1}: class {y[row]}, but there are {p.shape[1]} columns of probabilities")
    return p, y.astype(np.int64)


def squared_error(p: NDArray[np.float64], y: NDArray[np.integer]) -> NDArray[np.float64]:
    """float64[n]: sum_c (p_c - [c = y])^2."""
    p, y = checked(p, y)
    error: NDArray[np.float64] = (p**2).sum(axis=1) - 2 * p[np.arange(len(y)), y] + 1
    return np.maximum(error, 0.0)


def rmse(p: NDArray[np.float64], y: NDArray[np.integer]) -> float:
    return float(np.sqrt(squared_error(p, y).mean() / p.shape[1]))


def brier(p: NDArray[np.float64], y: NDArray[np.integer]) -> float:
    return float(squared_error(p, y).mean())


def zero_one(p: NDArray[np.float64], y: NDArray[np.integer]) -> float:
    p, y = checked(p, y)
    return float((p.argmax(axis=1) != y).mean())


def log_loss(p: NDArray[np.float64], y: NDArray[np.integer]) -> float:
    """Infinite when a class that came was called impossible."""
    p, y = checked(p, y)
    with np.errstate(divide="ignore"):
        return float(-np.log(p[np.arange(len(y)), y]).mean())


def auc(p: NDArray[np.float64], y: NDArray[np.integer]) -> float:
    """nan when no class has both rows and others."""
    from scipy.stats import rankdata

    p, y = checked(p, y)
    found = []
    for c in range(p.shape[1]):
        positive = y == c
        n = int(positive.sum())
        if 0 < n < len(y):
            ranks = rankdata(p[:, c])[positive].sum()
            found.append((ranks - n * (n + 1) / 2) / (n * (len(y) - n)))
    return float(np.mean(found)) if found else float("nan")


@dataclass(frozen=True)
class Calibration:
    """Per bin of the confidence in the most probable class that is not empty: rows, mean confidence, share right."""

    rows: tuple[int, ...]
    confidence: tuple[float, ...]
    accuracy: tuple[float, ...]

    @property
    def ece(self) -> float:
        """The mean over rows of |accuracy - confidence| of their bin."""
        gaps = np.abs(np.array(self.accuracy) - np.array(self.confidence))
        return float(np.average(gaps, weights=self.rows))


def calibration(p: NDArray[np.float64], y: NDArray[np.integer], bins: int = BINS) -> Calibration:
    """The calibration curve."""
    p, y = checked(p, y)
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    which = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    used = [b for b in range(bins) if (which == b).any()]
    return Calibration(
        tuple(int((which == b).sum()) for b in used),
        tuple(float(confidence[which == b].mean()) for b in used),
        tuple(float(right[which == b].mean()) for b in used),
    )


def all_scores(p: NDArray[np.float64], y: NDArray[np.integer]) -> dict[str, float]:
    """Every score by name."""
    return {
        "rmse": rmse(p, y),
        "zero_one": zero_one(p, y),
        "log_loss": log_loss(p, y),
        "brier": brier(p, y),
        "auc": auc(p, y),
        "ece": calibration(p, y).ece,
    }
