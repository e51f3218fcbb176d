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

from optbn.data.dataset import Categorical, Real, code_dtype
from optbn.data.missing import Encoded
from optbn.data.schema import FEW, Declared, Mixed, infer, is_number, level_order, parse_number
from optbn.errors import DataError

MANY = 65_536
"""An undeclared column with more different texts than this names its rows; it is not a variable."""


@dataclass(frozen=True)
class Place:
    """Where a column is, for errors: rows count from 1, the header not included."""

    where: str
    name: str

    def error(self, what: str, row: int | None = None) -> DataError:
        at = f", row {row + 1:,}" if row is not None else ""
        return DataError(f"{self.where}: column {self.name!r}{at}: {what}")


def accumulator(place: Place, said: Declared | None, levels_given: bool | None, tokens: frozenset[str]) -> Accumulator:
    """The accumulator for a column: `said` is its declaration, if any; `levels_given` (ordered or not) says that the
    file itself declares levels, in the order of its dictionary."""
    if isinstance(said, Real) or said == "real":
        return RealColumn(place, said if isinstance(said, Real) else None, tokens, declared=True)
    return TextColumn(place, said, levels_given, tokens)


class TextColumn:
    """Codes into the texts seen so far, or into the declared levels."""

    def __init__(self, place: Place, said: Declared | None, levels_given: bool | None, tokens: frozenset[str]) -> None:
        self.place = place
        self.domain = said if isinstance(said, Categorical) else None
        self.undeclared = said is None and levels_given is None
        self.levels_given = levels_given
        self.codes: dict[str, int] = {}
        self.absent: int | None = None  # the code of missing values
        self.only_numbers = True
        if self.domain:
            self.codes = {level: code for code, level in enumerate(self.domain.levels)}
            self.absent = len(self.codes)
        self.size = len(self.codes) + (self.absent is not None)
        self.tokens = tokens - self.codes.keys()
        self.blocks: list[NDArray[Any]] = []

    def add(self, array: Any, first_row: int) -> Accumulator:
        """Take a block; the answer is the accumulator to go on with."""
        texts, indices = _texts(self.place, array, first_row)
        table = np.zeros(len(texts) + 1, dtype=np.int32)
        for i, text in enumerate(texts):
            code = self.codes.get(text)
            if code is None:
                code = self._absent() if text in self.tokens else self._new(text, i, indices, first_row)
            table[i] = code
        if len(indices) and indices.max() == len(texts):
            table[-1] = self._absent()
        self.blocks.append(table.astype(code_dtype(self.size))[indices])
        if self.undeclared and self.only_numbers and len(self.codes) > FEW:
            return self._as_real()
        return self

    def _absent(self) -> int:
        if self.absent is None:
            self.absent = self.size
            self.size += 1
        return self.absent

    def _new(self, text: str, i: int, indices: NDArray[Any], first_row: int) -> int:
        at = np.flatnonzero(indices == i)
        row = first_row + int(at[0]) if len(at) else None
        if self.domain:
            if row is None:  # in the dictionary of the file, but in no row
                return 0
            raise self.place.error(f"level {text!r} is not declared; expected {_some(self.domain.levels)}", row)
        if "\0" in text:
            raise self.place.error("binary content, expected text", row)
        if self.undeclared and len(self.codes) >= MANY:
            raise self.place.error(
                f"more than {MANY:,} different texts, so it names rows and is not a variable; "
                'leave it out with the schema entry "ignore"',
                row,
            )
        code = self.codes[text] = self.size
        self.size += 1
        self.only_numbers = self.only_numbers and is_number(text)
        return code

    def _as_real(self) -> RealColumn:
        column = RealColumn(self.place, None, self.tokens, declared=False)
        numbers = np.full(self.size, np.nan)
        for text, code in self.codes.items():
            numbers[code] = float(text)
            if not np.isfinite(numbers[code]):
                raise self.place.error(f"{text} is not a finite number", self._row(code))
        column.blocks = [numbers[block] for block in self.blocks]
        return column

    def _row(self, code: int) -> int | None:
        """The first row with this code."""
        start = 0
        for block in self.blocks:
            at = np.flatnonzero(block == code)
            if len(at):
                return start + int(at[0])
            start += len(block)
        return None

    def finish(self) -> Encoded:
        if self.domain:
            return Encoded(self.place.name, self.domain, _joined(self.blocks, code_dtype(self.size)), closed=True)
        try:
            kind = infer(self.codes) if self.undeclared else "categorical"
        except Mixed as mixed:
            raise _mixed(self.place, mixed.text, self._row(self.codes[mixed.text])) from None
        if kind == "real":
            return self._as_real().finish()
        levels = tuple(self.codes) if self.levels_given is not None else level_order(self.codes)
        table = np.empty(self.size, dtype=code_dtype(self.size))
        for code, level in enumerate(levels):
            table[self.codes[level]] = code
        if self.absent is not None:
            table[self.absent] = len(levels)
        values = _joined(self.blocks, table.dtype, table)
        return Encoded(self.place.name, Categorical(levels, bool(self.levels_given)), values, closed=False)


