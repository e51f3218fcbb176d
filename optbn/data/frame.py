"""Tables in memory: data frames of any library narwhals knows, and numpy arrays. All of them become Arrow tables first,
so they are read by the same rule as a parquet file with the same columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from optbn.base.errors import DataError
from optbn.base.registry import unknown
from optbn.data.arrow import columns_of, declarations, to_arrow
from optbn.data.dataset import Categorical, Dataset
from optbn.data.pandas_frame import plain
from optbn.data.policies import MissingLike
from optbn.data.read import read_source
from optbn.data.schema import SchemaLike
from optbn.data.source import Source, foreign, reason
from optbn_solvers.base.errors import repeated

if TYPE_CHECKING:
    from optbn.data.read import Reading

ROWS = 65_536
BACKENDS = ("pandas", "polars", "pyarrow")


def read_frame(frame: Any, schema: SchemaLike, missing: MissingLike) -> Dataset:
    """See `Dataset.from_frame`."""
    return frame_reading(frame, schema, missing).logged()


def frame_reading(frame: Any, schema: SchemaLike, missing: MissingLike) -> Reading:
    """The same, with what was noticed."""
    import narwhals as nw

    names = [str(name) for name in getattr(frame, "column_names", getattr(frame, "columns", ()))]
    if twice := repeated(names):
        many = names.count(twice)
        raise DataError(f"the data frame: {many} columns are named {twice!r}; give each a name of its own")
    with foreign("the data frame", "its columns cannot be read"):
        if nw.dependencies.is_pandas_dataframe(frame):
            frame = plain(frame)
        try:
            known = nw.from_native(frame)
        except (TypeError, AttributeError):
            raise DataError(
                f"a {type(frame).__name__} is not a data frame; expected one of pandas, polars, pyarrow... "
                "(arrays: Dataset.from_arrays)"
            ) from None
        table = (known.collect() if isinstance(known, nw.LazyFrame) else known).to_arrow()
    return _read_table("the data frame", table, schema, missing)


def read_arrays(
    arrays: Mapping[str, ArrayLike] | ArrayLike, names: Sequence[str] | None, schema: SchemaLike, missing: MissingLike
) -> Dataset:
    """See `Dataset.from_arrays`."""
    return arrays_reading(arrays, names, schema, missing).logged()


def arrays_reading(
    arrays: Mapping[str, ArrayLike] | ArrayLike, names: Sequence[str] | None, schema: SchemaLike, missing: MissingLike
) -> Reading:
    """The same, with what was noticed."""
    if isinstance(arrays, Mapping):
        names = list(arrays) if names is None else names
        for name in names:
            if name not in arrays:
                raise unknown("array", name, map(str, arrays))
        columns = [np.asanyarray(arrays[name]) for name in names]
    else:
        whole = np.asanyarray(arrays)
        if whole.ndim != 2:
            raise DataError(f"an array of shape {whole.shape}; expected two dimensions, rows and columns")
        columns = list(whole.T)
        names = [f"X{i}" for i in range(1, len(columns) + 1)] if names is None else names
        if len(names) != len(columns):
            raise DataError(f"{len(names)} names for {len(columns)} columns")
    converted = []
    for name, column in zip(names, columns, strict=True):
        if column.ndim != 1 or column.size != columns[0].size:
            raise DataError(f"column {name!r}: shape {column.shape}, expected ({columns[0].size},)")
        masked = np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
        values = np.ascontiguousarray(np.ma.getdata(column))
        if not values.dtype.isnative:
            values = values.astype(values.dtype.newbyteorder("="))
        try:
            converted.append(pa.array(values, mask=masked, from_pandas=True))
        except pa.ArrowException as error:
            raise DataError(f"column {name!r}, an array of {values.dtype}: {reason(error)}") from None
    table = pa.table(converted, names=list(map(str, names)))
    return _read_table("the arrays", table, schema, missing)


def to_frame(data: Dataset, backend: str) -> Any:
    """See `Dataset.to_frame`."""
    if backend not in BACKENDS:
        raise unknown("data frame library", backend, BACKENDS)
    if backend == "pandas":
        import pandas

        columns: dict[str, Any] = {}
        for name, domain, values in zip(data.names, data.domains, data.columns, strict=True):
            if isinstance(domain, Categorical):
                kind = pandas.CategoricalDtype(list(domain.levels), ordered=domain.ordered)
                columns[name] = pandas.Categorical.from_codes(values.astype(np.int32), dtype=kind)
            else:
                columns[name] = values.copy()
        return pandas.DataFrame(columns)
    table = to_arrow(data)
    if backend == "polars":
        import polars

        frame: Any = polars.from_arrow(table)
        enumerations = {
            name: polars.Enum(domain.levels)
            for name, domain in zip(data.names, data.domains, strict=True)
            if isinstance(domain, Categorical)
        }
        return frame.cast(enumerations)  # its other categorical type would forget order and unseen levels
    return table


def _read_table(where: str, table: Any, schema: SchemaLike, missing: MissingLike) -> Reading:
    declared, levels_given = declarations(where, table.schema)
    names = columns_of(where, table.schema)

    def rows(wanted: Sequence[str]) -> Iterator[Any]:
        return iter(table.select(list(wanted)).to_batches(max_chunksize=ROWS))

    return read_source(Source(where, names, rows, declared, levels_given), schema, missing=missing)
