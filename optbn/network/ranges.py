"""Evidence that a value lies in a range: age > 50, 10 <= bmi < 20; of levels, those in the range.

In Python a pair (10, 20) says 10 <= x < 20 and None leaves a side open; texts say it as people write it: ">50".
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from optbn.base.errors import UnsupportedError
from optbn.data.dataset import Categorical, Real
from optbn.data.dates import from_text, in_unit

_TEXT = re.compile(r"\s*(?:(?P<left>[^<>=]+?)\s*(?P<low><=?)\s*x?)?\s*(?:(?P<sign>[<>]=?)\s*(?P<right>[^<>=]+?))?\s*")


@dataclass(frozen=True)
class Range:
    """low <= x < high, or with `above` low < x, with `upto` x <= high."""

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    upto: bool = False

    def holds(self, x: float) -> bool:
        """Whether a number is in it."""
        return (self.low < x if self.above else self.low <= x) and (x <= self.high if self.upto else x < self.high)

    def meets(self, other: Range) -> Range:
        """What lies in both."""
        low, above = max((self.low, self.above), (other.low, other.above))
        high, upto = min((self.high, self.upto), (other.high, other.upto))
        return Range(low, high, above, upto)

    def ends(self, whole: bool) -> tuple[float, float]:
        """Of the numbers that become the nearest whole ones, where they do (data.support)."""
        if not whole:
            return self.low, self.high
        low = (math.floor(self.low) + 1 if self.above else math.ceil(self.low)) if math.isfinite(self.low) else self.low
        high = self.high
        if math.isfinite(high):
            high = math.floor(high) if self.upto else math.ceil(high) - 1
        return low - 0.5, high + 0.5

    def text(self, name: str, unit: str = "") -> str:
        """ "10 <= name < 20"."""
        low = f"{in_unit(self.low, unit)} {'<' if self.above else '<='} " if math.isfinite(self.low) else ""
        high = f" {'<=' if self.upto else '<'} {in_unit(self.high, unit)}" if math.isfinite(self.high) else ""
        return f"{low}{name}{high}"


def range_of(value: Any, unit: str = "") -> Range | None:
    """The range that evidence says; None if it is none."""
    if isinstance(value, Range):
        return value
    low, high, above, upto = *OPEN, False, False
    if isinstance(value, tuple) and len(value) == 2:
        ends = [default if end is None else number_of(end, unit) for end, default in zip(value, OPEN, strict=True)]
        return None if None in ends else Range(*ends)  # type: ignore[arg-type]
    found = _TEXT.fullmatch(value) if isinstance(value, str) else None
    if not found or not (found["left"] or found["sign"]):
        return None
    left, right = (None if found[end] is None else number_of(found[end], unit) for end in ("left", "right"))
    if (found["left"] and left is None) or (found["sign"] and right is None):
        return None
    if left is not None:
        low, above = left, found["low"] == "<"
    if right is not None and found["sign"].startswith("<"):
        high, upto = right, found["sign"] == "<="
    elif right is not None:
        low, above = right, found["sign"] == ">"
    return Range(low, high, above, upto)


OPEN = (-math.inf, math.inf)


def states_in(name: str, domain: Categorical | Real, found: Range) -> list[bool]:
    """Which levels lie in the range; refused where levels are no numbers."""
    assert isinstance(domain, Categorical)
    try:
        inside = [found.holds(float(level)) for level in domain.levels]
    except ValueError:
        raise UnsupportedError(
            f"{name!r} has the levels {', '.join(domain.levels[:5])}..., which are no numbers to compare; name one"
        ) from None
    return inside


def number_of(value: Any, unit: str) -> float | None:
    """The finite number that a value of a real variable is: a number, its text, or a date; None if it is none."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        found = from_text(str(value), unit) if unit else None
        return found
    return number if math.isfinite(number) else None
