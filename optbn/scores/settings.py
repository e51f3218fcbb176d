"""Checks of a score's hyper-parameters."""

from __future__ import annotations

import math
from typing import Any

from optbn.errors import UnsupportedError


def check_positive(score: Any, field: str) -> None:
    """Raise unless the field is a finite number above 0."""
    value = getattr(score, field)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not (math.isfinite(value) and value > 0):
        raise UnsupportedError(f"{type(score).__name__}: {field} is {value!r}, expected a finite number above 0")
