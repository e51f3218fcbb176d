"""Parquet files, some thousand rows at a time. What optbn wrote carries its schema and comes back as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from optbn.data.arrow import check_room, columns_of, declarations
from optbn.data.source import Options, Source, foreign

ROWS = 65_536


def open_table(path: Path | str | IO[bytes], options: Options) -> Source:
    """A file, or a stream that can seek."""
    import pyarrow.parquet

    where = str(path) if isinstance(path, Path) else "the stream"
    check_room()
    with foreign(where, "not a readable parquet file"):
        file = pyarrow.parquet.ParquetFile(path)
        schema = file.schema_arrow
        names = columns_of(where, schema)
    done = 0

    def rows(wanted: Sequence[str]) -> Iterator[Any]:
        nonlocal done
        with foreign(where, "damaged parquet file"):
            for groups in _some_at_a_time(file.metadata):
                for batch in file.iter_batches(ROWS, groups, list(wanted), use_threads=False):
                    done += batch.num_rows
                    batch.validate(full=True)
                    yield batch

    def position() -> tuple[int, int | None]:
        return done, file.metadata.num_rows

    declared, levels_given = declarations(where, schema)
    return Source(where, names, rows, declared, levels_given, position=position)


def _some_at_a_time(metadata: Any) -> Iterator[list[int]]:
    """Row groups, as many as have the rows of a batch: Arrow's reader holds on to something of every row group that it
    has been through (some 3 MB of 142 columns x 100,000 rows), and a new one begins with nothing."""
    groups: list[int] = []
    rows = 0
    for group in range(metadata.num_row_groups):
        groups.append(group)
        rows += metadata.row_group(group).num_rows
        if rows >= ROWS:
            yield groups
            groups, rows = [], 0
    if groups:
        yield groups
