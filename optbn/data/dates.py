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

from optbn.data.months import WEEKDAYS, month

EPOCH = date(1970, 1, 1).toordinal()
_ZONE = r"Z| ?[+-]\d{2}:?\d{2}| UTC| GMT"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d+)?))?(?: ?(?P<half>[AaPp]\.?[Mm]\.?))?"
_PARTS = {
    "yyyymmdd": r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})",
    "yyyy": r"(?P<year>\d{4})",
    "yy": r"(?P<year>\d{2})",
    "mm": r"(?P<month>\d{1,2})",
    "dd": r"(?P<day>\d{1,2})(?:st|nd|rd|th|er)?",
    "mon": r"(?P<month>[^\W\d_]{3,10})\.?",
    "Qn": r"[Qq](?P<quarter>[1-4])",
    "hh:mm": rf"{_CLOCK}(?:{_ZONE})?",
    "hh:mm UTC": rf"{_CLOCK}(?P<zone>{_ZONE})",
}
_TOKEN = re.compile("hh:mm UTC|hh:mm|yyyymmdd|yyyy|mon|yy|mm|dd|Qn")
_DAYS = (
    *("yyyy-mm-dd", "yyyy/mm/dd", "yyyy.mm.dd", "dd.mm.yyyy", "dd/mm/yyyy", "mm/dd/yyyy", "dd-mm-yyyy", "mm-dd-yyyy"),
    *("dd.mm.yy", "dd/mm/yy", "mm/dd/yy", "dd-mm-yy", "dd-mon-yyyy", "dd mon yyyy", "dd. mon yyyy", "dd-mon-yy"),
    *("dd mon yy", "mon dd, yyyy", "mon dd yyyy", "yyyy-mon-dd", "ddmonyyyy", "ddmonyy"),
)
_MONTHLY = ("yyyy-mm", "yyyy/mm", "mm/yyyy", "mm.yyyy", "mon-yy", "mon yy", "mon-yyyy", "mon yyyy", "yyyy mon")
_QUARTERLY = ("yyyyQn", "yyyy-Qn", "yyyy Qn", "Qn yyyy", "Qn-yyyy", "Qn/yyyy")
COMPACT = "yyyymmdd"
_TIMES = (*(f"{day} hh:mm" for day in _DAYS), "mm/dd/yyyy, hh:mm", "dd.mm.yyyy, hh:mm", "yyyy-mm-ddThh:mm")
FORMS: tuple[str, ...] = (
    *(*_DAYS, *_MONTHLY, *_QUARTERLY, *_TIMES, *(f"{time} UTC" for time in _TIMES), "hh:mm", COMPACT),
)
SEVERAL = "|"
"""Between forms that one column has side by side."""
NEXT_CENTURY = 30
"""Years of two digits are 1930 to 2029, as spreadsheets read them: few tables reach far into the future."""
CENTURY = date(2000, 1, 1).toordinal() - EPOCH
FIRST_YEAR, LAST_YEAR = 1850, 2100
"""Of whole numbers that are taken for dates."""


@dataclass(frozen=True)
class DateForm:
    """One way to write dates, by its example in letters: "dd.mm.yyyy hh:mm", or several, "yyyy-mm-dd|dd.mm.yyyy". With
    UTC at the end, times of any zone are put into that one; else zones are not looked at."""

    example: str

    @classmethod
    def of(cls, example: str) -> DateForm | None:
        """The form of that name; None if there is none."""
        return cls(example) if all(one in FORMS for one in example.split(SEVERAL)) else None

    def __call__(self, text: str) -> float | None:
        """Days since 1970-01-01, or hours; None if nothing is written there in this way."""
        text = text.strip()
        for pattern in self._patterns:
            if (found := pattern.fullmatch(text)) and (number := _number(found.groupdict())) is not None:
                return number
        return None

    @property
    def unit(self) -> str:
        """What the numbers count."""
        return "hours" if self.example == "hh:mm" else "days"

    @property
    def short_years(self) -> bool:
        """Whether its years have two digits."""
        return any(token == "yy" for one in self.example.split(SEVERAL) for token in _TOKEN.findall(one))

    @property
    def words(self) -> str:
        """What the numbers mean."""
        since = "days since 1970-01-01"
        return "hours" if self.unit == "hours" else f"{since}, in UTC" if self.example.endswith("UTC") else since

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(map(_pattern, self.example.split(SEVERAL)))


