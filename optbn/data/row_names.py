"""Columns of numbers that only name the rows: 1, 2, 3, .. in order, and keys; and numbers with too many digits."""

from __future__ import annotations

import re
from collections.abc import Sequence

from optbn.data.findings import Finding, Grade
from optbn.data.schema import is_whole
from optbn.data.texts import Judgement, Texts, kept_as, quoted

EXACT = 2.0**53
"""Whole numbers from here on are not all floating-point numbers."""
MOST_DIGITS = 40
MANY_NAMES = 20
"""So many different texts, nearly one a row, name the rows."""
_ID = re.compile(
    r"(?:^|[\W_])(?i:id|ids|nr|nbr|no|num|number|key|uuid|guid|index|row|rowid|rownum|ssn)\.?$|[a-z](?:ID|Id)$"
)
_CODE = re.compile(
    r"(?:^|[\W_])(?i:ids?|key|zip|plz|fips|naics|sic|icd\d*|(?:zip|post|postal)?.?code)$|[a-z](?:ID|Id|Code)$"
)


def row_names(column: Texts, texts: Sequence[str]) -> Judgement | None:
    """0, 1, 2, .. or 1, 2, 3, .. by row, or the whole numbers of a key."""
    if column.real or column.wanted or len(texts) < column.rows or not all(map(is_whole, texts)):
        return None
    if max(map(len, texts)) > MOST_DIGITS:
        return None
    start = min(map(int, texts))
    counts = start in (0, 1) and all(column.first[text] == int(text) - start for text in texts)
    if counts and (column.rows > MANY_NAMES or (column.unnamed and column.rows > 1)):
        return numbers_of_rows(column.name, start, column.rows, column.unnamed)
    named = is_id(column.name) or is_code(column.name)
    return keys(column.name, column.rows) if column.rows > MANY_NAMES and named else None


def numbers_of_rows(name: str, start: int, rows: int, unnamed: bool) -> Judgement:
    """A column that counts the rows."""
    what = f"the numbers {start:,} to {start + rows - 1:,} in order name the rows, so it is left out"
    grade: Grade = "certain" if unnamed else "probable"
    return Judgement("ignore", findings=(Finding(grade, what, name, None, f"{kept_as(name, 'real')} keeps it"),))


def is_id(name: str) -> bool:
    """Whether a name is one that keys have."""
    return _ID.search(name) is not None


def is_code(name: str) -> bool:
    """Whether a name is one that keys and codes have, whose numbers are no amounts."""
    return _CODE.search(name) is not None


def keys(name: str, rows: int) -> Judgement:
    """A column of whole numbers, all different, with the name of a key or code."""
    what = f"{rows:,} different whole numbers under the name of a key or code name the rows, so it is left out"
    return Judgement("ignore", findings=(Finding("probable", what, name, None, f"{kept_as(name, 'real')} keeps it"),))


def too_many_digits(name: str, largest: float) -> Finding:
    """The finding about whole numbers that are rounded."""
    what = f"whole numbers up to {largest:.0f} have more digits than are kept (2^53); keys rather than amounts?"
    return Finding("note", what, name, None, f"--column {quoted(f'{name}=ignore')} leaves it out")
