"""Naive Bayes: attributes are independent given the class. One pass over the rows, and more rows can be added later."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.estimator import BayesianClassifier
from optbn.classifiers.forest import count_trees, smoothed
from optbn.classifiers.member import Member, class_prior
from optbn.classifiers.source import Source
from optbn.smoothing.protocol import Smoother


class NaiveBayes(BayesianClassifier):
    def __init__(self, smoother: Any = "m_estimate", discretizer: Any = "mdlp", random_state: Any = 0) -> None:
        self.smoother = smoother
        self.discretizer = discretizer
        self.random_state = random_state

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Member], NDArray[np.float64]]:
        discretizer = self._discretized(source)
        parents: dict[int, tuple[int, ...]] = {i: () for i in range(len(discretizer.columns_))}
        counts = np.zeros(source.n_classes)

        def counted() -> Any:
            for batch in source.batches(discretizer)():
                counts[:] += np.bincount(batch[1], batch[2], source.n_classes)
                yield batch

        trees = count_trees(counted(), parents, discretizer.sizes, source.n_classes)
        forest = smoothed(parents, trees, smoother, seed)
        return [Member(discretizer.columns_, class_prior(counts), parents, forest)], np.ones(1)
