"""The first rows of a text that are no rows: names of the columns, and below them units, types or numbers of levels."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from optbn.base.errors import DataError
from optbn.data.dates import date_forms
from optbn.data.domains import Categorical
from optbn.data.findings import Finding
from optbn.data.numerals import numerals, ways
from optbn.data.schema import Declared, is_whole, looks_like_number

MOST_LEVELS = 1_000
"""A number of levels in a second line is at most this."""
MOST_BELOW = 2
"""Lines below the names that explain them are at most this many."""
_RULE = re.compile(r"[-=_+|: ]*[-=_]{2,}[-=_+|: ]*")


def is_header(rows: Sequence[Sequence[str]], tokens: Sequence[str]) -> bool:
    """Whether the first row holds the names: unless a cell of it is a number or a token for a missing value, or more
    than half of its cells turn up again below in their own column (but for a header that is repeated as a whole)."""
    first, below = rows[0], rows[1:1001]
    numbered = [[*map(str, range(start, start + len(first)))] for start in (0, 1)]
    if len(first) > 2 and first in numbered:
        return not _repeated(first, below)
    if any(cell and (looks_like_number(cell) or cell in tokens) for cell in first):
        return False
    others = without_repeats(first, below)
    if len(others) < len(below) and len(first) > 1 and not _repeated(first, others):
        return True
    return 2 * _repeated(first, below) <= sum(1 for cell in first if cell)


def of_two_lines(rows: Sequence[Sequence[str]], findings: list[Finding]) -> list[str] | None:
    """The names where the first line groups the columns (2019, nothing, 2020, nothing) and the second, the same in
    several groups, names what each has: "2019 sales"."""
    if len(rows) < 5 or len(rows[0]) != len(rows[1]):
        return None
    groups, words = [cell.strip() for cell in rows[0]], [cell.strip() for cell in rows[1]]
    grouped = "" in groups or len(set(groups)) < len(groups)
    if not grouped or not all(words) or len(set(words)) == len(words) or not _explains(words, rows[2:], again=False):
        return None
    names, group = [], ""
    for own, word in zip(groups, words, strict=True):
        group = own or group
        names.append(f"{group} {word}" if group and words.count(word) > 1 else word)
    if len(set(names)) < len(names):
        return None
    findings.append(Finding("probable", f"two lines name the columns, together {names[-2]!r} and {names[-1]!r}"))
    return names


def without_repeats(first: Sequence[str], below: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """The rows without those that are the first once more."""
    return [row for row in below if list(row) != list(first)]


def _repeated(first: Sequence[str], below: Sequence[Sequence[str]]) -> int:
    """How many cells of the first row turn up again in their own column."""
    return sum(bool(cell) and any(i < len(row) and cell == row[i] for row in below) for i, cell in enumerate(first))


def fitted(first: list[str], body: Sequence[Sequence[str]], findings: list[Finding]) -> list[str]:
    """The names, one more or less where the rows have one field more or less than the header."""
    if body and all(len(row) == len(first) + 1 for row in body):
        if all(not row[-1].strip() for row in body):
            findings.append(Finding("certain", "the rows end in a delimiter, after which there is nothing"))
            return [*first, ""]
        findings.append(
            Finding("certain", "the header has one name less than the rows have fields: the first has none")
        )
        return ["", *first]
    while body and len(first) > 1 and not first[-1].strip() and all(len(row) < len(first) for row in body):
        findings.append(Finding("certain", "the header ends in a delimiter, after which there is nothing"))
        first = first[:-1]
    return first


def trimmed(first: list[str], findings: list[Finding]) -> list[str]:
    """Names without blanks around them, if they stay different."""
    bare = [name.strip() for name in first]
    if bare == first or len(set(bare)) < len(set(first)):
        return first
    findings.append(Finding("certain", "blanks around the names of columns are left out"))
    return bare


def named(
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


def explained(first: Sequence[str], body: Sequence[Sequence[str]], findings: list[Finding]) -> tuple[list[str], int]:
    """The names, and how many lines below them are no rows: rules of dashes, and words (units, types, questions) in the
    columns that hold only numbers below. Where the first line only groups the columns, the second has the names."""
    names, below, words = list(first), 0, False
    while below < MOST_BELOW + words and len(body) > below + 3:
        line, rest = body[below], body[below + 1 :]
        if len(line) != len(names):
            break
        shown = ", ".join(cell for cell in line if cell)[:40]
        if any(line) and all(not cell or _RULE.fullmatch(cell) or cell == "-" for cell in line):
            if not any(len(cell) > 1 for cell in line):
                break
            findings.append(Finding("certain", f"the line of dashes below the names is no row ({shown!r})"))
        elif _explains(line, rest, again=words) or (not words and _both_explain(line, rest)):
            groups = not words and ("" in names or len(set(names)) < len(names))
            if groups and all(line) and len(set(line)) == len(line):
                what = f"the first line groups the columns ({', '.join(n for n in names if n)[:40]!r}) and is left out"
                findings.append(Finding("probable", f"{what}; the second has their names"))
                names = list(line)
            else:
                what = f"a line below the names explains the columns, and is no row ({shown!r})"
                findings.append(Finding("probable", what))
            words = True
        else:
            break
        below += 1
    return names, below


def _both_explain(line: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether this line and the next one do: questions, and what a survey site calls them."""
    return len(rest) > 4 and all(_explains(one, rest[1:], again=False) for one in (line, rest[0]))


def _explains(line: Sequence[str], rest: Sequence[Sequence[str]], again: bool) -> bool:
    """Whether a line has words where the others have numbers or dates, and elsewhere words that never come again.
    Above dates there may be nothing."""
    numeric, words = [], 0
    for i, cell in enumerate(line):
        texts = {row[i] for row in rest if i < len(row) and row[i].strip()}
        if cell.strip() and cell in texts:
            return False
        dates = len(texts) > 3 and not all(map(str.isdigit, texts)) and bool(date_forms(texts))
        if texts and (cell.strip() if dates else _are_numbers(texts)):
            numeric.append(cell)
        elif cell.strip():
            words += 1
    filled = [cell for cell in numeric if cell.strip()]
    if any(looks_like_number(cell) or date_forms([cell]) for cell in filled):
        return False
    if again and not filled:
        return bool(words)
    if len(filled) < 2:  # one word above one column of numbers may be a mark for what is missing
        return bool(filled) and len(numeric) == 1 and words > 0 and re.fullmatch(r"[\[(].*[\])]", filled[0]) is not None
    return len(filled) == len(numeric) and len(set(filled)) + words > 1


def _are_numbers(texts: Collection[str]) -> bool:
    """Whether all are numbers, or most of them in one notation, with signs and units (a few marks for what is missing
    may be among them)."""
    if all(map(looks_like_number, texts)):
        return True
    known = [one for one in numerals(texts) if one is not None]
    return len(known) > 3 and 10 * len(known) >= 9 * len(texts) and bool(ways(known))


def arities(body: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[Mapping[str, Declared], Finding] | None:
    """Numbers of levels in the second line, and what they declare."""
    if len(body) < 3 or len(names) < 2 or len(body[0]) != len(names):
        return None
    if not all(is_whole(cell) and len(cell) < 8 and 1 <= int(cell) <= MOST_LEVELS for cell in body[0]):
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
