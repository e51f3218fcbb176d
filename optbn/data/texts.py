"""The different texts of a column that nobody declared, how it is judged to be read, and how messages write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from optbn.data.dates import DateForm
from optbn.data.findings import Finding, Grade
from optbn.data.numerals import Notation


@dataclass(frozen=True)
class Judgement:
    """How a column is read.

    way       what turns its texts into numbers, if plain numbers they are not
    missing   texts that stand for a missing value, beside the tokens of the file
    absent    numbers that do

    A categorical column with a way has the whole numbers of its texts as levels.
    """

    kind: Literal["categorical", "real", "ignore"]
    way: Notation | DateForm | None = None
    missing: frozenset[str] = frozenset()
    absent: tuple[float, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Texts:
    """The different texts of a column, with the rows they come first in (None: in no row), how often, and the rows."""

    name: str
    first: Mapping[str, int | None]
    counts: Mapping[str, int]
    rows: int
    n_missing: int = 0
    decimal: str | None = None  # the sign for decimals in other columns of the file
    decimal_declared: bool = False
    real: bool = False  # the column is declared to hold numbers
    unnamed: bool = False
    wanted: bool = False  # somebody asked for it by name

    def finding(self, grade: Grade, what: str, text: str | None = None, remedy: str = "") -> Finding:
        row = self.first.get(text) if text is not None else None
        return Finding(grade, what, self.name, None if row is None else row + 1, remedy)

    def another(self, kind: str = "categorical") -> str:
        """What to write for another kind."""
        return f"--column {quoted(f'{self.name}={kind}')} for another reading"


def quoted(text: str) -> str:
    """As a shell wants it, where it must."""
    return text if re.fullmatch(r"[\w=.,:/@%+-]+", text) else "'" + text.replace("'", "'\\''") + "'"


def kept_as(name: str, kind: str = "categorical") -> str:
    return f"--column {quoted(f'{name}={kind}')}"


def short(text: str) -> str:
    """A cell, cut if it is long."""
    return repr(text if len(text) <= 40 else text[:37] + "...")
