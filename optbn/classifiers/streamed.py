"""Classifiers that rows can be added to at any time: what is held of them, and when everything is found anew.

`partial_fit` keeps its first HELD rows. Until they are complete, each time they have grown by a tenth (always, while
they are few) everything is found anew from them, cut points included: the classifier is that of `fit`, or of `fit` on
nine tenths of the rows with the others counted in. After that cuts and structure stay and rows are only counted. The
probabilities are smoothed when they are next asked for, so a costly smoother does not run for every batch.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from optbn.base.errors import DataError, UnsupportedError
from optbn.classifiers.estimator import NetworkClassifier
from optbn.classifiers.source import InMemory, Source
from optbn.data.discretise.table import Values, joined

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


class Streamed(NetworkClassifier):
    """Subclasses say how further rows are counted, and make members of the counts."""

    counts_: Any
    held_: Rows | None

    @abstractmethod
    def _count(self, rows: Rows) -> None:
        """Count rows in, with the cuts and the structure there are."""

    @abstractmethod
    def _made(self) -> tuple[list[Any], NDArray[np.float64]]:
        """Members and weights, from the counts."""

    def _fit_source(self, source: Source) -> None:
        self.held_ = None
        super()._fit_source(source)

    def __getattr__(self, name: str) -> Any:
        """After rows were counted, members are made at their first use."""
        if name in ("members_", "weights_") and "counts_" in self.__dict__:
            self.members_, self.weights_ = self._made()
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        weight_scale: str = "auto",
    ) -> Self:
        """Add rows; the first call needs all `classes` that will ever come. `weight_scale` is that of `fit`, for each
        call by itself."""
        first = not {"members_", "counts_"} & self.__dict__.keys()
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
        self._count(fresh)
        for stale in ("members_", "weights_"):
            self.__dict__.pop(stale, None)
        return self

    def _from_held(self) -> Self:
        """Everything from the rows that are held."""
        assert self.held_ is not None
        held = replace(self.held_, known=len(self.held_.classes))
        kept = np.flatnonzero(held.weights > 0)
        self._fit_source(InMemory(held.table, held.classes, held.weights, len(self.classes_)).take(kept))
        self.held_ = held if len(held.classes) <= HELD else None
        return self
