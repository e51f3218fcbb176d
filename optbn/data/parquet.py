"""Parquet files, some thousand rows at a time. What optbn wrote carries its schema and comes back as it was.

Texts stay codes into a dictionary, as they are in the file: there a million equal ones take a few bytes, however long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from optbn.data.arrow import check_room, columns_of, declarations, is_text
from optbn.data.source import Options, Source, foreign

ROWS = 65_536


def open_table(path: Path | str | IO[bytes], options: Options) -> Source:
    """A file, or a stream that can seek."""
    where = str(path) if isinstance(path, Path) else "the stream"
    check_room()
    with foreign(where, "not a readable parquet file"):
        file = pyarrow.parquet.ParquetFile(path)
        schema = file.schema_arrow
        names = columns_of(where, schema)
        texts = [field.name for field in schema if is_text(field.type)]
        file = pyarrow.parquet.ParquetFile(path, metadata=file.metadata, read_dictionary=texts)
    done = 0

    def rows(wanted: Sequence[str]) -> Iterator[Any]:
        nonlocal done
        done, text = 0, set(texts)
        with foreign(where, "damaged parquet file"):
            for groups in _some_at_a_time(file.metadata):
                for batch in file.iter_batches(ROWS, groups, list(wanted), use_threads=False):
                    done += batch.num_rows
                    batch.validate(full=True)
                    for at, name in enumerate(batch.schema.names):
                        if name in text:
                            batch = batch.set_column(at, name, _occurring(batch.column(at)))
                    yield batch

    def position() -> tuple[int, int | None]:
        return done, file.metadata.num_rows

    declared, levels_given = declarations(where, schema)
    return Source(where, names, rows, declared, levels_given, position=position)


def _occurring(texts: Any) -> Any:
    """The same texts, without those of the dictionary that no row has (it is that of more rows than these)."""
    used = texts.indices.drop_null().unique()
    return pa.DictionaryArray.from_arrays(pc.index_in(texts.indices, value_set=used), texts.dictionary.take(used))


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
