"""Score tables on disk.

    .jkl, .jaa   text: n; then per variable "name count" and per parent set "score k p1 .. pk" (what GOBNILP reads)
    .pss         text, read only: "VAR name", then per parent set "score p1 .. pk"
    .parquet     native: exact grid, digest and what the scores are

`read_table` gives the instance (snapped, pruned); `read_rows` the rows as they stand in the file.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optbn_solvers.base.atomic import check_place
from optbn_solvers.base.errors import TableError
from optbn_solvers.base.files.rows import Rows
from optbn_solvers.base.table import ScoreTable

READERS = {
    "jkl": "optbn_solvers.base.files.jkl:read",
    "jaa": "optbn_solvers.base.files.jkl:read",
    "pss": "optbn_solvers.base.files.pss:read",
    "parquet": "optbn_solvers.base.files.native:read",
}
WRITERS = {
    "jkl": "optbn_solvers.base.files.jkl:write",
    "jaa": "optbn_solvers.base.files.jkl:write",
    "parquet": "optbn_solvers.base.files.native:write",
}

__all__ = ["READERS", "WRITERS", "Rows", "check_writable", "read_about", "read_rows", "read_table", "write_table"]


def read_table(path: str | Path, format: str | None = None) -> ScoreTable:
    """The score table in a file; "-" is standard input. The format is the file's suffix unless given."""
    found = _read(path, format)
    if isinstance(found, ScoreTable):
        return found
    try:
        return found.table()
    except TableError as error:
        raise TableError(f"{path}: {error}") from None


def read_rows(path: str | Path, format: str | None = None) -> Rows:
    """The rows of a score file, unpruned and in the order of the file."""
    found = _read(path, format)
    return Rows.of(found) if isinstance(found, ScoreTable) else found


def write_table(
    table: ScoreTable, path: str | Path, format: str | None = None, about: Mapping[str, Any] | None = None
) -> None:
    """Write a table, replacing the file only once it is complete; "-" is standard output.

    `about` (what was scored and how, JSON values) is kept with it, as is whether the table has all sets.
    """
    _verb(WRITERS, path, format, "write")(table, path, about or {})


def read_about(path: str | Path) -> dict[str, Any]:
    """What a score file says of itself (see `write_table`), without its scores; nothing for standard input."""
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in READERS or suffix == "pss" or str(path) == "-":
        return {}
    module = importlib.import_module(READERS[suffix].partition(":")[0])
    about: dict[str, Any] = module.read_about(path)
    return about


def check_writable(path: str | Path, format: str | None = None) -> None:
    """Raise now if `write_table` to this path could not work: hours of scoring should not end in a wrong suffix."""
    _verb(WRITERS, path, format, "write")
    if str(path) == "-":
        return
    try:
        check_place(path)
    except OSError as error:
        raise TableError(f"{path}: {error.strerror}") from None


def _read(path: str | Path, format: str | None) -> Rows | ScoreTable:
    read = _verb(READERS, path, format, "read")
    data = sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
    found: Rows | ScoreTable = read(data, str(path))
    return found


def _verb(verbs: Mapping[str, str], path: str | Path, format: str | None, doing: str) -> Any:
    """The function that reads or writes this kind of file."""
    kind = format or ("jkl" if str(path) == "-" else Path(path).suffix.lower().removeprefix("."))
    if kind not in verbs:
        known = ", ".join(f".{name}" for name in verbs)
        raise TableError(f"{path}: cannot {doing} score files of kind {kind!r}; the kinds are {known}")
    if kind == "parquet" and importlib.util.find_spec("pyarrow") is None:
        raise TableError(f"{path}: .parquet files need pyarrow: pip install pyarrow, or use .jkl")
    module, _, name = verbs[kind].partition(":")
    return getattr(importlib.import_module(module), name)
