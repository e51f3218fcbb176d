"""Numbers and dates that mark a missing value, like -999 or 1900-01-01: known ones, far from all others."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from optbn.data.dates import DateForm
from optbn.data.findings import Finding
from optbn.data.texts import Texts, kept_as

SENTINELS = frozenset(
    float(f"{sign}{digits}")
    for sign in ("", "-")
    for digits in ("99", "999", "9999", "99999", "999999", "9999999", "99999999", "999.9", "99.9", "999.99", "99.99")
) | {-9.0, 8888.0, -8888.0, 88888.0, -1e20, 1e20, -32768.0, 1e30, -1e30}
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
