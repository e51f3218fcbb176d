"""How people write numbers: signs for decimals and thousands, percent, currencies, units, brackets for minus.

A column is written in one way; `ways` finds every way in which all of its texts are numbers, the likeliest first. A way
is shown, and declared, by an example: "1.234,5", "1 234,5 %", "$1,234.5".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

BLANKS = "\u00a0\u202f\u2009 "
_CURRENCY = (
    "[$\u20ac\u00a3\u00a5\u20b9]|USD|EUR|GBP|CHF|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|CAD|AUD|BRL|kr|z\u0142|"
    r"Fr\.|Rs\.?"
)
_UNIT = (
    "kg|mg|g|\u00b5g|ug|lbs?|oz|t|mm|cm|dm|km|m|mi|ft|in|s|sec|ms|min|h|hrs?|hours?|days?|d|weeks?|months?|years?|yrs?|y|"
    "\u00b0C|\u00b0F|\u00b0|K|hPa|kPa|Pa|bar|psi|mmHg|mm Hg|l|L|ml|mL|dl|cl|mmol/l|mmol/L|mg/dl|mg/dL|g/dl|g/dL|bpm|"
    "Hz|kHz|MHz|GHz|kB|KB|MB|GB|TB|px|W|kW|kWh|V|mV|A|mA|m2|m\u00b2|km2|km\u00b2|km/h|m/s|mph|"
    r"Jahre?|J\.|Monate?|Mon\.|Wochen?|Tage?|Std\.|Min\.|Stk\.|ans?|mois|jours?|a\u00f1os?|yrs?\.|hrs?\."
)
_AFTER = rf"{_CURRENCY}|[%\u2030]|{_UNIT}"
_TEXT = re.compile(
    rf"[ ]*+(?P<open>\()?(?P<sign>[+\-\u2212]?)[ ]?(?P<before>(?:{_CURRENCY})[{BLANKS}]?)?(?P<inner>[+\-\u2212]?)"
    rf"(?P<core>[0-9.,](?:[0-9.,]|['\u2019{BLANKS}](?=\d))*+(?:[eE][+-]?\d+)?)"
    rf"(?:(?<=[.,])(?:--?|\u2013|\u2014))?(?P<after>[{BLANKS}]?(?:{_AFTER}))?(?P<close>\))?(?P<trailing>-)?[ ]*+"
)
_KNOWN = re.compile(_AFTER)
_BEHIND = re.compile(rf"[\d.,'\u2019{BLANKS}+\-\u2212]*\d[{BLANKS}]?(?P<word>[^\W\d_][^\d]*?)[{BLANKS}]*")
_EXAMPLE = re.compile(rf"(?P<before>[^\d]*)1(?:(?P<thousands>[.,'\u2019{BLANKS}])234)?(?P<decimal>[.,])5(?P<after>.*)")

POWER = re.compile(r" *\d{1,4}[eE]\d{1,2} *", re.ASCII)
"""A whole number with a power of ten may be a code."""

SIGNS: tuple[tuple[str, str], ...] = (
    (".", ""),
    (",", ""),
    (".", ","),
    (",", "."),
    (",", " "),
    (".", " "),
    (".", "'"),
    (",", "'"),
)
"""Decimal and thousands signs that go together."""


@dataclass(frozen=True)
class Notation:
    """One way to write numbers. Any blank stands for ' ' between thousands, any apostrophe for "'"."""

    decimal: str = "."
    thousands: str = ""
    before: str = ""
    after: str = ""

    @property
    def example(self) -> str:
        return f"{self.before}1{self.thousands + '234' if self.thousands else ''}{self.decimal}5{self.after}"

    @classmethod
    def of(cls, example: str) -> Notation | None:
        """The notation of an example; None if it is none."""
        found = _EXAMPLE.fullmatch(example)
        if not found or found["thousands"] == found["decimal"]:
            return None
        return cls(found["decimal"], _plain(found["thousands"] or ""), found["before"], found["after"])

    def __call__(self, text: str) -> float | None:
        """The number written there, None if it is written in another way."""
        parts = Numeral.of(text, self.after.strip())
        if parts is None or not self._fits(parts):
            return None
        core = parts.core.replace(self.thousands, "") if self.thousands else parts.core
        number = float(core.replace(self.decimal, "."))
        return -number if parts.negative else number

    def _fits(self, parts: Numeral) -> bool:
        around = (not parts.before or parts.before == self.before.strip()) and (
            not parts.after or parts.after == self.after.strip()
        )
        return around and self._core.fullmatch(parts.core) is not None

    @cached_property
    def _core(self) -> re.Pattern[str]:
        d, t = re.escape(self.decimal), re.escape(self.thousands)
        whole = rf"(?:\d++|[1-9]\d{{0,2}}(?:{t}\d{{3}})++)" if t else r"\d++"
        if self.thousands == ",":  # as Indians write: 1,23,456
            whole = rf"(?:{whole}|[1-9]\d?(?:,\d\d)+,\d{{3}}(?!\d))"
        return re.compile(rf"(?:{whole}(?:{d}\d*+)?|{d}\d++)(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Numeral:
    """A text that may be a number in some way: what stands around it, and the digits with their signs."""

    core: str
    before: str
    after: str
    negative: bool

    @classmethod
    def of(cls, text: str, unit: str = "") -> Numeral | None:
        """The parts of a text; `unit` is a word that may stand behind the number besides those known here."""
        if unit and not _KNOWN.fullmatch(unit) and (bare := text.rstrip(BLANKS)).endswith(unit):
            number = cls.of(bare.removesuffix(unit).rstrip(BLANKS))
            return None if number is None or number.after else replace(number, after=unit)
        found = _TEXT.fullmatch(text)
        if not found or bool(found["open"]) != bool(found["close"]):
            return None
        minus = [bool(found["open"]), found["sign"] in ("-", "\u2212"), found["inner"] in ("-", "\u2212")]
        minus.append(bool(found["trailing"]))
        if sum(minus) > 1 or (found["sign"] and found["inner"]):
            return None
        before, after = (found["before"] or "").strip(BLANKS), (found["after"] or "").strip(BLANKS)
        core = found["core"].rstrip(BLANKS)  # the possessive repeat of Python 3.11.7 may keep the blank
        return cls(_plain(core), before, after, any(minus))


def _plain(core: str) -> str:
    for blank in BLANKS:
        core = core.replace(blank, " ")
    return core.replace("\u2019", "'")


def numerals(texts: Iterable[str], unit: str = "") -> list[Numeral | None]:
    """Each text taken apart."""
    return [Numeral.of(text, unit) for text in texts]


def word_behind(texts: Sequence[str]) -> str:
    """The word that stands behind the number in every text, and is no unit known here; "" if there is none. Without a
    blank or a decimal sign, as in 12A, it belongs to a code."""
    found = _BEHIND.fullmatch(texts[0])
    if found is None or _KNOWN.fullmatch(word := found["word"]):
        return ""
    bare = [text.rstrip(BLANKS) for text in texts]
    apart = all(text[-len(word) - 1 :][:1] in BLANKS or set(text) & set(".,") for text in bare)
    return word if apart and all(text.endswith(word) for text in bare) else ""


def ways(parts: Sequence[Numeral]) -> list[Notation]:
    """Every notation in which all of these are numbers, without signs that none of them has."""
    befores, afters = ({one.before for one in parts} - {""}, {one.after for one in parts} - {""})
    if len(befores) > 1 or len(afters) > 1 or (befores and afters):
        return []
    if any(after.isalpha() for after in afters) and not all(one.after for one in parts):
        return []  # a unit that only some have
    used = set("".join(one.core for one in parts)) & set(".,' ")
    found = []
    for decimal, thousands in SIGNS:
        if not used <= {decimal, thousands} or (thousands and thousands not in used):
            continue
        if decimal == "," and "," not in used and thousands != ".":
            continue
        way = Notation(decimal, thousands, *(f"{b}" for b in befores or {""}), *(f"{a}" for a in afters or {""}))
        if all(way._fits(one) for one in parts):
            found.append(way)
    return found


def three_follow(parts: Sequence[Numeral], sign: str) -> bool:
    """Whether each of these signs stands before three digits and after one to three, as between thousands."""
    grouped = re.compile(rf"[1-9]\d{{0,2}}(?:{re.escape(sign)}\d{{3}})+|\d+", re.ASCII)
    return all(grouped.fullmatch(one.core) for one in parts)
