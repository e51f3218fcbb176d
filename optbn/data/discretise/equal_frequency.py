"""Intervals that hold about the same number of rows; equal values stay together, so there may be fewer intervals.

The i-th cut is put after the value at which the cumulated weight comes nearest to i/n_bins of all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from optbn.data.discretise.transformer import Discretizer, distinct, midpoints


class EqualFrequency(Discretizer):
    """At most n_bins intervals."""

    supervised = False

    def __init__(self, n_bins: int = 5) -> None:
        self.n_bins = n_bins

    def cut_points(self, values: Any, classes: Any, n_classes: int, weights: Any, random: Any) -> Any:
        points, mass = distinct(values, weights)
        if len(points) < 2:
            return np.zeros(0)
        upto = np.cumsum(mass)[:-1]
        wanted = mass.sum() * np.arange(1, self.n_bins) / self.n_bins
        after = np.unique(np.abs(upto[None, :] - wanted[:, None]).argmin(axis=1))
        return midpoints(points[after], points[after + 1])
