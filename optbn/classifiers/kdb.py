"""k-dependence Bayes: attributes are taken up by falling I(X; Y), each with the class and up to k parents.

The parents are those before it with the greatest I(X_i; X_j | Y) (Sahami 1996). k = 0 is naive Bayes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.estimator import NetworkClassifier
from optbn.classifiers.forest import Parents
from optbn.classifiers.member import Member
from optbn.classifiers.pairs import PairCounts
from optbn.classifiers.single import by_information, k_parents, two_passes
from optbn.classifiers.source import Source
from optbn.smoothing.protocol import Smoother


class KDB(NetworkClassifier):
    """k  parents besides the class"""

    def __init__(
        self, k: int = 2, smoother: Any = "m_estimate", discretizer: Any = "mdlp", random_state: Any = 0
    ) -> None:
        self.k = k
        self.smoother = smoother
        self.discretizer = discretizer
        self.random_state = random_state

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Member], NDArray[np.float64]]:
        def choose(counts: PairCounts) -> Parents:
            return k_parents(by_information(counts.information()), counts.conditional_information(), self.k)

        return [two_passes(source, self._discretized(source), choose, smoother, seed)], np.ones(1)
