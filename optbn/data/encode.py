"""From Arrow arrays to codes and numbers, block by block.

Every reader turns its file into Arrow record batches; here each column of theirs is one accumulator that takes blocks
and, at the end, gives the encoded column. A column starts as text: its different texts get codes in order of
appearance, which costs one small look-up table per block. With more than `ENOUGH` different numbers and nothing else it
goes on as float64; if another text comes later it is left, and read a second time, as texts to the end, by which
`optbn.data.judge` says what the column is. So what comes out depends on the set of texts alone, not on where the blocks
end. Peak memory: the codes and one column more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError
from optbn.data.arrow import days, from_texts, is_text, to_numpy
from optbn.data.dataset import Categorical, Real, code_dtype
from optbn.data.dates import DateForm, compact
from optbn.data.findings import Finding
from optbn.data.judge import Judgement, Texts, judge, number_like, short
from optbn.data.missing import Encoded
from optbn.data.numbers import Numbers
from optbn.data.schema import FEW, PLAIN, Declared, Written, is_number, level_order, parse_number

MANY = 65_536
"""An undeclared column of more different texts than this, most of them no numbers, names its rows."""
ENOUGH = 4 * FEW
"""An undeclared column of more different numbers than this, and nothing else, goes on as numbers."""


@dataclass(frozen=True)
class Known:
    """What is known about a column before its values are.

    declared      by the user or the file
    written       how it is written; None: to be inferred, where it is not declared in full
    levels_given  whether the levels of its dictionary are declared, and ordered
    typed         the file declares numbers by their type
    unnamed       the file has no name for it
    wanted        somebody asked for it by name, so it is never left out
    texts         keep the texts to the end: it was read as numbers and is not all numbers
    decimal       the sign for decimals of the file, where it is known
    """

    declared: Declared | None = None
    written: Written | None = None
    levels_given: bool | None = None
    typed: bool = False
    unnamed: bool = False
    wanted: bool = False
    texts: bool = False
    decimal: str | None = None
    decimal_declared: bool = False

    @property
    def open(self) -> bool:
        """Whether the values say how the column is read."""
        return self.declared is None and self.levels_given is None and self.written is None

    @property
    def open_numbers(self) -> bool:
        """Whether the column holds numbers, in a way of writing that the values say."""
        return (self.declared == "real" or isinstance(self.declared, Real)) and self.written is None


class Encoder:
    """All columns of a table at once: `add` every batch in order, then `finish`. With keep = False only the domains and
    the numbers of missing values are found and no values are held."""

    def __init__(
        self,
        where: str,
        known: Mapping[str, Known],
        tokens: Collection[str] = (),
        keep: bool = True,
        first_row: int = 0,
    ) -> None:
        self.first_row = first_row
        self.rows = 0
        self.expected = 0  # rows in all, as far as can be told; only for planning memory
        self._columns: dict[str, Accumulator] = {}
        for name, column in known.items():
            place = Place(where, name)
            missing = frozenset(tokens) | frozenset((column.written or PLAIN).missing)
            real = isinstance(column.declared, Real) or column.declared == "real"
            if real and not column.texts:
                self._columns[name] = RealColumn(place, column, missing, keep)
            else:
                self._columns[name] = TextColumn(place, column, missing, keep)

    def add(self, batch: Any) -> None:
        """Take a record batch that has (at least) these columns."""
        for name, column in self._columns.items():
            column.values.expected = self.expected
            self._columns[name] = column.add(batch.column(name), self.first_row + self.rows)
        self.rows += batch.num_rows

    @property
    def row_bytes(self) -> int:
        """What a row takes in memory, as far as the columns are known."""
        return sum(column.values.dtype.itemsize for column in self._columns.values())

    @property
    def unsettled(self) -> list[str]:
        """Columns begun as numbers that hold other texts as well: read them again, with `texts`."""
        return [name for name, column in self._columns.items() if isinstance(column, RealColumn) and column.odd]

    def finish(self) -> list[Encoded]:
        """The settled columns; nothing is left here."""
        unsettled = set(self.unsettled)
        return [self._columns.pop(name).finish() for name in list(self._columns) if name not in unsettled]


@dataclass(frozen=True)
class Place:
    """Where a column is, for errors: rows count from 1, the header not included."""

    where: str
    name: str

    def error(self, what: str, row: int | None = None) -> DataError:
        at = f", row {row + 1:,}" if row is not None else ""
        return DataError(f"{self.where}: column {self.name!r}{at}: {what}")


class Growing:
    """An array that is appended to. Memory that is not written to yet costs nothing, so it plans ahead."""

    def __init__(self, dtype: Any, keep: bool) -> None:
        self._room = np.empty(0, dtype)
        self._keep = keep
        self._length = 0
        self.expected = 0

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self._room.dtype
        return dtype

    def append(self, values: NDArray[Any]) -> None:
        if not self._keep:
            self._room = np.empty(0, values.dtype)
            return
        end = self._length + len(values)
        if end > len(self._room) or values.dtype != self.dtype:
            room = np.empty(max(end * 3 // 2, len(self._room), self.expected), values.dtype)
            room[: self._length] = self.taken
            self._room = room
        self._room[self._length : end] = values
        self._length = end

    @property
    def taken(self) -> NDArray[Any]:
        """What was appended, in one piece."""
        return self._room[: self._length]

    def translate(self, table: NDArray[Any]) -> None:
        """Replace each code by its entry in the table, in place."""
        for start in range(0, self._length, 65_536):
            part = self._room[start : min(start + 65_536, self._length)]
            part[:] = table[part]


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

    def add(self, array: Any, first_row: int) -> Accumulator:
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

    def _as_real(self) -> Accumulator:
        """Numbers from here on."""
        if self.known.decimal == ",":
            return self  # 1.500 may be fifteen hundred: that is seen at the end
        if compact(list(self.codes)[-ENOUGH:]):
            return self  # and whether all are days
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
                what = f"{text} is not a finite number"
                settle = ("--missing-token", text)
                remedy = f"if it marks a missing value: --missing-token {text}"
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
            domain = self.known.declared
        domain = looking(domain, bool((kept == np.floor(kept)).all()), unit_of(written))
        values = numbers[self.values.taken] if self.keep else np.empty(0)
        gone = [code for code in self.codes.values() if np.isnan(numbers[code])]
        n_missing = self.n_missing + int(sum(self.counts[code] for code in gone))
        return Encoded(self.place.name, domain, values, n_missing, written, findings)

    def _check_range(self, numbers: NDArray[np.float64], declared: Real) -> None:
        for text, code in self.codes.items():
            if numbers[code] < declared.low or numbers[code] > declared.high:
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


class RealColumn:
    """Numbers, NaN where missing."""

    def __init__(self, place: Place, known: Known, tokens: frozenset[str], keep: bool) -> None:
        self.place = place
        self.known = known
        self.domain = known.declared if isinstance(known.declared, Real) else None
        self.written = known.written or PLAIN
        self.tokens = tokens
        self.absent_texts = from_texts(sorted(tokens))
        self.odd = False
        self.unit = ""
        self.seen = Numbers(place.name, known.typed or known.open, known.unnamed, known.wanted, known.typed)
        self.values = Growing(np.float64, keep)

    def add(self, array: Any, first_row: int) -> Accumulator:
        """Take a block; the answer is the accumulator to go on with."""
        import pyarrow as pa

        if self.odd:
            return self
        kind = array.type
        if pa.types.is_dictionary(kind) and is_text(kind.value_type):
            indices = _indices(array)
            numbers = self._numbers(array.dictionary, first_row, indices)
            values = None if numbers is None else np.append(numbers, np.nan)[indices]
        elif is_text(kind):
            values = self._numbers(array, first_row, None)
        elif pa.types.is_null(kind):
            values = np.full(len(array), np.nan)
        elif pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            self.unit, values = "days", days(array)
        elif pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
            values = to_numpy(array.cast(pa.float64(), safe=False), np.nan)
        else:
            raise self.place.error(f"values of type {kind}, expected numbers; turn them into numbers first")
        if values is not None:
            self.take(values, first_row)
        return self

    def take(self, values: NDArray[np.float64], first_row: int) -> None:
        """Take numbers."""
        infinite = np.isinf(values)
        if infinite.any():
            if self._may_be_odd and not self.known.typed:
                self.odd = True
                return
            at = int(np.argmax(infinite))
            raise self.place.error(f"{values[at]} is not a finite number", first_row + at)
        if self.written.absent:
            values = np.where(np.isin(values, list(self.written.absent)), np.nan, values)
        self.seen.add(values, first_row)
        if self.domain and self.seen.outside(self.domain.low, self.domain.high):
            with np.errstate(invalid="ignore"):
                at = int(np.argmax((values < self.domain.low) | (values > self.domain.high)))
            declared = f"[{self.domain.low:g}, {self.domain.high:g}]"
            raise self.place.error(f"{values[at]:g} is outside the declared range {declared}", first_row + at)
        self.values.append(values)

    @property
    def _may_be_odd(self) -> bool:
        """Whether other texts than numbers are a question of how the column is written."""
        return self.known.open or self.known.open_numbers

    def _numbers(self, texts: Any, first_row: int, indices: NDArray[Any] | None) -> NDArray[np.float64] | None:
        """The number each text stands for; None where some is none and the column is to be looked at again. Arrow's
        parser reads the plain ones at once; when it meets anything else the texts are taken one by one, which is slow
        and exact."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values: NDArray[np.float64]
        if self.written.way is None:
            try:
                absent = pc.is_in(texts, value_set=self.absent_texts.cast(texts.type))
                plain = pc.utf8_trim(pc.if_else(absent, pa.nulls(1, texts.type)[0], texts), " ")
                values = to_numpy(plain.cast(pa.float64()), np.nan)
                if not pc.any(pc.match_substring_regex(plain, r"^[+-]?0[0-9]+$|[nN]")).as_py():
                    return values
            except pa.ArrowException:
                pass
        values = np.full(len(texts), np.nan)
        for i, text in enumerate(_decoded(self.place, texts, first_row, indices)):
            if text is None or text in self.tokens or text.strip() in self.tokens:
                continue
            number = self.written.number(text)
            if self._may_be_odd and (number is None or not (is_number(text) or self.known.open_numbers)):
                self.odd = True
                return None
            row = first_row + (i if indices is None else int(np.argmax(indices == i)))
            if number is None and (plain_number := parse_number(text)) is not None and self.written.way is not None:
                number = plain_number
            if number is None:
                raise self.place.error(f"{short(text)} is not a number", row)
            if not np.isfinite(number) and not self._may_be_odd:
                raise self.place.error(f"{text} is not a finite number", row)
            values[i] = number
        return values

    def finish(self) -> Encoded:
        judging = self.known.open or self.known.typed
        found = self.seen.judged(self.values.taken) if judging else None
        values = self.values.taken
        name = self.place.name
        if self.domain is not None or found is None:
            domain = looking(self.domain or self.seen.range(), self.seen.whole, unit_of(self.written) or self.unit)
            return Encoded(name, domain, values, self.seen.n_missing, self.written)
        if found.kind == "ignore":
            empty = Categorical(())
            return Encoded(name, empty, values, self.seen.n_missing, PLAIN, found.findings, ignored=True)
        if found.absent and len(values):
            values[np.isin(values, found.absent)] = np.nan
        written = Written(None, tuple(f"{value:g}" for value in found.absent))
        n_missing = self.seen.n_missing + self.seen.count(found.absent)
        domain = looking(self.seen.range(found.absent), self.seen.whole, self.unit)
        return Encoded(name, domain, values, n_missing, written, found.findings)


