"""`optbn describe`: what is in a data file, and how it will be read."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

import optbn
from optbn.base.errors import UnsupportedError
from optbn.base.files import check_writable
from optbn.base.numbers import counted
from optbn.cli.reading import reading, with_reading
from optbn.cli.terminal import console
from optbn.data.dates import in_unit
from optbn.data.findings import refuse

if TYPE_CHECKING:
    from optbn.data.describe import Description, Levels, Numbers

SHOWN = 1_000
"""Columns in the table; --json has all of them."""


@with_reading
def describe(
    how: dict[str, Any],
    data: Annotated[list[str], typer.Argument(help="A data file, - for stdin; or two, to compare.", metavar="DATA...")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with the counts of all levels.")] = False,
    save_schema: Annotated[
        str | None,
        typer.Option(
            "--save-schema",
            metavar="FILE",
            help="Write the schema as JSON, to edit and to pass to --schema; - prints it.",
        ),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(
            "--missing", help="Treat missing values first: value, drop or impute.", show_default="as they are"
        ),
    ] = None,
) -> None:
    """Show what is in a data file, how it will be read, and what looks odd.

    Two files are compared: columns, levels and ranges that differ.

    Examples: optbn describe data.csv --save-schema schema.json; optbn sample alarm | optbn describe -
    """
    if save_schema not in (None, "-"):
        check_writable(save_schema)
    if len(data) > 2:
        raise UnsupportedError(f"{len(data)} files; describe takes one, or two to compare")
    found, *others = _descriptions(how, data, missing)
    if others:
        _compare(found, others[0], as_json)
        return
    if save_schema == "-":
        sys.stdout.write(found.schema.to_json())
        return
    if save_schema is not None:
        found.schema.save(save_schema)
        print(f"the schema is in {save_schema}", file=sys.stderr)
    if as_json:
        print(json.dumps(found.to_dict(), ensure_ascii=False))
        return
    _show(found)
    _findings(found)
    if found.missing:
        print(
            f"{counted(found.missing, 'missing value')}: learn takes missing as a value of its own; to leave such rows "
            "out write --missing drop, to fill cells in --missing impute",
            file=sys.stderr,
        )


def _descriptions(how: dict[str, Any], paths: list[str], missing: str | None) -> list[Description]:
    """Of the files as they are, or as they are read with missing values treated."""
    from optbn.data.describe import describe as description

    strict = how.pop("strict", False)
    with reading() as progress:
        if missing is None:
            found = [description(path, progress=progress, **how) for path in paths]
            refuse(found[0].source, found[0].findings, strict) if strict else None
            return found
        treated = [optbn.read(path, missing=missing, progress=progress, strict=strict, **how) for path in paths]
        names = ["stdin" if path == "-" else path for path in paths]
        return [replace(description(rows), source=name) for rows, name in zip(treated, names, strict=True)]


def _compare(a: Description, b: Description, as_json: bool) -> None:
    """What differs between two files."""
    from optbn.data.drift import drift

    found = drift(a, b)
    if as_json:
        print(json.dumps([line.to_dict() for line in found], ensure_ascii=False))
        return
    print(f"{a.source}: {a.rows:,} rows; {b.source}: {b.rows:,} rows")
    for line in found:
        print(line)
    if not found:
        print("the same columns, levels, ranges and shares")


def _findings(found: Description) -> None:
    """A line each, the doubtful first, and the command that reads the data as described."""
    if not found.findings:
        return
    out = console()
    out.print("\nnoticed", markup=False)
    for finding in found.findings:
        out.print(f"  {finding.grade}: {finding}", markup=False, highlight=False, soft_wrap=True)
    if found.options:
        name = "-" if found.source == "stdin" else found.source
        line = f"\nto read it as described: optbn learn {name} {' '.join(found.options)}"
        out.print(line, markup=False, highlight=False, soft_wrap=True)


def _show(found: Description) -> None:
    """The table."""
    from rich.table import Table
    from rich.text import Text

    from optbn.data.describe import Numbers

    out = console()
    real = sum(isinstance(column, Numbers) for column in found.columns)
    total = f"{len(found.columns) - real:,} categorical, {real:,} real"
    size = f"{counted(found.rows, 'row')}, {counted(len(found.columns), 'column')}"
    out.print(f"{found.source}: {size} ({total})", markup=False)
    with_missing = bool(found.missing)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("column", overflow="fold")
    table.add_column("kind")
    table.add_column("levels", justify="right")
    if with_missing:
        table.add_column("missing", justify="right")
    table.add_column("values", overflow="fold")
    for column in found.columns[:SHOWN]:
        levels = "" if isinstance(column, Numbers) else f"{len(column.levels):,}"
        absent = [f"{column.missing:,}" if column.missing else ""] if with_missing else []
        values = _numbers(column) if isinstance(column, Numbers) else _levels(column)
        table.add_row(*(Text(cell) for cell in (column.name, column.kind, levels, *absent, values)))
    out.print(table)
    if len(found.columns) > SHOWN:
        out.print(f"and {len(found.columns) - SHOWN:,} more columns, which --json lists", markup=False)


def _levels(column: Levels, most: int = 8) -> str:
    """Levels in their order with their counts; the rest in one word."""
    shown = [f"{_short(level)} ({n:,})" for level, n in zip(column.levels[:most], column.counts[:most], strict=True)]
    rest = len(column.levels) - most
    if rest > 0:
        shown.append(f"{rest:,} more ({sum(column.counts[most:]):,})")
    return ", ".join(shown)


def _short(level: str) -> str:
    plain = level if level.isprintable() and level and "," not in level else repr(level)
    return plain if len(plain) <= 24 else plain[:23] + "…"


def _numbers(column: Numbers) -> str:
    low, high = (in_unit(end, column.unit) for end in column.range)
    if column.mean is None or column.sd is None or column.quartiles is None:
        return f"{low} to {high}"
    median = in_unit(column.quartiles[1], column.unit)
    middle = round(column.mean) if column.whole else column.mean
    mean = in_unit(middle, column.unit) if column.unit else f"{column.mean:.4g}"
    return f"{low} to {high}, median {median}, mean {mean} ± {column.sd:.3g} {column.unit}".rstrip()
