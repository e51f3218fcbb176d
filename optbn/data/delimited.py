"""Delimited text (csv, tsv): its layout is found first (`layout`), its rows stream through Arrow's parser.

All fields are read as dictionaries of their texts, which Arrow does at about 300 MB/s, in blocks as small as that
allows.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from optbn.base.errors import DataError
from optbn.data.above import marked
from optbn.data.arrow import check_room
from optbn.data.below import Below, below
from optbn.data.fields import Fields, aligned, squeezed, squeezed_bytes, without_nulls
from optbn.data.findings import Finding
from optbn.data.layout import Layout, layout, lines_of
from optbn.data.source import Options, Source, reason
from optbn.data.text import LONGEST_ROW, Change, Origin, Text

BLOCK_BYTES = 1 << 17
BLOCK_ROWS = 512
"""A block holds one or the other, whichever is more."""


def open_table(path: Path | str | IO[bytes] | Origin, options: Options) -> Source:
    """A file, "-" for stdin, or a binary stream; its rows may be gone through again."""
    if options.delimiter is not None and len(options.delimiter.encode()) != 1:
        raise DataError(f"the delimiter {options.delimiter!r} is not a single character")
    if options.decimal not in (None, ".", ","):
        raise DataError(f"the decimal sign {options.decimal!r} is neither . nor a comma")
    origin = Origin.of(path)
    encoding, findings = origin.encoding(options.encoding)
    text = origin.text(encoding)
    head = text.head()
    blanks = aligned(lines_of(head, text.whole)) if options.delimiter is None else 0
    change: Change | None = partial(squeezed_bytes, blanks=blanks) if blanks else None
    if blanks:
        text = origin.text(encoding, change)
        head = text.head()
        what = f"the columns are aligned: {'' if blanks == 1 else 'two '}blanks side by side part them"
        findings = (*findings, Finding("certain", what))
    found = layout(text.where, head, text.whole, options)
    text.skip(found.start)
    if found.only_header and text.ended():
        names = found.names
        raise DataError(f"{text.where}: a header with {len(names):,} names but no rows below it")
    width, current = len(head) // max(1, head.count(b"\n")), text
    last = _below(origin, encoding, found, blanks)
    if found.fields.escaped:
        change = partial(without_nulls, delimiter=found.fields.delimiter)

    def rows(wanted: Sequence[str]) -> Iterator[Any]:
        nonlocal current
        current = origin.text(encoding, change)
        current.head()
        current.skip(found.start)
        blocks = parse(current, found.names, wanted, found.fields, found.changes, width, last.ragged)
        if found.repeats:
            header = dict(zip(found.names, found.header, strict=False))
            blocks = _without_names(blocks, [header.get(name, name) for name in wanted])
        return _all_but_the_last_rows(blocks, last.rows) if last.rows else blocks

    return Source(
        text.where,
        found.names,
        rows,
        found.declared,
        tokens=options.missing_tokens,
        position=lambda: current.position(),
        unnamed=found.unnamed,
        decimal=options.decimal or found.decimal,
        decimal_declared=options.decimal is not None,
        findings=(*findings, *found.findings, *last.findings),
    )


def _below(origin: Origin, encoding: str, found: Layout, blanks: int) -> Below:
    """What stands below the last row."""
    lines, whole = origin.last_lines(encoding)
    if blanks:
        lines = [squeezed(line, blanks) for line in lines]
    return below(lines[1:], found.fields, len(found.names), whole)


def _without_names(blocks: Iterator[Any], header: Sequence[str]) -> Iterator[Any]:
    """Without the rows that are the names once more."""
    for block in blocks:
        same = pa.array([True] * block.num_rows)
        for column, name in zip(block.columns, header, strict=True):
            same = pc.and_(same, pc.equal(column.dictionary_decode(), name))
        yield _encoded_again(block.filter(pc.invert(same))) if pc.any(same).as_py() else block


def _all_but_the_last_rows(blocks: Iterator[Any], count: int) -> Iterator[Any]:
    held: list[Any] = []
    for block in blocks:
        held.append(block)
        while sum(one.num_rows for one in held[1:]) >= count:
            yield held.pop(0)
    kept = sum(one.num_rows for one in held) - count
    for block in held:
        if kept > 0:
            yield _encoded_again(block.slice(0, min(kept, block.num_rows)))
        kept -= block.num_rows


def _encoded_again(block: Any) -> Any:
    """A part of a block keeps the texts of the rows it leaves out, which would count among the column's values."""
    columns = [column.dictionary_decode().dictionary_encode() for column in block.columns]
    return pa.RecordBatch.from_arrays(columns, names=block.schema.names)


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
    text: Text,
    names: Sequence[str],
    wanted: Sequence[str],
    fields: Fields,
    changes: Sequence[tuple[str, str]] = (),
    width: int = 0,
    left_out: Collection[str] = (),
) -> Iterator[Any]:
    """Record batches of dictionary columns from what is left of the text, of the wanted ones among its columns.

    `changes` are made to every field: what matches the first is replaced by the second. Lines that are `left_out` need
    not have the fields of the others.
    """
    ragged: list[Any] = []

    def refuse(row: Any) -> str:
        if row.text.rstrip("\r\n") in left_out:
            return "skip"
        ragged.append(row)
        return "error"

    block = min(max(BLOCK_BYTES, BLOCK_ROWS * max(width, text.row_length)), 2 * LONGEST_ROW)
    columns: list[Any] = []
    check_room()
    try:
        with _quiet_about(refuse):
            reader = _reader(text, names, wanted, fields, block, refuse)
        while True:
            with _quiet_about(refuse):
                batch = next(reader, None)
            if batch is None:
                break
            columns = [_changed(column, changes) for column in batch.columns]
            yield pa.RecordBatch.from_arrays(columns, names=list(wanted))
    except (pa.ArrowException, OSError) as error:
        raise _refusal(text, error, ragged, block) from None
    if (
        fields == Fields(fields.delimiter)
        and text.quotes % 2
        and any("\n" in str(column[-1]) for column in columns if len(column))
    ):
        raise DataError(f"{text.where}: a quote is opened and never closed")


