"""Reading data: `read` for what fits into memory, `batches` for counting passes over what need not.

Both take the file as it comes, once, in blocks: `source` opens it, `encode` turns blocks into codes and numbers,
`missing` resolves what is not there. Without a full schema `batches` goes over the file once more, before, to find it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from typing import IO

from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.encode import Encoder
from optbn.data.missing import TOKENS, Encoded, MissingLike, resolve
from optbn.data.schema import Declared, Schema, SchemaLike
from optbn.data.source import Options, Source, open_source
from optbn.errors import DataError
from optbn.registry import unknown

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
    missing_tokens: Sequence[str] = TOKENS,
    progress: Progress | None = None,
) -> Dataset:
    """The Dataset in a file: csv or tsv, parquet, Arrow, ARFF, by its ending; "-" is csv from stdin.

    schema    what is known about columns (see `optbn.data.schema`); the rest is inferred
    missing   refuse, as_level, drop or impute, for all columns or per column (see `optbn.data.missing`)
    columns   read only these, in this order
    progress  called with (bytes done, bytes in all or None) after each block
    """
    source = open_source(path, format, Options(header, delimiter, encoding, tuple(missing_tokens)))
    encoded = _encode(source, wanted(source, Schema.of(schema), columns), progress)
    data = resolve(source.where, encoded, missing)
    _warn(source.where, data)
    return data


def wanted(source: Source, schema: Schema, columns: Sequence[str] | None) -> dict[str, Declared | None]:
    """The columns to read, in order, with what is said about each: by the user, else by the file, else nothing."""
    for name in (*schema, *(columns or ())):
        if name not in source.names:
            error = unknown("column", name, source.names)
            raise DataError(f"{source.where}: {error}")
    names = source.names if columns is None else columns
    said = {name: schema[name] if name in schema else source.declared.get(name) for name in names}
    kept: dict[str, Declared | None] = {name: kind for name, kind in said.items() if kind != "ignore"}
    if not kept:
        raise DataError(f"{source.where}: no columns are left to read")
    return kept


def _encode(source: Source, said: dict[str, Declared | None], progress: Progress | None) -> list[Encoded]:
    encoder = Encoder(source.where, said, source.levels_given, source.tokens)
    for batch in source.batches:
        encoder.add(batch)
        if progress:
            progress(*source.position())
    if not encoder.rows:
        raise DataError(f"{source.where}: there are no rows")
    return encoder.finish()


def _warn(where: str, data: Dataset) -> None:
    """One line about columns that are allowed and probably not meant."""
    constant = [
        name
        for name, domain in zip(data.names, data.domains, strict=True)
        if (isinstance(domain, Categorical) and len(domain.levels) == 1)
        or (isinstance(domain, Real) and domain.low == domain.high)
    ]
    if constant:
        shown = ", ".join(map(repr, constant[:8])) + (f" and {len(constant) - 8} more" if len(constant) > 8 else "")
        _log.warning("%s: constant columns, which say nothing: %s", where, shown)
