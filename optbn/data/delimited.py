"""Delimited text (csv, tsv): the dialect is found in the first rows, the rest streams through Arrow's parser.

Found unless given: the delimiter (of , tab ; | and space the one that splits most of the first rows into the same
number of fields, two at least, the first row too if possible; the comma last where numbers have one), whether a blank
follows every delimiter (then it is not part of the values), and whether the first row is a header. It is one unless a
cell of it is a number or a missing-value token (but 0..n-1 and 1..n count as names), or more than half of its cells
turn up again below in their own column. Without a header the columns are X1, X2, ...

All fields are read as dictionaries of their texts, which Arrow does at about 300 MB/s, in blocks as small as that
allows.
"""

from __future__ import annotations

import contextlib
import csv
import logging
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from optbn.base.errors import DataError
from optbn.data.arrow import check_room
from optbn.data.schema import is_number
from optbn.data.source import Options, Source, reason
from optbn.data.text import LONGEST_ROW, Text

DELIMITERS = ",\t;| "
BLOCK_BYTES = 1 << 17
BLOCK_ROWS = 512
"""A block holds one or the other, whichever is more."""

_WITHOUT_BLANK = ("^ ", "")
_POINT_FOR_COMMA = (r"^([+-]?[0-9]*),([0-9]+(?:[eE][+-]?[0-9]+)?)$", r"\1.\2")

_log = logging.getLogger("optbn.data")


def open_table(path: Path | str | IO[bytes], options: Options) -> Source:
    """A file, "-" for stdin, or a binary stream."""
    text = open_text(path, options.encoding)
    if options.delimiter is not None and len(options.delimiter.encode()) != 1:
        raise DataError(f"the delimiter {options.delimiter!r} is not a single character")
    if options.decimal not in (".", ","):
        raise DataError(f"the decimal sign {options.decimal!r} is neither . nor a comma")
    head = text.head()
    lines = _lines(head, text.whole)
    if not any(line.strip() for line in lines):
        raise DataError(f"{text.where}: {'nothing but blank lines' if head else 'the file is empty'}")
    try:
        delimiter = options.delimiter or _delimiter(lines, DELIMITERS.replace(options.decimal, ""))
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error as error:
        raise DataError(f"{text.where}: not a table of texts ({reason(error)})") from None
    blank_follows = options.delimiter is None and delimiter != " " and _blank_follows(rows)
    if blank_follows:
        rows = [[field.removeprefix(" ") for field in row] for row in rows]
    changes = (_WITHOUT_BLANK,) if blank_follows else ()
    if options.decimal == ",":
        rows = [[re.sub(*_POINT_FOR_COMMA, field) for field in row] for row in rows]
        changes = (*changes, _POINT_FOR_COMMA)
    header = options.header if options.header is not None else _is_header(rows, options.missing_tokens)
    if header:
        names = tuple(rows[0])
        text.skip(_length_of_first_row(text.where, head, delimiter))
        if len(rows) == 1 and text.ended():
            raise DataError(f"{text.where}: a header with {len(names):,} names but no rows below it")
        if "" in names:
            column, why = names.index("") + 1, ""
            if delimiter == " ":
                why = " (blanks side by side? put one blank, a tab or a comma between fields)"
            elif column == 1:
                why = " (the row numbers of a data frame? write the file without its index)"
            elif column == len(names):
                why = " (a delimiter at the end of every row? take it away)"
            raise DataError(f"{text.where}: column {column} has no name{why}")
    else:
        names = tuple(f"X{i}" for i in range(1, len(rows[0]) + 1))
        if options.header is None:
            _log.warning(
                "%s: the first row looks like values, so there is no header and the columns are X1 to X%d",
                text.where,
                len(names),
            )

    def parsed(wanted: Sequence[str]) -> Iterator[Any]:
        return parse(text, names, wanted, delimiter, changes)

    return Source(text.where, names, parsed, tokens=options.missing_tokens, position=text.position)


def open_text(path: Path | str | IO[bytes], encoding: str) -> Text:
    """The bytes of a file, of "-" for stdin, or of a binary stream."""
    if isinstance(path, Path):
        return Text(str(path), path.open("rb", buffering=0), path.stat().st_size, encoding)
    if isinstance(path, str):
        return Text("stdin", sys.stdin.buffer, None, encoding)
    name = getattr(path, "name", None)
    return Text(name if isinstance(name, str) else "the stream", path, None, encoding)


@contextlib.contextmanager
def _quiet_about(callback: object) -> Iterator[None]:
    """Nothing on stderr when the parser cannot call back: a ragged row that is not UTF-8 is refused all the same."""
    before = sys.unraisablehook
    sys.unraisablehook = lambda trouble: None if trouble.object is callback else before(trouble)
    try:
        yield
    finally:
        sys.unraisablehook = before


