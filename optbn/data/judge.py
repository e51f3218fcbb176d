"""What a column that nobody declared is meant to be, judged by its different texts.

The rules of `optbn.data.schema` hold for texts as programs write them. Here come the others, in this order:

1. a marker for missing values (`MARKERS`) among numbers or dates is missing;
2. texts that are all numbers in one way of writing (`numerals`) are these numbers: thousands, decimal commas, percent,
   currencies, units, the same word behind many numbers. Where signs have two readings (1,500), whole columns of three
   digits after the sign are thousands if some number has no sign, and doubtful otherwise, unless other columns of the
   file have decimal commas;
3. dates and times in one form (`dates`), if they are many, are numbers of days or hours;
4. a number like -999 or 99999 far from all others is missing; at most two whole numbers written 1.0 are levels, and at
   most `FEW` where some are missing, since that is how pandas writes them;
5. codes (E11.9, V58, 00123) among numbers make levels; another text among numbers is doubtful;
6. a column with hardly two rows a text, or with the numbers of the rows, names the rows and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from optbn.base.numbers import counted
from optbn.data.amounts import amounts, commonest_way, either, is_amount, points_between_thousands, row_of, ways_of
from optbn.data.dates import CENTURY, SEVERAL, DateForm, compact, date_forms, several_forms, zones
from optbn.data.doubts import no_words, short_for_numbers
from optbn.data.findings import Finding, Grade
from optbn.data.numerals import POWER, Notation, Numeral, numerals, ways
from optbn.data.row_names import EXACT, MANY_NAMES, is_id, row_names, too_many_digits
from optbn.data.schema import FEW, Written, is_number, is_whole, makes_real, parse_number
from optbn.data.sentinels import DATES, far_from_all, finding_of, marking, marks_perhaps, spreadsheet_days
from optbn.data.texts import Judgement, Texts, kept_as, quoted, short

SPREADSHEET = frozenset(
    (
        *("#N/A", "#NA", "#N/A!", "#NV", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NULL!", "#NAME?", "\\N", "NaT"),
        *("#WERT!", "#BEZUG!", "#ZAHL!", "#NULL", "#VALEUR!", "#NOM?", "#NOMBRE!", "#¡VALOR!", "#¡REF!", "#¿NOMBRE?"),
        *("#SPILL!", "#CALC!", "#BLOCKED!", "#FIELD!", "#GETTING_DATA", "#ERROR!"),
    )
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
    *("k. A.", "k.a.", "k. a.", "keine", "fehlt", "fehlend", "unbekannt", "entfällt", "nicht bekannt", "inconnu"),
    *("manquant", "n.d.", "N.D.", "n. d.", "s/d", "S/D", "sin dato", "sin datos", "desconocido", "nd.", "not measured"),
    *("not recorded", "not done", "not reported", "not tested", "missing value", "no value", "NULL.", "####", "#####"),
    *("######", "#######", "########", "0000-00-00", "00.00.0000", "00/00/0000", "0000-00-00 00:00:00"),
}
"""Among numbers or dates these stand for a missing value; among words some of them are words."""
_WITH_POINT = re.compile(r" *[+-]?\d+\.0* *", re.ASCII)
_PADDED = re.compile(r" *0\d+ *", re.ASCII)
_CODE = re.compile(r"[A-Za-z]{1,4}[-. ]?\d[\w.\-/]*|\d+[-.]?[A-Za-z]{1,2}\d*", re.ASCII)


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
        if found is None and not column.wanted:
            found = _levels(column, words)
    else:
        found = amounts(column, words) or _dated(column, words) or _mixed(column, words)
    if found is None:
        return _levels(column, texts)
    if found.kind == "categorical" and found.findings:
        return found
    if found.kind == "categorical" and any(text.strip() in "xX" for text in markers):
        return _levels(column, texts)  # beside a few whole numbers X is ten, or a level like them
    return _without(column, markers, found) if markers else found


def _without(column: Texts, markers: Sequence[str], found: Judgement) -> Judgement:
    rows = sum(column.counts.get(text, 0) for text in markers)
    listed = ", ".join(map(repr, markers[:4])) + (", ..." if len(markers) > 4 else "")
    kind = "dates" if isinstance(found.way, DateForm) else "numbers"
    what = f"{listed} among {kind} read as missing ({counted(rows, 'cell')})"
    grade: Grade = "certain" if set(markers) <= SPREADSHEET | {"-", "."} else "probable"
    finding = column.finding(grade, what, markers[0], column.another())
    return Judgement(
        found.kind, found.way, found.missing | frozenset(markers), found.absent, (*found.findings, finding)
    )


def _plain(column: Texts, texts: Sequence[str]) -> Judgement | None:
    """Numbers as programs write them; None if they are levels as they stand."""
    if names := row_names(column, texts):
        return names
    if dates := _compact_dates(column, texts):
        return dates
    numbers = {text: float(text) for text in texts}
    absent = () if column.real else marking(column, numbers)
    kept = [text for text in texts if numbers[text] not in absent]
    if not column.real and not makes_real(kept) and not makes_real(texts):
        return None  # few enough to be levels, one that marks missing values among them
    findings = tuple(finding_of(column, value, numbers) for value in absent)
    largest = max(numbers.values(), key=abs)
    if abs(largest) >= EXACT and all(map(is_whole, kept)):
        findings = (too_many_digits(column.name, largest), *findings)
    gone = frozenset(text for text, number in numbers.items() if number in absent)
    if not column.real and (finding := _written_with_point(column, kept, bool(gone))):
        return Judgement("categorical", Notation(), gone, (), (*findings, finding))
    if column.real or makes_real(kept):
        findings = (*findings, *(() if column.real else _doubts(column, kept)))
        return points_between_thousands(column, kept) or Judgement("real", None, frozenset(), absent, findings)
    return Judgement("categorical", None, gone, (), findings)


def _doubts(column: Texts, texts: Sequence[str]) -> Iterator[Finding]:
    """What may be levels, or codes, though it is read as numbers."""
    if 2 < len(texts) <= FEW and all(_WITH_POINT.fullmatch(text) for text in texts):
        what = f"{len(texts)} different whole numbers written like {texts[0].strip()} are read as numbers: levels?"
        yield Finding("note", what, column.name, None, f"{kept_as(column.name)} makes them levels")
    power = next((text for text in texts if POWER.fullmatch(text)), None)
    if power is not None:
        yield column.finding(
            "probable", f"{power!r} read as {float(power):g}", power, f"{kept_as(column.name)} if codes"
        )
    numbers = [float(text) for text in texts]
    if (note := spreadsheet_days(column.name, min(numbers), max(numbers))) and all(map(is_whole, texts)):
        yield note
    yield from marks_perhaps(column.name, {text: float(text) for text in texts}, column.counts)


def _compact_dates(column: Texts, texts: Sequence[str]) -> Judgement | None:
    """Whole numbers such as 20210304 are days where there are many and each of them is a day."""
    form = None if column.real or len(texts) <= FEW else compact(texts)
    if form is None:
        return None
    what = f"{texts[0]!r} read as {form.words} ({form.example}): {form(texts[0]):.12g}"
    keep = f"{kept_as(column.name, 'real')} keeps the number"
    return Judgement("real", form, findings=(column.finding("probable", what, texts[0], keep),))


def _written_with_point(column: Texts, texts: Sequence[str], gone: bool) -> Finding | None:
    """Whole numbers that pandas wrote 1.0 because some were missing, or that are only two, are levels."""
    if len(texts) > FEW or not all(_WITH_POINT.fullmatch(text) for text in texts):
        return None
    if (len(texts) != 2 and not column.n_missing and not gone) or len(set(map(float, texts))) < len(texts):
        return None
    what = f"{len(texts)} different whole numbers written like {texts[0].strip()} make levels"
    return column.finding("probable", what, texts[0], column.another("real"))


def _dated(column: Texts, texts: Sequence[str]) -> Judgement | None:
    forms = date_forms(texts)
    if len(texts) <= FEW and not column.real:
        return None
    if not forms:
        return _of_several_forms(column, texts)
    form, text = forms[0], texts[0]
    if found := zones(texts) if "hh:mm" in form.example else None:
        utc = DateForm.of(f"{form.example} UTC")
        if len(found) > 1 and utc is not None and all(utc(one) is not None for one in texts):
            what = f"{text!r} and others in {len(found)} zones read as {utc.words}: {utc(text):.12g}"
            return Judgement("real", utc, findings=(column.finding("probable", what, text, column.another()),))
        if len(found) > 1:
            what = f"{text!r}: only some times have a zone, so zones are not looked at"
            return Judgement("real", form, findings=(column.finding("probable", what, text, column.another()),))
    other = next((one for one in forms[1:] if any(form(t) != one(t) for t in texts)), None)
    if other is not None:
        what = f"{text!r} has the day or the month first"
        return Judgement("real", form, findings=(either(column, what, text, (form.example, other.example)),))
    order = ", the day first" if form.example.startswith(("dd/", "dd-mm")) else ""
    order = ", the month first" if form.example.startswith("mm") else order
    values = {one: float(form(one) or 0.0) for one in texts}
    absent = tuple(value for value in DATES if value in values.values() and far_from_all(value, values.values()))
    findings = tuple(finding_of(column, value, values) for value in absent)
    gone = frozenset(one for one, value in values.items() if value in absent)
    text = next((one for one in texts if one not in gone), text)
    what = f"{text!r} read as {form.words} ({form.example}{order}): {form(text):.12g}"
    grade: Grade = "certain"
    if form.short_years and min(values.values()) < CENTURY:
        what += "; years of two digits are 1930 to 2029"
        grade = "probable"
    return Judgement("real", form, gone, (), (column.finding(grade, what, text, column.another()), *findings))


def _of_several_forms(column: Texts, texts: Sequence[str]) -> Judgement | None:
    """Dates that are not all written alike, where each can be read in one way only."""
    dated = [text for text in texts if date_forms([text])]
    form = several_forms(texts) if len(dated) == len(texts) else None
    if form is None:
        return None
    text = texts[0]
    what = f"dates in several forms ({', '.join(form.example.split(SEVERAL))}); {text!r} read as {form.words}"
    what += f": {form(text):.12g}"
    return Judgement("real", form, findings=(column.finding("probable", what, text, column.another()),))


def _mixed(column: Texts, texts: Sequence[str]) -> Judgement | None:
    """Texts and numbers side by side; None if the texts are levels."""
    parts = dict(zip(texts, numerals(texts), strict=True))
    numbers = [text for text in texts if is_number(text) or is_amount(parts[text])]
    dates = [text for text in texts if date_forms([text])] if 2 * len(numbers) < len(texts) else []
    inner = max(numbers, dates, key=len)
    plain = [text for text in texts if is_number(text)]
    many = len(texts) > FEW and (makes_real(plain) or len(inner) > FEW)
    if not column.real and (not many or 2 * len(inner) < len(texts)):
        return None
    way = commonest_way(inner, parts) if inner is numbers else next(iter(date_forms(inner)), None)
    odd = [text for text in texts if (Written(way).number(text) is None)]
    if not odd:
        odd = [text for text in texts if not is_number(text)]
    codes = all(_CODE.fullmatch(text.strip()) or _PADDED.fullmatch(text) for text in odd)
    codes = codes and (len(odd) > 1 or 20 * len(odd) > len(texts))
    if codes and not column.real:
        if all(map(_PADDED.fullmatch, odd)) and (found := _levels(column, texts)).kind == "ignore":
            return found
        what = f"codes like {short(odd[0])} among numbers: its {len(texts):,} different texts make levels"
        leave = f"--column {quoted(f'{column.name}=ignore')} leaves it out"
        return Judgement("categorical", findings=(column.finding("probable", what, odd[0], leave),))
    among = "numbers" if inner is numbers else "dates"
    what = f"{short(odd[0])} is not a number" if column.real else f"{short(odd[0])} among {among}"
    what += f", and {counted(len(odd) - 1, 'other text')}" if len(odd) > 1 else ""
    tokens = " ".join(f"--missing-token {quoted(text)}" for text in odd[:3])
    levels = f"--column {quoted(f'{column.name}=categorical')}"
    if "," in odd[0] and (part := parts[odd[0]]) is not None and ways([part]):
        levels = f"{ways_of(column, parts[odd[0]])}, or {levels}"
    remedy = (
        f"if it marks a missing value: {tokens}"
        if len(odd) <= 3
        else "name what marks a missing value (--missing-token)"
    )
    remedy += f"; if the column has levels: {levels}"
    settle = tuple(part for text in odd for part in ("--missing-token", text))
    if len(odd) > 3:
        settle = ("--column", f"{column.name}=categorical")
        finding = Finding("doubtful", what, column.name, row_of(column, odd[0]), remedy, settle)
        return Judgement("categorical", findings=(finding,))
    finding = Finding("doubtful", what, column.name, row_of(column, odd[0]), remedy, settle)
    return Judgement("real", way, frozenset(odd), findings=(finding,))


def _levels(column: Texts, texts: Sequence[str]) -> Judgement:
    """Levels as they stand, but for what spreadsheets write for nothing; names of rows are left out."""
    if len(texts) == 1 and texts[0].strip() in SPREADSHEET | {".", "-", "--"} and not column.wanted:
        what = f"there is nothing but {texts[0].strip()!r}, so it is left out"
        return Judgement(
            "ignore", findings=(column.finding("probable", what, None, f"{kept_as(column.name)} keeps it"),)
        )
    nothing = [text for text in texts if text.strip() in SPREADSHEET and len(texts) > 1]
    findings: list[Finding] = []
    if nothing:
        what = f"{nothing[0]!r} read as missing ({counted(sum(column.counts.get(t, 0) for t in nothing), 'cell')})"
        findings.append(column.finding("certain", what, nothing[0], column.another()))
    different, present = len(texts) - len(nothing), column.rows - column.n_missing
    if different > FEW and (doubt := short_for_numbers(column, [text for text in texts if text not in nothing])):
        return Judgement("categorical", None, frozenset(nothing), (), (*findings, doubt))
    numbers = all(map(is_number, texts))
    many = not numbers and not column.wanted and different > MANY_NAMES
    perhaps = many and 2 * different > present and not is_id(column.name)
    if perhaps and (doubt := no_words(column, [text for text in texts if text not in nothing])):
        return Judgement("ignore", findings=(doubt,))
    if many and 10 * different >= 9 * present:
        like = next(text for text in texts if text not in nothing)
        what = (
            f"{different:,} different texts in {present:,} rows, like {short(like)}, name the rows, so it is left out"
        )
        return Judgement(
            "ignore", findings=(column.finding("probable", what, None, f"{kept_as(column.name)} keeps it"),)
        )
    return Judgement("categorical", None, frozenset(nothing), (), tuple(findings))


def number_like(text: str) -> bool:
    """Whether a text may be a number or a date in some way of writing."""
    return is_whole(text) or parse_number(text) is not None or Numeral.of(text) is not None or bool(date_forms([text]))
