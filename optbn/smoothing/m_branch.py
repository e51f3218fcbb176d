"""M-branch smoothing: every context is pulled toward its already smoothed parent, the more the higher it stands.

    p_u = (n_u + m_u p_parent) / (N_u + m_u),   m_u = M (1 + (1 - 1/h_u) sqrt(N))

h_u is the height of the node (1 at a leaf), N all rows, and the root is pulled to the uniform distribution
(Ferri, Flach and Hernandez-Orallo 2003).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from optbn.base.settings import check_positive
from optbn.smoothing.protocol import Estimate
from optbn.smoothing.tree import CountTree


@dataclass(frozen=True)
class MBranch:
    """M > 0."""

    M: float = 4.0

    def __post_init__(self) -> None:
        check_positive(self, "M")

    def fit(self, tree: CountTree, generator: np.random.Generator) -> Estimate:
        height = np.ones(len(tree.parent))
        for d in range(len(tree.levels) - 2, 0, -1):
            level = np.arange(tree.levels[d], tree.levels[d + 1])
            np.maximum.at(height, tree.parent[level], 1.0 + height[level])
        m = self.M * (1.0 + (1.0 - 1.0 / height) * np.sqrt(tree.totals[0]))
        p = np.empty_like(tree.counts)
        p[0] = (tree.counts[0] + m[0] / tree.n_levels) / (tree.totals[0] + m[0])
        for d in range(1, len(tree.levels) - 1):
            level = np.arange(tree.levels[d], tree.levels[d + 1])
            above = p[tree.parent[level]]
            p[level] = (tree.counts[level] + m[level, None] * above) / (tree.totals[level] + m[level])[:, None]
        return Estimate(p, p)
