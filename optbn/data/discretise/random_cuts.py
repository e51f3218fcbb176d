"""Random cuts, for ensembles: some where the classes change, some anywhere.

A coin decides for each column. Heads, it gets the cuts of `random_mdlp`, which are where classes change, but are few
and nearly the same every time where there are few rows. Tails, classes are not looked at: a number of intervals is
drawn from 2 .. n_bins, and each cut at a place uniform among the rows, which is moved to the nearest change of value.
So members see a column at different places and resolutions, and what one misses (tails and rare classes the blind,
all that does not pass a test the others) is seen by another. Which of it is worth something is for the members to find
out, who select attributes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from optbn.base.errors import UnsupportedError
from optbn.data.discretise.mdlp import chosen_cuts
from optbn.data.discretise.transformer import Discretizer, distinct, midpoints


class RandomCuts(Discretizer):
    """n_bins        the most intervals of cuts that ignore the classes
    informed      the probability that cuts heed the classes
    encoding      as for MDLP
    random_state  another one gives other cuts
    """

    def __init__(
        self, n_bins: int = 10, informed: float = 0.5, encoding: str = "values", random_state: Any = None
    ) -> None:
        self.n_bins = n_bins
        self.informed = informed
        self.encoding = encoding
        self.random_state = random_state

    def cut_points(self, values: Any, classes: Any, n_classes: int, weights: Any, random: Any) -> Any:
        if not 0.0 <= self.informed <= 1.0:
            raise UnsupportedError(f"informed={self.informed!r}: expected a probability")
        if random.random() < self.informed:
            return chosen_cuts(values, classes, n_classes, weights, self.encoding, random)
        points, mass = distinct(values, weights)
        if len(points) < 2 or self.n_bins < 2:
            return np.zeros(0)
        upto = np.cumsum(mass)
        wanted = upto[-1] * random.random(int(random.integers(1, self.n_bins)))
        right = np.clip(np.searchsorted(upto, wanted), 0, len(points) - 2)
        left = np.maximum(right - 1, 0)
        after = np.unique(np.where(wanted - upto[left] < upto[right] - wanted, left, right))
        return midpoints(points[after], points[after + 1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags
