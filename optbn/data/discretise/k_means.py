"""Intervals around the centres of a one-dimensional k-means clustering, cut half way between neighbouring centres.

Lloyd's iterations start from the centres of equal-width intervals, so the result is not random.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from optbn.data.discretise.transformer import Discretizer, distinct, midpoints


class KMeans(Discretizer):
    """At most n_bins clusters."""

    supervised = False

    def __init__(self, n_bins: int = 5) -> None:
        self.n_bins = n_bins

    def cut_points(self, values: Any, classes: Any, n_classes: int, weights: Any, random: Any) -> Any:
        points, mass = distinct(values, weights)
        if len(points) <= self.n_bins:
            return midpoints(points[:-1], points[1:])
        edges = np.linspace(points[0], points[-1], self.n_bins + 1)
        centres = (edges[1:] + edges[:-1]) / 2
        cuts = np.zeros(0)
        for _ in range(1000):
            found = (centres[1:] + centres[:-1]) / 2
            if np.array_equal(cuts, found):
                break
            cuts = found
            cluster = np.searchsorted(cuts, points, side="left")
            total = np.bincount(cluster, weights=mass, minlength=len(centres))
            sums = np.bincount(cluster, weights=mass * points, minlength=len(centres))
            centres = sums[total > 0] / total[total > 0]  # an empty cluster is given up
        return np.unique(cuts)
