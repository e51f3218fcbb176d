"""From Arrow arrays to codes and numbers, block by block.

Every reader turns its file into Arrow record batches; here each column of theirs is one accumulator that takes blocks
and, at the end, gives the encoded column. A column starts as text: its different texts get codes in order of
appearance, which costs one small look-up table per block. As soon as it can only be real (more than `schema.FEW`
different numbers and nothing else) it goes on as float64, so neither kind ever holds the texts of its rows. What comes
out depends on the set of texts alone, not on where the blocks end. Peak memory: the codes and one column more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError
from optbn.data.arrow import from_texts, is_text, to_numpy
from optbn.data.dataset import Categorical, Real, code_dtype
from optbn.data.missing import Encoded
from optbn.data.schema import FEW, Declared, Kind, Mixed, has_comma, infer, is_number, level_order, parse_number

MANY = 65_536
"""An undeclared column with more different texts than this names its rows; it is not a variable."""


class Encoder:
    """All columns of a table at once: `add` every batch in order, then `finish`. With keep = False only the domains and
    the numbers of missing values are found and no values are held."""

    def __init__(
        self,
        where: str,
        said: Mapping[str, Declared | None],
        levels_given: Mapping[str, bool] | None = None,
        tokens: Collection[str] = (),
        keep: bool = True,
        first_row: int = 0,
    ) -> None:
        self.first_row = first_row
        self.rows = 0
        self.expected = 0  # rows in all, as far as can be told; only for planning memory
        self._columns: dict[str, Accumulator] = {}
        for name, kind in said.items():
            place, missing = Place(where, name), frozenset(tokens)
            if isinstance(kind, Real) or kind == "real":
                self._columns[name] = RealColumn(place, kind if isinstance(kind, Real) else None, missing, True, keep)
            else:
                given = (levels_given or {}).get(name)
                self._columns[name] = TextColumn(place, kind, given, missing, keep)

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

    def finish(self) -> list[Encoded]:
        """The columns; nothing is left here."""
        return [self._columns.pop(name).finish() for name in list(self._columns)]


@dataclass(frozen=True)
class Place:
    """Where a column is, for errors: rows count from 1, the header not included."""

    where: str
    name: str

    def error(self, what: str, row: int | None = None) -> DataError:
        at = f", row {row + 1:,}" if row is not None else ""
        return DataError(f"{self.where}: column {self.name!r}{at}: {what}")

    def mixed(self, text: str, row: int | None) -> DataError:
        if has_comma(text):
            return self.error(
                f"{_short(text)} has a comma; numbers have a decimal point and no other sign, or a decimal comma where "
                'that is said (--decimal , or decimal=","); if these are levels, declare the column "categorical"',
                row,
            )
        return self.error(
            f"{_short(text)} among numbers; if it marks a missing value, name it (--missing-token, or missing_tokens); "
            'if the column has levels, declare it "categorical"',
            row,
        )


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

    def __init__(
        self, place: Place, said: Declared | None, levels_given: bool | None, tokens: frozenset[str], keep: bool
    ) -> None:
        self.place = place
        self.domain = said if isinstance(said, Categorical) else None
        self.undeclared = said is None and levels_given is None
        self.levels_given = levels_given
        self.codes: dict[str, int] = {}
        self.first: list[int | None] = []  # per code the row where it came first
        self.absent: int | None = None  # the code of missing values
        self.n_missing = 0
        self.only_numbers = True
        if self.domain:
            self.codes = {level: code for code, level in enumerate(self.domain.levels)}
            self.absent = len(self.codes)
            self.first = [None] * (len(self.codes) + 1)
        self.tokens = tokens - self.codes.keys()
        self.keep = keep
        self.values = Growing(np.uint8, keep)

    def add(self, array: Any, first_row: int) -> Accumulator:
        """Take a block; the answer is the accumulator to go on with."""
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
        if self.undeclared and self.only_numbers and len(self.codes) > FEW:
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
            raise self.place.error(f"level {text!r} is not declared; expected {_some(self.domain.levels)}", row)
        self.codes[text] = len(self.first)
        self.first.append(row)
        self.only_numbers = self.only_numbers and is_number(text)
        if self.undeclared and not self.only_numbers and len(self.codes) > MANY:
            self._kind()  # text among numbers is the likelier mistake
            raise self.place.error(
                f"more than {MANY:,} different texts, so it names rows and is not a variable; "
                'leave it out (--ignore, or "ignore" in the schema)',
                row,
            )
        return self.codes[text]

    def _kind(self) -> Kind:
        """What the texts so far make of an undeclared column."""
        try:
            return infer(self.codes)
        except Mixed as mixed:
            raise self.place.mixed(mixed.text, self.first[self.codes[mixed.text]]) from None

    def _as_real(self) -> RealColumn:
        numbers = np.full(len(self.first), np.nan)
        for text, code in self.codes.items():
            numbers[code] = float(text)
            if not np.isfinite(numbers[code]):
                raise self.place.error(f"{text} is not a finite number", self.first[code])
        column = RealColumn(self.place, None, self.tokens, False, self.keep)
        column.low, column.high = float(np.nanmin(numbers)), float(np.nanmax(numbers))
        column.n_missing = self.n_missing
        column.values.expected = self.values.expected
        column.values.append(numbers[self.values.taken])
        return column

    def finish(self) -> Encoded:
        if self.domain:
            return Encoded(self.place.name, self.domain, self.values.taken, self.n_missing)
        kind = self._kind() if self.undeclared else "categorical"
        if kind == "real":
            return self._as_real().finish()
        levels = tuple(self.codes) if self.levels_given is not None else level_order(self.codes)
        final = np.empty(len(self.first), dtype=self.values.dtype)
        for code, level in enumerate(levels):
            final[self.codes[level]] = code
        if self.absent is not None:
            final[self.absent] = len(levels)
        self.values.translate(final)
        domain = Categorical(levels, bool(self.levels_given))
        return Encoded(self.place.name, domain, self.values.taken, self.n_missing)


class RealColumn:
    """Numbers, NaN where missing."""

    def __init__(self, place: Place, domain: Real | None, tokens: frozenset[str], declared: bool, keep: bool) -> None:
        self.place = place
        self.domain = domain
        self.tokens = tokens
        self.absent_texts = from_texts(sorted(tokens))
        self.declared = declared
        self.low, self.high = np.inf, -np.inf
        self.n_missing = 0
        self.values = Growing(np.float64, keep)

    def add(self, array: Any, first_row: int) -> Accumulator:
        """Take a block; the answer is the accumulator to go on with."""
        import pyarrow as pa

        kind = array.type
        if pa.types.is_dictionary(kind) and is_text(kind.value_type):
            indices = _indices(array)
            numbers = np.append(self._numbers(array.dictionary, first_row, indices), np.nan)
            values = numbers[indices]
        elif is_text(kind):
            values = self._numbers(array, first_row, None)
        elif pa.types.is_null(kind):
            values = np.full(len(array), np.nan)
        elif pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
            values = to_numpy(array.cast(pa.float64(), safe=False), np.nan)
        else:
            raise self.place.error(f"values of type {kind}, expected numbers; turn them into numbers first")
        self._check(values, first_row)
        self.values.append(values)
        return self

    def _check(self, values: NDArray[np.float64], first_row: int) -> None:
        n_missing = int(np.count_nonzero(np.isnan(values)))
        self.n_missing += n_missing
        if n_missing == len(values):
            return
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        if not (np.isfinite(low) and np.isfinite(high)):
            at = int(np.argmax(np.isinf(values)))
            raise self.place.error(f"{values[at]} is not a finite number", first_row + at)
        if self.domain and (low < self.domain.low or high > self.domain.high):
            at = int(np.argmax((values < self.domain.low) | (values > self.domain.high)))
            declared = f"[{self.domain.low:g}, {self.domain.high:g}]"
            raise self.place.error(f"{values[at]:g} is outside the declared range {declared}", first_row + at)
        self.low, self.high = min(self.low, low), max(self.high, high)

    def _numbers(self, texts: Any, first_row: int, indices: NDArray[Any] | None) -> NDArray[np.float64]:
        """The number each text stands for. Arrow's parser reads the plain ones at once; when it meets anything else
        the texts are taken one by one, which is slow and exact."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values: NDArray[np.float64]
        try:
            absent = pc.is_in(texts, value_set=self.absent_texts.cast(texts.type))
            plain = pc.utf8_trim(pc.if_else(absent, pa.nulls(1, texts.type)[0], texts), " ")
            values = to_numpy(plain.cast(pa.float64()), np.nan)
            if not pc.any(pc.match_substring_regex(plain, r"^[+-]?0[0-9]+$|[nN]")).as_py():
                return values
        except pa.ArrowException:
            pass
        values = np.full(len(texts), np.nan)

        def row(i: int) -> int:
            return first_row + (i if indices is None else int(np.argmax(indices == i)))

        for i, text in enumerate(_decoded(self.place, texts, first_row, indices)):
            if text is None or text in self.tokens:
                continue
            number = parse_number(text)
            if number is None and self.declared:
                raise self.place.error(f"{_short(text)} is not a number", row(i))
            if number is None or not (self.declared or is_number(text)):
                raise self.place.mixed(text, row(i))
            if not np.isfinite(number):
                raise self.place.error(f"{text} is not a finite number", row(i))
            values[i] = number
        return values

    def finish(self) -> Encoded:
        domain = self.domain
        if domain is None:
            domain = Real(self.low, self.high) if self.low <= self.high else Real(0.0, 0.0)  # nothing but missing
        return Encoded(self.place.name, domain, self.values.taken, self.n_missing)


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


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _some(levels: Sequence[str]) -> str:
    shown = ", ".join(map(repr, levels[:10]))
    return f"one of {shown}" + (f" and {len(levels) - 10} more" if len(levels) > 10 else "")
