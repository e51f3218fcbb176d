"""How a delimited text is laid out, found in its first rows.

Found unless given: Excel's line `sep=;`, quotes and delimiter (`fields`), lines above the table (`above`), whether a
blank follows every delimiter (then it is not part of the values), and whether the first row is a header (`header`).
Without a header the columns are X1, X2, ...

Names: an empty one becomes X and the number of its column, of two equal ones the second gets .2. A second line that
holds the number of levels of each column (as GOBNILP and benchpress write) declares them and is no row; one of units,
types or questions above columns of numbers is none either. `below` knows what stands under the last row.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from optbn.base.errors import DataError
from optbn.data.above import names_behind_a_mark, preamble, told_above
from optbn.data.fields import DELIMITERS, Fields, find_delimiter, quoting
from optbn.data.findings import Finding
from optbn.data.header import arities, explained, fitted, is_header, named, of_two_lines, trimmed, without_repeats
from optbn.data.numerals import numerals, ways
from optbn.data.schema import Declared
from optbn.data.source import Options, reason

WITHOUT_BLANK = ("^ ", "")
WITHOUT_BLANKS_AFTER = (" +$", "")
WITHOUT_PADDING = ("^ +| +$", "")
UNSEEN = "\u00a0\u200b\u2060\ufeff\t"
WITHOUT_UNSEEN = ("^[ \u00a0\u200b\u2060\ufeff\t]+|[ \u00a0\u200b\u2060\ufeff\t]+$", "")
WITHOUT_FORMULA = ('^="(.*)"$', "\\1")

_SEP = re.compile(rb"\A[\"']?sep=(.)[\"']?\r?\n", re.IGNORECASE)
_OTHERS = re.compile(
    r"\s*(?:(?P<JSON>\{\s*\"|\[\s*[\[{])|(?P<HTML><(?:!doctype html|html|table))|(?P<XML><\?xml))", re.I
)


@dataclass(frozen=True)
class Layout:
    """What stands where. `start` bytes (as UTF-8) come before the first row of values; `changes` are made to every
    field; with `repeats`, rows that are the names once more are left out."""

    fields: Fields
    names: tuple[str, ...]
    start: int
    changes: tuple[tuple[str, str], ...] = ()
    declared: Mapping[str, Declared] = field(default_factory=dict)
    unnamed: frozenset[str] = frozenset()
    decimal: str | None = None
    findings: tuple[Finding, ...] = ()
    only_header: bool = False
    header: tuple[str, ...] = ()
    repeats: bool = False


def layout(where: str, head: bytes, whole: bool, options: Options) -> Layout:
    """The layout of a text that begins like this; `whole` if that is all of it."""
    findings: list[Finding] = []
    skipped = 0
    if options.delimiter is None and (sep := _SEP.match(head)):
        skipped = sep.end()
        findings.append(
            Finding("certain", f"the first line says that {sep[1].decode(errors='replace')!r} is the delimiter")
        )
    lines = lines_of(head[skipped:], whole)
    if not any(line.strip() for line in lines):
        raise DataError(f"{where}: {'nothing but blank lines' if head else 'the file is empty'}")
    if other := _OTHERS.match(lines[0]):
        raise DataError(f"{where}: this is {other.lastgroup}, expected a table of delimited text; save it as csv")
    try:
        fields = _fields(lines, options, sep[1].decode(errors="replace") if skipped and sep else None, findings)
        behind: list[str] | None = None
        if options.header is not False and (above := preamble(lines, fields, options.header)):
            skipped += len("".join(lines[:above]).encode())
            findings.append(told_above(lines[:above]))
            last, lines = lines[above - 1], lines[above:]
            width = len(next(fields.reader(lines), []))
            behind = names_behind_a_mark(last, fields, width) if options.header is None else None
        rows = [row for row in fields.reader(lines) if row]
    except csv.Error as error:
        raise DataError(f"{where}: not a table of texts ({reason(error)})") from None
    rows, changes = _bare(rows, fields, options, findings)
    if options.header is None and (names := of_two_lines(rows, findings)):
        skipped += _length_of_rows(head[skipped:], fields, 1)
        return _below_names(where, head, skipped, fields, [names, *rows[2:]], changes, options, findings)
    header = options.header
    if header is None:
        header = is_header(rows, options.missing_tokens)
        if not header and _only_first_quoted(lines, fields, len(rows[0])):
            findings.append(
                Finding("certain", "the first row has the names: all of it stands in quotes, the rest does not")
            )
            header = True
    if not header and behind is None:
        numbered = tuple(f"X{i}" for i in range(1, len(rows[0]) + 1))
        if options.header is None:
            what = f"the first row looks like values, so there is no header and the columns are X1 to X{len(numbered)}"
            findings.append(Finding("probable", what, remedy="--header if it holds the names"))
        return Layout(fields, numbered, skipped, changes, decimal=_decimal(rows), findings=tuple(findings))
    if not header and behind is not None:
        findings.append(Finding("probable", f"the names are those of the remark above the table ({', '.join(behind)})"))
        return Layout(fields, tuple(behind), skipped, changes, decimal=_decimal(rows), findings=tuple(findings))
    return _below_names(where, head, skipped, fields, rows, changes, options, findings)


def _only_first_quoted(lines: Sequence[str], fields: Fields, width: int) -> bool:
    """Whether each field of the first line stands in quotes, and in no line below: so R writes numbers below names."""
    filled = [line for line in lines if line.strip()]
    below = [fields.quoted(line) for line in filled[1:]]
    return width > 1 and fields.quoted(filled[0]) == width and len(below) > 1 and max(below) < width


def _below_names(
    where: str,
    head: bytes,
    skipped: int,
    fields: Fields,
    rows: Sequence[Sequence[str]],
    changes: tuple[tuple[str, str], ...],
    options: Options,
    findings: list[Finding],
) -> Layout:
    """The layout of a text whose first row has the names."""
    first, body, below = list(rows[0]), list(rows[1:]), 0
    repeats, header = False, tuple(rows[0])
    if options.header is None:
        others = without_repeats(first, body)
        if repeats := len(first) > 1 and len(others) < len(body):
            what = "the names stand once more among the rows, as where files are put together; these are no rows"
            findings.append(Finding("probable", what))
            body = list(others)
        first = trimmed(fitted(first, body, findings), findings)
        first, below = explained(first, body, findings)
        body = body[below:]
    names, unnamed = named(where, first, fields.delimiter, findings)
    found = arities(body, names) if options.header is None else None
    declared: Mapping[str, Declared] = {}
    if found is not None:
        declared, finding = found
        findings.append(finding)
        body, below = body[1:], below + 1
    start = skipped + _length_of_rows(head[skipped:], fields, 1 + below)
    decimal = _decimal(body)
    only = not body
    return Layout(fields, names, start, changes, declared, unnamed, decimal, tuple(findings), only, header, repeats)


def _fields(lines: Sequence[str], options: Options, sep: str | None, findings: list[Finding]) -> Fields:
    """How lines are split."""
    quote, escaped = quoting(lines)
    if quote == "'":
        findings.append(Finding("certain", "apostrophes stand around the cells, as quotes, and are left out"))
    if escaped:
        findings.append(Finding("certain", "quotes within quotes are written with a backslash before them"))
    delimiter = options.delimiter or sep
    if delimiter is None:
        delimiter = find_delimiter(lines, DELIMITERS.replace(options.decimal or ".", ""), quote, escaped)
    return Fields(delimiter, quote, escaped)


def _bare(
    rows: list[list[str]], fields: Fields, options: Options, findings: list[Finding]
) -> tuple[list[list[str]], tuple[tuple[str, str], ...]]:
    """The rows without what stands around every cell and belongs to none, and the changes that make them so."""
    changes: list[tuple[str, str]] = []
    if options.delimiter is None and fields.delimiter != " ":
        if _blank_follows(rows):
            changes.append(WITHOUT_BLANK)
        if _blanks_before(rows):
            changes.append(WITHOUT_BLANKS_AFTER)
        if not changes and options.header is None and _padded(rows):
            findings.append(Finding("certain", "cells are padded with blanks to one width; these are left out"))
            changes.append(WITHOUT_PADDING)
    cells = {cell for row in rows for cell in row if cell}
    if options.header is None and any(cell[0] in UNSEEN or cell[-1] in UNSEEN for cell in cells):
        findings.append(
            Finding("certain", "blanks that are not seen (no-break, zero width, tabs) are left out of cells")
        )
        changes.append(WITHOUT_UNSEEN)
    if options.header is None and any(cell.startswith('="') and cell.endswith('"') for cell in cells):
        findings.append(Finding("certain", '="..", as spreadsheets write texts, is read as the text within'))
        changes.append(WITHOUT_FORMULA)
    for what, instead in changes:
        rows = [[re.sub(what, instead, cell) for cell in row] for row in rows]
    return rows, tuple(changes)


def _decimal(rows: Sequence[Sequence[str]]) -> str | None:
    """A comma if some column of the first rows can only be read with decimal commas."""
    width = max(map(len, rows), default=0)
    for i in range(width):
        cells = {row[i] for row in rows if i < len(row) and "," in row[i]}
        parts = numerals(cells)
        known = [part for part in parts if part is not None]
        if len(known) < 2 or 2 * len(known) < len(parts):
            continue
        found = ways(known)
        if found and all(way.decimal == "," for way in found):
            return ","
    return None


def lines_of(head: bytes, whole: bool) -> list[str]:
    """The lines; the last is left out where it may be cut."""
    lines = [line.decode(errors="replace") for line in head.splitlines(keepends=True)]
    return lines if whole else lines[:-1]


def _blank_follows(rows: Sequence[Sequence[str]]) -> bool:
    cells = [cell for row in rows for cell in row[1:]]
    return bool(cells) and all(cell.startswith(" ") for cell in cells)


def _blanks_before(rows: Sequence[Sequence[str]]) -> bool:
    cells = [cell for row in rows for cell in row[:-1]]
    return bool(cells) and all(cell.endswith(" ") for cell in cells)


def _padded(rows: Sequence[Sequence[str]]) -> bool:
    """Whether texts of different lengths fill some column to the same width, its name included."""
    for cells in zip(*rows, strict=False):
        lengths = {len(cell.strip(" ")) for cell in cells}
        if len(rows) > 2 and len(set(map(len, cells))) == 1 and len(lengths) > 1 and max(lengths) <= len(cells[0]):
            return True
    return False


def _length_of_rows(head: bytes, fields: Fields, rows: int) -> int:
    """How many bytes the first rows and any blank lines above them take."""
    lines = head.splitlines(keepends=True)
    reader = fields.reader(line.decode(errors="replace") for line in lines)
    for _ in range(rows):
        while not next(reader):
            pass
    return sum(map(len, lines[: reader.line_num]))