class RealColumn:
    """Numbers, NaN where missing."""

    def __init__(self, place: Place, domain: Real | None, tokens: frozenset[str], declared: bool) -> None:
        self.place = place
        self.domain = domain
        self.tokens = tokens
        self.declared = declared
        self.blocks: list[NDArray[np.float64]] = []

    def add(self, array: Any, first_row: int) -> Accumulator:
        """Take a block; the answer is the accumulator to go on with."""
        import pyarrow as pa

        kind = array.type
        if pa.types.is_dictionary(kind) and _is_text(kind.value_type):
            indices = _indices(array)
            numbers = np.append(self._numbers(array.dictionary, first_row, indices), np.nan)
            values = numbers[indices]
        elif _is_text(kind):
            values = self._numbers(array, first_row, None)
        elif pa.types.is_null(kind):
            values = np.full(len(array), np.nan)
        elif pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
            values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        else:
            raise self.place.error(f"values of type {kind}, expected numbers; turn them into numbers first")
        infinite = np.isinf(values)
        if infinite.any():
            at = int(infinite.argmax())
            raise self.place.error(f"{values[at]} is not a finite number", first_row + at)
        if self.domain:
            outside = (values < self.domain.low) | (values > self.domain.high)
            if outside.any():
                at = int(outside.argmax())
                declared = f"[{self.domain.low:g}, {self.domain.high:g}]"
                raise self.place.error(f"{values[at]:g} is outside the declared range {declared}", first_row + at)
        self.blocks.append(values)
        return self

    def _numbers(self, texts: Any, first_row: int, indices: NDArray[Any] | None) -> NDArray[np.float64]:
        """The number each text stands for. Arrow's parser reads the plain ones at once; when it meets anything else
        the texts are taken one by one, which is slow and exact."""
        import pyarrow as pa
        import pyarrow.compute as pc

        values: NDArray[np.float64]
        try:
            absent = pc.is_in(texts, value_set=pa.array(sorted(self.tokens), texts.type))
            plain = pc.if_else(absent, pa.scalar(None, texts.type), texts)
            values = plain.cast(pa.float64()).to_numpy(zero_copy_only=False)
            odd = pc.any(pc.match_substring_regex(plain, r"^[+-]?0[0-9]+$|[nN]")).as_py()
            if not odd:
                return values
        except pa.ArrowInvalid:
            pass
        values = np.full(len(texts), np.nan)
        for i, text in enumerate(_decoded(self.place, texts, first_row, indices)):
            if text is None or text in self.tokens:
                continue
            number = parse_number(text) if self.declared or is_number(text) else None
            row = first_row + (i if indices is None else int(np.argmax(indices == i)))
            if number is None and self.declared:
                raise self.place.error(f"{_short(text)} is not a number", row)
            if number is None:
                raise _mixed(self.place, text, row)
            if not np.isfinite(number):
                raise self.place.error(f"{text} is not a finite number", row)
            values[i] = number
        return values

    def finish(self) -> Encoded:
        values = _joined(self.blocks, np.float64)
        domain = self.domain
        if domain is None:
            some = values[~np.isnan(values)] if np.isnan(values).any() else values
            domain = Real(float(some.min()), float(some.max())) if len(some) else Real(0.0, 0.0)
        return Encoded(self.place.name, domain, values, closed=self.domain is not None)


