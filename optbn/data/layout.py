"""How a delimited text is laid out, found in its first rows and its last line.

Found unless given: the encoding (UTF-8 or UTF-16 by its mark; else Windows' western one), Excel's line `sep=;`, the
delimiter (of , tab ; | and space the one that splits most of the first rows into the same number of fields, two at
least, the first row too if possible; the comma last where numbers have one), whether a blank follows every delimiter
(then it is not part of the values), and whether the first row is a header. It is one unless a cell of it is a number or
a missing-value token (but 0..n-1 and 1..n count as names), or more than half of its cells turn up again below in their
own column. Without a header the columns are X1, X2, ...

Names: an empty one becomes X and the number of its column, of two equal ones the second gets .2. A second line that
holds the number of levels of each column (as GOBNILP and benchpress write) declares them and is no row; a last line
of numbers and the word "Total" is none either, nor are a title and remarks above the header.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from optbn.base.errors import DataError
from optbn.data.dataset import Categorical
from optbn.data.findings import Finding
from optbn.data.numerals import numerals, ways
from optbn.data.schema import Declared, is_number, is_whole
from optbn.data.source import Options, reason

DELIMITERS = ",\t;| "
WITHOUT_BLANK = ("^ ", "")
MOST_ABOVE = 30
"""Lines above a table are at most this many."""
MOST_LEVELS = 1_000
"""A number of levels in a second line is at most this."""

_SEP = re.compile(rb"\A[\"']?sep=(.)[\"']?\r?\n", re.IGNORECASE)
_TOTAL = re.compile(
    r"(?:grand |sub)?totals?:?|sum:?|summe:?|gesamt:?|insgesamt:?|somme|totale?|suma|overall|average|mean|mittelwert",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Layout:
    """What stands where. `start` bytes (as UTF-8) come before the first row of values."""

    delimiter: str
    names: tuple[str, ...]
    start: int
    changes: tuple[tuple[str, str], ...] = ()
    declared: Mapping[str, Declared] = field(default_factory=dict)
    unnamed: frozenset[str] = frozenset()
    decimal: str | None = None
    findings: tuple[Finding, ...] = ()
    only_header: bool = False


def layout(where: str, head: bytes, whole: bool, options: Options) -> Layout:
    """The layout of a text that begins like this; `whole` if that is all of it."""
    findings: list[Finding] = []
    skipped = 0
    if options.delimiter is None and (sep := _SEP.match(head)):
        skipped = sep.end()
        findings.append(
            Finding("certain", f"the first line says that {sep[1].decode(errors='replace')!r} is the delimiter")
        )
    lines = _lines(head[skipped:], whole)
    if not any(line.strip() for line in lines):
        raise DataError(f"{where}: {'nothing but blank lines' if head else 'the file is empty'}")
    csv.field_size_limit(sys.maxsize)
    try:
        delimiter = options.delimiter or (sep[1].decode(errors="replace") if skipped and sep else None)
        delimiter = delimiter or find_delimiter(lines, DELIMITERS.replace(options.decimal or ".", ""))
        if options.header is not False and (above := _preamble(lines, delimiter)):
            skipped += len("".join(lines[:above]).encode())
            findings.append(_told_above(lines[:above]))
            lines = lines[above:]
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error as error:
        raise DataError(f"{where}: not a table of texts ({reason(error)})") from None
    changes: tuple[tuple[str, str], ...] = ()
    if options.delimiter is None and delimiter != " " and _blank_follows(rows):
        rows = [[cell.removeprefix(" ") for cell in row] for row in rows]
        changes = (WITHOUT_BLANK,)
    header = options.header if options.header is not None else _is_header(rows, options.missing_tokens)
    if not header:
        names = tuple(f"X{i}" for i in range(1, len(rows[0]) + 1))
        if options.header is None:
            what = f"the first row looks like values, so there is no header and the columns are X1 to X{len(names)}"
            findings.append(Finding("probable", what, remedy="--header if it holds the names"))
        return Layout(delimiter, names, skipped, changes, decimal=_decimal(rows), findings=tuple(findings))
    first = list(rows[0])
    body = rows[1:]
    if body and all(len(row) == len(first) + 1 for row in body) and options.header is None:
        if all(not row[-1].strip() for row in body):
            findings.append(Finding("certain", "the rows end in a delimiter, after which there is nothing"))
            first.append("")
        else:
            findings.append(
                Finding("certain", "the header has one name less than the rows have fields: the first has none")
            )
            first.insert(0, "")
    names, unnamed = _named(where, first, delimiter, findings)
    start = skipped + _length_of_rows(where, head[skipped:], delimiter, 1)
    arities = _arities(body, names) if options.header is None else None
    declared: Mapping[str, Declared] = {}
    if arities is not None:
        declared, finding = arities
        findings.append(finding)
        body = body[1:]
        start = skipped + _length_of_rows(where, head[skipped:], delimiter, 2)
    return Layout(
        delimiter, names, start, changes, declared, unnamed, _decimal(body), tuple(findings), only_header=not body
    )


def _preamble(lines: Sequence[str], delimiter: str) -> int:
    """How many lines stand above the table: a title, remarks, blank ones, each with one filled field at most that is no
    number, or beginning with # and not as wide as the rows."""
    rows = [next(csv.reader([line], delimiter=delimiter), []) for line in lines]
    widths = [sum(1 for cell in row if cell.strip()) for row in rows]
    usual, above = max(set(widths), key=widths.count), 0
    for line, row, width in zip(lines[:MOST_ABOVE], rows, widths, strict=False):
        remark = line.lstrip().startswith("#") and width != usual
        if not remark and (width > 1 or any(is_number(cell) or _is_amount(cell) for cell in row if cell.strip())):
            break
        above += 1
    filled, follow = any(widths[:above]), widths[above : above + 3]
    # a single word above two columns may be a header without a name for the first
    sure = usual > 2 or all(
        not cells or line.lstrip().startswith("#") for line, cells in zip(lines[:above], widths, strict=False)
    )
    return above if usual > 1 and sure and filled and len(follow) == 3 and min(follow) == usual else 0


