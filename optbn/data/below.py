"""What stands below the rows of a text and is none: totals, footnotes, rows of nothing, a count of the rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from optbn.data.fields import Fields
from optbn.data.findings import Finding
from optbn.data.numerals import numerals, ways
from optbn.data.schema import looks_like_number

MOST_BELOW = 30
"""Lines below a table are at most this many."""
_TOTAL = re.compile(
    r"(?:(?:grand |sub)?totals?|total (?:général|general|generale)|totale generale|sum|summen?|(?:gesamt|zwischen)summe"
    r"|gesamt|insgesamt|somme|totale?|suma|overall|average|mean|mittelwert|durchschnitt|moyenne|media|median|count|"
    r"anzahl|std\.?|stdev|min|max|minimum|maximum) ?:?",
    re.IGNORECASE,
)
_FOOTNOTE = re.compile(
    r"\s*(?:(?:sources?|quellen?|notes?|remarks?|bemerkung|anmerkung(?:en)?|hinweis|stand|fuente|nota|remarque|"
    r"footnotes?|legend|legende|copyright|exported|generated|end of file)\b\s*:?|©|\*|†|\(\d+ rows?\))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Below:
    """`rows` at the end have all fields and are none; `ragged` lines have not, and are left out too."""

    rows: int = 0
    ragged: frozenset[str] = frozenset()
    findings: tuple[Finding, ...] = ()


def below(lines: Sequence[str], fields: Fields, width: int, whole: bool) -> Below:
    """What stands below the rows; `lines` are the last of the file, all below the header if it is `whole`."""
    if width < 2:
        return Below()
    end, rows, ragged, findings = len(lines), 0, set(), []
    while end > 3 and len(lines) - end < MOST_BELOW:
        line = lines[end - 1]
        cells = _cells(line, fields)
        if line.count(fields.quote) % 2 or cells is None:
            break
        above = lines[max(0, end - 41) : end - 1] if not whole else lines[: end - 1]
        if not line.strip():
            pass
        elif not line.strip("\x1a "):
            ragged.add(line)
            findings.append(Finding("certain", "the file ends in DOS' mark for the end of a file, which is left out"))
        elif len(cells) == width and _is_empty(line, fields):
            if any(other.strip() and _is_empty(other, fields) for other in lines[: end - rows - 1][:-MOST_BELOW]):
                break  # such rows are not rare
            rows += 1
            findings.append(Finding("certain", "the last row has no value in any column and is left out"))
        elif len(cells) == width and (why := _no_row(cells, above, fields, whole)):
            rows += 1
            findings.append(Finding("probable", f"the last row, {line[:40]!r}, {why} and is left out"))
        elif (len(cells) < width and _is_remark(cells, line, above)) or (
            len(cells) != width and _is_ragged_total(cells, above, fields)
        ):
            ragged.add(line)
            findings.append(Finding("probable", f"a line below the rows, {line.strip()[:40]!r}, is left out"))
        else:
            break
        end -= 1
    return Below(rows, frozenset(ragged), _merged(findings)) if findings else Below()


def _merged(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Rows of nothing in one line."""
    empty = [one for one in findings if "no value in any" in one.what]
    rest = tuple(one for one in reversed(findings) if one not in empty)
    if len(empty) > 1:
        what = f"the last {len(empty)} rows have no value in any column and are left out"
        return (*rest, Finding("certain", what))
    return (*rest, *empty)


def _is_empty(line: str, fields: Fields) -> bool:
    """Whether there is nothing between the delimiters, quotes neither."""
    return not line.strip(fields.delimiter + " ")


def _cells(line: str, fields: Fields) -> list[str] | None:
    try:
        return next(fields.reader([line]), [])
    except csv.Error:
        return None


def _is_remark(cells: Sequence[str], line: str, above: Sequence[str]) -> bool:
    """Whether a line with too few fields is a remark: words that stand in no line above. One word may be what is
    left of a row."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    words = len(filled) == 1 and " " in filled[0] and not looks_like_number(filled[0])
    return _FOOTNOTE.match(line) is not None or (words and not any(filled[0] in other for other in above))


def _is_ragged_total(cells: Sequence[str], above: Sequence[str], fields: Fields) -> bool:
    """Whether a line with too few fields, or too many, begins with a word for totals that no row above begins with, and
    has nothing but amounts besides."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    if len(filled) < 2 or not _TOTAL.fullmatch(filled[0]) or not all(one is not None for one in numerals(filled[1:])):
        return False
    return not any(filled[0] in (_cells(other, fields) or ()) for other in above)


def _no_row(cells: Sequence[str], above: Sequence[str], fields: Fields, whole: bool) -> str:
    """What a line with all fields is, if it is no row: it adds up the others, or it is a remark."""
    before = [row for line in above if (row := _cells(line, fields)) and len(row) == len(cells)]
    filled = [i for i, cell in enumerate(cells) if cell.strip()]
    if len(before) < 3 or not filled:
        return ""

    def again(i: int) -> bool:
        return any(row[i] == cells[i] for row in before)

    def usually_there(i: int) -> bool:
        return all(row[i].strip() for row in before)

    first = filled[0]
    if _FOOTNOTE.match(cells[first]) and not again(first) and (len(filled) == 1 or first == 0):
        there = sum(map(usually_there, range(len(cells))))
        if (len(filled) == 1 and there > 1) or ":" in cells[first]:
            return "is a remark"
    at = next((i for i in filled if _TOTAL.fullmatch(cells[i].strip())), None)
    others = [i for i in filled if i != at]
    amounts = bool(others) and all(one is not None for one in numerals(cells[i] for i in others))
    if at is not None and not again(at) and amounts:
        return "adds up the others"
    gaps = [i for i in range(len(cells)) if i not in filled and usually_there(i)]
    if at is None and gaps and whole and amounts and all(_is_sum(i, cells[i], before) for i in others):
        return "adds up the others"
    return ""


def _is_sum(column: int, cell: str, before: Sequence[Sequence[str]]) -> bool:
    """Whether a cell is the sum of those above it."""
    texts = [row[column] for row in before if row[column].strip()]
    parts = numerals([*texts, cell])
    found = ways([part for part in parts if part is not None]) if all(parts) else []
    if not found or len(texts) < 3:
        return False
    values = [found[0](text) or 0.0 for text in texts]
    return bool(sum(values)) and abs(sum(values) - (found[0](cell) or 0.0)) <= 1e-6 * sum(map(abs, values))
