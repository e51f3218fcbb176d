"""From Arrow arrays to codes and numbers, block by block.

Every reader turns its file into Arrow record batches; here each column of theirs is one accumulator that takes blocks
and, at the end, gives the encoded column. A column starts as text: its different texts get codes in order of
appearance, which costs one small look-up table per block. With more than `ENOUGH` different numbers and nothing else it
goes on as float64; if another text comes later it is left, and read a second time, as texts to the end, by which
`optbn.data.judge` says what the column is. So what comes out depends on the set of texts alone, not on where the blocks
end. Peak memory: the codes and one column more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from optbn.data.column import Known, Place
from optbn.data.dataset import Real
from optbn.data.missing import Encoded
from optbn.data.real_column import RealColumn
from optbn.data.schema import PLAIN
from optbn.data.text_column import TextColumn

Accumulator = TextColumn | RealColumn


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
