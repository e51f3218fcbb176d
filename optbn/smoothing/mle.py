"""Maximum likelihood: the frequencies, and in a context that was never seen those of its deepest seen ancestor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optbn.smoothing.protocol import Estimate
from optbn.smoothing.tree import CountTree


@dataclass(frozen=True)
class MaximumLikelihood:
    """n_k / N; uniform without any data. Gives probability 0 to what did not occur."""

    def fit(self, tree: CountTree, generator: np.random.Generator) -> Estimate:
        totals = tree.totals[:, None]
        p = np.where(totals > 0, tree.counts / np.where(totals > 0, totals, 1.0), 1.0 / tree.n_levels)
        return Estimate(p, p)
