"""Columns with declared domains: the only form in which the rest of optbn sees data.

A column is categorical (integer codes into declared levels) or real (float64 within a declared range). Domains belong
to the Dataset: they are fixed when it is made and never inferred again from a sample of its rows, so a level that
happens not to occur still counts. Readers resolve missing values (see `missing`); where a missing value is a value like
others, it is a level of a categorical column, and NaN in a real one whose domain says so.

Rows may have weights (see `weights`): `weighted` takes them from a column or an array. They go where the rows go, and
everything that counts rows counts them.

Values are checked once, when they enter. Selecting columns and taking rows gives datasets that share them: a slice of
rows is a view, an array of row numbers is applied to a column when that column is first used.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optbn.base.errors import DataError
from optbn.base.registry import unknown
from optbn.data.arrays import Taken, check_column, read_only, row_numbers
from optbn.data.domains import Categorical as Categorical
from optbn.data.domains import Domain as Domain
from optbn.data.domains import Real as Real
from optbn.data.schema import Schema
from optbn.data.weights import weights_of
from optbn_solvers.base.errors import repeated

if TYPE_CHECKING:
    import pyarrow as pa

    from optbn.data.policies import MissingLike
    from optbn.data.read import PathLike
    from optbn.data.schema import SchemaLike
    from optbn.data.weights import Weights


@dataclass(frozen=True, eq=False)
class Dataset:
    """Immutable rows over named columns.

    names    the variables
    domains  their kinds and declared domains
    columns  per variable an array of one length: codes (uint8, uint16 or int32, the smallest that holds the levels)
             for a categorical, float64 for a real variable
    weights  how much each row counts, None where all count for one
    """

    names: tuple[str, ...]
    domains: tuple[Domain, ...]
    columns: Sequence[NDArray[Any]]
    weights: Weights | None = None
    n_rows: int = field(init=False)

    def __post_init__(self) -> None:
        if not len(self.names) == len(self.domains) == len(self.columns):
            raise DataError(f"{len(self.names)} names, {len(self.domains)} domains and {len(self.columns)} columns")
        if len(set(self.names)) != len(self.names):
            raise DataError(f"column {repeated(self.names)!r} is named twice")
        lengths = {len(column) for column in self.columns}
        if len(lengths) > 1:
            raise DataError(f"columns of different lengths: {sorted(lengths)}")
        for name, domain, column in zip(self.names, self.domains, self.columns, strict=True):
            check_column(name, domain, column)
        n_rows = lengths.pop() if lengths else 0
        if self.weights is not None and len(self.weights.units) != n_rows:
            raise DataError(f"{len(self.weights.units)} weights, but there are {n_rows} rows")
        self._set(self.names, self.domains, tuple(map(read_only, self.columns)), n_rows, self.weights)

    def _set(
        self,
        names: Sequence[str],
        domains: Sequence[Domain],
        columns: Sequence[NDArray[Any]],
        n_rows: int,
        weights: Weights | None,
    ) -> Dataset:
        object.__setattr__(self, "names", tuple(names))
        object.__setattr__(self, "domains", tuple(domains))
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "n_rows", n_rows)
        object.__setattr__(self, "weights", weights)
        return self

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, ArrayLike] | ArrayLike,
        names: Sequence[str] | None = None,
        schema: SchemaLike = None,
        missing: MissingLike = "refuse",
    ) -> Dataset:
        """A copy of one-dimensional arrays by name, or of the columns of a two-dimensional one (named X1, X2, ... if
        no names are given); kinds are declared by the schema or follow the rule of `optbn.data.schema`; `missing` as in
        `optbn.read`."""
        from optbn.data.frame import read_arrays

        return read_arrays(arrays, names, schema, missing)

    @classmethod
    def from_frame(cls, frame: Any, schema: SchemaLike = None, missing: MissingLike = "refuse") -> Dataset:
        """A copy of a data frame: pandas, polars, pyarrow, or any other that narwhals knows; `schema` and `missing` are
        those of `optbn.read`."""
        from optbn.data.frame import read_frame

        return read_frame(frame, schema, missing)

    @staticmethod
    def batches(
        path: PathLike, schema: SchemaLike = None, *, rows: int = 65_536, missing: MissingLike = "refuse", **how: Any
    ) -> Iterator[Dataset]:
        """Blocks of `rows` rows of the file at `path`, all with the same domains, without ever holding the whole file.
        Columns that the schema leaves open are inferred first, in a pass of their own; `missing` and `how` are what
        `optbn.read` takes besides."""
        from optbn.data.read import batches

        return batches(path, schema, rows=rows, missing=missing, **how)

    @property
    def n_variables(self) -> int:
        return len(self.names)

    @property
    def total_weight(self) -> float:
        """How many rows the rows count for; without weights, how many there are."""
        return self.n_rows if self.weights is None else self.weights.total

    @cached_property
    def cardinalities(self) -> tuple[int, ...]:
        """Declared levels per variable; 0 for a real one."""
        return tuple(len(d.levels) if isinstance(d, Categorical) else 0 for d in self.domains)

    @property
    def with_absent(self) -> tuple[str, ...]:
        """The real columns in which a row may have no number."""
        pairs = zip(self.names, self.domains, strict=True)
        return tuple(name for name, domain in pairs if isinstance(domain, Real) and domain.absent)

    @property
    def schema(self) -> Schema:
        """The domains by name, as a schema to save or to read other files with."""
        return Schema(dict(zip(self.names, self.domains, strict=True)))

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def index(self, name: str) -> int:
        """The position of a column; an unknown name lists the nearest."""
        try:
            return self._positions[name]
        except KeyError:
            raise unknown("column", name, self.names) from None

    def column(self, name: str) -> NDArray[Any]:
        """The values of the column `name`: codes of its levels, or float64."""
        return self.columns[self.index(name)]

    def domain(self, name: str) -> Domain:
        """The declared levels or range of the column `name`."""
        return self.domains[self.index(name)]

    def select(self, names: Sequence[str]) -> Dataset:
        """The columns `names`, in that order; nothing is copied."""
        at = [self.index(name) for name in names]
        if len(set(at)) != len(at):
            raise DataError(f"column {repeated(names)!r} is selected twice")
        columns: Sequence[NDArray[Any]]
        if isinstance(self.columns, Taken):
            columns = self.columns.select(at)
        else:
            columns = tuple(self.columns[i] for i in at)
        return _unchecked(names, [self.domains[i] for i in at], columns, self.n_rows, self.weights)

    def take(self, rows: slice | NDArray[np.integer] | NDArray[np.bool_]) -> Dataset:
        """A subset of the rows, also repeated or in another order; a slice copies nothing, other rows are copied
        column by column when first used. Weights come along."""
        columns: Sequence[NDArray[Any]]
        if isinstance(rows, slice):
            n_rows = len(range(self.n_rows)[rows])
            if isinstance(self.columns, Taken):
                columns = self.columns.take(rows)
            else:
                columns = tuple(read_only(column[rows]) for column in self.columns)
        else:
            rows = row_numbers(rows, self.n_rows)
            n_rows = len(rows)
            columns = self.columns.take(rows) if isinstance(self.columns, Taken) else Taken(self.columns, rows)
        weights = None if self.weights is None else self.weights.take(rows)
        return _unchecked(self.names, self.domains, columns, n_rows, weights)

    def weighted(self, by: str | ArrayLike) -> Dataset:
        """The rows weighted `by` a column, which is then no variable, or by an array of numbers of at least 0.
        Weights that the rows have already are multiplied. Rows of weight 0 are left out."""
        rest, where = self, "weights"
        if isinstance(by, str):
            where, values = f"column {by!r}", self.numbers(by)
            rest = self.select([name for name in self.names if name != by])
        else:
            try:
                values = np.asarray(by, dtype=np.float64)
            except (TypeError, ValueError):
                raise DataError("weights are a column's name, or a number for every row") from None
        if self.weights is not None and values.shape == (self.n_rows,):
            values = values * self.weights.values
        weights, rows = weights_of(values, self.n_rows, where)
        kept = rest if len(rows) == self.n_rows else rest.take(rows)
        return _unchecked(kept.names, kept.domains, kept.columns, kept.n_rows, weights)

    def with_units(self, most: int) -> Dataset:
        """The rows with weights of at most this many units in all, rounded if need be (see `weights`)."""
        coarse = None if self.weights is None else self.weights.coarsened(most)
        if coarse is None:
            return self
        weights, rows = coarse
        kept = self if len(rows) == self.n_rows else self.take(rows)
        return _unchecked(kept.names, kept.domains, kept.columns, kept.n_rows, weights)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """The column `name` as numbers; levels that read as numbers will do."""
        domain, column = self.domain(name), self.column(name)
        if isinstance(domain, Real):
            return np.asarray(column, dtype=np.float64)
        try:
            return np.asarray(np.array([float(level) for level in domain.levels])[column], dtype=np.float64)
        except ValueError:
            raise DataError(f"column {name!r} has levels that are no numbers, so it cannot be the weights") from None

    def to_arrow(self) -> pa.Table:
        """An Arrow table with level labels (dictionary columns), carrying the schema; codes are shared, not copied."""
        from optbn.data.arrow import to_arrow

        return to_arrow(self)

    def to_frame(self, backend: str = "pandas") -> Any:
        """A data frame with level labels; the `backend` is pandas (categories), polars (enumerations) or pyarrow
        (dictionaries)."""
        from optbn.data.frame import to_frame

        return to_frame(self, backend)

    @cached_property
    def digest(self) -> str:
        """sha256 over names, domains, values and weights."""
        h = hashlib.sha256()
        for name, domain, column in zip(self.names, self.domains, self.columns, strict=True):
            h.update(repr((name, domain, len(column))).encode())
            h.update(np.ascontiguousarray(column).data)
        if self.weights is not None:
            h.update(repr(self.weights.unit).encode() + np.ascontiguousarray(self.weights.units).tobytes())
        return h.hexdigest()

    def __len__(self) -> int:
        return self.n_rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dataset) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __reduce__(self) -> Any:
        return _unchecked, (self.names, self.domains, tuple(self.columns), self.n_rows, self.weights)

    def __repr__(self) -> str:
        real = sum(isinstance(d, Real) for d in self.domains)
        rows = f"{self.n_rows} rows" + ("" if self.weights is None else f" of weight {self.weights.total:g}")
        return f"Dataset({rows}, {self.n_variables - real} categorical and {real} real columns)"


def _unchecked(
    names: Sequence[str],
    domains: Sequence[Domain],
    columns: Sequence[NDArray[Any]],
    n_rows: int,
    weights: Weights | None,
) -> Dataset:
    """A Dataset of parts that come from one, so that they need not be checked again."""
    if isinstance(columns, tuple):
        columns = tuple(map(read_only, columns))  # pickles forget the flag
    return Dataset.__new__(Dataset)._set(names, domains, columns, n_rows, weights)
