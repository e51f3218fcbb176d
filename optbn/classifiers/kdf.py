"""A forest of k-dependence classifiers, each with another attribute taken up first.

Member i moves the i-th attribute by I(X; Y) to the front of KDB's order; the predicted probabilities are averaged
(Duan and Wang 2017). All members share one discretisation and one pass of pair counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.settings import check_whole
from optbn.classifiers.estimator import BayesianClassifier
from optbn.classifiers.forest import count_trees, smoothed
from optbn.classifiers.member import Member, class_prior
from optbn.classifiers.pairs import PairCounts
from optbn.classifiers.single import by_information, k_parents
from optbn.classifiers.source import Source
from optbn.smoothing.protocol import Smoother


class KDF(BayesianClassifier):
    """k          parents besides the class
    n_members  or None: one for every attribute
    """

    def __init__(
        self,
        k: int = 2,
        n_members: int | None = None,
        smoother: Any = "m_estimate",
        discretizer: Any = "mdlp",
        random_state: Any = 0,
    ) -> None:
        self.k = k
        self.n_members = n_members
        self.smoother = smoother
        self.discretizer = discretizer
        self.random_state = random_state

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Any], NDArray[np.float64]]:
        if self.n_members is not None:
            check_whole(self, "n_members", 1)
        discretizer = self._discretized(source)
        batches = source.batches(discretizer)
        names = [column.name for column in discretizer.columns_]
        counts = PairCounts.of(batches(), discretizer.sizes, source.n_classes, names)
        order, conditional = by_information(counts.information()), counts.conditional_information()
        chosen = order[: self.n_members]
        members = []
        for first, stream in zip(chosen, seed.spawn(len(chosen)), strict=True):
            parents = k_parents([first, *(i for i in order if i != first)], conditional, self.k)
            trees = count_trees(batches(), parents, discretizer.sizes, source.n_classes)
            forest = smoothed(parents, trees, smoother, stream)
            members.append(Member(discretizer.columns_, class_prior(counts.classes), parents, forest))
        return members, np.full(len(members), 1.0 / len(members))
