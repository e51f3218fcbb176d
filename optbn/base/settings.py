"""Checks of settings: of scores, smoothers and classifiers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

from optbn.base.errors import UnsupportedError

MOST_ROWS = 10**6


def check_positive(owner: Any, field: str, why: str = "", word: str | None = None) -> None:
    """Raise unless the field is a finite number above 0, or a mapping to such numbers; or the word, for a number."""
    if not all(_finite(value) and value > 0 for value in _values(owner, field, word)):
        also = f", or {word}" if word else ""
        raise UnsupportedError(f"{_shown(owner, field)}, expected a finite number above 0{also}{why}")


def check_rows(owner: Any, field: str, word: str | None = None) -> None:
    """Raise unless the field is a number above 0 of imagined rows that a score can tell from real ones: it subtracts
    log-gammas of the one with and without the other, which leaves ten digits at MOST_ROWS and none at 10^16."""
    check_positive(owner, field, word=word)
    if max(_values(owner, field, word), default=1) > MOST_ROWS:
        raise UnsupportedError(
            f"{_shown(owner, field)}, expected at most {MOST_ROWS:,}: beyond, counts are lost to rounding"
        )


def check_finite(owner: Any, field: str) -> None:
    """Raise unless the field is a finite number, or a mapping to such numbers."""
    if not all(_finite(value) for value in _values(owner, field)):
        raise UnsupportedError(f"{_shown(owner, field)}, expected a finite number")


def check_whole(owner: Any, field: str, least: int) -> None:
    """Raise unless the field is a whole number and at least `least`."""
    value = getattr(owner, field)
    if not _whole(value) or value < least:
        raise UnsupportedError(f"{_shown(owner, field)}, expected a whole number, at least {least}")


def check_limit(name: str, value: Any) -> None:
    """Raise unless a limit is "all" or a whole number."""
    if value != "all" and (not _whole(value) or value < 0):
        raise UnsupportedError(f"{name} is {value!r}, expected a whole number, at least 0, or 'all'")


def check_seed(seed: Any) -> None:
    """Raise unless random numbers can be drawn from it."""
    if not _whole(seed) or seed < 0:
        raise UnsupportedError(f"the seed is {seed!r}, expected a whole number, at least 0")


def _values(owner: Any, field: str, word: str | None = None) -> list[Any]:
    """The numbers of a field: one, or those of a mapping by column; without the word that may stand for one."""
    value = getattr(owner, field)
    values = list(value.values()) if isinstance(value, Mapping) else [value]
    return [one for one in values if word is None or not isinstance(one, str) or one != word]


def _finite(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _shown(owner: Any, field: str) -> str:
    return f"{type(owner).__name__}: {field.rstrip('_')} is {getattr(owner, field)!r}"
