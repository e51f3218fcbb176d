"""A column of numbers, block by block; one that turns out to hold other texts is left and read again as texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from optbn.data.arrow import days, from_texts, is_text, is_time, to_numpy
from optbn.data.column import Growing, Known, Place, decoded, indices_of, looking, unit_of
from optbn.data.dataset import Categorical, Real
from optbn.data.missing import Encoded
from optbn.data.numbers import Numbers
from optbn.data.schema import PLAIN, Written, is_number, parse_number
from optbn.data.texts import short


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

    def add(self, array: Any, first_row: int) -> RealColumn:
        """Take a block; the answer is the accumulator to go on with."""
        if self.odd:
            return self
        kind = array.type
        if pa.types.is_dictionary(kind) and is_text(kind.value_type):
            indices = indices_of(array)
            numbers = self._numbers(array.dictionary, first_row, indices)
            values = None if numbers is None else np.append(numbers, np.nan)[indices]
        elif is_text(kind):
            values = self._numbers(array, first_row, None)
        elif pa.types.is_null(kind):
            values = np.full(len(array), np.nan)
        elif is_time(kind):
            self.unit, values = "" if pa.types.is_duration(kind) else "days", days(array)
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
        for i, text in enumerate(decoded(self.place, texts, first_row, indices)):
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
