"""What a table as a whole may not mean: constant columns, levels hardly shared, codes that are read as amounts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from optbn.data.dataset import Categorical, Domain, Real
from optbn.data.findings import Finding
from optbn.data.row_names import is_code
from optbn.data.schema import FEW
from optbn.data.texts import kept_as

WIDE = 1_000
"""More columns than this are read, with a note."""
TURNED = 5
"""Times as many columns as rows, of which there are few, make one wonder."""
SHOWN = 8
"""Columns that a line names."""


def notes(domains: Mapping[str, Domain], inferred: Collection[str], rows: int) -> Iterator[Finding]:
    """What a table with this many rows may not mean; the `inferred` columns are those that nobody declared."""
    if len(domains) > WIDE:
        yield Finding(
            "note",
            f"{len(domains):,} columns leave time for small parent sets only; for larger ones select columns",
        )
    elif rows <= FEW and len(domains) > TURNED * rows:
        yield Finding("note", f"{len(domains):,} columns of {rows:,} rows: does the table have its variables as rows?")
    constant = [name for name, domain in domains.items() if is_constant(domain)]
    if constant:
        columns = "a constant column, which says" if len(constant) == 1 else "constant columns, which say"
        yield Finding("note", f"{columns} nothing: {_listed(constant)}")
    if len(domains) == 1 and re.search(r"[,;|\t]", next(iter(domains))):
        yield Finding("note", f"one column only, named {next(iter(domains))!r}: is the delimiter right?")
    codes = [name for name in inferred if isinstance(one := domains.get(name), Real) and one.whole and is_code(name)]
    if codes:
        what = f"whole numbers under the name of a key or code are read as amounts: {_listed(sorted(codes))}"
        yield Finding("note", f"{what}; {kept_as(min(codes))} makes levels of them")
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
