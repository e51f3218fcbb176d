"""Texts that are numbers, though not as programs write them: thousands, decimal commas, percent, currencies, units."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from optbn.data.findings import Finding, Grade
from optbn.data.numerals import Notation, Numeral, numerals, three_follow, ways, word_behind
from optbn.data.schema import FEW, is_number
from optbn.data.sentinels import finding_of, marking
from optbn.data.texts import Judgement, Texts, quoted


def amounts(column: Texts, texts: Sequence[str]) -> Judgement | None:
    """Numbers in another way of writing."""
    word = word_behind(texts) if len(texts) > FEW else ""
    parts = numerals(texts, word)
    known = [part for part in parts if part is not None]
    if len(known) < len(texts):
        return None
    if not all(map(is_amount, known)):
        return None  # 007 is a label
    found = ways(known)
    if not found:
        return None
    if column.decimal_declared:
        found = [way for way in found if way.decimal == column.decimal] or found
    way, grade, why = _meant(column, found, known)
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
        return Judgement("real", way, findings=(either(column, what, sample, (way.example, other.example)),))
    sign = (way.before or way.after).strip()
    bare = [text for text, part in zip(texts, known, strict=True) if sign and not (part.before or part.after)]
    if sign == "%" and bare and (doubt := _shares(column, values, bare, sample, way)):
        return Judgement("real", way, findings=(doubt,))
    absent = () if column.real else marking(column, values)
    findings = tuple(finding_of(column, value, values) for value in absent)
    what = f"{sample!r} read as {values[sample]:.12g}{why}"
    if sign:
        what += f" (in {sign})"
    if bare and sign == "%" and grade == "certain":
        what, grade = f"{what}, and so are numbers without the sign, such as {bare[0]!r}", "probable"
    if word and grade == "certain":
        grade = "probable"
    remedy = _as(column, other.example) if other else column.another()
    return Judgement("real", way, frozenset(), absent, (column.finding(grade, what, sample, remedy), *findings))


def _shares(
    column: Texts, values: Mapping[str, float], bare: Sequence[str], sample: str, way: Notation
) -> Finding | None:
    """A doubt about 74 % beside .22, which may be 22 % or a fifth of one."""
    largest = max(abs(values[text]) for text in bare)
    if largest > 1 or not max(abs(values[text]) for text in values.keys() - set(bare)) > 1:
        return None
    what = f"{bare[0]!r} may be a share of 1, as {sample!r} and others are in percent"
    option = f"{column.name}={way.example}"
    remedy = f"write all in one way; --column {quoted(option)} takes the numbers as they stand"
    return Finding("doubtful", what, column.name, row_of(column, bare[0]), remedy, ("--column", option))


def _meant(column: Texts, found: Sequence[Notation], parts: Sequence[Numeral]) -> tuple[Notation, Grade, str]:
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
            if not any("," in part.core for part in parts):
                return decimal, sure, ": a sign between thousands, as there are decimal commas elsewhere"
            return decimal, sure, ": a decimal comma" + ("" if column.decimal_declared else ", as in other columns")
        return thousands, sure, ": commas between thousands"
    bare = [part for part in parts if sign not in part.core]
    if bare and all(len(part.core) <= 3 for part in bare):
        return thousands, "probable", ": a sign between thousands"
    if bare:
        return decimal, "probable", ": a decimal comma, since larger numbers have none"
    return thousands, "doubtful", ""


def points_between_thousands(column: Texts, texts: Sequence[str]) -> Judgement | None:
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


def either(column: Texts, what: str, text: str, examples: Sequence[str]) -> Finding:
    """Two readings about as likely; the first is what a description shows."""
    options = [f"{column.name}={example}" for example in examples]
    remedy = " or ".join(f"--column {quoted(option)}" for option in options)
    return Finding("doubtful", what, column.name, row_of(column, text), remedy, ("--column", options[0]))


def _as(column: Texts, example: str) -> str:
    return f"--column {quoted(f'{column.name}={example}')} for the other reading"


def is_amount(part: Numeral | None) -> bool:
    """Whether a numeral is no label padded with zeros."""
    return part is not None and re.match(r"0\d", part.core) is None


def ways_of(column: Texts, part: Numeral | None) -> str:
    found = [way.example for way in (ways([part]) if part is not None else [])]
    return "a number in one way of writing (" + ", ".join(found) + ")"


def row_of(column: Texts, text: str) -> int | None:
    row = column.first.get(text)
    return None if row is None else row + 1


def commonest_way(texts: Sequence[str], parts: Mapping[str, Numeral | None]) -> Notation | None:
    """A way of writing in which most of these are numbers; None for plain numbers."""
    known = [part for text in texts if (part := parts[text]) is not None]
    candidates = [way for part in known[:50] for way in ways([part])]
    fits = {way: sum(way(text) is not None for text in texts) for way in dict.fromkeys(candidates)}
    best = max(fits, key=lambda way: (fits[way], way == Notation()), default=None)
    return None if best is None or best == Notation() else best
