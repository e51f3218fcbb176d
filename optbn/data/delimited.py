"""Delimited text (csv, tsv): the dialect is found in the first rows, the rest streams through Arrow's parser.

Found unless given: the delimiter (of , tab ; | and space the one that splits most of the first rows into the same
number of fields, two at least), whether a blank follows every delimiter (then it is not part of the values), and
whether the first row is a header. It is one unless a cell of it is a number or a missing-value token (but 0..n-1 and
1..n count as names), or more than half of its cells turn up again below in their own column. Without a header the
columns are X1, X2, ...

All fields are read as dictionaries of their texts, which Arrow does at about 300 MB/s, in blocks as small as that
allows.
"""

from __future__ import annotations

import codecs
import csv
import io
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from optbn.data.schema import is_number
from optbn.data.source import Options, Source
from optbn.errors import DataError

DELIMITERS = ",\t;| "
HEAD = 1 << 16
"""Bytes in which the dialect is looked for (more when a single row is longer)."""
LONGEST_ROW = 1 << 25
_MEGABYTE = 1 << 20

_log = logging.getLogger("optbn.data")


def open_table(path: Path | str | IO[bytes], options: Options) -> Source:
    """A file, "-" for stdin, or a binary stream."""
    where, stream, size = _stream(path)
    text = _Text(where, stream, size, options.encoding)
    head = text.head()
    if not head:
        raise DataError(f"{where}: {'no data came' if size is None else 'the file is empty'}")
    delimiter = options.delimiter or _delimiter(head)
    rows = [row for row in csv.reader(_lines(head), delimiter=delimiter) if row]
    if not rows:
        raise DataError(f"{where}: nothing but blank lines")
    blank_follows = options.delimiter is None and delimiter != " " and _blank_follows(rows)
    if blank_follows:
        rows = [[field.removeprefix(" ") for field in row] for row in rows]
    header = options.header if options.header is not None else _is_header(rows, options)
    if header:
        names = tuple(rows[0])
        text.skip(_length_of_first_row(head, delimiter))
        if len(rows) == 1 and text.ended():
            raise DataError(f"{where}: a header with {len(names)} names but no rows below it")
        if "" in names:
            raise DataError(
                f"{where}: column {names.index('') + 1} has no name (the row numbers of a data frame? "
                "write the file without its index)"
            )
    else:
        names = tuple(f"X{i}" for i in range(1, len(rows[0]) + 1))
        if options.header is None:
            _log.warning("%s: the first row looks like values, so the columns are named X1 to X%d", where, len(names))
    batches = _batches(where, text, names, delimiter, blank_follows)
    return Source(where, names, batches, tokens=options.tokens, position=text.position)


def _batches(where: str, text: _Text, names: tuple[str, ...], delimiter: str, blank_follows: bool) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.csv

    ragged: list[Any] = []

    def refuse(row: Any) -> str:
        ragged.append(row)
        return "error"

    text_type = pa.dictionary(pa.int32(), pa.string())
    block = min(max(_MEGABYTE, 4096 * text.row_length), 64 * _MEGABYTE)
    internal = [str(i) for i in range(len(names))]  # the parser need not know names
    try:
        reader = pyarrow.csv.open_csv(
            pa.PythonFile(text, mode="r"),
            read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=block, column_names=internal),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=True,
                ignore_empty_lines=len(names) > 1,
                invalid_row_handler=refuse,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(internal, text_type),
                check_utf8=False,
                strings_can_be_null=False,
            ),
        )
        for batch in reader:
            columns = batch.columns
            if blank_follows:
                columns = [_without_blank(column) for column in columns]
            yield pa.RecordBatch.from_arrays(columns, names=list(names))
    except pa.ArrowInvalid as error:
        if text.trouble:
            raise text.trouble from None
        if ragged:
            row = ragged[0]
            shown = row.text if len(row.text) <= 60 else row.text[:57] + "..."
            raise DataError(
                f"{where}: row {row.number:,} has {row.actual_columns:,} fields, expected "
                f"{row.expected_columns:,}: {shown!r}"
            ) from None
        if "straddling" in str(error):
            raise DataError(
                f"{where}: a row is longer than {block // _MEGABYTE} MB; is a quote opened and never closed?"
            ) from None
        raise DataError(f"{where}: {' '.join(str(error).split())}") from None


