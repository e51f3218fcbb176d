"""What every discretiser is: columns of any kind in, codes 0 .. n_levels - 1 out.

A numeric column is cut at points that `cut_points` finds from its values (and the classes, for the supervised ones): a
value goes into the first interval whose right end it does not exceed, so intervals are closed on the right. A column of
texts keeps its levels. A column that has missing values at fitting gets a level for them; a value that was not there
at fitting, and a missing one where none was, has the code -1: nothing is known about it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_feature_names_in, _check_sample_weight, check_is_fitted, validate_data

from optbn.base.errors import DataError, UnsupportedError
from optbn.base.numbers import texts_of, unused
from optbn.data.dataset import Dataset
from optbn.data.discretise.table import TRUTH, Table, Values, is_frame, number_text, table_of
from optbn.data.discretise.weights import in_rows

MISSING = "missing"


@dataclass(frozen=True, eq=False)
class Column:
    """How the values of one column become codes.

    cuts     float64[c] ascending, for a numeric column;  levels  the texts of the others
    missing  the code of missing values, or None where there were none
    """

    name: str
    cuts: NDArray[np.float64] | None
    levels: tuple[str, ...] | None
    missing: int | None

    @property
    def n_levels(self) -> int:
        present = len(self.levels) if self.levels is not None else len(self.cuts) + 1  # type: ignore[arg-type]
        return max(1, present + (self.missing is not None and (self.levels is None or self.missing == present)))

    @property
    def labels(self) -> tuple[str, ...]:
        """A text for every code."""
        if self.levels is not None:
            texts = list(self.levels)
            if self.missing is not None and self.missing == len(texts):
                texts.append(unused(MISSING, texts))
            return tuple(texts) or ("none",)
        assert self.cuts is not None
        ends = ["-inf", *texts_of(self.cuts.tolist(), 12), "inf"]
        bins = [f"({a}, {b}]" for a, b in pairwise(ends)]
        bins[-1] = bins[-1][:-1] + ")"
        return (*bins, MISSING) if self.missing is not None else tuple(bins)

    def encode(self, values: Values) -> NDArray[Any]:
        """Integers [n]: the code of every value, -1 where nothing is known."""
        absent = values.absent()
        if self.cuts is not None:
            if values.levels is not None:
                data = _as_numbers(values)
                absent = np.isnan(data)
            else:
                data = values.data
            codes = np.searchsorted(self.cuts, data, side="left")
        elif values.levels == self.levels:
            codes = values.data
        else:
            assert self.levels is not None
            known = self._known()
            if values.levels is None:
                texts, inverse = np.unique(values.data, return_inverse=True)
                found = [known.get(number_text(x), -1) for x in texts]
                codes = np.array(found, dtype=np.int64)[inverse] if len(found) else np.zeros(0, dtype=np.int64)
            else:
                found = [known.get(level, -1) for level in values.levels]
                codes = np.array([*found, -1], dtype=np.int64)[values.data]
            if self.missing is not None:
                codes[codes < 0] = self.missing
        unknown = -1 if self.missing is None else self.missing
        return np.where(absent, codes.dtype.type(unknown), codes) if absent.any() else codes

    def _known(self) -> dict[str, int]:
        """The code of every level; of truth values in every spelling."""
        assert self.levels is not None
        known = {level: code for code, level in enumerate(self.levels)}
        for own in TRUTH:
            if known.keys() <= set(own):
                spellings = (*TRUTH, ("0", "1"))
                return {text: known[o] for texts in spellings for o, text in zip(own, texts, strict=True) if o in known}
        return known

    def unseen(self, values: Values) -> NDArray[np.int64]:
        """The rows with a value (not a missing one) that has no level of its own."""
        if self.levels is None or self.levels == values.levels:
            return np.zeros(0, dtype=np.int64)
        lost = self.encode(values) == (-1 if self.missing is None else self.missing)
        return np.flatnonzero(lost & ~values.absent())

    def grown(self, values: Values) -> Column:
        """The column with levels added at the end for what is new in the values; the codes there are stay."""
        absent = bool(values.absent().any())
        if self.cuts is not None:
            return replace(self, missing=len(self.cuts) + 1) if absent and self.missing is None else self
        if values.levels is None:
            texts = tuple(number_text(x) for x in np.unique(values.data[~values.absent()]))
            values = Values(values.name, np.arange(len(texts)), texts)
        assert self.levels is not None and values.levels is not None
        new = [values.levels[code] for code in np.unique(values.data[values.data >= 0])]
        levels = list(self.labels) if self.missing is not None else list(self.levels)
        known = self._known()
        levels += [level for level in new if level not in known and level not in levels]
        missing = self.missing
        if missing is None and absent:
            missing = len(levels)
            levels.append(unused(MISSING, levels))
        return replace(self, levels=tuple(levels), missing=missing)


class Discretizer(TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Subclasses say how to cut a numeric column, in `cut_points`; `supervised` ones look at the classes."""

    supervised = True
    columns_: tuple[Column, ...]

    @abstractmethod
    def cut_points(
        self,
        values: NDArray[np.float64],
        classes: NDArray[np.int64],
        n_classes: int,
        weights: NDArray[np.float64],
        random: np.random.Generator,
    ) -> NDArray[np.float64]:
        """Ascending cut points for some values, none of them missing, with positive weights."""

    def fit(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None, weight_scale: str = "auto"
    ) -> Discretizer:
        """Find the cut points of numeric columns and the levels of the others; `weight_scale` says whether weights are
        "counts" of rows or "relative" (see `weights`)."""
        table = checked_table(self, X, reset=True)
        n = len(table[0])
        if self.supervised:
            if y is None:
                raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")

            y = column_or_1d(y, warn=True)
            check_consistent_length(table[0].data, y)
            check_classification_targets(y)
            labels, classes = np.unique(y, return_inverse=True)
            n_classes = len(labels)
        else:
            classes, n_classes = np.zeros(n, dtype=np.int64), 1
        weights = np.ones(n) if sample_weight is None else _check_sample_weight(sample_weight, np.empty((n, 1)))
        return self.fit_table(table, classes, n_classes, in_rows(weights, weight_scale))

    def fit_table(
        self, table: Table, classes: NDArray[np.int64], n_classes: int, weights: NDArray[np.float64]
    ) -> Discretizer:
        """`fit` on columns that have been checked."""
        bins = getattr(self, "n_bins", 1)
        if not isinstance(bins, int | np.integer) or bins < 1:
            raise UnsupportedError(f"n_bins={bins!r}: expected a whole number of intervals, 1 or more")
        seed = check_random_state(getattr(self, "random_state", 0)).randint(2**31)
        streams = np.random.SeedSequence(seed).spawn(len(table))
        columns = []
        for values, stream in zip(table, streams, strict=True):
            absent = values.absent()
            counts = weights > 0
            some = bool((absent & counts).any())
            if values.levels is not None:
                missing = len(values.levels) if some else None
                if some and MISSING in values.levels:
                    missing = values.levels.index(MISSING)
                columns.append(Column(values.name, None, values.levels, missing))
                continue
            rows = counts & ~absent
            cuts = np.zeros(0)
            if rows.any():
                random = np.random.default_rng(stream)
                cuts = self.cut_points(values.data[rows], classes[rows], n_classes, weights[rows], random)
            columns.append(Column(values.name, cuts, None, len(cuts) + 1 if some else None))
        self.columns_ = tuple(columns)
        return self

    def transform(self, X: Any) -> NDArray[np.int64]:
        """int64[n, columns]: codes, -1 for what was not there at fitting."""
        check_is_fitted(self)
        return self.encode(checked_table(self, X, reset=False)).astype(np.int64)

    def encode(self, table: Table) -> NDArray[np.int32]:
        """int32[n, columns]: `transform` of columns that have been checked."""
        codes = np.empty((len(table[0]) if len(table) else 0, len(table)), dtype=np.int32)
        for j, (column, values) in enumerate(zip(self.columns_, table, strict=True)):
            codes[:, j] = column.encode(values)
        return codes

    @property
    def sizes(self) -> tuple[int, ...]:
        """Codes per column."""
        return tuple(column.n_levels for column in self.columns_)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> NDArray[Any]:
        """The columns' names."""
        check_is_fitted(self)

        names: NDArray[Any] = _check_feature_names_in(self, input_features)
        return names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.target_tags.required = self.supervised
        tags.transformer_tags.preserves_dtype = []
        return tags


