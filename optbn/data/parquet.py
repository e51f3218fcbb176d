"""Parquet files, row group by row group. Files that optbn wrote carry their schema and come back as they were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from optbn.data.arrow import declarations
from optbn.data.source import Options, Source, reason
from optbn.errors import DataError

ROWS = 65_536


def open_table(path: Path | str | IO[bytes], options: Options) -> Source:
    """A file, or a stream that can seek."""
    import pyarrow as pa
    import pyarrow.parquet

    where = str(path) if isinstance(path, Path) else "the stream"
    try:
        file = pyarrow.parquet.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{where}: not a readable parquet file ({reason(error)})") from None
    schema = file.schema_arrow
    declared, levels_given = declarations(where, schema)
    return Source(where, tuple(schema.names), _batches(where, file), declared, levels_given)


def _batches(where: str, file: Any) -> Iterator[Any]:
    import pyarrow as pa

    try:
        yield from file.iter_batches(batch_size=ROWS, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{where}: damaged parquet file ({reason(error)})") from None
