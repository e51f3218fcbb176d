"""What verbs that read data have in common: their options, and progress on anything long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

import typer

from optbn.cli.progress import bars

DATA = typer.Argument(help="A csv, tsv, parquet, Arrow or ARFF file; - is csv from stdin.", metavar="DATA")

DataArgument = Annotated[str, DATA]
SchemaOption = Annotated[
    Path | None,
    typer.Option("--schema", "-s", help='What is known of the columns, as JSON: {"age": "real", "sex": ["f", "m"]}.'),
]
MissingOption = Annotated[
    str,
    typer.Option(
        "--missing", help='What to do with missing values: refuse, as_level, drop or impute; "drop, age=impute".'
    ),
]
HeaderOption = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first row holds the names.", show_default="found out"),
]
DelimiterOption = Annotated[
    str | None, typer.Option("--delimiter", help="What separates the fields of a row.", show_default="found out")
]
FormatOption = Annotated[
    str | None,
    typer.Option("--format", help="csv, parquet, arrow or arff.", show_default="by the ending"),
]
EncodingOption = Annotated[str, typer.Option("--encoding", help="Of text files.")]
TokenOption = Annotated[
    list[str] | None,
    typer.Option("--missing-token", help="A text that stands for a missing value, instead of the usual ones; repeat."),
]


@contextmanager
def reading() -> Iterator[Callable[[int, int | None], None] | None]:
    """A progress callback for `optbn.read` that shows a bar on stderr once reading takes long, on a terminal only."""
    with bars(after=1) as show:
        yield None if show is None else partial(show, "reading")


def how(
    header: bool | None, delimiter: str | None, format: str | None, encoding: str, missing_token: list[str] | None
) -> dict[str, Any]:
    """The options as keywords for `optbn.read`."""
    from optbn.data.missing import TOKENS

    return {
        "header": header,
        "delimiter": {"\\t": "\t", "tab": "\t"}.get(delimiter or "", delimiter),
        "format": format,
        "encoding": encoding,
        "missing_tokens": TOKENS if missing_token is None else tuple(missing_token),
    }


def lines(path: str | PathLike[str]) -> list[tuple[int, str]]:
    """(number, text) of the lines of a small text file that are neither blank nor comments."""
    from optbn.errors import DataError

    with open(path, encoding="utf-8-sig") as file:
        try:
            stripped = [line.strip() for line in file]
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from None
    return [(i, line) for i, line in enumerate(stripped, start=1) if line and not line.startswith("#")]
