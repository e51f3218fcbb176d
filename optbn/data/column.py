"""What both kinds of column share while they are read: what is known of one, where it is, and room to grow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from optbn.base.errors import DataError
from optbn.data.arrow import to_numpy
from optbn.data.dataset import Real
from optbn.data.dates import DateForm
from optbn.data.schema import Declared, Written


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


def looking(domain: Real, whole: bool, unit: str) -> Real:
    """The domain with what its numbers look like, where nobody declared it."""
    return replace(domain, whole=whole if domain.whole is None else domain.whole, unit=domain.unit or unit)


def unit_of(written: Written) -> str:
    """What the numbers of dates count."""
    return written.way.unit if isinstance(written.way, DateForm) else ""


def indices_of(array: Any) -> NDArray[Any]:
    """Codes of a dictionary array; len(dictionary) where null."""
    indices = array.indices
    if indices.null_count:
        indices = indices.cast(pa.int64())
    return to_numpy(indices, len(array.dictionary))


def decoded(place: Place, words: Any, first_row: int, indices: NDArray[Any] | None) -> list[Any]:
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
