"""What stands above a table in a text: titles, remarks, blank lines; sometimes the names, behind a mark."""

from __future__ import annotations

import re
from collections.abc import Sequence

from optbn.data.fields import Fields
from optbn.data.findings import Finding
from optbn.data.schema import looks_like_number

MOST_ABOVE = 30
"""Lines above a table are at most this many."""
_MARK = re.compile(r"\s*(?:#|%|//|--(?!-)|!)")


def marked(line: str) -> bool:
    """Whether a line begins as remarks do in some language."""
    return _MARK.match(line) is not None


def preamble(lines: Sequence[str], fields: Fields, header: bool | None) -> int:
    """How many lines stand above the table: a title, remarks, blank ones, each with one filled field at most that is no
    number, or with the mark of a remark and not as wide as the rows; or names with values, above a blank line. Where
    the user says that the first row is the header, a line with as many fields as the rows is that row."""
    reader = fields.reader(lines)
    rows: list[list[str]] = []
    ends: list[int] = []
    for row in reader:
        rows.append(row)
        ends.append(reader.line_num)
    if not rows:
        return 0
    widths = [sum(1 for cell in row if cell.strip()) for row in rows]
    usual, above = max(set(widths), key=widths.count), 0
    wide = max(map(len, rows))
    for row, width in zip(rows[:MOST_ABOVE], widths, strict=False):
        line = row[0] if row else ""
        remark = marked(line) and width != usual
        if header and len(row) == wide:
            break
        if not remark and (width > 1 or any(looks_like_number(cell) for cell in row if cell.strip())):
            break
        above += 1
    above = max(above, _ends_of_parts(rows, widths, usual))
    filled, follow = any(widths[:above]), widths[above : above + 3]
    even = min(follow) == usual or (min(follow) > 1 and _is_named(rows[above], wide)) if len(follow) == 3 else False
    # a single word above two columns may be a header without a name for the first
    sure = usual > 2 or all(not cells or marked(row[0]) for row, cells in zip(rows[:above], widths, strict=False))
    return ends[above - 1] if usual > 1 and sure and filled and even else 0


def _ends_of_parts(rows: Sequence[Sequence[str]], widths: Sequence[int], usual: int) -> int:
    """How many lines come before the row below the last blank line, where all of them have two filled fields at most
    and the rows have many: a bank's account, its period, its balance. 0 if there are none such."""
    parts = [i for i in range(1, min(len(rows), MOST_ABOVE) - 1) if not rows[i] and max(widths[: i + 1]) <= 2]
    return parts[-1] + 1 if parts and usual > 3 and widths[parts[-1] + 1] == usual else 0


def _is_named(row: Sequence[str], width: int) -> bool:
    """Whether a row has a different name for each column, but perhaps for the first; then those below it may have
    gaps."""
    cells = [cell.strip() for cell in row]
    names = cells if cells[0] else cells[1:]
    different = len(set(names)) == len(names) and all(names)
    return len(cells) == width and different and not any(map(looks_like_number, names))


def names_behind_a_mark(line: str, fields: Fields, width: int) -> list[str] | None:
    """The names in the last line above, written as a remark, if there are as many as the rows have fields."""
    if not marked(line):
        return None
    rest = _MARK.sub("", line, count=1).strip()
    cells = [cell.strip() for cell in next(fields.reader([rest]), [])]
    named = len(cells) == width and all(cells) and not any(map(looks_like_number, cells))
    return cells if named and len(set(cells)) == width else None


def told_above(lines: Sequence[str]) -> Finding:
    """Of remarks marked as such nobody doubts that they are none of the rows."""
    remarks = all(marked(line) or not line.strip() for line in lines)
    count = "the first line is" if len(lines) == 1 else f"the first {len(lines)} lines are"
    what = f"{count} above the table and left out ({lines[0].strip()[:40]!r})"
    return Finding("certain" if remarks else "probable", what)
