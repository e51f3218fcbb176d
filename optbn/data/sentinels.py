"""Numbers and dates that mark a missing value, like -999 or 1900-01-01: known ones, far from all others."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from optbn.data.dates import DateForm
from optbn.data.findings import Finding
from optbn.data.texts import Texts, kept_as

SENTINELS = frozenset(
    float(f"{sign}{digits}")
    for sign in ("", "-")
    for digits in ("99", "999", "9999", "99999", "999999", "9999999", "99999999", "999.9", "99.9", "999.99", "99.99")
) | {-9.0, -1e20, 1e20, -32768.0, 1e30, -1e30}
SENTINELS |= {sign * float(digit * times) for sign in (1, -1) for digit in "78" for times in range(2, 9)}
DATES = tuple(
    float(DateForm("yyyy-mm-dd")(text) or 0.0)
    for text in ("1900-01-01", "1899-12-30", "9999-12-31", "9999-01-01", "0001-01-01", "2099-12-31", "1970-01-01")
)


def marking(column: Texts, numbers: Mapping[str, float]) -> tuple[float, ...]:
    counts: dict[float, int] = {}
    for text, number in numbers.items():
        counts[number] = counts.get(number, 0) + column.counts.get(text, 1)
    others = [number for number in counts if number not in SENTINELS]
    if len(others) < 3:
        return ()
    known = {value: n for value, n in counts.items() if value in SENTINELS}
    return sentinels(known, min(others), max(others))


def sentinels(known: Mapping[float, int], low: float, high: float) -> tuple[float, ...]:
    """Which of these values, with how often they occur, mark something missing beside numbers from low to high."""
    found = []
    for value, count in sorted(known.items()):
        gap = low - value if value < low else value - high
        if count < (2 if abs(value) < 100 else 1) or gap <= 0:
            continue
        if gap > max(high - low, 1.0) or (value < 0 <= low):
            found.append(value)
    return tuple(found)


def far_from_all(value: float, values: Collection[float]) -> bool:
    others = [one for one in values if one not in DATES]
    return len(others) > 2 and (value < min(others) - 3650 or value > max(others) + 3650)


def finding_of(column: Texts, value: float, numbers: Mapping[str, float]) -> Finding:
    text = next(text for text, number in numbers.items() if number == value)
    return sentinel_finding(column.name, text, column.counts.get(text, 1), column.first.get(text))


def sentinel_finding(name: str, text: str, count: int, row: int | None) -> Finding:
    """The finding about a number that marks a missing value."""
    what = f"{text}, far from all others, read as missing ({count:,} {'cell' if count == 1 else 'cells'})"
    remedy = f"{kept_as(name, 'real')} keeps the number"
    return Finding("probable", what, name, None if row is None else row + 1, remedy)


def marks_perhaps(name: str, numbers: Mapping[str, float], counts: Mapping[str, int]) -> Iterator[Finding]:
    """A note where -1 is the only negative number, or 0 far below all others: it may mark a missing value."""
    values = sorted(set(numbers.values()))
    if len(values) < 4 or values[0] not in (-1.0, 0.0):
        return
    text = next(text for text, number in numbers.items() if number == values[0])
    count = counts.get(text, 1)
    if note := mark_perhaps(name, values[0], count, sum(counts.values()), values[1], values[-1]):
        yield note


def mark_perhaps(name: str, lowest: float, count: int, rows: int, low: float, high: float) -> Finding | None:
    """The note about the lowest number of a column, in `count` of the rows, beside others from low to high."""
    alone = (lowest == -1 and low > 0) or (lowest == 0 and low > 0.3 * (high - low) and low > 1)
    if not alone or not 2 <= count <= rows / 2:
        return None
    what = f"{lowest:g}, below all others ({low:g} to {high:g}), in {count:,} rows: a mark for what is missing?"
    return Finding("note", what, name, None, f'{{"missing": ["{lowest:g}"]}} in the schema makes it one')


_OF_DATES = re.compile(r"date|datum|day|tag|fecha|data|timestamp|time|zeit", re.IGNORECASE)


def spreadsheet_days(name: str, low: float, high: float) -> Finding | None:
    """A note about whole numbers under the name of a date: days as spreadsheets count them, or seconds of computers."""
    if _OF_DATES.search(name) is None:
        return None
    days, seconds = low >= 20_000 and high <= 60_000, low >= 5e8 and high <= 4e9
    if not days and not seconds:
        return None
    kind = "days as spreadsheets count them (since 1899-12-30)" if days else "seconds since 1970-01-01"
    what = f"whole numbers from {low:.0f} to {high:.0f} under the name of a date: {kind}? They are read as numbers"
    return Finding("note", what, name)
