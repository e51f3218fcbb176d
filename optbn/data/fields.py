"""How the lines of a text are split into fields: the delimiter, the quotes, or columns aligned by runs of blanks."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

DELIMITERS = ",\t;| "
RARE_DELIMITERS = "^~\x01\x1f"
"""Tried where none of the others splits the lines."""
ALIGNED = 0.9
"""The share of lines that must have the usual number of fields for columns to be aligned by blanks."""

_APOSTROPHES = re.compile(r"(?:^|[,;|\t])'[^'\n]*'(?=[,;|\t]|\s*$)")
_ESCAPED = re.compile(r'\\"[^,;|\t\r\n]')


@dataclass(frozen=True)
class Fields:
    """What parts the fields of a line, and what stands around those that hold the delimiter. With `escaped`, a quote
    within quotes follows a backslash instead of standing twice."""

    delimiter: str = ","
    quote: str = '"'
    escaped: bool = False

    def reader(self, lines: Iterable[str]) -> Any:
        """Rows of the lines, as Python's csv module reads them."""
        csv.field_size_limit(sys.maxsize)
        if self.escaped:
            return csv.reader(lines, delimiter=self.delimiter, quotechar=self.quote, escapechar="\\", doublequote=False)
        return csv.reader(lines, delimiter=self.delimiter, quotechar=self.quote)

    def quoted(self, line: str) -> int:
        """How many fields of a line stand in quotes."""
        mark, end = re.escape(self.quote), re.escape(self.delimiter)
        return len(re.findall(rf"(?:^|(?<={end})){mark}[^{mark}]*{mark}(?=\s*$|{end})", line))


def quoting(lines: Sequence[str]) -> tuple[str, bool]:
    """The quotation mark, and whether a backslash stands before those within quotes."""
    marks = any('"' in line for line in lines)
    if marks:
        doubled = any('""' in line.replace('"",', "").replace('"";', "") for line in lines)
        return '"', not doubled and any(_ESCAPED.search(line) for line in lines)
    below = [line for line in lines[1:] if line.strip()]
    quoted = sum(1 for line in below if _APOSTROPHES.search(line))
    return ("'" if below and 10 * quoted >= 9 * len(below) else '"'), False


def find_delimiter(lines: Sequence[str], candidates: str, quote: str = '"', escaped: bool = False) -> str:
    """The delimiter that splits the lines best."""
    for tried in (candidates, RARE_DELIMITERS):
        best, choice = (0.0, False, 0), ""
        for delimiter in tried:
            counts = [len(row) for row in Fields(delimiter, quote, escaped).reader(lines) if row]
            usual = max(set(counts), key=counts.count)
            if usual > 1:
                rank = (
                    round(counts.count(usual) / len(counts), 1),
                    counts[0] == usual,
                    0 if delimiter == " " else usual,
                )
                if rank > best:
                    best, choice = rank, delimiter
        if choice:
            return choice
    return ","


def aligned(lines: Sequence[str]) -> int:
    """How many blanks side by side part columns that are aligned: 1 or more, or 2 where cells have blanks; 0 where no
    blanks do."""
    there = [line.rstrip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if len(there) < 3 or any('"' in line or "\t" in line for line in there):
        return 0
    if 2 * sum("  " in line or line.startswith(" ") for line in there) < len(there):
        return 0
    delimiter = find_delimiter(there, DELIMITERS.replace(" ", ""))
    counts = [line.count(delimiter) for line in there]
    if counts[0] and 10 * counts.count(counts[0]) >= 9 * len(counts):
        return 0
    for blanks in (1, 2):
        counts = [len(squeezed(line, blanks).split("\t")) for line in there]
        usual = max(set(counts), key=counts.count)
        first = counts[0] in (usual, usual - 1)
        if usual > 1 and first and counts.count(usual) >= ALIGNED * (len(counts) - 1):
            return blanks
    return 0


def squeezed(line: str, blanks: int) -> str:
    """The line without blanks around it; each run of at least `blanks` of them becomes a tab."""
    return re.sub(f" {{{blanks},}}", "\t", line.strip(" \r\n"))


def squeezed_bytes(lines: bytes, blanks: int) -> bytes:
    """The same for whole lines."""
    runs = re.compile(rb" {%d,}" % blanks)
    return b"\n".join(runs.sub(b"\t", line.strip(b" \r")) for line in lines.split(b"\n"))


def without_nulls(lines: bytes, delimiter: str) -> bytes:
    """Whole lines with nothing for a field \\N, which databases that write backslashes before quotes mean by it."""
    beside = re.escape(delimiter).encode() + rb"\r\n"
    return re.sub(rb"(?<![^%b])\\N(?![^%b])" % (beside, beside), b"", lines)
