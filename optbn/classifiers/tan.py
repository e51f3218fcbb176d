"""Tree-augmented naive Bayes: besides the class every attribute but one has one parent, and these arcs make a tree.

The tree with the greatest sum of I(X_i; X_j | Y) is the one under which the data are most likely (Friedman, Geiger and
Goldszmidt 1997). Prim's algorithm grows it from the first attribute; which one is the root does not change the joint
distribution at maximum likelihood.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.estimator import NetworkClassifier
from optbn.classifiers.forest import Parents
from optbn.classifiers.member import Member
from optbn.classifiers.pairs import PairCounts
from optbn.classifiers.single import two_passes
from optbn.classifiers.source import Source
from optbn.smoothing.protocol import Smoother


class TAN(NetworkClassifier):
    """Naive Bayes with the best tree of arcs among the attributes (Friedman, Geiger, Goldszmidt 1997)."""

    def __init__(self, smoother: Any = "m_estimate", discretizer: Any = "mdlp", random_state: Any = 0) -> None:
        self.smoother = smoother
        self.discretizer = discretizer
        self.random_state = random_state

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Member], NDArray[np.float64]]:
        return [two_passes(source, self._discretized(source), best_tree, smoother, seed)], np.ones(1)


def best_tree(counts: PairCounts) -> Parents:
    """The maximum spanning tree of the conditional information, rooted at attribute 0."""
    weight = counts.conditional_information()
    parents: Parents = {0: ()}
    nearest, best = np.zeros(len(weight), dtype=np.int64), weight[0].copy()
    best[0] = -np.inf
    for _ in range(len(weight) - 1):
        i = int(best.argmax())
        parents[i] = (int(nearest[i]),)
        closer = (weight[i] > best) & np.isfinite(best)
        nearest[closer] = i
        best[closer] = weight[i][closer]
        best[i] = -np.inf
    return parents
