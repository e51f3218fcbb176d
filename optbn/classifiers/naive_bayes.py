"""Naive Bayes: attributes are independent given the class. One pass over the rows, and more rows can be added later."""

from __future__ import annotations

from typing import Any

import numpy as np

from optbn.classifiers.forest import Parents, smoothed
from optbn.classifiers.incremental import Incremental, single_tree
from optbn.classifiers.member import Member, class_prior
from optbn.classifiers.pairs import PairCounts
from optbn.data.discretise.transformer import Column
from optbn.smoothing.protocol import Smoother


class NaiveBayes(Incremental):
    """Attributes independent given the class; one pass, and `partial_fit` for rows that keep coming."""

    needs_pairs = False

    def __init__(self, smoother: Any = "m_estimate", discretizer: Any = "mdlp", random_state: Any = 0) -> None:
        self.smoother = smoother
        self.discretizer = discretizer
        self.random_state = random_state

    def _member(
        self, counts: PairCounts, columns: tuple[Column, ...], smoother: Smoother, seed: np.random.SeedSequence
    ) -> Member:
        parents: Parents = {i: () for i in range(len(columns))}
        trees = [single_tree(counts, i) for i in parents]
        forest = smoothed(parents, trees, smoother, seed)
        return Member(columns, class_prior(counts.classes), parents, forest, counts.classes.sum() + 1.0)
