"""Selective KDB: as many of KDB's attributes and parents as leave-one-out favours, found in a third pass.

With the attributes of KDB in their order and the parents of each best first, let KDB(k', n) use the first n attributes
and the first k' parents of each. All of them, for k' <= k, share KDB(k)'s count trees, and one walk of a row gives what
each of them predicts for it; without the row's own counts that is what it would predict had it been fitted without the
row. The (k', n) with the least sum of (1 - P(y | x))^2 over rows left out is kept (Martinez, Webb, Chen and Zaidi
2016). The selection is by the m-estimate with back-off, m = 1, whatever smoother gives the final probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.classifiers.estimator import NetworkClassifier
from optbn.classifiers.forest import LOSSES, LeaveOneOut, Parents, count_trees, smoothed, truncated
from optbn.classifiers.member import Member, class_prior
from optbn.classifiers.pairs import Batch
from optbn.classifiers.single import by_information, k_parents, pairs_of
from optbn.classifiers.source import Source
from optbn.smoothing.protocol import Smoother
from optbn.smoothing.tree import CountTree


@dataclass(frozen=True, eq=False)
class Selected:
    """The truncation of a network that leave-one-out favours, its count trees, and how the losses came out."""

    parents: Parents
    trees: list[CountTree]
    losses: NDArray[np.float64]
    choice: tuple[int, int]
    full: LeaveOneOut

    @classmethod
    def of(
        cls,
        parents: Parents,
        sizes: tuple[int, ...],
        class_counts: NDArray[np.float64],
        batches: Callable[[], Iterator[Batch]],
        loss: str = "rmse",
    ) -> Selected:
        """Two more passes over the rows."""
        trees = count_trees(batches(), parents, sizes, len(class_counts))
        full = LeaveOneOut(parents, trees, class_counts, loss=loss)
        for batch in batches():
            full.add(batch)
        k, attributes = full.best()
        kept: Parents = {i: p[:k] for i, p in list(parents.items())[:attributes]}
        return cls(
            kept,
            [truncated(tree, len(p)) for tree, p in zip(trees, kept.values(), strict=False)],
            full.losses / class_counts.sum(),
            (k, attributes),
            full,
        )


class SKDB(NetworkClassifier):
    """k       parents besides the class, at most
    select  by which loss of rows left out: "rmse" (the squares of 1 - P(y | x)), "zero_one" or "log_loss"

    After fitting: `selected_`, the numbers of parents and attributes that were kept, and `losses_[k', n]`, the mean
    loss with each number of parents and attributes.
    """

    def __init__(
        self,
        k: int = 5,
        select: str = "rmse",
        smoother: Any = "m_estimate",
        discretizer: Any = "mdlp",
        random_state: Any = 0,
    ) -> None:
        self.k = k
        self.select = select
        self.smoother = smoother
        self.discretizer = discretizer
        self.random_state = random_state

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Member], NDArray[np.float64]]:
        if self.select not in LOSSES:
            raise UnsupportedError(f"select={self.select!r}: expected one of {', '.join(LOSSES)}")
        discretizer = self._discretized(source)
        batches, counts = pairs_of(source, discretizer)
        parents = k_parents(by_information(counts.information()), counts.conditional_information(), self.k)
        chosen = Selected.of(parents, discretizer.sizes, counts.classes, batches, self.select)
        self.selected_, self.losses_ = chosen.choice, chosen.losses
        forest = smoothed(chosen.parents, chosen.trees, smoother, seed)
        prior, rows = class_prior(counts.classes), float(counts.classes.sum()) + 1.0
        return [Member(discretizer.columns_, prior, chosen.parents, forest, rows)], np.ones(1)
