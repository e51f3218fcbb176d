"""The arrays of a Dataset: codes of the smallest type or float64, checked when they enter, read-only, taken lazily."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optbn.base.errors import DataError
from optbn.data.domains import Categorical, Domain


class Taken(Sequence[NDArray[Any]]):
    """The columns of some rows, each made when first asked for."""

    def __init__(self, whole: Sequence[NDArray[Any]], rows: NDArray[np.intp]) -> None:
        self._whole = whole
        self._rows = rows
        self._made: dict[int, NDArray[Any]] = {}

    def __len__(self) -> int:
        return len(self._whole)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return tuple(self[j] for j in range(len(self))[i])
        i = range(len(self))[i]
        if i not in self._made:
            self._made[i] = read_only(self._whole[i][self._rows])
        return self._made[i]

    def select(self, at: Sequence[int]) -> Taken:
        selected = Taken(tuple(self._whole[i] for i in at), self._rows)
        selected._made = {j: self._made[i] for j, i in enumerate(at) if i in self._made}
        return selected

    def take(self, rows: slice | NDArray[np.intp]) -> Taken:
        return Taken(self._whole, self._rows[rows])


def read_only(column: NDArray[Any]) -> NDArray[Any]:
    """The array, or a view of it, that cannot be written to."""
    if column.flags.writeable:
        column = column.view()
        column.setflags(write=False)
    return column


def row_numbers(rows: ArrayLike, n_rows: int) -> NDArray[np.intp]:
    rows = np.asarray(rows)
    if rows.dtype == np.bool_ and rows.shape == (n_rows,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (len(rows) and rows.dtype.kind not in "iu"):
        raise DataError(f"rows of type {rows.dtype}{list(rows.shape)}; expected row numbers or one truth value per row")
    if len(rows) and not (-n_rows <= int(rows.min()) and int(rows.max()) < n_rows):
        raise DataError(f"row numbers from {rows.min()} to {rows.max()}, expected 0 to {n_rows - 1}")
    return np.array(rows, dtype=np.intp)


def code_dtype(levels: int) -> type[np.generic]:
    """The smallest of uint8, uint16, int32 whose values can index that many levels."""
    return np.uint8 if levels <= 256 else np.uint16 if levels <= 65536 else np.int32


def check_column(name: str, domain: Domain, column: NDArray[Any]) -> None:
    if not isinstance(column, np.ndarray) or column.ndim != 1:
        raise DataError(f"column {name!r}: expected a one-dimensional array")
    if isinstance(domain, Categorical):
        if column.dtype != code_dtype(len(domain.levels)):
            raise DataError(
                f"column {name!r}: codes of type {column.dtype}, expected {np.dtype(code_dtype(len(domain.levels)))}"
            )
        if len(column) and (int(column.max()) >= len(domain.levels) or int(column.min()) < 0):
            row = int(np.argmax((column >= len(domain.levels)) | (column < 0)))
            raise DataError(
                f"column {name!r}, row {row + 1}: code {column[row]} but {len(domain.levels)} levels are declared"
            )
        return
    if column.dtype != np.float64:
        raise DataError(f"column {name!r}: values of type {column.dtype}, expected float64")
    bad = np.isinf(column) if domain.absent else ~np.isfinite(column)
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"column {name!r}, row {row + 1}: {column[row]} is not a finite number")
    with np.errstate(invalid="ignore"):
        outside = (column < domain.low) | (column > domain.high)
    if outside.any():
        row = int(np.argmax(outside))
        raise DataError(
            f"column {name!r}, row {row + 1}: {column[row]} is outside the declared range [{domain.low}, {domain.high}]"
        )
