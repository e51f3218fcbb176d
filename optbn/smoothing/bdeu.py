"""The posterior mean under the prior of the BDeu score: `ess` imagined rows spread evenly over the family's table.

A context that covers a share s of the configurations gets s ess / K of them per level, so the estimates are those of
one coherent Dirichlet prior on the joint table; a configuration that was never seen is uniform.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optbn.base.settings import check_positive
from optbn.smoothing.protocol import Estimate
from optbn.smoothing.tree import CountTree


@dataclass(frozen=True)
class BDeu:
    """(n_k + s ess / K) / (N + s ess), ess > 0."""

    ess: float = 1.0

    def __post_init__(self) -> None:
        check_positive(self, "ess", " (use mle for none)")

    def fit(self, tree: CountTree, generator: np.random.Generator) -> Estimate:
        rows = (self.ess * tree.span / tree.span[0])[:, None]
        p = (tree.counts + rows / tree.n_levels) / (tree.totals[:, None] + rows)
        precision = tree.totals + rows[:, 0]
        unseen = np.full(len(p), self.ess / tree.span[0])
        return Estimate(p, np.full_like(p, 1.0 / tree.n_levels), precision=precision, unseen_precision=unseen)