def checked_table(estimator: Any, X: Any, reset: bool) -> list[Values]:
    """The columns of X, after scikit-learn's checks of shape and names against those at fitting."""
    if isinstance(X, Dataset):
        if reset:
            estimator.n_features_in_ = X.n_variables
            estimator.feature_names_in_ = np.array(X.names, dtype=object)
        elif hasattr(estimator, "feature_names_in_"):
            X = X.select([str(name) for name in estimator.feature_names_in_])
        table = table_of(X)
    elif is_frame(X) and not hasattr(X, "__array_namespace__"):
        validate_data(estimator, X, skip_check_array=True, reset=reset)
        table = table_of(X)
        if not table or not len(table[0]):
            raise ValueError(f"Found array with 0 sample(s) or 0 feature(s) (shape={(X.shape)}) while 1 is required.")
    else:
        table = table_of(validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite="allow-nan"))
    return table


def _as_numbers(values: Values) -> NDArray[np.float64]:
    """Texts that should be numbers."""
    assert values.levels is not None
    truth = {text: float(i) for texts in TRUTH for i, text in enumerate(texts)}
    try:
        found = [truth[level] if level in truth else float(level) for level in values.levels]
    except ValueError:
        bad = next(level for level in values.levels if level not in truth and not _reads(level))
        row = int(np.argmax(values.data == values.levels.index(bad))) + 1
        raise DataError(
            f"column {values.name!r}, row {row}: {bad!r} is not a number, but the column was numeric at fitting"
        ) from None
    data: NDArray[np.float64] = np.array([*found, np.nan])[values.data]
    return data


def _reads(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def midpoints(below: NDArray[np.float64], above: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cuts between neighbouring values, such that each is at least the lower and less than the upper one."""
    with np.errstate(over="ignore"):  # of numbers beyond all measure the lower one is the cut
        middle = below + (above - below) / 2
    return np.asarray(np.where(middle < above, middle, below))


def distinct(
    values: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The different values in ascending order and the weight of each."""
    points, inverse = np.unique(values, return_inverse=True)
    return points, np.asarray(np.bincount(inverse, weights=weights, minlength=len(points)), dtype=np.float64)