def _told_above(lines: Sequence[str]) -> Finding:
    """Of remarks marked as such nobody doubts that they are none of the rows."""
    remarks = all(line.lstrip().startswith("#") or not line.strip() for line in lines)
    count = "the first line is" if len(lines) == 1 else f"the first {len(lines)} lines are"
    what = f"{count} above the table and left out ({lines[0].strip()[:40]!r})"
    return Finding("certain" if remarks else "probable", what)


def is_total(names: Sequence[str], line: str, layout: Layout, above: Sequence[str]) -> bool:
    """Whether the last line of a file adds up the others; `above` are some lines before it."""
    try:
        (row,) = csv.reader([line], delimiter=layout.delimiter)
        before = list(csv.reader(above, delimiter=layout.delimiter))
    except (csv.Error, ValueError):
        return False
    if len(row) != len(names) or len(names) < 2:
        return False
    at = next((i for i, cell in enumerate(row) if _TOTAL.fullmatch(cell.strip())), None)
    if at is None:
        return False
    others = [cell for i, cell in enumerate(row) if i != at and cell.strip()]
    repeated = any(len(other) > at and other[at] == row[at] for other in before)
    return not repeated and len(before) > 2 and bool(others) and all(one is not None for one in numerals(others))


def _named(
    where: str, first: Sequence[str], delimiter: str, findings: list[Finding]
) -> tuple[tuple[str, ...], frozenset[str]]:
    """The names of the columns, all different and none empty, and those that the file has none for."""
    if delimiter == " " and "" in first[1:]:
        column = first.index("", 1) + 1
        raise DataError(
            f"{where}: column {column} has no name (blanks side by side? put one tab or comma between fields)"
        )
    taken = set(first)
    names: list[str] = []
    unnamed = []
    for i, name in enumerate(first, start=1):
        if not name:
            new = _free(f"X{i}", taken)
            unnamed.append(new)
            findings.append(Finding("certain", f"column {i} has no name and is called {new!r}"))
        elif name in names:
            new = _free(next(f"{name}.{k}" for k in range(2, len(first) + 2) if f"{name}.{k}" not in taken), taken)
            what = f"columns {names.index(name) + 1} and {i} are both named {name!r}; the second is called {new!r}"
            findings.append(Finding("probable", what))
        else:
            new = name
        taken.add(new)
        names.append(new)
    return tuple(names), frozenset(unnamed)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _arities(body: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[Mapping[str, Declared], Finding] | None:
    """Numbers of levels in the second line, and what they declare."""
    if len(body) < 3 or len(names) < 2 or len(body[0]) != len(names):
        return None
    if not all(is_whole(cell) and 1 <= int(cell) <= MOST_LEVELS for cell in body[0]):
        return None
    sizes = [int(cell) for cell in body[0]]
    below = [{row[i].strip() for row in body[1:] if i < len(row)} for i in range(len(names))]
    if any(len(texts) > size for texts, size in zip(below, sizes, strict=True)):
        return None
    absent = [str(size) not in texts for texts, size in zip(below, sizes, strict=True)]
    full = sum(len(texts) == size for texts, size in zip(below, sizes, strict=True))
    if not all(absent) or 2 * full < len(names):
        return None
    declared: dict[str, Declared] = {}
    for name, size, texts in zip(names, sizes, below, strict=True):
        codes = {str(code) for code in range(size)}
        declared[name] = Categorical(tuple(sorted(codes, key=int))) if texts <= codes else "categorical"
    what = "the second line holds the number of levels of each column; it declares them and is no row"
    return declared, Finding("certain" if full == len(names) else "probable", what)


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


def _lines(head: bytes, whole: bool) -> list[str]:
    """The lines; the last is left out where it may be cut."""
    lines = [line.decode(errors="replace") for line in head.splitlines(keepends=True)]
    return lines if whole else lines[:-1]


def find_delimiter(lines: Sequence[str], candidates: str) -> str:
    """The delimiter that splits the lines best."""
    best, choice = (0.0, False, 0), ","
    for delimiter in candidates:
        counts = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        usual = max(set(counts), key=counts.count)
        if usual > 1:
            rank = (round(counts.count(usual) / len(counts), 1), counts[0] == usual, 0 if delimiter == " " else usual)
            if rank > best:
                best, choice = rank, delimiter
    return choice


def _blank_follows(rows: Sequence[Sequence[str]]) -> bool:
    fields = [field for row in rows for field in row[1:]]
    return bool(fields) and all(field.startswith(" ") for field in fields)


def _is_header(rows: Sequence[Sequence[str]], tokens: Sequence[str]) -> bool:
    first, below = rows[0], rows[1:1001]
    numbered = [[*map(str, range(start, start + len(first)))] for start in (0, 1)]
    if len(first) > 2 and first in numbered:
        return not _repeated(first, below)
    if any(cell and (is_number(cell) or _is_amount(cell) or cell in tokens) for cell in first):
        return False
    return 2 * _repeated(first, below) <= len(first)


def _is_amount(cell: str) -> bool:
    """1,5 and 12 % are no names; a year would be one, if it were no number."""
    (part,) = numerals([cell])
    return part is not None and not is_number(cell)


def _repeated(first: Sequence[str], below: Sequence[Sequence[str]]) -> int:
    """How many cells of the first row turn up again in their own column."""
    return sum(any(i < len(row) and cell == row[i] for row in below) for i, cell in enumerate(first))


def _length_of_rows(where: str, head: bytes, delimiter: str, rows: int) -> int:
    """How many bytes the first rows and any blank lines above them take."""
    lines = head.splitlines(keepends=True)
    reader = csv.reader((line.decode(errors="replace") for line in lines), delimiter=delimiter)
    for _ in range(rows):
        while not next(reader):
            pass
    return sum(map(len, lines[: reader.line_num]))
