"""Columns with declared domains: the only form in which the rest of optbn sees data.

A column is categorical (integer codes into declared levels) or real (float64 within a declared range). Domains belong
to the Dataset: they are fixed when it is made and never inferred again from a sample of its rows, so a level that
happens not to occur still counts. There are no missing values in a Dataset; readers resolve them (see `readers`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.errors import DataError


@dataclass(frozen=True)
class Categorical:
    """Levels in declared order; `ordered` says that the order means something (an ordinal variable)."""

    levels: tuple[str, ...]
    ordered: bool = False

    def __post_init__(self) -> None:
        if len(set(self.levels)) != len(self.levels):
            twice = next(level for level in self.levels if self.levels.count(level) > 1)
            raise DataError(f"level {twice!r} is declared twice")


@dataclass(frozen=True)
class Real:
    """A closed interval every value lies in."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low <= self.high):
            raise DataError(f"[{self.low}, {self.high}] is not a finite range")


Domain = Categorical | Real


@dataclass(frozen=True, eq=False)
class Dataset:
    """Immutable rows over named columns.

    names    the variables
    domains  their kinds and declared domains
    columns  per variable an array of one length: codes (uint8, uint16 or int32, the smallest that holds the levels)
             for a categorical, float64 for a real variable
    """

    names: tuple[str, ...]
    domains: tuple[Domain, ...]
    columns: tuple[NDArray[Any], ...]

    def __post_init__(self) -> None:
        if not len(self.names) == len(self.domains) == len(self.columns):
            raise DataError(f"{len(self.names)} names, {len(self.domains)} domains and {len(self.columns)} columns")
        if len(set(self.names)) != len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise DataError(f"column {twice!r} is named twice")
        lengths = {len(column) for column in self.columns}
        if len(lengths) > 1:
            raise DataError(f"columns of different lengths: {sorted(lengths)}")
        for name, domain, column in zip(self.names, self.domains, self.columns, strict=True):
            _check_column(name, domain, column)
            column.setflags(write=False)

    @property
    def n_rows(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    @property
    def n_variables(self) -> int:
        return len(self.names)

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """Declared levels per variable; 0 for a real one."""
        return tuple(len(d.levels) if isinstance(d, Categorical) else 0 for d in self.domains)

    def index(self, name: str) -> int:
        """The position of a column; an unknown name lists the nearest."""
        try:
            return self.names.index(name)
        except ValueError:
            from optbn.registry import unknown

            raise unknown("column", name, self.names) from None

    def column(self, name: str) -> NDArray[Any]:
        return self.columns[self.index(name)]

    def domain(self, name: str) -> Domain:
        return self.domains[self.index(name)]

    def select(self, names: Sequence[str]) -> Dataset:
        """The named columns, in that order; nothing is copied."""
        at = [self.index(name) for name in names]
        return Dataset(tuple(names), tuple(self.domains[i] for i in at), tuple(self.columns[i] for i in at))

    def take(self, rows: slice | NDArray[np.integer]) -> Dataset:
        """A subset of the rows; a slice copies nothing."""
        return Dataset(self.names, self.domains, tuple(column[rows] for column in self.columns))

    @cached_property
    def digest(self) -> str:
        """sha256 over names, domains and values."""
        h = hashlib.sha256()
        for name, domain, column in zip(self.names, self.domains, self.columns, strict=True):
            h.update(repr((name, domain, len(column))).encode())
            h.update(np.ascontiguousarray(column).tobytes())
        return h.hexdigest()

    def __len__(self) -> int:
        return self.n_rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dataset) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        real = sum(isinstance(d, Real) for d in self.domains)
        return f"Dataset({self.n_rows} rows, {self.n_variables - real} categorical and {real} real columns)"


def code_dtype(levels: int) -> type[np.generic]:
    """The smallest of uint8, uint16, int32 whose values can index that many levels."""
    return np.uint8 if levels <= 256 else np.uint16 if levels <= 65536 else np.int32


def _check_column(name: str, domain: Domain, column: NDArray[Any]) -> None:
    if isinstance(domain, Categorical):
        if column.dtype != code_dtype(len(domain.levels)):
            raise DataError(
                f"column {name!r}: codes of type {column.dtype}, expected {np.dtype(code_dtype(len(domain.levels)))}"
            )
        if len(column) and (int(column.max()) >= len(domain.levels) or int(column.min()) < 0):
            row = int(np.argmax((column >= len(domain.levels)) | (column < 0)))
            raise DataError(
                f"column {name!r}, row {row}: code {column[row]} but {len(domain.levels)} levels are declared"
            )
        return
    if column.dtype != np.float64:
        raise DataError(f"column {name!r}: values of type {column.dtype}, expected float64")
    bad = ~np.isfinite(column)
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"column {name!r}, row {row}: {column[row]} is not a finite number")
    outside = (column < domain.low) | (column > domain.high)
    if outside.any():
        row = int(np.argmax(outside))
        raise DataError(
            f"column {name!r}, row {row}: {column[row]} is outside the declared range [{domain.low}, {domain.high}]"
        )