def _pattern(example: str) -> re.Pattern[str]:
    pattern, end = "", 0
    for token in _TOKEN.finditer(example):
        pattern += re.escape(example[end : token.start()]) + _PARTS[token[0]]
        end = token.end()
    weekday = rf"(?:(?i:{WEEKDAYS})\.?,? )?" if "dd" in example and example != COMPACT else ""
    return re.compile(weekday + pattern + re.escape(example[end:]).replace("\\ UTC", ""))


def _number(parts: dict[str, str | None]) -> float | None:
    """Days since 1970-01-01, or hours, of what a pattern has found."""
    hours = 0.0
    if parts.get("hour") is not None:
        hour, minute = int(parts["hour"] or 0), int(parts["minute"] or 0)
        if half := parts["half"]:
            if not 1 <= hour <= 12:
                return None
            hour = hour % 12 + (12 if half[0].lower() == "p" else 0)
        second = float((parts["second"] or "0").replace(",", "."))
        if hour > 24 or minute > 59 or second >= 61:
            return None
        hours = hour + minute / 60 + second / 3600 - _offset(parts.get("zone") or "")
    if "year" not in parts:
        return hours
    year = int(parts["year"] or 0)
    if len(parts["year"] or "") == 2:
        year += 2000 if year < NEXT_CENTURY else 1900
    months = 3 * int(parts["quarter"] or 1) - 2 if "quarter" in parts else month(parts["month"] or "")
    try:
        day = date(year, months, int(parts.get("day") or 1)).toordinal() - EPOCH
    except ValueError:
        return None
    return day + hours / 24


def _offset(zone: str) -> float:
    """The hours by which a zone is ahead of UTC."""
    found = re.fullmatch(r" ?([+-])(\d{2}):?(\d{2})", zone)
    return (1 if found[1] == "+" else -1) * (int(found[2]) + int(found[3]) / 60) if found else 0.0


def zones(texts: Collection[str]) -> set[str]:
    """The zones that times end in, "" where there is none."""
    ends = (re.search(rf"\d{{2}}(?:[.,]\d+)?({_ZONE})$", text.strip()) for text in texts)
    return {"" if end is None else end[1].strip().replace(":", "") for end in ends}


_LOCAL = tuple(DateForm(example) for example in FORMS if not example.endswith("UTC"))
"""Forms in which zones are not looked at."""


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
    likely = [form for form in _LOCAL if form(first) is not None]
    return [form for form in likely if all(form(text) is not None for text in texts)]


def several_forms(texts: Collection[str]) -> DateForm | None:
    """Two or three forms in which these are dates, each text the same one in all that it has; None where there are no
    such forms."""
    chosen: list[DateForm] = []
    rest = set(texts)
    while rest and len(chosen) < 3:
        forms = [(sum(form(text) is not None for text in rest), form) for form in _LOCAL if form.unit == "days"]
        most = max(count for count, _ in forms)
        if not most:
            return None
        form = next(form for count, form in forms if count == most)
        chosen.append(form)
        rest = {text for text in rest if form(text) is None}
    if rest or len(chosen) < 2:
        return None
    likely = [form for form in _LOCAL if form.unit == "days" and sum(form(text) is not None for text in texts) > 1]
    for text in texts:
        if len({number for form in likely if (number := form(text)) is not None}) > 1:
            return None
    return DateForm(SEVERAL.join(form.example for form in chosen))