def parse(
    text: Text, names: Sequence[str], wanted: Sequence[str], delimiter: str, changes: Sequence[tuple[str, str]] = ()
) -> Iterator[Any]:
    """Record batches of dictionary columns from what is left of the text, of the wanted ones among its columns.

    `changes` are made to every field: what matches the first is replaced by the second.
    """
    import pyarrow as pa
    import pyarrow.csv

    ragged: list[Any] = []

    def refuse(row: Any) -> str:
        ragged.append(row)
        return "error"

    texts = pa.dictionary(pa.int32(), pa.string())
    block = min(max(BLOCK_BYTES, BLOCK_ROWS * text.row_length), 2 * LONGEST_ROW)
    internal = {name: str(i) for i, name in enumerate(names)}  # so that the parser need not care about names
    included = [internal[name] for name in wanted]
    columns: list[Any] = []
    check_room()
    try:
        with _quiet_about(refuse):
            reader = pyarrow.csv.open_csv(
                pa.PythonFile(text, mode="r"),
                read_options=pyarrow.csv.ReadOptions(
                    use_threads=False, block_size=block, column_names=[*internal.values()]
                ),
                parse_options=pyarrow.csv.ParseOptions(
                    delimiter=delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=len(names) > 1,
                    invalid_row_handler=refuse,
                ),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types=dict.fromkeys(included, texts),
                    include_columns=included,
                    check_utf8=False,
                    strings_can_be_null=False,
                ),
            )
        while True:
            with _quiet_about(refuse):
                batch = next(reader, None)
            if batch is None:
                break
            columns = [_changed(column, changes) for column in batch.columns]
            yield pa.RecordBatch.from_arrays(columns, names=list(wanted))
    except (pa.ArrowException, OSError) as error:
        if text.trouble:
            raise text.trouble from None
        if ragged:
            row = ragged[0]
            fields = f"{row.actual_columns:,} field{'s' if row.actual_columns > 1 else ''}"
            shown = row.text if len(row.text) <= 60 else row.text[:57] + "..."
            raise DataError(
                f"{text.where}: row {row.number:,} has {fields}, expected {row.expected_columns:,}: {shown!r}"
            ) from None
        if "straddling" in str(error):
            raise DataError(
                f"{text.where}: a row is longer than {block:,} bytes; is a quote opened and never closed?"
            ) from None
        raise DataError(f"{text.where}: {reason(error)}") from None
    if text.quotes % 2 and any("\n" in str(column[-1]) for column in columns if len(column)):
        raise DataError(f"{text.where}: a quote is opened and never closed")


def _changed(column: Any, changes: Sequence[tuple[str, str]]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not changes:
        return column
    texts = column.dictionary
    for what, instead in changes:
        texts = pc.replace_substring_regex(texts, what, instead)
    return pa.DictionaryArray.from_arrays(column.indices, texts)


def _lines(head: bytes, whole: bool) -> list[str]:
    """The lines; the last is left out where it may be cut."""
    lines = [line.decode(errors="replace") for line in head.splitlines(keepends=True)]
    return lines if whole else lines[:-1]


def _delimiter(lines: list[str], candidates: str) -> str:
    best, choice = (0.0, False, 0), ","
    for delimiter in candidates:
        counts = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        usual = max(set(counts), key=counts.count)
        if usual > 1:
            rank = (round(counts.count(usual) / len(counts), 1), counts[0] == usual, 0 if delimiter == " " else usual)
            if rank > best:
                best, choice = rank, delimiter
    return choice


def _blank_follows(rows: list[list[str]]) -> bool:
    fields = [field for row in rows for field in row[1:]]
    return bool(fields) and all(field.startswith(" ") for field in fields)


def _is_header(rows: list[list[str]], tokens: Sequence[str]) -> bool:
    first, below = rows[0], rows[1:1001]
    numbered = [[*map(str, range(start, start + len(first)))] for start in (0, 1)]
    if len(first) > 2 and first in numbered:
        return not _repeated(first, below)
    if any(cell and (is_number(cell) or cell in tokens) for cell in first):
        return False
    return 2 * _repeated(first, below) <= len(first)


def _repeated(first: list[str], below: list[list[str]]) -> int:
    """How many cells of the first row turn up again in their own column."""
    return sum(any(i < len(row) and cell == row[i] for row in below) for i, cell in enumerate(first))


def _length_of_first_row(where: str, head: bytes, delimiter: str) -> int:
    """How many bytes the header and any blank lines above it take."""
    lines = head.splitlines(keepends=True)
    reader = csv.reader((line.decode(errors="replace") for line in lines), delimiter=delimiter)
    while not next(reader):
        pass
    length = sum(map(len, lines[: reader.line_num]))
    try:
        head[:length].decode()
    except UnicodeDecodeError as error:
        bad = head[error.start : error.start + 1].hex()
        raise DataError(
            f"{where}: byte 0x{bad} in the header is not UTF-8; give the encoding (cp1252 or latin-1, say)"
        ) from None
    return length
