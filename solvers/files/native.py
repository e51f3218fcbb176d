"""The native form (.parquet): one row per parent set, and everything needed to have the same table back to the bit.

Columns: child (int32), parents (list of int32), score (float64, exact multiples of the quantum). The file's metadata
hold, under the key "scores" as JSON, the names, the grid's exponent, the table's digest and whatever the writer said
about the scores (which score, its settings, the digest and schema of the data).
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from solvers.errors import TableError
from solvers.files.atomic import replacing
from solvers.files.rows import member_lists
from solvers.table import ScoreTable

KEY = b"scores"
VERSION = 1


def read(data: bytes, source: str) -> ScoreTable:
    """The table in a file's bytes; refused when its digest is not the one it was written with."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        content = pq.read_table(io.BytesIO(data))
    except pa.ArrowInvalid as error:
        raise TableError(f"{source}: not a parquet file ({str(error).splitlines()[0]})") from None
    head = _head(content.schema.metadata, source)
    names = tuple(head["names"])
    counts = np.bincount(_numpy(content, "child"), minlength=len(names))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    lists = content.column("parents").combine_chunks()
    ends = np.asarray(lists.offsets, dtype=np.int64)
    members = np.asarray(lists.flatten(), dtype=np.int64)
    if len(counts) != len(names) or (len(members) and not 0 <= members.min() <= members.max() < len(names)):
        raise TableError(f"{source}: a row names a variable beyond the {len(names)} of the file")
    masks = np.zeros((len(content), max(1, -(-len(names) // 64))), dtype=np.uint64)
    owner = np.repeat(np.arange(len(content)), np.diff(ends))
    np.bitwise_or.at(masks, (owner, members // 64), np.uint64(1) << (members % 64).astype(np.uint64))
    units = np.rint(np.ldexp(_numpy(content, "score"), head["exponent"])).astype(np.int64)
    table = ScoreTable(names, offsets, masks, units, head["exponent"])
    if table.digest != head["digest"]:
        raise TableError(f"{source}: the rows are not the ones this file was written with (their digest differs)")
    return table


def read_about(path: str | Path) -> dict[str, Any]:
    """What the writer said about the scores in a native file."""
    import pyarrow.parquet as pq

    about: dict[str, Any] = _head(pq.read_schema(path).metadata, str(path))["about"]
    return about


def write(table: ScoreTable, path: str | Path, about: Mapping[str, Any]) -> None:
    """Write the native form; "-" is standard output."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    members, offsets = member_lists(table.masks, table.n)
    parents = pa.ListArray.from_arrays(offsets.astype(np.int32), members.astype(np.int32))
    head = {
        "version": VERSION,
        "names": list(table.names),
        "exponent": table.exponent,
        "digest": table.digest,
        "about": dict(about),
    }
    content = pa.table({"child": table.children.astype(np.int32), "parents": parents, "score": table.scores})
    content = content.replace_schema_metadata({KEY: json.dumps(head).encode()})
    if str(path) == "-":
        buffer = io.BytesIO()
        pq.write_table(content, buffer)
        sys.stdout.buffer.write(buffer.getvalue())
        return
    with replacing(path) as file:
        pq.write_table(content, file)


def _head(metadata: Mapping[bytes, bytes] | None, source: str) -> dict[str, Any]:
    if not metadata or KEY not in metadata:
        raise TableError(f"{source}: a parquet file, but not a score table (was it written by optbn?)")
    head: dict[str, Any] = json.loads(metadata[KEY])
    if head.get("version") != VERSION:
        raise TableError(f"{source}: version {head.get('version')} of the format; this program reads {VERSION}")
    return head


def _numpy(content: Any, column: str) -> Any:
    return content.column(column).to_numpy()
