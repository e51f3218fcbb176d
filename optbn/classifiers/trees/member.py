"""A tree that predicts: how the attributes are coded, the tree, and smoothed probabilities at every node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.trees.growing import values_of
from optbn.classifiers.trees.tree import Tree
from optbn.data.discretise.table import Table
from optbn.data.discretise.transformer import Column
from optbn.smoothing.protocol import Smoother

DIGITS = 6


@dataclass(frozen=True, eq=False)
class TreeMember:
    """probabilities  float64[m, C]: where a row ends there
    inside         float64[m, C]: the estimate for all rows that pass; it differs at inner nodes, whose estimate answers
                   for branches that training has not seen (see smoothing.Estimate). Trees of a forest have none, and
                   no counts
    """

    columns: tuple[Column, ...]
    tree: Tree
    probabilities: NDArray[np.float64]
    inside: NDArray[np.float64]

    @classmethod
    def smoothed(
        cls, columns: tuple[Column, ...], tree: Tree, smoother: Smoother, generator: np.random.Generator,
        curtail: float = 0.0,
    ) -> TreeMember:  # fmt: skip
        """With the smoother's probabilities; a node of fewer than `curtail` rows answers for its parent's rows."""
        counted, nodes = tree.count_tree, np.arange(tree.size)
        estimate = smoother.fit(counted, generator)
        answers = estimate.at(counted, nodes)
        for u in 1 + np.flatnonzero(tree.counts[1:].sum(axis=1) < curtail):  # a parent comes before its children
            above = tree.parent[u]
            answers[u] = estimate.probabilities[above] if tree.counts[above].sum() >= curtail else answers[above]
        return cls(columns, tree, answers, estimate.probabilities)

    def slim(self) -> TreeMember:
        """What predictions need: no counts, and probabilities to DIGITS decimals: several times smaller in a file."""
        p = np.round(self.probabilities, DIGITS)
        none = np.zeros((self.tree.size, 0))
        return TreeMember(self.columns, replace(self.tree, counts=none), p, none)

    def posterior(self, table: Table) -> NDArray[np.float64]:
        """float64[n, C]: P(y | x)."""
        return self.tree.predict(values_of(self.columns, table), self.probabilities)

    def networks(self, target: str, classes: Sequence[str]) -> list[Any]:
        raise AttributeError("a decision tree is no network over the attributes")
