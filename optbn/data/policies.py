"""What stands for a missing value, and what can be done about it, by name; `missing` does it."""

from __future__ import annotations

from collections.abc import Mapping

TOKENS: tuple[str, ...] = ("", "?", "NA", "N/A", "<NA>", "NaN", "nan", "null", "NULL")
LEVEL = "missing"
POLICIES = ("refuse", "value", "as_level", "drop", "impute")

MissingLike = str | Mapping[str, str]
