"""The native form (.parquet): one row per parent set, and everything needed to have the same table back to the bit.

Columns: child (int32), parents (list of int32), score (float64, exact multiples of the quantum). The file's metadata
hold, under the key "scores" as JSON, the names, the grid's exponent, the table's digest and whatever the writer said
about the scores (which score, its settings, the digest and schema of the data), and whether all sets are there.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from optbn_solvers.base.atomic import replacing
from optbn_solvers.base.errors import TableError
from optbn_solvers.base.files.rows import Rows, check_room, empty_masks, member_lists
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.base.whole import MEANING

KEY = b"scores"
VERSION = 1


def read(data: bytes, source: str) -> ScoreTable:
    """The table in a file's bytes; refused when its digest is not the one it was written with."""
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(io.BytesIO(data))
        check_room(8 * _values(file.metadata), len(data), source)
        content = file.read(use_threads=False)
        content.validate(full=True)
        head = _head(content.schema.metadata, source)
        columns = _columns(content)
    except TableError:
        raise
    except Exception as error:  # damaged files lead Arrow to errors of every class
        raise TableError(f"{source}: not a readable score table ({error})") from None
    names, exponent = tuple(head["names"]), head["exponent"]
    children, ends, members, scores = columns
    for numbers in (children, members):
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < len(names):
            raise TableError(f"{source}: a row names a variable beyond the {len(names)} of the file")
    counts = np.bincount(children, minlength=len(names))
    masks = empty_masks(len(content), len(names), len(data), source)
    owner = np.repeat(np.arange(len(content)), np.diff(ends))
    np.bitwise_or.at(masks, (owner, members // 64), np.uint64(1) << (members % 64).astype(np.uint64))
    if not np.isfinite(scores).all() or (np.abs(np.ldexp(scores, exponent)) > 1 << 51).any():
        raise TableError(f"{source}: a score is not on the table's grid")
    units = np.rint(np.ldexp(scores, exponent)).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    table = ScoreTable(names, offsets, masks, units, exponent, MEANING.get(str(head["about"].get("sets"))))
    if table.digest != head["digest"]:
        raise TableError(f"{source}: the rows are not the ones this file was written with (their digest differs)")
    again = ScoreTable.build(names, children, masks, table.scores, keep_dominated=True)
    canonical = np.array_equal(again.offsets, offsets) and np.array_equal(again.masks, masks)
    if not canonical or again.exponent < exponent or (np.diff(children) < 0).any():
        raise TableError(f"{source}: its rows are not those of a score table")
    return table


def _columns(content: Any) -> tuple[Any, Any, Any, Any]:
    """(children, where each list of parents begins and the last ends, the parents, the scores)."""
    lists = content.column("parents").combine_chunks()
    return (
        _numpy(content, "child").astype(np.int64),
        np.asarray(lists.offsets, dtype=np.int64),
        np.asarray(lists.flatten(), dtype=np.int64),
        _numpy(content, "score").astype(np.float64),
    )


def read_about(path: str | Path) -> dict[str, Any]:
    """What the writer noted about the scores in a native file."""
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
        "about": {**about, **Rows.of(table).about},
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
    try:
        head: dict[str, Any] = json.loads(metadata[KEY])
    except (ValueError, RecursionError) as error:
        raise TableError(f"{source}: what it says about itself cannot be read ({error})") from None
    if not isinstance(head, dict) or head.get("version") != VERSION:
        version = head.get("version") if isinstance(head, dict) else None
        raise TableError(f"{source}: version {version} of the format; this program reads {VERSION}")
    names, exponent = head.get("names"), head.get("exponent")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise TableError(f"{source}: the file does not name its variables")
    if type(exponent) is not int or not -1100 < exponent <= 1100:
        raise TableError(f"{source}: the grid's exponent is {exponent}, expected a whole number")
    if not isinstance(head.get("digest"), str) or not isinstance(head.get("about"), dict):
        raise TableError(f"{source}: damaged, it does not say what it was made of")
    return head


def _values(metadata: Any) -> int:
    """How many values there are; equal ones may take no room in the file."""
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    return sum(group.column(at).num_values for group in groups for at in range(group.num_columns))


def _numpy(content: Any, column: str) -> Any:
    return content.column(column).to_numpy()
