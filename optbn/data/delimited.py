"""Delimited text (csv, tsv): its layout is found first (`layout`), its rows stream through Arrow's parser.

All fields are read as dictionaries of their texts, which Arrow does at about 300 MB/s, in blocks as small as that
allows.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from optbn.base.errors import DataError
from optbn.data.arrow import check_room
from optbn.data.findings import Finding
from optbn.data.layout import Layout, is_total, layout
from optbn.data.source import Options, Source, reason
from optbn.data.text import LONGEST_ROW, Origin, Text

BLOCK_BYTES = 1 << 17
BLOCK_ROWS = 512
"""A block holds one or the other, whichever is more."""


def open_table(path: Path | str | IO[bytes], options: Options) -> Source:
    """A file, "-" for stdin, or a binary stream; its rows may be gone through again."""
    if options.delimiter is not None and len(options.delimiter.encode()) != 1:
        raise DataError(f"the delimiter {options.delimiter!r} is not a single character")
    if options.decimal not in (None, ".", ","):
        raise DataError(f"the decimal sign {options.decimal!r} is neither . nor a comma")
    origin = Origin.of(path)
    encoding, findings = origin.encoding(options.encoding)
    text = origin.text(encoding)
    head = text.head()
    found = layout(text.where, head, text.whole, options)
    text.skip(found.start)
    if found.only_header and text.ended():
        names = found.names
        raise DataError(f"{text.where}: a header with {len(names):,} names but no rows below it")
    width, current = len(head) // max(1, head.count(b"\n")), text
    last = _total(origin, encoding, found)
    if last:
        findings = (*findings, Finding("probable", f"the last row, {last[:40]!r}, adds up the others and is left out"))

    def rows(wanted: Sequence[str]) -> Iterator[Any]:
        nonlocal current
        current = origin.text(encoding)
        current.head()
        current.skip(found.start)
        blocks = parse(current, found.names, wanted, found.delimiter, found.changes, width)
        return _all_but_the_last_row(blocks) if last else blocks

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
        findings=(*findings, *found.findings),
    )


def _total(origin: Origin, encoding: str, found: Layout) -> str:
    """The last line, if it adds up the others; else nothing."""
    lines = [line for line in origin.last_lines(encoding) if line.strip()]
    return lines[-1] if len(lines) > 1 and is_total(found.names, lines[-1], found, lines[-40:-1]) else ""


def _all_but_the_last_row(blocks: Iterator[Any]) -> Iterator[Any]:
    held = next(blocks, None)
    for block in blocks:
        yield held
        held = block
    if held is not None and held.num_rows > 1:
        import pyarrow as pa

        kept = held.slice(0, held.num_rows - 1)
        # Encoded again: a slice keeps the texts of the row it leaves out, which would count among the column's values.
        columns = [column.dictionary_decode().dictionary_encode() for column in kept.columns]
        yield pa.RecordBatch.from_arrays(columns, names=kept.schema.names)


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
    delimiter: str,
    changes: Sequence[tuple[str, str]] = (),
    width: int = 0,
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
    block = min(max(BLOCK_BYTES, BLOCK_ROWS * max(width, text.row_length)), 2 * LONGEST_ROW)
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
            few = row.actual_columns < row.expected_columns
            remedy = "missing cells need their delimiters" if few else "a cell with a delimiter inside needs quotes"
            raise DataError(
                f"{text.where}: row {row.number:,} has {fields}, expected {row.expected_columns:,}: {shown!r}; {remedy}"
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
