"""Classifiers that are functions of counts of single attributes and pairs: rows can be added at any time.

`partial_fit` keeps its first HELD rows. Until they are complete, each time they have grown by a tenth (always, while
they are few) everything is found anew from them, cut points included: the classifier is that of `fit`, or of `fit` on
nine tenths of the rows with the others counted in. After that cuts stay, rows are only counted, and new levels and
missing values get codes of their own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from optbn.base.errors import DataError, UnsupportedError
from optbn.classifiers.estimator import NetworkClassifier
from optbn.classifiers.pairs import PairCounts
from optbn.classifiers.source import InMemory, Source
from optbn.data.discretise.table import Values, joined
from optbn.data.discretise.transformer import Column
from optbn.smoothing.protocol import Smoother
from optbn.smoothing.tree import CountTree

HELD = 20_000
FEW = 2_000
"""Rows with which everything is found anew in each call."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as they came;  known  how many there were when cuts were found the last time"""

    table: tuple[Values, ...]
    classes: NDArray[np.int64]
    weights: NDArray[np.float64]
    known: int

    @property
    def due(self) -> bool:
        """Whether cuts should be found anew."""
        n = len(self.classes)
        return bool((self.weights > 0).any()) and (n <= FEW or n >= 1.1 * self.known)

    def and_more(self, rows: Rows) -> Rows:
        """With further rows after them."""
        table = tuple(joined(a, b) for a, b in zip(self.table, rows.table, strict=True))
        classes = np.concatenate([self.classes, rows.classes])
        return Rows(table, classes, np.concatenate([self.weights, rows.weights]), self.known)


class Incremental(NetworkClassifier):
    """Subclasses say whether they need pairs, and make their one member from the counts."""

    needs_pairs = True
    counts_: PairCounts
    held_: Rows | None

    @abstractmethod
    def _member(
        self, counts: PairCounts, columns: tuple[Column, ...], smoother: Smoother, seed: np.random.SeedSequence
    ) -> Any:
        """The network of the structure that these counts make, with its parameters."""

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Any], NDArray[np.float64]]:
        self.held_ = None
        discretizer = self._discretized(source)
        names = [column.name for column in discretizer.columns_]
        self.counts_ = PairCounts(discretizer.sizes, source.n_classes, names, self.needs_pairs)
        for batch in source.batches(discretizer)():
            self.counts_.add(batch)
        return [self._member(self.counts_, discretizer.columns_, smoother, seed)], np.ones(1)

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        weight_scale: str = "auto",
    ) -> Incremental:
        """Add rows; the first call needs all `classes` that will ever come. `weight_scale` is that of `fit`, for each
        call by itself."""
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
        table, codes, weights = self._checked(
            X, y, sample_weight, reset=first, classes_known=True, weight_scale=weight_scale
        )
        fresh = Rows(tuple(table), codes, weights, 0)
        if first:
            self.held_ = fresh
        else:
            check_is_fitted(self)
            if not hasattr(self, "counts_"):
                raise UnsupportedError("this classifier was read from a file: it has no counts to add rows to")
            self.held_ = self.held_.and_more(fresh) if self.held_ is not None else None
        if self.held_ is not None and self.held_.due:
            return self._from_held()
        if self.held_ is not None and len(self.held_.classes) > HELD:
            self.held_ = None
        return self._counted(fresh)

    def _from_held(self) -> Incremental:
        """Everything from the rows that are held."""
        assert self.held_ is not None
        held = replace(self.held_, known=len(self.held_.classes))
        kept = np.flatnonzero(held.weights > 0)
        self._fit_source(InMemory(held.table, held.classes, held.weights, len(self.classes_)).take(kept))
        self.held_ = held if len(held.classes) <= HELD else None
        return self

    def _counted(self, rows: Rows) -> Incremental:
        """Rows counted in, with the cuts there are."""
        table, codes, weights = rows.table, rows.classes, rows.weights
        smoother, seed = self._chosen_smoother(), np.random.SeedSequence(self._seed())
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