Accumulator = TextColumn | RealColumn


class Encoder:
    """All columns of a table at once: `add` every batch in order, then `finish`."""

    def __init__(
        self,
        where: str,
        said: Mapping[str, Declared | None],
        levels_given: Mapping[str, bool] | None = None,
        tokens: Collection[str] = (),
    ) -> None:
        given = levels_given or {}
        self.rows = 0
        self.columns = {
            name: accumulator(Place(where, name), kind, given.get(name), frozenset(tokens))
            for name, kind in said.items()
        }

    def add(self, batch: Any) -> None:
        """Take a record batch that has (at least) these columns."""
        for name, column in self.columns.items():
            self.columns[name] = column.add(batch.column(name), self.rows)
        self.rows += batch.num_rows

    def finish(self) -> list[Encoded]:
        """The columns; nothing is left here."""
        return [self.columns.pop(name).finish() for name in list(self.columns)]


def _joined(blocks: list[NDArray[Any]], dtype: Any, table: NDArray[Any] | None = None) -> NDArray[Any]:
    """The blocks in one array, through the table if given. Empties the list."""
    whole = np.empty(sum(map(len, blocks)), dtype=dtype)
    start = 0
    for block in blocks:
        whole[start : start + len(block)] = block if table is None else table[block]
        start += len(block)
    blocks.clear()
    return whole


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    of = pa.types
    return bool(of.is_string(kind) or of.is_large_string(kind) or of.is_string_view(kind) or of.is_binary(kind))


def _indices(array: Any) -> NDArray[Any]:
    """Codes of a dictionary array; len(dictionary) where null."""
    indices = array.indices
    if indices.null_count:
        import pyarrow as pa

        indices = indices.cast(pa.int64()).fill_null(len(array.dictionary))
    values: NDArray[Any] = indices.to_numpy(zero_copy_only=False)
    return values


def _texts(place: Place, array: Any, first_row: int) -> tuple[list[str], NDArray[Any]]:
    """The different texts of a block, and per row the index of its own; one past the last where null."""
    import pyarrow as pa

    of = pa.types
    if not of.is_dictionary(array.type):
        if of.is_null(array.type):
            return [], np.zeros(len(array), dtype=np.int64)
        array = array.dictionary_encode()
    indices = _indices(array)
    words = array.dictionary
    if not _is_text(words.type):
        kind = words.type
        if not (of.is_integer(kind) or of.is_floating(kind) or of.is_boolean(kind) or of.is_decimal(kind)):
            raise place.error(f'values of type {kind}, expected texts or numbers; convert it or declare it "ignore"')
        if of.is_floating(kind):
            finite = np.isfinite(words.to_numpy(zero_copy_only=False))
            indices = np.where(finite[indices], indices, len(words))
        words = words.cast(pa.string())
    return _decoded(place, words, first_row, indices), indices


def _decoded(place: Place, words: Any, first_row: int, indices: NDArray[Any] | None) -> list[Any]:
    import pyarrow as pa

    try:
        texts: list[Any] = (
            words.cast(pa.string(), safe=False).to_pylist() if words.type == pa.binary() else words.to_pylist()
        )
        return texts
    except UnicodeDecodeError:
        pass
    for i, raw in enumerate(words.cast(pa.binary()).to_pylist()):
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            row = first_row + (i if indices is None else int(np.argmax(indices == i)))
            bad = raw[error.start : error.start + 1].hex()
            raise place.error(f"byte 0x{bad} is not UTF-8; give the encoding (latin-1, say)", row) from None
    raise AssertionError("the texts decode one by one")


def _mixed(place: Place, text: str, row: int | None) -> DataError:
    return place.error(
        f"{_short(text)} among numbers; if it marks a missing value add it to the missing tokens, "
        'if the column has levels declare it "categorical"',
        row,
    )


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _some(levels: Sequence[str]) -> str:
    shown = ", ".join(map(repr, levels[:10]))
    return f"one of {shown}" + (f" and {len(levels) - 10} more" if len(levels) > 10 else "")
