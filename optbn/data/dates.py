"""Dates and times as people write them, and the numbers they are read as: days since 1970-01-01 (with time: and parts
of a day), or the hours of a day."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cached_property

EPOCH = date(1970, 1, 1).toordinal()
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONG = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_PARTS = {
    "yyyymmdd": r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})",
    "yyyy": r"(?P<year>\d{4})",
    "yy": r"(?P<year>\d{2})",
    "mm": r"(?P<month>\d{1,2})",
    "dd": r"(?P<day>\d{1,2})",
    "mon": r"(?P<month>[A-Za-z]{3,9})\.?",
    "hh:mm": r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d+)?))?(?: ?(?P<half>[AaPp][Mm]))?"
    r"(?:Z| ?[+-]\d{2}:?\d{2}| UTC)?",
}
_TOKEN = re.compile("hh:mm|yyyymmdd|yyyy|mon|yy|mm|dd")
_DAYS = (
    "yyyy-mm-dd",
    "yyyy/mm/dd",
    "yyyy.mm.dd",
    "dd.mm.yyyy",
    "dd/mm/yyyy",
    "mm/dd/yyyy",
    "dd-mm-yyyy",
    "mm-dd-yyyy",
    "dd.mm.yy",
    "dd/mm/yy",
    "mm/dd/yy",
    "dd-mon-yyyy",
    "dd mon yyyy",
    "dd-mon-yy",
    "mon dd, yyyy",
    "mon dd yyyy",
    "yyyy-mm",
)
COMPACT = "yyyymmdd"
FORMS: tuple[str, ...] = (*_DAYS, *(f"{day} hh:mm" for day in _DAYS[:-1]), "yyyy-mm-ddThh:mm", "hh:mm", COMPACT)
FIRST_YEAR, LAST_YEAR = 1850, 2100
"""Of whole numbers that are taken for dates."""


@dataclass(frozen=True)
class DateForm:
    """One way to write dates, by its example in letters: "dd.mm.yyyy hh:mm"."""

    example: str

    @classmethod
    def of(cls, example: str) -> DateForm | None:
        """The form of that name; None if there is none."""
        return cls(example) if example in FORMS else None

    def __call__(self, text: str) -> float | None:
        """Days since 1970-01-01, or hours; None if nothing is written there in this way."""
        found = self._pattern.fullmatch(text.strip())
        if not found:
            return None
        parts = found.groupdict()
        hours = 0.0
        if parts.get("hour") is not None:
            hour, minute = int(parts["hour"]), int(parts["minute"])
            if half := parts["half"]:
                if not 1 <= hour <= 12:
                    return None
                hour = hour % 12 + (12 if half.lower() == "pm" else 0)
            second = float((parts["second"] or "0").replace(",", "."))
            if hour > 24 or minute > 59 or second >= 61:
                return None
            hours = hour + minute / 60 + second / 3600
        if "year" not in parts:
            return hours
        year, month = int(parts["year"]), _month(parts["month"])
        if len(parts["year"]) == 2:
            year += 2000 if year < 70 else 1900
        try:
            day = date(year, month, int(parts.get("day") or 1)).toordinal() - EPOCH
        except ValueError:
            return None
        return day + hours / 24

    @property
    def unit(self) -> str:
        """What the numbers count."""
        return "hours" if self.example == "hh:mm" else "days"

    @property
    def words(self) -> str:
        """What the numbers mean."""
        return "hours" if self.unit == "hours" else "days since 1970-01-01"

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        pattern, end = "", 0
        for token in _TOKEN.finditer(self.example):
            pattern += re.escape(self.example[end : token.start()]) + _PARTS[token[0]]
            end = token.end()
        return re.compile(pattern + re.escape(self.example[end:]), re.ASCII)


def _month(text: str) -> int:
    if text.isdigit():
        return int(text)
    word = text.lower()
    if word == "sept":
        return 9
    if word in _LONG:
        return _LONG.index(word) + 1
    return _MONTHS.index(word) + 1 if word in _MONTHS else 0


_ALL = tuple(map(DateForm, FORMS))


def in_unit(number: float, unit: str) -> str:
    """A number as people read it: days since 1970-01-01 as a date, to the minute; hours as a time of day."""
    if unit == "days" and math.isfinite(number):
        minutes = round(number * 1440)
        with suppress(ValueError, OverflowError):
            text = date.fromordinal(EPOCH + minutes // 1440).isoformat()
            return f"{text} {_clock(minutes % 1440)}" if minutes % 1440 else text
    if unit == "hours" and 0 <= number <= 24:
        return _clock(round(number * 60))
    return f"{number:.6g}"


def from_text(text: str, unit: str) -> float | None:
    """The number that a date (2024-01-31, 2024-01-31 12:30) or a time of day stands for; None if it is none."""
    forms = {"days": ("yyyy-mm-dd", "yyyy-mm-dd hh:mm", "yyyy-mm-ddThh:mm"), "hours": ("hh:mm",)}.get(unit, ())
    return next((number for form in forms if (number := DateForm(form)(text)) is not None), None)


def compact(texts: Collection[str]) -> DateForm | None:
    """The form of dates written as whole numbers, if all of these are days of not unlikely years."""
    form = DateForm(COMPACT)
    low, high = ((date(year, 1, 1).toordinal() - EPOCH) for year in (FIRST_YEAR, LAST_YEAR))
    days = map(form, texts)
    return form if texts and all(day is not None and low <= day < high for day in days) else None


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def date_forms(texts: Collection[str]) -> Sequence[DateForm]:
    """Every form in which all of these are dates; two where day and month can be told apart in none."""
    first = next(iter(texts))
    likely = [form for form in _ALL if form(first) is not None or form.example[:2] in ("dd", "mm")]
    return [form for form in likely if all(form(text) is not None for text in texts)]
