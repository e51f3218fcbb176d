"""What was noticed about a table, a line each, with a grade that says what becomes of it.

    certain    there is one reading; it is taken and said
    probable   another reading is possible and unlikely; the likely one is taken and said, `strict` refuses it
    doubtful   two readings are about as likely; refused, with the option that settles it
    note       nothing changes; the user may not have meant it

Nothing else changes what stands in a file. `optbn.data.judge` grades columns, `optbn.data.layout` the rows of a text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from optbn.base.errors import DataError
from optbn.data.dataset import Categorical, Domain
from optbn.data.schema import FEW

Grade = Literal["certain", "probable", "doubtful", "note"]

WIDE = 1_000
"""More columns than this are read, with a note."""
SHOWN = 8
"""Columns that a line names."""
MOST_LINES = 20
"""At most this many lines about single columns of one file; `describe` has all."""


@dataclass(frozen=True)
class Finding:
    """What was noticed, where, and what to write for another reading ("" if there is none).

    row     counts from 1, the header not included
    settle  the options that take the proposed reading of what is doubtful
    """

    grade: Grade
    what: str
    column: str | None = None
    row: int | None = None
    remedy: str = ""
    settle: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = f"column {self.column!r}" if self.column is not None else ""
        place += f"{', ' if place else ''}row {self.row:,}" if self.row is not None else ""
        line = f"{place}: {self.what}" if place else self.what
        return f"{line}; {self.remedy}" if self.remedy else line

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "grade": self.grade,
            "column": self.column,
            "row": self.row,
            "what": self.what,
            "remedy": self.remedy,
            "settle": list(self.settle),
        }


def refuse(where: str, findings: Sequence[Finding], strict: bool) -> None:
    """Raise one line for what is doubtful, and with `strict` for what is only probable."""
    refused = [one for one in findings if one.grade == "doubtful" or (strict and one.grade == "probable")]
    if not refused:
        return
    more = f" (and {len(refused) - 1} more: optbn describe lists them all)" if len(refused) > 1 else ""
    raise DataError(f"{where}: {refused[0]}{more}")


def notes(domains: Mapping[str, Domain], inferred: Collection[str], rows: int) -> Iterator[Finding]:
    """What a table with this many rows may not mean; the `inferred` columns are those that nobody declared."""
    if len(domains) > WIDE:
        yield Finding(
            "note",
            f"{len(domains):,} columns: with so many, parent sets stay small; select some columns for larger ones",
        )
    constant = [name for name, domain in domains.items() if is_constant(domain)]
    if constant:
        columns = "a constant column, which says" if len(constant) == 1 else "constant columns, which say"
        yield Finding("note", f"{columns} nothing: {_listed(constant)}")
    if len(domains) == 1 and re.search(r"[,;|\t]", next(iter(domains))):
        yield Finding("note", f"one column only, named {next(iter(domains))!r}: is the delimiter right?")
    levels = {
        name: domain.levels for name, domain in domains.items() if name in inferred and isinstance(domain, Categorical)
    }
    rare = {
        name: f"{len(texts):,} levels"
        for name, texts in levels.items()
        if len(texts) > FEW and 2 * len(texts) > rows and not is_constant(domains[name])
    }
    if rare:
        yield Finding("note", f"fewer than two rows a level: {_listed(rare, rare)}; leave out what only names the rows")
    garbled = {name: repr(text) for name, texts in levels.items() if (text := _garbled(texts)) is not None}
    if garbled:
        why = "levels look like UTF-8 that was read in another encoding and saved again"
        yield Finding("note", f"{why}: {_listed(garbled, garbled)}")
    twice = {name: " and ".join(map(repr, pair)) for name, texts in levels.items() if (pair := _same_word(texts))}
    if twice:
        yield Finding("note", f"levels that differ in capitals or blanks only: {_listed(twice, twice)}")


def is_constant(domain: Domain) -> bool:
    """Whether every row has the same value."""
    return len(domain.levels) == 1 if isinstance(domain, Categorical) else domain.low == domain.high


def _garbled(levels: Sequence[str]) -> str | None:
    """A text in which letters with accents stand as two signs."""
    return next((text for text in levels if re.search("[\u00c2\u00c3][\u0080-\u00bf]", text)), None)


def _same_word(levels: Sequence[str]) -> tuple[str, str] | None:
    """The first two levels that are one but for blanks around them and, from two letters on, capitals."""
    first: dict[str, str] = {}
    for level in levels:
        plain = level.strip()
        plain = plain.casefold() if len(plain) > 1 else plain
        if plain in first:
            return first[plain], level
        first[plain] = level
    return None


def _listed(names: Iterable[str], why: Mapping[str, str] | None = None) -> str:
    names = list(names)
    shown = (f"{name!r} ({why[name]})" if why else repr(name) for name in islice(names, SHOWN))
    return ", ".join(shown) + (f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else "")
