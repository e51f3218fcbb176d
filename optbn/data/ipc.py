"""Arrow IPC files (Feather version 2) and streams, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from optbn.data.arrow import declarations
from optbn.data.source import Options, Source, reason
from optbn.errors import DataError


def open_table(path: Path | str | IO[bytes], options: Options) -> Source:
    """A file, or a stream of the streaming format."""
    import pyarrow as pa

    if isinstance(path, Path):
        where = str(path)
        with path.open("rb") as file:
            filed = file.read(6) == b"ARROW1"
    else:
        where, filed = "the stream", False
    try:
        reader: Any = (pa.ipc.open_file if filed else pa.ipc.open_stream)(pa.OSFile(where) if filed else path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{where}: not a readable Arrow file ({reason(error)})") from None
    declared, levels_given = declarations(where, reader.schema)
    return Source(where, tuple(reader.schema.names), _batches(where, reader, filed), declared, levels_given)


def _batches(where: str, reader: Any, filed: bool) -> Iterator[Any]:
    import pyarrow as pa

    try:
        if filed:
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)
        else:
            yield from reader
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{where}: damaged Arrow file ({reason(error)})") from None
