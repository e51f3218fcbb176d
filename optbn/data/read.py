"""Reading data: `read` for what fits into memory, `batches` for counting passes over what need not.

Both take the file as it comes, once, in blocks: `source` opens it, `encode` turns blocks into codes and numbers,
`missing` resolves what is not there. Without a full schema `batches` goes over the file once more, before, to find it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import IO, Any

from optbn.base.errors import DataError, UnsupportedError
from optbn.base.registry import unknown
from optbn.base.room import check_room
from optbn.data.dataset import Categorical, Dataset, Domain, Real
from optbn.data.doubts import doubts
from optbn.data.encode import Encoder
from optbn.data.missing import TOKENS, Encoded, MissingLike, domain_after, policies, refuse, resolve
from optbn.data.schema import Declared, Schema, SchemaLike
from optbn.data.source import Options, Source, open_source

PathLike = str | os.PathLike[str] | IO[bytes]
Progress = Callable[[int, int | None], None]

_log = logging.getLogger("optbn.data")


def read(
    path: PathLike,
    schema: SchemaLike = None,
    *,
    missing: MissingLike = "refuse",
    columns: Sequence[str] | None = None,
    format: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    decimal: str = ".",
    missing_tokens: Sequence[str] = TOKENS,
    progress: Progress | None = None,
) -> Dataset:
    """The Dataset in a file: csv or tsv, parquet, Arrow, ARFF, by its ending; "-" is csv from stdin.

    schema    what is known about columns (see `optbn.data.schema`); the rest is inferred
    missing   refuse, as_level, drop or impute, for all columns or per column (see `optbn.data.missing`)
    columns   read only these, in this order
    decimal   "," where numbers are written 1,5
    progress  called with (bytes done, bytes in all or None) after each block
    """
    source = open_source(path, Options(format, header, delimiter, encoding, decimal, tuple(missing_tokens)))
    return read_source(source, schema, missing=missing, columns=columns, progress=progress)


def read_source(
    source: Source,
    schema: SchemaLike = None,
    *,
    missing: MissingLike = "refuse",
    columns: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """The Dataset in an opened table."""
    declared = Schema.of(schema)
    said = wanted(source, declared, columns)
    policies(missing, tuple(said))
    data = resolve(source.where, _take_all(source, said, progress), missing, closed=declared.closed)
    if not data.n_rows:
        raise DataError(f"{source.where}: no row is without a missing value, so drop would leave none; use impute")
    _tell(source, said, dict(zip(data.names, data.domains, strict=True)), data.n_rows)
    return data


def encoded(source: Source, schema: SchemaLike = None, progress: Progress | None = None) -> list[Encoded]:
    """The columns of an opened table as they are, missing values not treated."""
    said = wanted(source, Schema.of(schema), None)
    found = _take_all(source, said, progress)
    _tell(source, said, {column.name: column.domain for column in found}, len(found[0].values))
    return found


def batches(
    path: PathLike,
    schema: SchemaLike = None,
    *,
    rows: int = 65_536,
    missing: MissingLike = "refuse",
    columns: Sequence[str] | None = None,
    format: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    decimal: str = ".",
    missing_tokens: Sequence[str] = TOKENS,
    progress: Progress | None = None,
) -> Iterator[Dataset]:
    """The file in blocks of at most `rows` rows, all with the same domains, in constant memory.

    Columns that the schema leaves open are inferred first, in a pass of their own, which needs a file that can be read
    twice. `impute` is refused: the values to impute are not known before the end (read the file whole, or drop).
    """
    how = Options(format, header, delimiter, encoding, decimal, tuple(missing_tokens))
    source = open_source(path, how)
    declared = Schema.of(schema)
    said = wanted(source, declared, columns)
    unknown_yet = []
    for name, policy in policies(missing, tuple(said)).items():
        if policy == "impute":
            raise UnsupportedError(f"column {name!r}: impute needs the whole file; use read, or missing = drop")
        may_grow = policy == "as_level" and name not in declared.closed
        if may_grow or not isinstance(said[name], Categorical | Real):
            unknown_yet.append(name)
    if unknown_yet:
        if not isinstance(path, str | os.PathLike) or path == "-":
            shown = ", ".join(map(repr, unknown_yet[:8])) + (", ..." if len(unknown_yet) > 8 else "")
            raise DataError(
                f"{source.where}: can be read only once, so the schema must declare all levels and ranges; "
                f"open are {shown}"
            )
        said = _survey(source, said, missing, declared.closed, progress)
        source = open_source(path, how)
    return _blocks(source, said, rows, missing, progress)


def wanted(source: Source, schema: Schema, columns: Sequence[str] | None) -> dict[str, Declared | None]:
    """The columns to read, in order, with what is said about each: by the user, else by the file, else nothing."""
    known = set(source.names)
    for name in (*schema, *(columns or ())):
        if name not in known:
            raise DataError(f"{source.where}: {unknown('column', name, source.names)}")
    names = source.names if columns is None else columns
    said = {name: schema[name] if name in schema else source.declared.get(name) for name in names}
    kept: dict[str, Declared | None] = {name: kind for name, kind in said.items() if kind != "ignore"}
    if not kept:
        raise DataError(f"{source.where}: no columns are left to read")
    return kept


def _survey(
    source: Source,
    said: dict[str, Declared | None],
    missing: MissingLike,
    closed: Collection[str],
    progress: Progress | None,
) -> dict[str, Declared | None]:
    """The domains of all columns, found in a pass that keeps no values."""
    found = _take_all(source, said, progress, keep=False)
    chosen = policies(missing, tuple(said))
    refuse(source.where, found, chosen)
    return {column.name: domain_after(source.where, column, chosen[column.name], closed) for column in found}


def _blocks(
    source: Source, said: dict[str, Declared | None], rows: int, missing: MissingLike, progress: Progress | None
) -> Iterator[Dataset]:
    """The datasets of consecutive rows."""
    done = 0
    for group in _groups(source.rows(list(said)), rows):
        encoder = Encoder(source.where, said, source.levels_given, source.tokens, first_row=done)
        for batch in group:
            encoder.add(batch)
        done += encoder.rows
        if progress:
            progress(*source.position())
        where = f"{source.where}, rows {encoder.first_row + 1:,} to {done:,}"
        block = resolve(where, encoder.finish(), missing, closed=said)
        if block.n_rows:
            yield block
    if not done:
        raise DataError(f"{source.where}: there are no rows")


def _groups(batches: Iterator[Any], rows: int) -> Iterator[list[Any]]:
    """The batches in groups of `rows` rows (the last one may be smaller)."""
    group: list[Any] = []
    free = rows
    for batch in batches:
        while batch.num_rows >= free:
            yield [*group, batch.slice(0, free)]
            batch = batch.slice(free)
            group, free = [], rows
        if batch.num_rows:
            group.append(batch)
            free -= batch.num_rows
    if group:
        yield group


def _take_all(
    source: Source, said: dict[str, Declared | None], progress: Progress | None, keep: bool = True
) -> list[Encoded]:
    """All columns encoded; stops early when what is still to come would not fit into memory."""
    encoder = Encoder(source.where, said, source.levels_given, source.tokens, keep)
    check_at = 1
    for batch in source.rows(list(said)):
        encoder.add(batch)
        done, total = source.position()
        if total and encoder.rows >= check_at:
            check_at = 2 * encoder.rows
            encoder.expected = int(encoder.rows * max(1.0, total / max(1, done)) * 1.02)
            if keep:
                check_room(source.where, encoder.expected, encoder.row_bytes)
        if progress:
            progress(done, total)
    if not encoder.rows:
        raise DataError(f"{source.where}: there are no rows")
    return encoder.finish()


def _tell(source: Source, said: dict[str, Declared | None], domains: dict[str, Domain], rows: int) -> None:
    """Log what is doubtful about the columns that were read."""
    inferred = {name for name, kind in said.items() if kind is None and name not in source.levels_given}
    for line in doubts(domains, inferred, rows):
        _log.warning("%s: %s", source.where, line)
