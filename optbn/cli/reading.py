"""What verbs that read data have in common: their options, and progress on anything long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

import typer

import optbn
from optbn.base.errors import DataError, UnsupportedError
from optbn.cli.groups import Group
from optbn.cli.progress import bars
from optbn.data.policies import TOKENS

DATA = typer.Argument(help="A csv, tsv, parquet, Arrow or ARFF file; - is csv from stdin.", metavar="DATA")

DataArgument = Annotated[str, DATA]
# How a text, or another file, becomes columns: all of these may be left away.
FORM: dict[str, Any] = {
    "header": Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first row holds the names.", show_default="detected"),
    ],
    "delimiter": Annotated[
        str | None, typer.Option("--delimiter", help="What separates the fields of a row.", show_default="detected")
    ],
    "decimal": Annotated[
        str | None, typer.Option("--decimal", help="The decimal sign: a point or a comma.", show_default="detected")
    ],
    "format": Annotated[
        str | None, typer.Option("--format", help="csv, parquet, arrow or arff.", show_default="by the ending")
    ],
    "encoding": Annotated[
        str | None, typer.Option("--encoding", help="The encoding of text files.", show_default="detected")
    ],
    "missing_token": Annotated[
        list[str] | None,
        typer.Option(
            "--missing-token", help="A text that marks a missing value, besides NA, ? and the like. May be repeated."
        ),
    ],
}
COLUMNS: dict[str, Any] = {
    "schema": Annotated[
        Path | None,
        typer.Option(
            "--schema", "-s", help='What is known about the columns, as JSON: {"age": "real", "sex": ["f", "m"]}.'
        ),
    ],
    "ignore": Annotated[
        list[str] | None, typer.Option("--ignore", help="A column to leave out, such as an id. May be repeated.")
    ],
    "column": Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            help="How one column is read, NAME=FORM: categorical, real, ignore, levels in order (small<medium<large), "
            "or written like 1.234,5 or dd.mm.yyyy.",
        ),
    ],
    "strict": Annotated[
        bool | None,
        typer.Option("--strict", help="Refuse readings that are only probable; `optbn describe` lists them."),
    ],
}


@contextmanager
def reading() -> Iterator[Callable[[int, int | None], None] | None]:
    """A progress callback for `optbn.read` that shows a bar on stderr once reading takes long, on a terminal only."""
    with bars(after=1) as show:
        yield None if show is None else partial(show, "reading")


def _form(
    header: bool | None,
    delimiter: str | None,
    decimal: str | None,
    format: str | None,
    encoding: str | None,
    missing_token: list[str] | None,
) -> dict[str, Any]:
    """The options of FORM as keywords of `optbn.read`."""
    return {
        "header": header,
        "delimiter": {"\\t": "\t", "tab": "\t"}.get(delimiter or "", delimiter),
        "decimal": decimal,
        "format": format,
        "encoding": encoding,
        "missing_tokens": (*TOKENS, *(missing_token or ())),
    }


def _reading(
    schema: Path | None, ignore: list[str] | None, column: list[str] | None, strict: bool | None, **form: Any
) -> dict[str, Any]:
    """The options of FORM and COLUMNS as keywords of `optbn.read`."""
    declared = optbn.Schema.of(schema)
    columns: dict[str, Any] = {**declared.columns, **dict.fromkeys(ignore or (), "ignore")}
    written = dict(declared.written)
    for text in column or ():
        name, kind, way = _column(text)
        columns[name] = kind
        written.pop(name, None)
        if way is not None:
            written[name] = way
    return {"schema": optbn.Schema(columns, written), **({"strict": True} if strict else {}), **_form(**form)}


def _column(text: str) -> tuple[str, Any, Any]:
    """The name, kind and way of writing in NAME=FORM."""
    from optbn.data.schema import WAYS, Written, way_of

    name, sign, form = text.rpartition("=")
    if sign and form in ("categorical", "real", "ignore"):
        return name, form, None
    levels = [level.strip() for level in form.split("<")]
    if sign and len(levels) > 1 and all(levels):
        return name, optbn.Schema.of({name: {"ordinal": levels}}).columns[name], None
    way = way_of(form)
    if not sign or way is None:
        raise UnsupportedError(
            f"--column {text!r}: expected NAME=FORM, where FORM is categorical, real, ignore, levels in order "
            f"(small<medium<large), or how the values are written: {WAYS}"
        )
    return name, "real", Written(way)


with_form = Group("how", "How the file is read", FORM, _form)
with_reading = Group("how", "How the file is read", COLUMNS | FORM, _reading)


def lines(path: str | PathLike[str]) -> list[tuple[int, str]]:
    """(number, text) of the lines of a small text file that are neither blank nor comments."""
    with open(path, encoding="utf-8-sig") as file:
        try:
            stripped = [line.strip() for line in file]
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from None
    return [(i, line) for i, line in enumerate(stripped, start=1) if line and not line.startswith("#")]
