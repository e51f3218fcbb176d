"""Intervals of equal width between the least and the greatest value; empty ones are kept, for their width says so."""

from __future__ import annotations

from typing import Any

import numpy as np

from optbn.data.discretise.transformer import Discretizer


class EqualWidth(Discretizer):
    """n_bins intervals (one for a constant column)."""

    supervised = False

    def __init__(self, n_bins: int = 5) -> None:
        self.n_bins = n_bins

    def cut_points(self, values: Any, classes: Any, n_classes: int, weights: Any, random: Any) -> Any:
        least, greatest = values.min(), values.max()
        if least == greatest:
            return np.zeros(0)
        return np.unique(np.linspace(least, greatest, self.n_bins + 1)[1:-1])
