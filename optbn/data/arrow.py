"""Arrow: what its types declare, and the way from a Dataset to an Arrow table and back without loss.

Floating-point and decimal columns are real; dictionaries and Booleans are categorical with the levels of the
dictionary in its order, or false, true (an ordinal one where the dictionary says so; an enumeration of polars fixes
its levels and claims no order). Whole numbers and strings follow the rule of `schema`. A table made here
carries the schema as JSON in its metadata, so levels never seen, orders and ranges survive parquet and Arrow files.
What pandas calls the index are labels of rows, no column, wherever its tables come from.
"""

from __future__ import annotations

import json
import logging
import mmap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from optbn.base.errors import DataError
from optbn.data.dataset import Categorical
from optbn.data.schema import Declared, Schema

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset

KEY = b"optbn.schema"
ROOM = 128 << 20  # bytes of address space: stacks and heaps of the threads that Arrow reads with, and first blocks

_log = logging.getLogger("optbn.data")

# Arrow's own conversions from and to numpy and lists import pandas wherever it is installed: half a second and 40 MB,
# more than most data take to read. These do the same through buffers.


def to_numpy(array: Any, null: float | None = None) -> NDArray[Any]:
    """The values of an Arrow array of numbers, shared if there are no nulls; `null` takes their place."""
    if array.null_count:
        array = array.fill_null(from_numpy(np.array([null])).cast(array.type)[0])
    values: NDArray[Any] = np.from_dlpack(array)
    return values


def from_numpy(values: NDArray[Any]) -> Any:
    """An Arrow array of these numbers, shared."""
    values = np.ascontiguousarray(values)
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def from_texts(texts: Iterable[str]) -> Any:
    """An Arrow array of texts."""
    raw = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, raw)], dtype=np.int64)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(raw))]
    return pa.Array.from_buffers(pa.large_string(), len(raw), buffers).cast(pa.string())


def days(array: Any) -> NDArray[np.float64]:
    """Dates or moments as days since 1970-01-01, durations as days; NaN where there is none."""
    if pa.types.is_duration(array.type):
        ticks = array.cast(pa.duration("us"), safe=False).cast(pa.int64()).cast(pa.float64(), safe=False)
        return to_numpy(ticks, np.nan) / 86_400_000_000
    if pa.types.is_date32(array.type):
        return to_numpy(array.cast(pa.int32()).cast(pa.float64()), np.nan)
    ticks = array.cast(pa.timestamp("ms"), safe=False).cast(pa.int64()).cast(pa.float64(), safe=False)
    return to_numpy(ticks, np.nan) / 86_400_000


def is_time(kind: Any) -> bool:
    """Whether an Arrow type is one of dates, moments or durations."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_duration(kind))


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of the types of texts."""
    of = pa.types
    return bool(of.is_string(kind) or of.is_large_string(kind) or of.is_string_view(kind))


def check_room() -> None:
    """Refuse to read where memory is so short that Arrow could not start a thread: it would wait for it for ever; or
    could not allocate in one, which ends the process."""
    try:
        mmap.mmap(-1, ROOM).close()
    except OSError as error:
        raise MemoryError(f"(less than {ROOM >> 20} MB are left to read a file with)") from error


def columns_of(where: str, schema: Any) -> tuple[str, ...]:
    """The names of the columns of an Arrow schema, without those in which pandas keeps its row labels."""
    try:
        labels = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))["index_columns"]
        labels = {name for name in labels if isinstance(name, str)}
    except (ValueError, RecursionError, KeyError, TypeError):
        return tuple(schema.names)  # not from pandas
    named = [name for name in schema.names if name in labels and not name.startswith("__index_level_")]
    if named:
        _log.warning(
            "%s: %s: row labels of pandas, not read as a column (reset_index makes them one)", where, ", ".join(named)
        )
    return tuple(name for name in schema.names if name not in labels)


def declarations(where: str, schema: Any) -> tuple[Mapping[str, Declared], dict[str, bool]]:
    """What an Arrow schema says: kinds by its types (or all of it, if optbn wrote the table), and which columns bring
    their levels in a dictionary (and whether these are ordered)."""
    written = (schema.metadata or {}).get(KEY)
    if written is not None:
        try:
            entries = json.loads(written)
        except (ValueError, RecursionError):
            entries = None
        if not isinstance(entries, dict):
            raise DataError(f"{where}: damaged: its metadata {KEY.decode()!r} are not a schema in JSON")
        of_file = Schema.of(entries).columns
        if all(name in of_file for name in schema.names):
            return of_file, {}
    declared: dict[str, Declared] = {}
    levels_given: dict[str, bool] = {}
    for field in schema:
        kind = field.type
        numbers = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        if numbers or is_time(kind):
            declared[field.name] = "real"
        elif pa.types.is_dictionary(kind):
            declared[field.name] = "categorical"
            enumeration = any(key.startswith(b"_PL_ENUM") for key in field.metadata or ())
            levels_given[field.name] = bool(kind.ordered) and not enumeration
        elif pa.types.is_boolean(kind):
            declared[field.name] = Categorical(("false", "true"))
    return declared, levels_given


def to_arrow(data: Dataset) -> pa.Table:
    """The table of the data: dictionaries with level labels and doubles; shared, where codes fit with a sign."""
    columns = []
    for domain, values in zip(data.domains, data.columns, strict=True):
        if isinstance(domain, Categorical):
            codes, levels = from_numpy(_signed(values, len(domain.levels))), from_texts(domain.levels)
            columns.append(pa.DictionaryArray.from_arrays(codes, levels, ordered=domain.ordered))
        else:
            columns.append(from_numpy(values))
    table = pa.table(columns, names=list(data.names))
    return table.replace_schema_metadata({KEY: Schema(dict(zip(data.names, data.domains, strict=True))).to_json()})


def _signed(codes: NDArray[Any], levels: int) -> NDArray[Any]:
    """Codes as signed numbers, as others expect: pyarrow before 23 turns no other dictionaries into arrays."""
    kind = np.min_scalar_type(-levels)
    return codes.view(kind) if kind.itemsize == codes.itemsize else codes.astype(kind)
