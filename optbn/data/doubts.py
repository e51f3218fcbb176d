"""Doubts about texts that look like numbers and are none in any notation: 1.2k, 110/70, digits of another script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from optbn.base.numbers import counted
from optbn.data.amounts import row_of
from optbn.data.findings import Finding
from optbn.data.schema import is_number
from optbn.data.texts import Texts, kept_as, short

_SHORT = re.compile(r"[+-]?[\d.,]*\d ?(?:[kKMB]|Mio\.?|Mrd\.?|[mb]n)?", re.ASCII)
_SIGN = re.compile(r"[/~\u2248\u00b1\u00b0<>=\-\u2013:'.,;|*+()]")


def short_for_numbers(column: Texts, texts: Sequence[str]) -> Finding | None:
    """A doubt about numbers that no notation has: 1.2k and 3M, or digits of another script."""
    lettered = [text for text in texts if text[-1:].isalpha() or text.endswith(".")]
    foreign = [text for text in texts if not text.isascii()]
    if lettered and all(map(_SHORT.fullmatch, texts)):
        odd, what = lettered[0], "letters stand for thousands or millions"
    elif foreign and all(is_number(_in_digits(text)) for text in texts):
        odd, what = foreign[0], "its digits are not 0 to 9"
    else:
        return None
    remedy = f"write the numbers out; {kept_as(column.name)} makes levels of them"
    what = f"{odd!r} and others are no numbers as they stand: {what}"
    settle = ("--column", f"{column.name}=categorical")
    return Finding("doubtful", what, column.name, row_of(column, odd), remedy, settle)


def _in_digits(text: str) -> str:
    """With 0 to 9 for the digits of any script."""
    return "".join(str(unicodedata.decimal(sign, sign)) for sign in text)


def no_words(column: Texts, texts: Sequence[str]) -> Finding | None:
    """A doubt about texts of digits and signs that are neither numbers nor dates: 110/70, ~12, 5-10. Those that are all
    of one form with points or dashes, 12-345, or a word before a number, P-0012, are keys."""
    odd = [text for text in texts if re.fullmatch(r"[^\W\d_]*[^A-Za-z]*\d[^A-Za-z]*", text) and _SIGN.search(text)]
    forms = {re.sub(r"\d", "0", text) for text in texts}
    keys = {re.sub(r"\d+", "0", text) for text in texts}
    if 10 * len(odd) < 9 * len(texts) or (len(forms) == 1 and re.fullmatch(r"[0.\-]+", next(iter(forms)))):
        return None
    if len(keys) == 1 and re.fullmatch(r"[^\W\d_]{1,8}[. \-]{1,2}0", next(iter(keys))):
        return None
    what = f"{short(odd[0])} and {counted(len(odd) - 1, 'other text')} are neither numbers nor dates nor words"
    remedy = f"{kept_as(column.name, 'ignore')} leaves it out, {kept_as(column.name)} makes them levels"
    return Finding("doubtful", what, column.name, row_of(column, odd[0]), remedy, ("--column", f"{column.name}=ignore"))
