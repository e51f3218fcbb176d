"""Arrow IPC files (Feather version 2) and streams, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from optbn.base.errors import DataError
from optbn.data.arrow import check_room, columns_of, declarations
from optbn.data.source import Options, Source, foreign


def open_table(path: Path | str | IO[bytes], options: Options) -> Source:
    """A file or a binary stream, of the file format or the streaming format."""
    where = str(path) if isinstance(path, Path) else "the stream"
    check_room()
    content = None if isinstance(path, Path) else _content(where, path)

    def opened() -> tuple[Any, bool]:
        with foreign(where, "not a readable Arrow file"):
            stream = pa.OSFile(where) if content is None else pa.BufferReader(content)
            filed = stream.read(6) == b"ARROW1"
            stream.seek(0)
            return (pa.ipc.open_file if filed else pa.ipc.open_stream)(stream), filed

    reader, filed = opened()
    names = columns_of(where, reader.schema)
    done = 0

    def rows(wanted: Sequence[str]) -> Iterator[Any]:
        nonlocal done
        done = 0
        reader, filed = opened()
        with foreign(where, "damaged Arrow file"):
            for batch in map(reader.get_batch, range(reader.num_record_batches)) if filed else reader:
                done += 1
                chosen = batch.select(list(wanted))
                chosen.validate(full=True)
                yield chosen

    def position() -> tuple[int, int | None]:
        return done, reader.num_record_batches if filed else None

    declared, levels_given = declarations(where, reader.schema)
    return Source(where, names, rows, declared, levels_given, position=position)


def _content(where: str, stream: Any) -> bytes:
    content = stream.read() if hasattr(stream, "read") else None
    if not isinstance(content, bytes):
        raise DataError(f"{where}: expected a path or a binary stream")
    return content
