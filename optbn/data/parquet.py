"""Parquet files, some thousand rows at a time. What optbn wrote carries its schema and comes back as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    done = 0

    def rows(wanted: Sequence[str]) -> Iterator[Any]:
        nonlocal done
        try:
            for batch in file.iter_batches(batch_size=ROWS, columns=list(wanted), use_threads=False):
                done += batch.num_rows
                yield batch
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{where}: damaged parquet file ({reason(error)})") from None

    def position() -> tuple[int, int | None]:
        return done, file.metadata.num_rows

    schema = file.schema_arrow
    declared, levels_given = declarations(where, schema)
    return Source(where, tuple(schema.names), rows, declared, levels_given, position=position)
