"""Reading data: `read` for what fits into memory, `batches` for counting passes over what need not.

Both take the file in blocks: `source` opens it, `encode` turns blocks into codes and numbers, `missing` resolves what
is not there. A column that turns out to be written in another way than its first rows is gone through once more. What
is found out by itself is graded and said (see `findings`): `read` refuses what is doubtful, and with `strict` what is
only probable. Without a full schema `batches` surveys the file first.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import IO, Any

from optbn.base.errors import DataError, UnsupportedError
from optbn.base.registry import unknown
from optbn.data.column import Known
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.findings import MOST_LINES, Finding, refuse
from optbn.data.missing import Encoded, domain_after, policies, refuse_missing, resolve
from optbn.data.numerals import Notation
from optbn.data.passes import Progress as Progress
from optbn.data.passes import encoded_blocks as encoded_blocks
from optbn.data.passes import take_all
from optbn.data.policies import TOKENS, MissingLike
from optbn.data.remarks import notes
from optbn.data.schema import Declared, Schema, SchemaLike, Written
from optbn.data.source import Options, Source, open_source

PathLike = str | os.PathLike[str] | IO[bytes]

_log = logging.getLogger("optbn.data")


@dataclass(frozen=True)
class Reading:
    """Data as read, what they are called, and all that was noticed and done on the way."""

    data: Dataset
    findings: tuple[Finding, ...] = ()
    where: str = "the data"

    def logged(self) -> Dataset:
        """The data, after writing to the log what was noticed."""
        _tell(self.where, self.findings)
        return self.data


def read(
    path: PathLike,
    schema: SchemaLike = None,
    *,
    missing: MissingLike = "refuse",
    columns: Sequence[str] | None = None,
    strict: bool = False,
    progress: Progress | None = None,
    **form: Any,
) -> Dataset:
    """The Dataset in a file.

    path      a csv, tsv, parquet, Arrow or ARFF file, by its ending, texts also packed (.csv.gz, .zip); "-" is csv from
              stdin
    schema    what is known about columns (see `optbn.data.schema`); the rest is inferred
    missing   refuse, value, as_level, drop or impute, for all columns or per column (see `optbn.data.missing`)
    columns   read only these, in this order
    strict    refuse what is only probably meant
    progress  called with (bytes done, bytes in all or None) after each block
    form      the fields of `optbn.data.source.Options`: format, header, delimiter, encoding, decimal, missing_tokens
    """
    return reading(path, schema, missing=missing, columns=columns, strict=strict, progress=progress, **form).logged()


def reading(
    path: PathLike,
    schema: SchemaLike = None,
    *,
    missing: MissingLike = "refuse",
    columns: Sequence[str] | None = None,
    strict: bool = False,
    progress: Progress | None = None,
    **form: Any,
) -> Reading:
    """As `read`, with what was noticed, which no log has yet."""
    source = open_source(path, options(**form))
    return read_source(source, schema, missing=missing, columns=columns, strict=strict, progress=progress)


def options(missing_tokens: Sequence[str] = TOKENS, **form: Any) -> Options:
    """The options of a reader; a name that is none is refused with the nearest."""
    for name in set(form) - {field.name for field in fields(Options)}:
        raise unknown("option of the reader", name, [field.name for field in fields(Options)])
    return Options(missing_tokens=tuple(missing_tokens), **form)


def read_source(
    source: Source,
    schema: SchemaLike = None,
    *,
    missing: MissingLike = "refuse",
    columns: Sequence[str] | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> Reading:
    """The Dataset in an opened table, and what was noticed."""
    declared = Schema.of(schema)
    kinds = wanted(source, declared, columns)
    policies(missing, tuple(kinds))
    found = survey(source, declared, columns, progress)
    findings = [*source.findings, *(finding for column in found for finding in column.findings)]
    refuse(source.where, findings, strict)
    inferred = {name for name, kind in kinds.items() if kind is None and name not in source.levels_given}
    data, done = resolve(source.where, _kept(source.where, found), missing, closed=declared.closed)
    if not data.n_rows:
        raise DataError(f"{source.where}: no row is without a missing value, so drop would leave none; use impute")
    findings += [*done, *notes(dict(zip(data.names, data.domains, strict=True)), inferred, data.n_rows)]
    return Reading(data, tuple(findings), source.where)


def _kept(where: str, columns: list[Encoded]) -> list[Encoded]:
    kept = [column for column in columns if not column.ignored]
    if not kept:
        reasons = "; ".join(str(finding) for column in columns for finding in column.findings[:1])
        raise DataError(f"{where}: no columns are left to read ({reasons[:300]})")
    return kept


def survey(
    source: Source,
    schema: Schema,
    columns: Sequence[str] | None = None,
    progress: Progress | None = None,
    keep: bool = True,
) -> list[Encoded]:
    """The columns of an opened table as they are, missing values not treated, also those to be left out."""
    known = knowledge(source, schema, columns)
    found, unsettled = take_all(source, known, progress, keep)
    if unsettled:
        again = {name: replace(known[name], texts=True) for name in unsettled}
        found += take_all(source, again, None, keep)[0]
        position = {name: i for i, name in enumerate(known)}
        found.sort(key=lambda column: position[column.name])
    return found


def knowledge(source: Source, schema: Schema, columns: Sequence[str] | None) -> dict[str, Known]:
    """What is known about each column to read."""
    commas = Written(Notation(",", ".")) if source.decimal_declared and source.decimal == "," else None
    return {
        name: Known(
            kind,
            schema.written.get(name, commas if kind == "real" or isinstance(kind, Real) else None),
            source.levels_given.get(name) if name not in schema else None,
            typed=kind == "real" and name not in schema and source.declared.get(name) == "real",
            unnamed=name in source.unnamed,
            wanted=columns is not None or source.levels_given.get(name) is not None,
            decimal=source.decimal,
            decimal_declared=source.decimal_declared,
        )
        for name, kind in wanted(source, schema, columns).items()
    }


def batches(
    path: PathLike,
    schema: SchemaLike = None,
    *,
    rows: int = 65_536,
    missing: MissingLike = "refuse",
    columns: Sequence[str] | None = None,
    strict: bool = False,
    progress: Progress | None = None,
    **form: Any,
) -> Iterator[Dataset]:
    """The file in blocks of at most `rows` rows, all with the same domains, in constant memory.

    Columns that the schema leaves open are surveyed first, in a pass of their own, which needs a file that can be read
    twice. `impute` is refused: the values to impute are not known before the end (read the file whole, or drop).
    """
    source = open_source(path, options(**form))
    declared = Schema.of(schema)
    known = knowledge(source, declared, columns)
    unknown_yet = []
    for name, policy in policies(missing, tuple(known)).items():
        if policy == "impute":
            raise UnsupportedError(f"column {name!r}: impute needs the whole file; use read, or missing = drop")
        may_grow = policy in ("as_level", "value") and name not in declared.closed
        if may_grow or not isinstance(known[name].declared, Categorical | Real):
            unknown_yet.append(name)
    if unknown_yet:
        if not isinstance(path, str | os.PathLike) or path == "-":
            shown = ", ".join(map(repr, unknown_yet[:8])) + (", ..." if len(unknown_yet) > 8 else "")
            raise DataError(
                f"{source.where}: can be read only once, so the schema must declare all levels and ranges; "
                f"open are {shown}"
            )
        known = _surveyed(source, declared, columns, missing, strict, progress)
    return _blocks(source, known, rows, missing, progress)


def wanted(source: Source, schema: Schema, columns: Sequence[str] | None) -> dict[str, Declared | None]:
    """The columns to read, in order, each with its kind as the user declares it, else the file, else None."""
    known = set(source.names)
    for name in (*schema, *schema.written, *(columns or ())):
        if name not in known:
            raise DataError(f"{source.where}: {unknown('column', name, source.names)}")
    names = source.names if columns is None else columns
    kinds = {name: schema[name] if name in schema else source.declared.get(name) for name in names}
    kept: dict[str, Declared | None] = {name: kind for name, kind in kinds.items() if kind != "ignore"}
    if not kept:
        raise DataError(f"{source.where}: no columns are left to read")
    return kept


def _surveyed(
    source: Source,
    schema: Schema,
    columns: Sequence[str] | None,
    missing: MissingLike,
    strict: bool,
    progress: Progress | None,
) -> dict[str, Known]:
    """What is known of all columns after a pass that keeps no values."""
    found = survey(source, schema, columns, progress, keep=False)
    findings = [*source.findings, *(finding for column in found for finding in column.findings)]
    refuse(source.where, findings, strict)
    kept = _kept(source.where, found)
    chosen = policies(missing, tuple(column.name for column in found))
    refuse_missing(source.where, kept, chosen)
    _tell(source.where, findings)
    return {
        column.name: Known(domain_after(source.where, column, chosen[column.name], schema.closed), column.written)
        for column in kept
    }


def _blocks(
    source: Source, known: dict[str, Known], rows: int, missing: MissingLike, progress: Progress | None
) -> Iterator[Dataset]:
    """The datasets of consecutive rows."""
    done = 0
    for columns in encoded_blocks(source, known, rows):
        first, done = done, done + len(columns[0].values)
        if progress:
            progress(*source.position())
        where = f"{source.where}, rows {first + 1:,} to {done:,}"
        block, _ = resolve(where, columns, _chosen(missing, known), closed=known)
        if block.n_rows:
            yield block


def _chosen(missing: MissingLike, known: Mapping[str, Known]) -> MissingLike:
    """The policies of the columns that are there."""
    if isinstance(missing, str):
        return ",".join(
            part for part in missing.split(",") if "=" not in part or part.strip().rpartition("=")[0] in known
        )
    return {name: policy for name, policy in missing.items() if name in known}


def _tell(where: str, findings: Sequence[Finding]) -> None:
    """Log what was noticed."""
    for finding in findings[:MOST_LINES]:
        _log.warning("%s: %s", where, finding)
    if len(findings) > MOST_LINES:
        _log.warning("%s: %d more like these, which optbn describe lists", where, len(findings) - MOST_LINES)
