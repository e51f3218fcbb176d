"""What a table may hold and probably does not mean, a line each: `read` and `describe` say it, and change nothing.

Only columns that nobody declared are doubted, by their levels alone. A level is a text, so a number that is written in
a way that is not read (15 %, $1,200), a date, the name of a row, or the same word in capitals quietly becomes one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from optbn.data.dataset import Categorical, Domain
from optbn.data.schema import FEW

WIDE = 1_000
"""More columns than this are read, with a doubt."""
SHOWN = 8
"""Columns that a line names."""

_WITH_SIGNS = re.compile(r"(?=.*\d)(?=.*[^\d])[\d\s.,:/'%$€£¥()+-]+", re.ASCII)


def doubts(domains: Mapping[str, Domain], inferred: Collection[str], rows: int) -> Iterator[str]:
    """The lines about a table of so many rows; the `inferred` columns are those that nobody declared."""
    if len(domains) > WIDE:
        yield f"{len(domains):,} columns, far more than an optimal network can be found for; select some of them"
    constant = [name for name, domain in domains.items() if _is_constant(domain)]
    if constant:
        columns = "a constant column, which says" if len(constant) == 1 else "constant columns, which say"
        yield f"{columns} nothing: {_listed(constant)}"
    if len(domains) == 1 and re.search(r"[,;|\t]", next(iter(domains))):
        yield f"one column only, named {next(iter(domains))!r}: is the delimiter right?"
    levels = {
        name: domain.levels for name, domain in domains.items() if name in inferred and isinstance(domain, Categorical)
    }
    many = {name: texts for name, texts in levels.items() if len(texts) > FEW}
    signs = {name: f"{texts[-1]!r}" for name, texts in many.items() if all(map(_WITH_SIGNS.fullmatch, texts))}
    if signs:
        yield f"numbers or dates written in a way that is not read, each a level of its own: {_listed(signs, signs)}"
    names = {
        name: f"{len(texts):,} levels" for name, texts in many.items() if name not in signs and 2 * len(texts) > rows
    }
    if names:
        yield (
            f"fewer than two rows a level: {_listed(names, names)}; leave out what only names the rows "
            '(--ignore, or "ignore" in the schema)'
        )
    twice = {name: " and ".join(map(repr, pair)) for name, texts in levels.items() if (pair := _same_word(texts))}
    if twice:
        yield f"levels that differ in capitals or blanks only: {_listed(twice, twice)}"


def _is_constant(domain: Domain) -> bool:
    return len(domain.levels) == 1 if isinstance(domain, Categorical) else domain.low == domain.high


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


def _listed(names: Iterable[str], why: dict[str, str] | None = None) -> str:
    names = list(names)
    shown = (f"{name!r} ({why[name]})" if why else repr(name) for name in islice(names, SHOWN))
    return ", ".join(shown) + (f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else "")
