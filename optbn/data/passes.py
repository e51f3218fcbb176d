"""One pass over a source, which encodes all rows at once or in batches.

A column that turns out to be written in another way than its first rows is gone through once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from optbn.base.errors import DataError
from optbn.base.room import check_room
from optbn.data.column import Known
from optbn.data.encode import Encoder
from optbn.data.findings import refuse
from optbn.data.missing import Encoded
from optbn.data.source import Source

Progress = Callable[[int, int | None], None]


def take_all(
    source: Source, known: dict[str, Known], progress: Progress | None, keep: bool
) -> tuple[list[Encoded], list[str]]:
    """All columns encoded, and the names of those to read again; stops early when what is still to come would not fit
    into memory."""
    encoder = Encoder(source.where, known, source.tokens, keep)
    check_at = 1
    for batch in source.rows(list(known)):
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
    unsettled = encoder.unsettled
    return encoder.finish(), unsettled


def encoded_blocks(source: Source, known: Mapping[str, Known], rows: int) -> Iterator[list[Encoded]]:
    """The columns of consecutive rows. A column of numbers that turns out to be written in another way than programs do
    is gone through once, from here to its end, to find that way."""
    done = 0
    for group in _groups(source.rows(list(known)), rows):
        encoder = _encoder(source, known, group, done)
        if unsettled := encoder.unsettled:
            again = {name: replace(known[name], texts=True) for name in unsettled}
            columns, _ = take_all(source, again, None, keep=False)
            refuse(source.where, [finding for column in columns for finding in column.findings], strict=False)
            known = {
                **known,
                **{column.name: replace(known[column.name], written=column.written) for column in columns},
            }
            encoder = _encoder(source, known, group, done)
        done += encoder.rows
        yield encoder.finish()
    if not done:
        raise DataError(f"{source.where}: there are no rows")


def _encoder(source: Source, known: Mapping[str, Known], group: Sequence[Any], first_row: int) -> Encoder:
    encoder = Encoder(source.where, known, source.tokens, first_row=first_row)
    for batch in group:
        encoder.add(batch)
    return encoder


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
