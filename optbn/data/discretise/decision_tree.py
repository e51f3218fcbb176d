"""The cut points of a small decision tree that predicts the class from the column alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from optbn.data.discretise.transformer import Discretizer


class DecisionTree(Discretizer):
    """At most n_bins leaves, grown best first by the decrease of entropy, each with at least min_share of the rows."""

    def __init__(self, n_bins: int = 5, min_share: float = 0.01) -> None:
        self.n_bins = n_bins
        self.min_share = min_share

    def cut_points(self, values: Any, classes: Any, n_classes: int, weights: Any, random: Any) -> Any:
        if self.n_bins == 1:
            return np.zeros(0)
        tree = DecisionTreeClassifier(
            criterion="entropy",
            max_leaf_nodes=self.n_bins,
            min_weight_fraction_leaf=self.min_share,
            random_state=0,
        )
        tree.fit(values[:, None], classes, sample_weight=weights)
        inner = tree.tree_.children_left >= 0
        return np.unique(tree.tree_.threshold[inner])
