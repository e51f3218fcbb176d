"""Selective KDB: as many of KDB's attributes and parents as leave-one-out favours, found in a third pass.

With the attributes of KDB in their order and the parents of each best first, let KDB(k', n) use the first n attributes
and the first k' parents of each. All of them, for k' <= k, share KDB(k)'s count trees, and one walk of a row gives what
each of them predicts for it; without the row's own counts that is what it would predict had it been fitted without the
row. The (k', n) with the least sum of (1 - P(y | x))^2 over rows left out is kept (Martinez, Webb, Chen and Zaidi
2016). The selection is by the m-estimate with back-off, m = 1, whatever smoother gives the final probabilities;
`select_by="smoother"` selects by that one, on five folds (`by_folds`), at five times the price.

Rows can be added at any time (`streamed`): order and parents stay once HELD rows have come; counts grow, and so do the
losses, by those of the new rows, each left out of the counts that there are with its batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.classifiers.by_folds import losses_by_folds
from optbn.classifiers.forest import (
    Parents,
    count_trees,
    grown_trees,
    smoothed,
    truncated,
)
from optbn.classifiers.left_out import LOSSES, LeaveOneOut, best_truncation
from optbn.classifiers.member import Member, class_prior
from optbn.classifiers.pairs import Batch
from optbn.classifiers.single import by_information, k_parents, pairs_of
from optbn.classifiers.source import Source
from optbn.classifiers.streamed import Rows, Streamed
from optbn.data.discretise.transformer import Column
from optbn.smoothing.protocol import Smoother
from optbn.smoothing.tree import CountTree

SELECT_BY = ("m_estimate", "smoother")


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
        watched: NDArray[np.int64],
    ) -> Selected:
        """Two more passes over the rows; `watched` are the numbers of those whose predictions are wanted."""
        trees = count_trees(batches(), parents, sizes, len(class_counts))
        full = LeaveOneOut(parents, trees, class_counts, watched=watched)
        for batch in batches():
            full.add(batch)
        kept, short = cut_short(parents, trees, full.best())
        return cls(kept, short, full.losses / class_counts.sum(), full.best(), full)


def cut_short(parents: Parents, trees: Sequence[CountTree], choice: tuple[int, int]) -> tuple[Parents, list[CountTree]]:
    """The network of the first attributes and parents, choice = (parents, attributes), and its count trees."""
    kept: Parents = {i: p[: choice[0]] for i, p in list(parents.items())[: choice[1]]}
    return kept, [truncated(tree, len(p)) for tree, p in zip(trees, kept.values(), strict=False)]


@dataclass(frozen=True, eq=False)
class Counted:
    """What rows are added to: the whole network with its trees, and the sums of the losses of all truncations."""

    columns: tuple[Column, ...]
    classes: NDArray[np.float64]
    parents: Parents
    trees: list[CountTree]
    losses: NDArray[np.float64]

    def more(self, rows: Rows, loss: str) -> Counted:
        """With further rows; the losses are those of these rows left out."""
        codes = np.empty((len(rows.classes), len(self.columns)), dtype=np.int32)
        for j, (column, values) in enumerate(zip(self.columns, rows.table, strict=True)):
            codes[:, j] = column.encode(values)
        batch = codes, rows.classes, rows.weights
        classes = self.classes + np.bincount(rows.classes, rows.weights, len(self.classes))
        trees = grown_trees(self.trees, self.parents, batch)
        left_out = LeaveOneOut(self.parents, trees, classes, loss=loss)
        left_out.add(batch)
        return Counted(self.columns, classes, self.parents, trees, self.losses + left_out.losses)


class SKDB(Streamed):
    """k          parents besides the class, at most
    select     by which loss of rows left out: "rmse" (the squares of 1 - P(y | x)), "zero_one" or "log_loss"
    select_by  with the probabilities of the "m_estimate" (m = 1, one row left out), or of the "smoother" (five folds;
               whole counts, and no `partial_fit`)

    After fitting: `selected_`, the numbers of parents and attributes that were kept, and `losses_[k', n]`, the mean
    loss with each number of parents and attributes.
    """

    counts_: Counted

    def __init__(
        self,
        k: int = 5,
        select: str = "rmse",
        select_by: str = "m_estimate",
        smoother: Any = "m_estimate",
        discretizer: Any = "mdlp",
        random_state: Any = 0,
    ) -> None:
        self.k = k
        self.select = select
        self.select_by = select_by
        self.smoother = smoother
        self.discretizer = discretizer
        self.random_state = random_state

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Any], NDArray[np.float64]]:
        for name, known in (("select", LOSSES), ("select_by", SELECT_BY)):
            if getattr(self, name) not in known:
                raise UnsupportedError(f"{name}={getattr(self, name)!r}: expected one of {', '.join(known)}")
        discretizer = self._discretized(source)
        batches, counts = pairs_of(source, discretizer)
        parents = k_parents(by_information(counts.information()), counts.conditional_information(), self.k)
        trees = count_trees(batches(), parents, discretizer.sizes, source.n_classes)
        if self.select_by == "smoother":
            losses = losses_by_folds(parents, discretizer.sizes, counts.classes, batches, smoother, self.select, seed)
        else:
            losses = self._left_out(parents, trees, counts.classes, batches)
        self.counts_ = Counted(discretizer.columns_, counts.classes, parents, trees, losses)
        return self._smoothed(smoother, seed)

    def _left_out(
        self, parents: Parents, trees: list[CountTree], classes: NDArray[np.float64],
        batches: Callable[[], Iterator[Batch]],
    ) -> NDArray[np.float64]:  # fmt: skip
        """The losses of all truncations, by rows left out one at a time."""
        left_out = LeaveOneOut(parents, trees, classes, loss=self.select)
        for batch in batches():
            left_out.add(batch)
        return left_out.losses

    def _smoothed(self, smoother: Smoother, seed: np.random.SeedSequence) -> tuple[list[Any], NDArray[np.float64]]:
        """The member of the best truncation."""
        counted = self.counts_
        self.selected_ = best_truncation(counted.losses)
        rows = float(counted.classes.sum())
        self.losses_ = counted.losses / rows
        parents, trees = cut_short(counted.parents, counted.trees, self.selected_)
        forest = smoothed(parents, trees, smoother, seed)
        return [Member(counted.columns, class_prior(counted.classes), parents, forest, rows + 1.0)], np.ones(1)

    def _count(self, rows: Rows) -> None:
        if self.select_by == "smoother":
            raise UnsupportedError('select_by="smoother" needs all rows at once: use fit, or select_by="m_estimate"')
        self.counts_ = self.counts_.more(rows, self.select)

    def _made(self) -> tuple[list[Any], NDArray[np.float64]]:
        return self._smoothed(self._chosen_smoother(), np.random.SeedSequence(self._seed()))
