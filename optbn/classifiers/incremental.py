"""Classifiers that are functions of counts of single attributes and pairs: rows can be added at any time.

`partial_fit` finds cut points from its first rows; levels and missing values that turn up later get codes of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from optbn.base.errors import DataError
from optbn.classifiers.estimator import BayesianClassifier
from optbn.classifiers.pairs import PairCounts
from optbn.classifiers.source import Source
from optbn.data.discretise.transformer import Column
from optbn.smoothing.protocol import Smoother
from optbn.smoothing.tree import CountTree


class Incremental(BayesianClassifier):
    """Subclasses say whether they need pairs, and make their one member from the counts."""

    needs_pairs = True
    counts_: PairCounts

    def _member(
        self, counts: PairCounts, columns: tuple[Column, ...], smoother: Smoother, seed: np.random.SeedSequence
    ) -> Any:
        raise NotImplementedError

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Any], NDArray[np.float64]]:
        discretizer = self._discretized(source)
        names = [column.name for column in discretizer.columns_]
        self.counts_ = PairCounts(discretizer.sizes, source.n_classes, names, self.needs_pairs)
        for batch in source.batches(discretizer)():
            self.counts_.add(batch)
        return [self._member(self.counts_, discretizer.columns_, smoother, seed)], np.ones(1)

    def partial_fit(
        self, X: Any, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Incremental:
        """Add rows; the first call needs all `classes` that will ever come."""
        first = not hasattr(self, "members_")
        if first:
            if classes is None:
                raise ValueError("the first call of partial_fit needs classes=, all that will ever come")
            known = np.unique(np.asarray(classes))
        else:
            known = self.classes_
            if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
                raise ValueError(f"classes are {known.tolist()} since the first call of partial_fit")
        strange = np.setdiff1d(np.asarray(y), known)
        if len(strange):
            raise DataError(f"y has the class {strange.tolist()[0]!r}, which is not among the classes {known.tolist()}")
        self.classes_ = known
        table, codes, weights = self._checked(X, y, sample_weight, reset=first, classes_known=True)
        smoother, seed = self._chosen_smoother(), np.random.SeedSequence(self._seed())
        if first:
            from optbn.data.discretise import load_discretizer

            chosen = load_discretizer(self.discretizer)
            columns = chosen.fit_table(table, codes, len(known), weights).columns_
            self.counts_ = PairCounts(chosen.sizes, len(known), [c.name for c in columns], self.needs_pairs)
        else:
            check_is_fitted(self)
            columns = tuple(c.grown(v) for c, v in zip(self.members_[0].columns, table, strict=True))
            self.counts_ = self.counts_.grown([c.n_levels for c in columns], [c.name for c in columns])
        coded = np.empty((len(codes), len(columns)), dtype=np.int32)
        for j, (column, values) in enumerate(zip(columns, table, strict=True)):
            coded[:, j] = column.encode(values)
        self.counts_.add((coded, codes, weights))
        self.members_ = [self._member(self.counts_, columns, smoother, seed)]
        self.weights_ = np.ones(1)
        return self


def single_tree(counts: PairCounts, i: int) -> CountTree:
    """Attribute i given the class."""
    C = counts.n_classes
    return CountTree.from_configurations(np.arange(C)[:, None], counts.single(i).T, (C,))


def pair_tree(counts: PairCounts, i: int, given: int, configurations: NDArray[np.int64]) -> CountTree:
    """Attribute i given the class and another attribute; `configurations` are all (class, level), in order."""
    table = counts.pair(i, given).transpose(2, 1, 0)
    sizes: Sequence[int] = (counts.n_classes, int(counts.sizes[given]))
    return CountTree.from_configurations(configurations, table.reshape(-1, counts.sizes[i]), sizes)
