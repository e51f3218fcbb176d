"""Columns as they come: numbers, or texts with codes, each with its missing values; from frames, arrays and Datasets.

In frames the type of a column decides: numbers are numbers; texts, categories, enumerations and truth values are
levels. In arrays of objects a column is numeric when everything in it is a number. None, NaN and nulls are missing
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from optbn.base.errors import DataError, UnsupportedError
from optbn.data.dataset import Categorical, Dataset

TRUTH = (("false", "true"), ("False", "True"), ("FALSE", "TRUE"))
"""Truth values as Arrow, Python and R write them; as levels those of Arrow, both of them whatever occurs."""


@dataclass(frozen=True, eq=False)
class Values:
    """One column: float64 `data` with NaN for missing when `levels` is None, else codes with -1 for missing, of the
    `code_type` of as many levels: what is small stays in the cache."""

    name: str
    data: NDArray[Any]
    levels: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.data)

    def absent(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        rows: NDArray[np.bool_] = np.isnan(self.data) if self.levels is None else self.data < 0
        return rows

    def take(self, rows: NDArray[Any]) -> Values:
        """Some of the rows."""
        return Values(self.name, self.data[rows], self.levels)


Table = Sequence[Values]


def code_type(levels: int) -> np.dtype[Any]:
    """The smallest integers that hold -1, a code for every level, and one more for missing values."""
    return np.min_scalar_type(-levels - 1)


def joined(first: Values, second: Values) -> Values:
    """Rows of a column after each other; numbers beside texts are texts, and levels are in their order as texts. Rows
    without any level are missing beside numbers, too."""
    first, second = _of_the_kind(second, first), _of_the_kind(first, second)
    if first.levels is None and second.levels is None:
        return Values(first.name, np.concatenate([first.data, second.data]))
    one, other = _as_texts(first), _as_texts(second)
    assert one.levels is not None and other.levels is not None
    if one.levels == other.levels:
        return Values(first.name, np.concatenate([one.data, other.data]), one.levels)
    levels = tuple(sorted({*one.levels, *other.levels}))
    place = {level: code for code, level in enumerate(levels)}
    codes = [
        np.array([*(place[level] for level in (part.levels or ())), -1], dtype=code_type(len(levels)))[part.data]
        for part in (one, other)
    ]
    return Values(first.name, np.concatenate(codes), levels)


def _of_the_kind(other: Values, values: Values) -> Values:
    """Missing values only, beside numbers: numbers."""
    if values.levels == () and other.levels is None:
        return Values(values.name, np.full(len(values), np.nan))
    return values


def _as_texts(values: Values) -> Values:
    """A column with levels; whole numbers are without a point."""
    if values.levels is not None:
        return values
    known = ~np.isnan(values.data)
    numbers, inverse = np.unique(values.data[known], return_inverse=True)
    codes = np.full(len(values), -1, dtype=np.int64)
    codes[known] = inverse
    return Values(values.name, codes, tuple(number_text(x) for x in numbers))


def number_text(x: float) -> str:
    """The text a number has as a level: whole ones without a point."""
    return str(int(x)) if np.isfinite(x) and x == int(x) else str(x)


def is_frame(X: Any) -> bool:
    """Whether the columns of X have types of their own."""
    return isinstance(X, Dataset) or hasattr(X, "__dataframe__") or hasattr(X, "to_arrow") or hasattr(X, "schema")


def table_of(X: Any) -> list[Values]:
    """The columns of a Dataset, a data frame, or a two-dimensional array (its columns are named X1, X2, ...)."""
    if isinstance(X, Dataset):
        return [_of_dataset(X, i) for i in range(X.n_variables)]
    if is_frame(X):
        import narwhals as nw

        frame = nw.from_native(X)
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return [_of_arrow(str(name), frame.get_column(name).to_arrow()) for name in frame.columns]
    X = np.asarray(X)
    return [_of_array(f"X{j + 1}", X[:, j]) for j in range(X.shape[1])]


def numbers(name: str, data: NDArray[np.float64]) -> Values:
    """A numeric column; infinite values are refused."""
    infinite = np.isinf(data)
    if infinite.any():
        raise DataError(f"column {name!r}, row {int(np.argmax(infinite)) + 1}: {data[infinite][0]} is not finite")
    return Values(name, data)


def _of_dataset(data: Dataset, i: int) -> Values:
    domain = data.domains[i]
    if isinstance(domain, Categorical):
        return Values(data.names[i], data.columns[i].astype(code_type(len(domain.levels))), domain.levels)
    return Values(data.names[i], data.columns[i])


def _of_array(name: str, column: NDArray[Any]) -> Values:
    if column.dtype.kind in "iuf":
        return numbers(name, column.astype(np.float64))
    if column.dtype.kind == "b":
        return _of_arrow(name, pa.array(column))
    if column.dtype.kind in "SU":
        return _of_arrow(name, pa.array(column.astype(str)))
    present = np.array([value is not None and value == value for value in column], dtype=bool)
    number = (int, float, np.integer, np.floating)
    if all(isinstance(value, number) and not isinstance(value, bool) for value in column[present]):
        data = np.full(len(column), np.nan)
        data[present] = column[present].astype(np.float64)
        return numbers(name, data)
    for value in column[present]:
        if not isinstance(value, str | bytes | bool | np.bool_ | np.generic | int | float):
            raise TypeError(
                f"column {name!r}: argument must be a string or a real number, not {type(value).__name__!r}"
            )
    return _of_arrow(name, pa.array([str(v) if p else None for v, p in zip(column, present, strict=True)], pa.string()))


def _of_arrow(name: str, column: Any) -> Values:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        if isinstance(column, pa.ChunkedArray):  # some versions keep one chunk chunked
            column = pa.concat_arrays(column.chunks)
    kind = column.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return numbers(name, column.cast(pa.float64()).to_numpy(zero_copy_only=False))
    if pa.types.is_null(kind):  # of no kind yet: whatever comes later is new
        return Values(name, np.full(len(column), -1, dtype=code_type(0)), ())
    if pa.types.is_boolean(kind):
        return Values(name, _codes(column.cast(pa.int8()), 2), TRUTH[0])
    if not pa.types.is_dictionary(kind):
        if "string" not in str(kind):
            raise UnsupportedError(f"column {name!r} is of type {kind}; make it a number or a text first")
        column = column.cast(pa.string()).dictionary_encode()
        texts = column.dictionary.to_pylist()
        order = sorted(range(len(texts)), key=texts.__getitem__)
        place = np.empty(len(texts) + 1, dtype=code_type(len(texts)))
        place[order] = np.arange(len(texts))
        place[-1] = -1
        return Values(name, place[_codes(column.indices, len(texts))], tuple(texts[i] for i in order))
    texts = [str(text) for text in column.dictionary.to_pylist()]
    return Values(name, _codes(column.indices, len(texts)), tuple(texts))


def _codes(indices: Any, levels: int) -> NDArray[Any]:
    """Arrow's integers as codes."""
    if indices.null_count:
        indices = pc.fill_null(indices.cast("int64"), -1)
    return np.asarray(indices.to_numpy(zero_copy_only=False).astype(code_type(levels), copy=False))
