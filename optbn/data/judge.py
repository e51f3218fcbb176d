"""What a column that nobody declared is meant to be, judged by its different texts.

The rules of `optbn.data.schema` hold for texts as programs write them. Here come the others, in this order:

1. a marker for missing values (`MARKERS`) among numbers or dates is missing;
2. texts that are all numbers in one way of writing (`numerals`) are these numbers: thousands, decimal commas, percent,
   currencies, units. Where signs have two readings (1,500), whole columns of three digits after the sign are thousands
   if some number has no sign, and doubtful otherwise, unless other columns of the file have decimal commas;
3. dates and times in one form (`dates`), if they are many, are numbers of days or hours;
4. a number like -999 or 99999 far from all others is missing; at most two whole numbers written 1.0 are levels, and at
   most `FEW` where some are missing, since that is how pandas writes them;
5. codes (E11.9, V58) among numbers make levels; another text among numbers is doubtful;
6. a column with hardly two rows a text, or with the numbers of the rows, names the rows and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from optbn.data.dates import DateForm, compact, date_forms
from optbn.data.findings import Finding, Grade
from optbn.data.numerals import Notation, Numeral, numerals, three_follow, ways
from optbn.data.schema import FEW, Written, is_number, is_whole, makes_real, parse_number

SPREADSHEET = frozenset(
    ("#N/A", "#NA", "#N/A!", "#NV", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NULL!", "#NAME?", "\\N", "NaT")
)
"""Programs write these for nothing: missing among words, too."""
MARKERS = SPREADSHEET | {
    *(
        "-",
        "--",
        "---",
        "\u2013",
        "\u2014",
        ".",
        "..",
        "...",
        "*",
        "**",
        "/",
        "x",
        "X",
        "n/a",
        "N.A.",
        "n.a.",
        "na",
        "n.a",
    ),
    *("N/A.", "none", "None", "NONE", "nil", "Nil", "unknown", "Unknown", "UNKNOWN", "unk", "missing", "Missing"),
    *("MISSING", "k.A.", "k.A", "NAN", "Nan", "-nan", "nan.", "-NaN", "1.#QNAN", "1.#IND", "-1.#IND", "Null", "N/D"),
    *("n/d", "nd", "ND", "(blank)", "(null)", "(none)", "blank", "undefined", "not_available", "not available"),
    *("not applicable", "not known", "keine Angabe", "s.d.", "no data", "No data"),
}
"""Among numbers or dates these stand for a missing value; among words some of them are words."""

SENTINELS = frozenset(
    float(f"{sign}{digits}")
    for sign in ("", "-")
    for digits in ("99", "999", "9999", "99999", "999999", "9999999", "99999999", "999.9", "99.9", "999.99", "99.99")
) | {-9.0, 8888.0, -8888.0, 88888.0, -1e20, 1e20, -32768.0, 1e30, -1e30}
_DATE_SENTINELS = tuple(
    float(DateForm("yyyy-mm-dd")(text) or 0.0)
    for text in ("1900-01-01", "1899-12-30", "9999-12-31", "9999-01-01", "0001-01-01", "2099-12-31", "1970-01-01")
)
EXACT = 2.0**53
"""Whole numbers from here on are not all floating-point numbers."""
MANY_NAMES = 20
"""So many different texts, nearly one a row, name the rows."""

_CODE = re.compile(r"[A-Za-z]{1,4}[-. ]?\d[\w.\-/]*|\d+[-.]?[A-Za-z]{1,2}\d*", re.ASCII)
_ID = re.compile(
    r"(?:^|[\W_])(?:id|ids|nr|nbr|no|num|number|key|uuid|guid|index|row|rowid|rownum|ssn)\.?$|[a-z]I[Dd]$", re.I
)


@dataclass(frozen=True)
class Judgement:
    """How a column is read.

    way       what turns its texts into numbers, if plain numbers they are not
    missing   texts that stand for a missing value, beside the tokens of the file
    absent    numbers that do

    A categorical column with a way has the whole numbers of its texts as levels.
    """

    kind: Literal["categorical", "real", "ignore"]
    way: Notation | DateForm | None = None
    missing: frozenset[str] = frozenset()
    absent: tuple[float, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Texts:
    """The different texts of a column, with the rows they come first in (None: in no row), how often, and the rows."""

    name: str
    first: Mapping[str, int | None]
    counts: Mapping[str, int]
    rows: int
    n_missing: int = 0
    decimal: str | None = None  # the sign for decimals in other columns of the file
    decimal_declared: bool = False
    real: bool = False  # the column is declared to hold numbers
    unnamed: bool = False
    wanted: bool = False  # somebody asked for it by name

    def finding(self, grade: Grade, what: str, text: str | None = None, remedy: str = "") -> Finding:
        row = self.first.get(text) if text is not None else None
        return Finding(grade, what, self.name, None if row is None else row + 1, remedy)

    def another(self, kind: str = "categorical") -> str:
        """What to write for another kind."""
        return f"--column {quoted(f'{self.name}={kind}')} for another reading"


def quoted(text: str) -> str:
    """As a shell wants it, where it must."""
    return text if re.fullmatch(r"[\w=.,:/@%+-]+", text) else "'" + text.replace("'", "'\\''") + "'"


def judge(column: Texts) -> Judgement:
    """How to read the column."""
    texts = list(column.first)
    if not texts:
        what = "no row has a value, so it is left out"
        return Judgement("ignore", findings=(column.finding("certain", what),))
    markers = [text for text in texts if text.strip() in MARKERS]
    words = [text for text in texts if text.strip() not in MARKERS]
    if not words:
        return _levels(column, texts)
    if all(map(is_number, words)):
        found = _plain(column, words)
    else:
        found = _written(column, words) or _dated(column, words) or _mixed(column, words)
    if found is None:
        return _levels(column, texts)
    if found.kind == "categorical" and found.findings:
        return found
    return _without(column, markers, found) if markers else found


def _without(column: Texts, markers: Sequence[str], found: Judgement) -> Judgement:
    rows = sum(column.counts.get(text, 0) for text in markers)
    listed = ", ".join(map(repr, markers[:4])) + (", ..." if len(markers) > 4 else "")
    what = (
        f"{listed} among {'dates' if isinstance(found.way, DateForm) else 'numbers'} read as missing ({rows:,} cells)"
    )
    grade: Grade = "certain" if set(markers) <= SPREADSHEET | {"-", "."} else "probable"
    finding = column.finding(grade, what, markers[0], column.another())
    return Judgement(
        found.kind, found.way, found.missing | frozenset(markers), found.absent, (*found.findings, finding)
    )


def _plain(column: Texts, texts: Sequence[str]) -> Judgement | None:
    """Numbers as programs write them; None if they are levels as they stand."""
    if row_names := _row_numbers(column, texts):
        return row_names
    if dates := _compact_dates(column, texts):
        return dates
    numbers = {text: float(text) for text in texts}
    absent = () if column.real else _sentinels(column, numbers)
    kept = [text for text in texts if numbers[text] not in absent]
    if not column.real and not makes_real(kept) and not makes_real(texts):
        return None  # few enough to be levels, one that marks missing values among them
    findings = tuple(_sentinel_finding(column, value, numbers) for value in absent)
    largest = max(numbers.values(), key=abs)
    if abs(largest) >= EXACT and all(map(is_whole, kept)):
        findings = (too_many_digits(column.name, largest), *findings)
    gone = frozenset(text for text, number in numbers.items() if number in absent)
    if not column.real and (finding := _written_with_point(column, kept, bool(gone))):
        return Judgement("categorical", Notation(), gone, (), (*findings, finding))
    if column.real or makes_real(kept):
        return _thousands_with_points(column, kept) or Judgement("real", None, frozenset(), absent, findings)
    return Judgement("categorical", None, gone, (), findings)


def _compact_dates(column: Texts, texts: Sequence[str]) -> Judgement | None:
    """20210304, 20210305, ..: days, if they are many and all of them are some."""
    form = None if column.real or len(texts) <= FEW else compact(texts)
    if form is None:
        return None
    what = f"{texts[0]!r} read as {form.words} ({form.example}): {form(texts[0]):.12g}"
    keep = f"{_keep(column.name, 'real')} keeps the number"
    return Judgement("real", form, findings=(column.finding("probable", what, texts[0], keep),))


def _row_numbers(column: Texts, texts: Sequence[str]) -> Judgement | None:
    """0, 1, 2, .. or 1, 2, 3, .. by row, or the whole numbers of a key."""
    if column.real or column.wanted or len(texts) < column.rows or not all(map(is_whole, texts)):
        return None
    start = min(map(int, texts))
    counts = start in (0, 1) and all(column.first[text] == int(text) - start for text in texts)
    if counts and (column.rows > MANY_NAMES or (column.unnamed and column.rows > 1)):
        return numbers_of_rows(column.name, start, column.rows, column.unnamed)
    return keys(column.name, column.rows) if column.rows > MANY_NAMES and is_id(column.name) else None


def _written_with_point(column: Texts, texts: Sequence[str], gone: bool) -> Finding | None:
    """Whole numbers that pandas wrote 1.0 because some were missing, or that are only two, are levels."""
    if len(texts) > FEW or not all(re.fullmatch(r" *[+-]?\d+\.0* *", text) for text in texts):
        return None
    if (len(texts) != 2 and not column.n_missing and not gone) or len(set(map(float, texts))) < len(texts):
        return None
    what = f"{len(texts)} different whole numbers written like {texts[0].strip()} make levels"
    return column.finding("probable", what, texts[0], column.another("real"))


def _thousands_with_points(column: Texts, texts: Sequence[str]) -> Judgement | None:
    """1.500 in a file of decimal commas is fifteen hundred."""
    if column.decimal != "," or not any("." in text for text in texts):
        return None
    parts = [part for part in numerals(texts) if part is not None]
    if len(parts) < len(texts) or not three_follow(parts, "."):
        return None
    way = Notation(",", ".")
    text = next(text for text in texts if "." in text)
    what = f"{text!r} read as {way(text):g}: points between thousands, as other columns have decimal commas"
    return Judgement("real", way, findings=(column.finding("probable", what, text, _as(column, "1.5")),))


def _as(column: Texts, example: str) -> str:
    return f"--column {quoted(f'{column.name}={example}')} for the other reading"


def _written(column: Texts, texts: Sequence[str]) -> Judgement | None:
    """Numbers in another way of writing."""
    parts = numerals(texts)
    known = [part for part in parts if part is not None]
    if len(known) < len(texts):
        return None
    if not all(map(_is_amount, known)):
        return None  # 007 is a label
    found = ways(known)
    if not found:
        return None
    if column.decimal_declared:
        found = [way for way in found if way.decimal == column.decimal] or found
    way, grade, why = _settled(column, found, known)
    values = {text: float(way(text) or 0.0) for text in texts}
    signs = {text for text, part in zip(texts, known, strict=True) if set(part.core) & set(",' ")}
    sample = next((t for t in texts if t in signs), next((t for t in texts if not is_number(t)), texts[0]))
    whole = not any(way.decimal in part.core or "e" in part.core.lower() for part in known)
    if not column.real and len(set(values.values())) <= FEW and (whole or grade == "doubtful"):
        if way.before or way.after or grade == "doubtful":
            return None  # levels as they stand
        what = f"{sample!r} is the level {values[sample]:.0f}{why}"
        return Judgement("categorical", way, findings=(column.finding(grade, what, sample, column.another()),))
    other = next((one for one in found if one(sample) not in (None, values[sample])), None)
    if grade == "doubtful" and other is not None:
        what = f"{sample!r} is {values[sample]:.12g} or {other(sample):.12g}"
        return Judgement("real", way, findings=(_either(column, what, sample, (way.example, other.example)),))
    absent = () if column.real else _sentinels(column, values)
    findings = tuple(_sentinel_finding(column, value, values) for value in absent)
    what = f"{sample!r} read as {values[sample]:.12g}{why}"
    if way.before or way.after:
        what += f" (in {(way.before or way.after).strip()})"
    remedy = _as(column, other.example) if other else column.another()
    return Judgement("real", way, frozenset(), absent, (column.finding(grade, what, sample, remedy), *findings))


def _settled(column: Texts, found: Sequence[Notation], parts: Sequence[Numeral]) -> tuple[Notation, Grade, str]:
    """The way meant, and how sure that is."""
    first = found[0]
    meanings = {way: tuple(way(one.core) for one in parts) for way in found}
    distinct = {meaning: way for way, meaning in reversed(meanings.items())}
    if len(distinct) == 1:
        return first, "certain", ""
    decimal = next((way for way in found if way.decimal == "," and way.thousands in ("", ".", " ")), None)
    thousands = next((way for way in found if way.thousands), None)
    if decimal is None or thousands is None:
        return first, "probable", ""
    sign = thousands.thousands
    if sign == "," and not three_follow(parts, ","):
        return decimal, "certain", ": a decimal comma"
    if column.decimal is not None:
        sure: Grade = "certain" if column.decimal_declared else "probable"
        if column.decimal == ",":
            return decimal, sure, ": a decimal comma" + ("" if column.decimal_declared else ", as in other columns")
        return thousands, sure, ": commas between thousands"
    bare = [part for part in parts if sign not in part.core]
    if bare and all(len(part.core) <= 3 for part in bare):
        return thousands, "probable", ": a sign between thousands"
    if bare:
        return decimal, "probable", ": a decimal comma, since larger numbers have none"
    return thousands, "doubtful", ""


def _either(column: Texts, what: str, text: str, examples: Sequence[str]) -> Finding:
    """Two readings about as likely; the first is what a description shows."""
    options = [f"{column.name}={example}" for example in examples]
    remedy = " or ".join(f"--column {quoted(option)}" for option in options)
    return Finding("doubtful", what, column.name, _row(column, text), remedy, ("--column", options[0]))


def _dated(column: Texts, texts: Sequence[str]) -> Judgement | None:
    forms = date_forms(texts)
    if not forms or (len(texts) <= FEW and not column.real):
        return None
    form, text = forms[0], texts[0]
    other = next((one for one in forms[1:] if any(form(t) != one(t) for t in texts)), None)
    if other is not None:
        what = f"{text!r} has the day or the month first"
        return Judgement("real", form, findings=(_either(column, what, text, (form.example, other.example)),))
    order = ", the day first" if form.example.startswith(("dd/", "dd-mm")) else ""
    order = ", the month first" if form.example.startswith("mm") else order
    values = {one: float(form(one) or 0.0) for one in texts}
    absent = tuple(value for value in _DATE_SENTINELS if value in values.values() and _far(value, values.values()))
    findings = tuple(_sentinel_finding(column, value, values) for value in absent)
    gone = frozenset(one for one, value in values.items() if value in absent)
    text = next((one for one in texts if one not in gone), text)
    what = f"{text!r} read as {form.words} ({form.example}{order}): {form(text):.12g}"
    return Judgement("real", form, gone, (), (column.finding("certain", what, text, column.another()), *findings))


def _mixed(column: Texts, texts: Sequence[str]) -> Judgement | None:
    """Texts and numbers side by side; None if the texts are levels."""
    parts = dict(zip(texts, numerals(texts), strict=True))
    numbers = [text for text in texts if is_number(text) or _is_amount(parts[text])]
    dates = [text for text in texts if date_forms([text])] if 2 * len(numbers) < len(texts) else []
    inner = max(numbers, dates, key=len)
    plain = [text for text in texts if is_number(text)]
    many = len(texts) > FEW and (makes_real(plain) or len(inner) > FEW)
    if not column.real and (not many or 2 * len(inner) < len(texts)):
        return None
    way = _most(inner, parts) if inner is numbers else next(iter(date_forms(inner)), None)
    odd = [text for text in texts if (Written(way).number(text) is None)]
    if not odd:
        odd = [text for text in texts if not is_number(text)]
    codes = all(_CODE.fullmatch(text.strip()) for text in odd) and (len(odd) > 1 or 20 * len(odd) > len(texts))
    if codes and not column.real:
        what = f"codes like {short(odd[0])} among numbers: its {len(texts):,} different texts make levels"
        leave = f"--column {quoted(f'{column.name}=ignore')} leaves it out"
        return Judgement("categorical", findings=(column.finding("probable", what, odd[0], leave),))
    what = f"{short(odd[0])} is not a number" if column.real else f"{short(odd[0])} among numbers"
    what += f", and {len(odd) - 1} other texts" if len(odd) > 1 else ""
    tokens = " ".join(f"--missing-token {quoted(text)}" for text in odd[:3])
    levels = f"--column {quoted(f'{column.name}=categorical')}"
    if "," in odd[0] and parts[odd[0]] is not None:
        levels = f"{_ways_of(column, parts[odd[0]])}, or {levels}"
    remedy = (
        f"if it marks a missing value: {tokens}"
        if len(odd) <= 3
        else "name what marks a missing value (--missing-token)"
    )
    remedy += f"; if the column has levels: {levels}"
    settle = tuple(part for text in odd for part in ("--missing-token", text))
    if len(odd) > 3:
        settle = ("--column", f"{column.name}=categorical")
        finding = Finding("doubtful", what, column.name, _row(column, odd[0]), remedy, settle)
        return Judgement("categorical", findings=(finding,))
    finding = Finding("doubtful", what, column.name, _row(column, odd[0]), remedy, settle)
    return Judgement("real", way, frozenset(odd), findings=(finding,))


def _is_amount(part: Numeral | None) -> bool:
    """Whether a numeral is no label padded with zeros."""
    return part is not None and re.match(r"0\d", part.core) is None


def _ways_of(column: Texts, part: Numeral | None) -> str:
    found = [way.example for way in (ways([part]) if part is not None else [])]
    return "a number in one way of writing (" + ", ".join(found) + ")"


def _row(column: Texts, text: str) -> int | None:
    row = column.first.get(text)
    return None if row is None else row + 1


def _most(texts: Sequence[str], parts: Mapping[str, Numeral | None]) -> Notation | None:
    """A way of writing in which most of these are numbers; None for plain numbers."""
    known = [part for text in texts if (part := parts[text]) is not None]
    candidates = [way for part in known[:50] for way in ways([part])]
    fits = {way: sum(way(text) is not None for text in texts) for way in dict.fromkeys(candidates)}
    best = max(fits, key=lambda way: (fits[way], way == Notation()), default=None)
    return None if best is None or best == Notation() else best


def _levels(column: Texts, texts: Sequence[str]) -> Judgement:
    """Levels as they stand, but for what spreadsheets write for nothing; names of rows are left out."""
    nothing = [text for text in texts if text.strip() in SPREADSHEET and len(texts) > 1]
    findings: list[Finding] = []
    if nothing:
        what = f"{nothing[0]!r} read as missing ({sum(column.counts.get(t, 0) for t in nothing):,} cells)"
        findings.append(column.finding("certain", what, nothing[0], column.another()))
    different, present = len(texts) - len(nothing), column.rows - column.n_missing
    numbers = all(map(is_number, texts))
    if not numbers and not column.wanted and different > MANY_NAMES and 10 * different >= 9 * present:
        what = f"{different:,} different texts in {present:,} rows name the rows, so it is left out"
        return Judgement("ignore", findings=(column.finding("probable", what, None, f"{_keep(column.name)} keeps it"),))
    return Judgement("categorical", None, frozenset(nothing), (), tuple(findings))


def _keep(name: str, kind: str = "categorical") -> str:
    return f"--column {quoted(f'{name}={kind}')}"


def _sentinels(column: Texts, numbers: Mapping[str, float]) -> tuple[float, ...]:
    counts: dict[float, int] = {}
    for text, number in numbers.items():
        counts[number] = counts.get(number, 0) + column.counts.get(text, 1)
    others = [number for number in counts if number not in SENTINELS]
    if len(others) < 3:
        return ()
    known = {value: n for value, n in counts.items() if value in SENTINELS}
    return sentinels(known, min(others), max(others))


def sentinels(known: Mapping[float, int], low: float, high: float) -> tuple[float, ...]:
    """Which of these values, with how often they occur, mark something missing beside numbers from low to high."""
    found = []
    for value, count in sorted(known.items()):
        gap = low - value if value < low else value - high
        if count < (2 if abs(value) < 100 else 1) or gap <= 0:
            continue
        if gap > max(high - low, 1.0) or (value < 0 <= low):
            found.append(value)
    return tuple(found)


def _far(value: float, values: Collection[float]) -> bool:
    others = [one for one in values if one not in _DATE_SENTINELS]
    return len(others) > 2 and (value < min(others) - 3650 or value > max(others) + 3650)


def _sentinel_finding(column: Texts, value: float, numbers: Mapping[str, float]) -> Finding:
    text = next(text for text, number in numbers.items() if number == value)
    return sentinel_finding(column.name, text, column.counts.get(text, 1), column.first.get(text))


def sentinel_finding(name: str, text: str, count: int, row: int | None) -> Finding:
    """The finding about a number that marks a missing value."""
    what = f"{text}, far from all others, read as missing ({count:,} {'cell' if count == 1 else 'cells'})"
    remedy = f"{_keep(name, 'real')} keeps the number"
    return Finding("probable", what, name, None if row is None else row + 1, remedy)


def too_many_digits(name: str, largest: float) -> Finding:
    """The finding about whole numbers that are rounded."""
    what = f"whole numbers up to {largest:.0f} have more digits than are kept (2^53); keys rather than amounts?"
    return Finding("note", what, name, None, f"--column {quoted(f'{name}=ignore')} leaves it out")


def numbers_of_rows(name: str, start: int, rows: int, unnamed: bool) -> Judgement:
    """A column that counts the rows."""
    what = f"the numbers {start:,} to {start + rows - 1:,} in order name the rows, so it is left out"
    grade: Grade = "certain" if unnamed else "probable"
    return Judgement("ignore", findings=(Finding(grade, what, name, None, f"{_keep(name, 'real')} keeps it"),))


def short(text: str) -> str:
    """A cell, cut if it is long."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def is_id(name: str) -> bool:
    """Whether a name is one that keys have."""
    return _ID.search(name) is not None


def keys(name: str, rows: int) -> Judgement:
    """A column of whole numbers, all different, with the name of a key."""
    what = f"{rows:,} different whole numbers under the name of a key name the rows, so it is left out"
    return Judgement("ignore", findings=(Finding("probable", what, name, None, f"{_keep(name, 'real')} keeps it"),))


def number_like(text: str) -> bool:
    """Whether a text may be a number or a date in some way of writing."""
    return is_whole(text) or parse_number(text) is not None or Numeral.of(text) is not None or bool(date_forms([text]))
