"""A column of texts, block by block: codes of the different texts, and at the end what `judge` says they are. Many
numbers and nothing else go on as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from optbn.data.arrays import code_dtype
from optbn.data.arrow import is_text
from optbn.data.column import Growing, Known, Place, decoded, indices_of, looking, unit_of
from optbn.data.dataset import Categorical, Real
from optbn.data.dates import compact
from optbn.data.findings import Finding
from optbn.data.judge import judge, number_like
from optbn.data.missing import Encoded
from optbn.data.numerals import POWER
from optbn.data.real_column import RealColumn
from optbn.data.schema import FEW, PLAIN, Written, is_number, level_order
from optbn.data.texts import Judgement, Texts, short

MANY = 65_536
"""An undeclared column of more different texts than this, most of them no numbers, names its rows."""
ENOUGH = 4 * FEW
"""An undeclared column of more different numbers than this, and nothing else, goes on as numbers."""


class TextColumn:
    """Codes into the texts seen so far, or into the declared levels."""

    def __init__(self, place: Place, known: Known, tokens: frozenset[str], keep: bool) -> None:
        self.place = place
        self.known = known
        self.domain = known.declared if isinstance(known.declared, Categorical) else None
        self.written = known.written or PLAIN
        self.codes: dict[str, int] = {}
        self.first: list[int | None] = []  # per code the row where it came first
        self.counts = np.zeros(0, np.int64)
        self.rows = self.start = 0
        self.absent: int | None = None  # the code of missing values
        self.n_missing = 0
        self.only_numbers = True
        self.names_rows = False
        if self.domain:
            self.codes = {level: code for code, level in enumerate(self.domain.levels)}
            self.absent = len(self.codes)
            self.first = [None] * (len(self.codes) + 1)
        self.tokens = tokens - self.codes.keys()
        self.keep = keep
        self.values = Growing(np.uint8, keep)

    def add(self, array: Any, first_row: int) -> TextColumn | RealColumn:
        """Take a block; the answer is the accumulator to go on with."""
        if not self.rows:
            self.start = first_row
        self.rows += len(array)
        if self.names_rows:
            return self
        texts, indices = _texts(self.place, array, first_row)
        codes = [self.codes.get(text, -1) for text in texts]
        if -1 in codes:
            first = np.full(len(texts), -1)
            first[indices[::-1]] = np.arange(first_row + len(indices) - 1, first_row - 1, -1)
            for i, text in enumerate(texts):
                if codes[i] < 0 and (text is None or text in self.tokens):
                    codes[i] = self._missing_code()
                elif codes[i] < 0:
                    codes[i] = self._learn(text, int(first[i]) if first[i] >= 0 else None)
        block = np.array(codes, dtype=code_dtype(len(self.first)))[indices]
        if self.absent in codes:
            self.n_missing += int(np.count_nonzero(block == self.absent))
        self.values.append(block)
        if self.known.open or self.known.open_numbers:
            counts = np.bincount(block, minlength=len(self.first))
            counts[: len(self.counts)] += self.counts
            self.counts = counts
        if self.known.open and not self.known.texts and self.only_numbers and len(self.codes) > ENOUGH:
            return self._as_real()
        return self

    def _missing_code(self) -> int:
        if self.absent is None:
            self.absent = len(self.first)
            self.first.append(None)
        return self.absent

    def _learn(self, text: str, row: int | None) -> int:
        """The code of a text not seen before this block, in which it may stand twice (a reader changed one of them)."""
        if text in self.codes:
            return self.codes[text]
        if self.domain:
            if row is None:  # in the dictionary of the file, but in no row
                return 0
            level = self.written.level(text)
            if level in self.codes:
                return self.codes[level]
            if text.strip() in self.tokens:
                return self._missing_code()
            raise self.place.error(f"level {text!r} is not declared; expected {_some(self.domain.levels)}", row)
        self.codes[text] = len(self.first)
        self.first.append(row)
        self.only_numbers = self.only_numbers and is_number(text)
        if self.known.open and not (self.only_numbers or self.known.wanted) and len(self.codes) == MANY + 1:
            some = list(self.codes)[:: MANY // 1000]
            self.names_rows = 2 * sum(map(number_like, some)) < len(some)
        return self.codes[text]

    def _seen(self) -> Texts:
        first = {text: self.first[code] for text, code in self.codes.items()}
        counts = {text: int(self.counts[code]) for text, code in self.codes.items()}
        decimal = self.known.decimal
        real = not self.known.open
        return Texts(
            self.place.name, first, counts, self.rows, self.n_missing, decimal, self.known.decimal_declared, real,
            self.known.unnamed, self.known.wanted,
        )  # fmt: skip

    def _as_real(self) -> TextColumn | RealColumn:
        """Numbers from here on."""
        if self.known.decimal == ",":
            return self  # 1.500 may be fifteen hundred: that is seen at the end
        if compact(list(self.codes)[-ENOUGH:]):
            return self  # and whether all are days
        if any(POWER.fullmatch(text) for text in self.codes):
            return self  # and whether they are codes
        numbers = np.full(len(self.first), np.nan)
        for text, code in self.codes.items():
            numbers[code] = float(text)
            if not np.isfinite(numbers[code]):
                return self
        column = RealColumn(self.place, self.known, self.tokens, self.keep)
        column.values.expected = self.values.expected
        column.take(numbers[self.values.taken] if self.keep else np.repeat(numbers, self.counts), self.start)
        return column

    def finish(self) -> Encoded:
        if self.domain:
            return Encoded(self.place.name, self.domain, self.values.taken, self.n_missing, self.written)
        if self.names_rows:
            what = f"more than {MANY:,} different texts name the rows, so it is left out"
            finding = Finding("probable", what, self.place.name, None, "declared categorical it is kept")
            return self._ignored((finding,))
        if self.known.open or self.known.open_numbers:
            return self._judged(judge(self._seen()))
        return self._with_levels(self.written, frozenset(), ())

    def _judged(self, found: Judgement) -> Encoded:
        if found.kind == "ignore":
            return self._ignored(found.findings)
        absent = {text for text in self.codes if (text in found.missing)}
        written = Written(found.way, tuple(sorted(found.missing)) + tuple(f"{value:g}" for value in found.absent))
        if found.kind == "categorical":
            return self._with_levels(written, frozenset(absent), found.findings)
        numbers = np.full(len(self.first), np.nan)
        findings = list(found.findings)
        for text, code in self.codes.items():
            number = None if text in absent else written.number(text)
            if number is not None and not np.isfinite(number):
                row = self.first[code]
                at = None if row is None else row + 1
                what = f"{text if len(text) <= 40 else short(text)} is not a finite number"
                settle = ("--missing-token", text)
                remedy = f"if it marks a missing value: --missing-token {text[:40]}"
                findings.append(Finding("doubtful", what, self.place.name, at, remedy, settle))
                number = None
            if number is not None and number not in found.absent:
                numbers[code] = number
        return self._numbers(numbers, written, tuple(findings))

    def _numbers(self, numbers: NDArray[np.float64], written: Written, findings: tuple[Finding, ...]) -> Encoded:
        kept = numbers[np.isfinite(numbers)]
        domain = Real(kept.min(), kept.max()) if len(kept) else Real(0.0, 0.0)
        if isinstance(self.known.declared, Real):
            self._check_range(numbers, self.known.declared)
            numbers = np.clip(numbers, self.known.declared.low, self.known.declared.high)
            domain = self.known.declared
        domain = looking(domain, bool((kept == np.floor(kept)).all()), unit_of(written))
        values = numbers[self.values.taken] if self.keep else np.empty(0)
        gone = [code for code in self.codes.values() if np.isnan(numbers[code])]
        n_missing = self.n_missing + int(sum(self.counts[code] for code in gone))
        return Encoded(self.place.name, domain, values, n_missing, written, findings)

    def _check_range(self, numbers: NDArray[np.float64], declared: Real) -> None:
        slack = 1e-9 if declared.unit else 0.0  # times are written to the microsecond
        for text, code in self.codes.items():
            if numbers[code] < declared.low - slack or numbers[code] > declared.high + slack:
                what = f"{text} is outside the declared range [{declared.low:g}, {declared.high:g}]"
                raise self.place.error(what, self.first[code])

    def _with_levels(self, written: Written, absent: frozenset[str], findings: tuple[Finding, ...]) -> Encoded:
        of = {text: written.level(text) for text in self.codes if text not in absent}
        different = tuple(dict.fromkeys(of.values()))
        levels = different if self.known.levels_given is not None else level_order(different)
        at = {level: code for code, level in enumerate(levels)}
        final = np.full(len(self.first), len(levels), dtype=self.values.dtype)
        for text, level in of.items():
            final[self.codes[text]] = at[level]
        self.values.translate(final)
        domain = Categorical(levels, bool(self.known.levels_given))
        n_missing = self.n_missing + int(sum(self.counts[self.codes[text]] for text in absent))
        return Encoded(self.place.name, domain, self.values.taken, n_missing, written, findings)

    def _ignored(self, findings: tuple[Finding, ...]) -> Encoded:
        return Encoded(
            self.place.name, Categorical(()), self.values.taken, self.n_missing, PLAIN, findings, ignored=True
        )


def _texts(place: Place, array: Any, first_row: int) -> tuple[list[Any], NDArray[Any]]:
    """The different texts of a block (None for a null), and per row the index of its own."""
    of, kind = pa.types, array.type
    if of.is_null(kind):
        return [None], np.zeros(len(array), dtype=np.int64)
    if not of.is_dictionary(kind):
        if not (is_text(kind) or any(test(kind) for test in (of.is_integer, of.is_floating, of.is_boolean))):
            raise place.error(f'values of type {kind}, expected texts or numbers; convert it or declare it "ignore"')
        array = array.dictionary_encode()
    indices, words = indices_of(array), array.dictionary
    if is_text(words.type):
        texts = decoded(place, words, first_row, indices)
    else:
        try:
            texts = [None if text == "nan" else text for text in words.cast(pa.string()).to_pylist()]
        except pa.ArrowException:
            raise place.error(f"values of type {words.type}, expected texts or numbers; convert it") from None
    if array.indices.null_count:
        texts.append(None)
    return texts, indices


def _some(levels: Sequence[str]) -> str:
    shown = ", ".join(map(repr, levels[:10]))
    return f"one of {shown}" + (f" and {len(levels) - 10} more" if len(levels) > 10 else "")