def _reader(
    text: Text, names: Sequence[str], wanted: Sequence[str], fields: Fields, block: int, refuse: Callable[[Any], str]
) -> Any:
    """Arrow's parser of the text, in blocks of that many bytes; `refuse` decides on rows of another width."""
    internal = {name: str(i) for i, name in enumerate(names)}  # so that the parser need not care about names
    included = [internal[name] for name in wanted]
    return pyarrow.csv.open_csv(
        pa.PythonFile(text, mode="r"),
        read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=block, column_names=[*internal.values()]),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=fields.delimiter,
            quote_char=fields.quote,
            escape_char="\\" if fields.escaped else False,
            double_quote=not fields.escaped,
            newlines_in_values=True,
            ignore_empty_lines=len(names) > 1,
            invalid_row_handler=refuse,
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(included, pa.dictionary(pa.int32(), pa.string())),
            include_columns=included,
            check_utf8=False,
            strings_can_be_null=False,
        ),
    )


def _refusal(text: Text, error: Exception, ragged: Sequence[Any], block: int) -> Exception:
    """What to say of a text that the parser does not take: what reading it met, the first row of another width, ..."""
    if text.trouble:
        return text.trouble
    if ragged:
        row = ragged[0]
        count = f"{row.actual_columns:,} field{'s' if row.actual_columns > 1 else ''}"
        shown = row.text if len(row.text) <= 60 else row.text[:57] + "..."
        expected = f"expected {row.expected_columns:,}"
        return DataError(f"{text.where}: row {row.number:,} has {count}, {expected}: {shown!r}; {_remedy(row)}")
    if "straddling" in str(error):
        return DataError(f"{text.where}: a row is longer than {block:,} bytes; is a quote opened and never closed?")
    return DataError(f"{text.where}: {reason(error)}")


def _remedy(row: Any) -> str:
    """What to do about a row with too few or too many fields."""
    if marked(row.text):
        return "a remark among the rows is to be taken out"
    few = row.actual_columns < row.expected_columns
    return "missing cells need their delimiters" if few else "a cell with a delimiter inside needs quotes"


def _changed(column: Any, changes: Sequence[tuple[str, str]]) -> Any:
    if not changes:
        return column
    texts = column.dictionary
    for what, instead in changes:
        texts = pc.replace_substring_regex(texts, what, instead)
    return pa.DictionaryArray.from_arrays(column.indices, texts)