def _without_blank(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    words = pc.replace_substring_regex(column.dictionary, "^ ", "")
    return pa.DictionaryArray.from_arrays(column.indices, words)


class _Text(io.RawIOBase):
    """The bytes of a text file after its header, as UTF-8, refused as soon as they are plainly not text."""

    def __init__(self, where: str, stream: IO[bytes], size: int | None, encoding: str) -> None:
        super().__init__()
        self.where = where
        self.stream = stream
        self.size = size
        self.done = 0
        self.row_length = 0
        self.trouble: DataError | None = None
        self._waiting = b""
        self._started = False
        try:
            codec = codecs.lookup(encoding)
        except LookupError:
            raise DataError(f"{where}: there is no encoding {encoding!r}; try utf-8 or latin-1") from None
        self._decoder = None if codec.name == "utf-8" else codec.incrementaldecoder()

    def head(self) -> bytes:
        """The first bytes, at least two whole rows of them if there are two; they stay to be read."""
        while True:
            more = self._next(max(HEAD, len(self._waiting)))
            self._waiting += more
            first = self._waiting.find(b"\n") if b"\n" in self._waiting else self._waiting.find(b"\r")
            if not more or (first >= 0 and len(self._waiting) > 4 * first and len(self._waiting) >= HEAD // 2):
                break
            if len(self._waiting) > LONGEST_ROW:
                raise DataError(
                    f"{self.where}: no rows found in the first {LONGEST_ROW // _MEGABYTE} MB; expected lines of text"
                )
        self._waiting = self._waiting.removeprefix(codecs.BOM_UTF8)
        self.row_length = len(self._waiting) // max(1, len(self._waiting.splitlines()))
        return self._waiting

    def skip(self, count: int) -> None:
        self._waiting = self._waiting[count:]

    def ended(self) -> bool:
        """Whether nothing but white space is left."""
        while not self._waiting.strip():
            more = self._next(HEAD)
            if not more:
                return True
            self._waiting += more
        return False

    def position(self) -> tuple[int, int | None]:
        return self.done, self.size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._waiting:
            try:
                self._waiting = self._next(len(buffer))
            except DataError as error:  # the parser would wrap it
                self.trouble = error
                raise OSError(str(error)) from None
        count = min(len(buffer), len(self._waiting))
        buffer[:count] = self._waiting[:count]
        self._waiting = self._waiting[count:]
        return count

    def _next(self, count: int) -> bytes:
        raw = self.stream.read(count)
        if self._decoder is not None:
            raw = self._recoded(raw)
        if b"\0" in raw:
            offset = self.done + raw.index(b"\0")
            raise DataError(f"{self.where}: binary content (a zero byte at {offset:,}), expected lines of text")
        self.done += len(raw)
        return raw

    def _recoded(self, raw: bytes) -> bytes:
        assert self._decoder is not None
        try:
            text = self._decoder.decode(raw, final=not raw)
            while raw and not text:
                raw = self.stream.read(HEAD)
                text = self._decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            raise DataError(f"{self.where}: not valid {error.encoding}: {error.reason}") from None
        return text.encode()


def _stream(path: Path | str | IO[bytes]) -> tuple[str, IO[bytes], int | None]:
    if isinstance(path, str) and path == "-":
        return "stdin", sys.stdin.buffer, None
    if isinstance(path, Path):
        return str(path), path.open("rb", buffering=0), os.stat(path).st_size
    if hasattr(path, "read"):
        name = getattr(path, "name", None)
        return name if isinstance(name, str) else "the stream", path, None  # type: ignore[return-value]
    raise DataError(f"expected a path or a binary stream, not {type(path).__name__}")


def _lines(head: bytes) -> list[str]:
    """Whole lines (the last may be cut and is left out unless it is alone)."""
    lines = [line.decode(errors="replace") for line in head.splitlines(keepends=True)]
    return lines[:-1] if len(lines) > 1 and not lines[-1].endswith(("\n", "\r")) else lines


def _delimiter(head: bytes) -> str:
    best, choice = (0.0, 0), ","
    lines = _lines(head)
    for delimiter in DELIMITERS:
        counts = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        if not counts:
            continue
        usual = max(set(counts), key=counts.count)
        if usual < 2:
            continue
        rank = (round(counts.count(usual) / len(counts), 1), usual if delimiter != " " else 0)
        if rank > best:
            best, choice = rank, delimiter
    return choice


def _blank_follows(rows: list[list[str]]) -> bool:
    fields = [field for row in rows for field in row[1:]]
    return bool(fields) and all(field.startswith(" ") for field in fields)


def _is_header(rows: list[list[str]], options: Options) -> bool:
    first, below = rows[0], rows[1:1001]
    if [*map(str, range(len(first)))] == first or [*map(str, range(1, len(first) + 1))] == first:
        return len(first) > 2 and not _repeated(first, below)
    if any(is_number(cell) or cell in options.tokens[1:] for cell in first):
        return False
    return 2 * _repeated(first, below) <= len(first)


def _repeated(first: list[str], below: list[list[str]]) -> int:
    """How many cells of the first row turn up again in their own column."""
    return sum(any(cell == row[i] for row in below if i < len(row)) for i, cell in enumerate(first))


def _length_of_first_row(head: bytes, delimiter: str) -> int:
    """How many bytes the header and any blank lines above it take."""
    lines = head.splitlines(keepends=True)
    reader = csv.reader((line.decode(errors="replace") for line in lines), delimiter=delimiter)
    while not next(reader):
        pass
    return sum(map(len, lines[: reader.line_num]))
