"""How a second table differs from a first: columns, kinds, levels, ranges, shares of levels, missing values."""

from __future__ import annotations

from collections.abc import Iterator

from optbn.data.dates import in_unit
from optbn.data.describe import Description, Levels, Numbers
from optbn.data.findings import Finding

SHARE = 0.1
"""A level, or missing values, whose share moves by this much is worth a line."""


def drift(a: Description, b: Description) -> list[Finding]:
    """A line per difference, in the order of the first table's columns."""
    first = {column.name: column for column in a.columns}
    second = {column.name: column for column in b.columns}
    found = [Finding("note", f"is not in {b.source}", name) for name in first if name not in second]
    found += [Finding("note", f"is not in {a.source}", name) for name in second if name not in first]
    for name, column in first.items():
        if name in second:
            found += [Finding("note", what, name) for what in _column(column, second[name], a.rows, b.rows)]
    return found


def _column(a: Levels | Numbers, b: Levels | Numbers, rows_a: int, rows_b: int) -> Iterator[str]:
    before, after = a.missing / max(1, rows_a), b.missing / max(1, rows_b)
    if abs(after - before) >= SHARE or (bool(a.missing) != bool(b.missing)):
        yield f"missing values {before:.1%}, then {after:.1%}"
    if isinstance(a, Numbers) and isinstance(b, Numbers):
        yield from _numbers(a, b)
    elif isinstance(a, Levels) and isinstance(b, Levels):
        yield from _levels(a, b)
    else:
        yield f"{a.kind}, then {b.kind}"


def _numbers(a: Numbers, b: Numbers) -> Iterator[str]:
    (low, high), (other_low, other_high) = a.range, b.range
    if other_low < low or other_high > high:
        there, here = (" to ".join(in_unit(end, one.unit) for end in one.range) for one in (b, a))
        yield f"from {there}, outside {here}"
    if a.mean is not None and b.mean is not None and a.sd and abs(b.mean - a.mean) > a.sd / 2:
        before, after = (in_unit(x, a.unit) if a.unit else f"{x:.4g}" for x in (a.mean, b.mean))
        yield f"mean {before}, then {after} ({(b.mean - a.mean) / a.sd:+.1f} standard deviations)"


def _levels(a: Levels, b: Levels) -> Iterator[str]:
    new = [level for level, n in zip(b.levels, b.counts, strict=True) if n and level not in a.levels]
    gone = [level for level, n in zip(a.levels, a.counts, strict=True) if n and level not in b.levels]
    if new:
        yield f"new levels: {_some(new)}"
    if gone:
        yield f"levels that do not occur: {_some(gone)}"
    shares = dict(zip(a.levels, (n / max(1, sum(a.counts)) for n in a.counts), strict=True))
    for level, n in zip(b.levels, b.counts, strict=True):
        share = n / max(1, sum(b.counts))
        if level in shares and abs(share - shares[level]) >= SHARE:
            yield f"{level!r} {shares[level]:.1%}, then {share:.1%}"


def _some(levels: list[str]) -> str:
    return ", ".join(map(repr, levels[:5])) + (f" and {len(levels) - 5} more" if len(levels) > 5 else "")