def looking(domain: Real, whole: bool, unit: str) -> Real:
    """The domain with what its numbers look like, where nobody declared it."""
    return replace(domain, whole=whole if domain.whole is None else domain.whole, unit=domain.unit or unit)


def unit_of(written: Written) -> str:
    """What the numbers of dates count."""
    return written.way.unit if isinstance(written.way, DateForm) else ""


Accumulator = TextColumn | RealColumn


def _indices(array: Any) -> NDArray[Any]:
    """Codes of a dictionary array; len(dictionary) where null."""
    import pyarrow as pa

    indices = array.indices
    if indices.null_count:
        indices = indices.cast(pa.int64())
    return to_numpy(indices, len(array.dictionary))


def _texts(place: Place, array: Any, first_row: int) -> tuple[list[Any], NDArray[Any]]:
    """The different texts of a block (None for a null), and per row the index of its own."""
    import pyarrow as pa

    of, kind = pa.types, array.type
    if of.is_null(kind):
        return [None], np.zeros(len(array), dtype=np.int64)
    if not of.is_dictionary(kind):
        if not (is_text(kind) or any(test(kind) for test in (of.is_integer, of.is_floating, of.is_boolean))):
            raise place.error(f'values of type {kind}, expected texts or numbers; convert it or declare it "ignore"')
        array = array.dictionary_encode()
    indices, words = _indices(array), array.dictionary
    if is_text(words.type):
        texts = _decoded(place, words, first_row, indices)
    else:
        try:
            texts = [None if text == "nan" else text for text in words.cast(pa.string()).to_pylist()]
        except pa.ArrowException:
            raise place.error(f"values of type {words.type}, expected texts or numbers; convert it") from None
    if array.indices.null_count:
        texts.append(None)
    return texts, indices


def _decoded(place: Place, words: Any, first_row: int, indices: NDArray[Any] | None) -> list[Any]:
    import pyarrow as pa

    try:
        texts: list[Any] = words.to_pylist()
        return texts
    except UnicodeDecodeError:
        pass
    for i, raw in enumerate(words.cast(pa.binary()).to_pylist()):
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            row = first_row + (i if indices is None else int(np.argmax(indices == i)))
            bad = raw[error.start : error.start + 1].hex()
            raise place.error(f"byte 0x{bad} is not UTF-8; give the encoding (cp1252 or latin-1, say)", row) from None
    raise AssertionError("the texts decode one by one")


def _some(levels: Sequence[str]) -> str:
    shown = ", ".join(map(repr, levels[:10]))
    return f"one of {shown}" + (f" and {len(levels) - 10} more" if len(levels) > 10 else "")
