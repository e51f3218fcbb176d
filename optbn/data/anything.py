"""Data as people have them: whatever takes data takes a Dataset, a data frame, arrays with names, or a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import IO, Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from optbn.base.errors import DataError
from optbn.base.foreign import Frame
from optbn.data.dataset import Dataset
from optbn.data.frame import arrays_reading, frame_reading
from optbn.data.policies import MissingLike
from optbn.data.read import Reading
from optbn.data.read import reading as read_file
from optbn.data.schema import Schema, SchemaLike

WeightsLike = str | ArrayLike | None
"""Of the rows: the name of a column, or one number of at least 0 per row."""
DataLike = Dataset | Frame | Mapping[str, Any] | np.ndarray[Any, Any] | str | os.PathLike[str]


def as_dataset(
    data: DataLike | Any,
    schema: SchemaLike = None,
    missing: MissingLike = "refuse",
    reading: Mapping[str, Any] | None = None,
    weights: WeightsLike = None,
) -> Dataset:
    """The data as a Dataset; one that is one already is left as it is.

    data      a Dataset, a data frame of any library, a mapping of arrays by name, a structured or a two-dimensional
              array (its columns are called X1, X2, ...), a path, "-" for stdin, or an open binary file
    schema    what is known about the columns; missing, what to do with missing values (as in `optbn.read`)
    reading   further options of `optbn.read`, for files
    weights   of the rows: the name of a column, which is then no variable, or an array
    """
    if weights is not None:
        reading = dict(reading or {})
        schema = with_weights(reading.pop("schema", schema), weights)
        return as_dataset(data, schema, missing, reading).weighted(weights)
    return as_reading(data, schema, missing, reading).logged()


def as_reading(
    data: DataLike | Any,
    schema: SchemaLike = None,
    missing: MissingLike = "refuse",
    reading: Mapping[str, Any] | None = None,
) -> Reading:
    """The same, with what was noticed, which no log has yet."""
    if isinstance(data, Dataset):
        return Reading(data)
    if is_file(data):
        return read_file(data, **{"schema": schema, "missing": missing, **(reading or {})})
    if isinstance(data, np.ndarray) and data.dtype.names:
        data = {name: data[name] for name in data.dtype.names}
    if isinstance(data, Mapping | np.ndarray):
        return arrays_reading(data, None, schema, missing)
    if hasattr(data, "columns") or hasattr(data, "collect_schema"):
        return frame_reading(data, schema, missing)
    raise DataError(
        "data are a Dataset, a data frame, arrays by name, a two-dimensional array, a path or an open file, "
        f"not {'nothing at all' if data is None else f'of type {type(data).__name__}'}"
    )


def with_weights(schema: SchemaLike, weights: WeightsLike) -> SchemaLike:
    """The schema, in which a column of weights has numbers unless it says something else of it."""
    if not isinstance(weights, str):
        return schema
    known = Schema.of(schema)
    return Schema({weights: "real", **known.columns}, known.written)


def is_file(data: object) -> TypeGuard[str | os.PathLike[str] | IO[bytes]]:
    """A path, or something to read bytes from."""
    return isinstance(data, str | os.PathLike) or hasattr(data, "read")
