"""Reading a csv the plain way: the whole file in memory, one value at a time, the rule of inference as it is stated."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import dataclass

MISSING = {"", "?", "NA", "N/A", "<NA>", "NaN", "nan", "null", "NULL"}
DECIMAL = r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?"


@dataclass
class Column:
    """`levels` of a categorical column or None; values are levels, numbers, or None where missing."""

    levels: list[str] | None
    values: list[str | float | None]


class Refused(Exception):
    """The rule does not say what this column is, or a value is not finite."""


def is_number(text: str) -> bool:
    text = text.strip(" ")
    if re.fullmatch(r"[+-]?0\d+", text, re.ASCII):
        return False
    return bool(re.fullmatch(DECIMAL, text, re.ASCII) or re.fullmatch(r"[+-]?inf(inity)?", text, re.I | re.ASCII))


def is_whole(text: str) -> bool:
    return is_number(text) and bool(re.fullmatch(r"[+-]?\d+", text.strip(" "), re.ASCII))


def has_comma(text: str) -> bool:
    """1,5 or 1,500 or 1,500.5"""
    text = text.strip(" ")
    if "." not in text and re.fullmatch(DECIMAL, text.replace(",", ".", 1), re.ASCII) and "," in text:
        return True
    first, *others = text.lstrip("+-").partition(".")[0].split(",")
    thousands = 1 <= len(first) <= 3 and others and all(len(group) == 3 for group in others)
    return bool(thousands and re.fullmatch(DECIMAL, text.replace(",", ""), re.ASCII)) and "e" not in text.lower()


def column(texts: list[str]) -> Column:
    """One column by the rule in the header of optbn.data.schema."""
    values = [None if text in MISSING else text for text in texts]
    different = {text for text in values if text is not None}
    numbers = {text for text in different if is_number(text)}
    commas = {text for text in different if has_comma(text)}
    if commas and len(different) > 10 and numbers | commas == different:
        raise Refused("commas in numbers")
    few_whole = len(numbers) <= 10 and all(is_whole(text) for text in numbers)
    if not numbers or few_whole or (numbers != different and len(different) <= 10):
        if different == numbers:
            levels = sorted(different, key=lambda text: (float(text), text))
        else:
            levels = sorted(different)
        return Column(levels, list(values))
    if numbers != different:
        raise Refused("text among numbers")
    converted = [None if text is None else float(text) for text in values]
    if any(x is not None and not math.isfinite(x) for x in converted):
        raise Refused("not finite")
    return Column(None, list(converted))


def read_csv(text: str) -> dict[str, Column]:
    """Columns by name of a comma-separated text with a header."""
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    return {name: column([row[i] for row in rows[1:]]) for i, name in enumerate(rows[0])}
