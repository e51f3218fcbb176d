"""Laplace's rule of succession: one imagined row for every level in every context; unseen contexts are uniform."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optbn.smoothing.protocol import Estimate
from optbn.smoothing.tree import CountTree


@dataclass(frozen=True)
class Laplace:
    """(n_k + 1) / (N + K)."""

    def fit(self, tree: CountTree, generator: np.random.Generator) -> Estimate:
        p = (tree.counts + 1.0) / (tree.totals[:, None] + tree.n_levels)
        precision, unseen = tree.totals + tree.n_levels, np.full(len(p), float(tree.n_levels))
        return Estimate(p, np.full_like(p, 1.0 / tree.n_levels), precision=precision, unseen_precision=unseen)
