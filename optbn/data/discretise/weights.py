"""What the weights of rows mean: counts, or shares that say only how rows compare.

Smoothing, description lengths and penalties weigh rows against imagined ones, so a weight is a number of rows: 2 is two
equal rows. That is what whole numbers say. Others (the shares that boosting gives, or importances) say how rows
compare; they are multiplied so that they add up to the number of rows that have any, or else weights of 1/n would be
one row in all and everything would be smoothed away. To have fractions count as they are, ask for "counts".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError

SCALES = ("auto", "relative", "counts")


def in_rows(weights: NDArray[np.float64], scale: str) -> NDArray[np.float64]:
    """The weights as numbers of rows: "relative" whatever they are, "counts" as they are, "auto" by what they are."""
    if scale not in SCALES:
        raise UnsupportedError(f"weight_scale={scale!r}: expected one of {', '.join(SCALES)}")
    total = weights.sum()
    if scale == "counts" or not total > 0 or (scale == "auto" and (weights == np.rint(weights)).all()):
        return weights
    some = weights[weights > 0]
    if (some == some[0]).all():  # no rounding: equal weights are none
        return np.where(weights > 0, 1.0, 0.0)
    return np.asarray(weights * (np.count_nonzero(weights) / total))
