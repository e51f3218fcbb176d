"""What can be said about a column of numbers while they pass, block by block: range, whole numbers, numbers of the
rows, and numbers that mark missing values."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from optbn.data.dataset import Real
from optbn.data.findings import Finding
from optbn.data.row_names import EXACT, MANY_NAMES, is_id, keys, numbers_of_rows, too_many_digits
from optbn.data.schema import FEW
from optbn.data.sentinels import SENTINELS, mark_perhaps, sentinel_finding, sentinels, spreadsheet_days
from optbn.data.texts import Judgement, quoted

_SENTINELS = np.array(sorted(SENTINELS))


class Numbers:
    """Running facts of one column; `judging` says whether more than the range is of interest. Of `typed` columns, which
    a file declares to hold numbers, nothing is changed: what is noticed is a note."""

    def __init__(
        self, name: str, judging: bool, unnamed: bool = False, wanted: bool = False, typed: bool = False
    ) -> None:
        self.name = name
        self.rows = self.n_missing = 0
        self.low, self.high = np.inf, -np.inf
        self._typed = typed
        self._judging, self._unnamed, self._wanted = judging, unnamed, wanted
        self._counting = judging and not wanted and not typed  # 0, 1, 2, .. or 1, 2, 3, ..
        self.whole = True
        self._few: set[float] | None = set()
        self._known: dict[float, tuple[int, int]] = {}  # marks of missing values: how often, first in which row
        self._inner = [np.inf, -np.inf]  # the range of all others
        self._start = 0.0

    def add(self, values: NDArray[np.float64], first_row: int) -> None:
        """Take finite numbers, NaN where there is none."""
        absent = np.isnan(values)
        n_missing = int(np.count_nonzero(absent))
        self.n_missing += n_missing
        if n_missing < len(values):
            low, high = float(np.nanmin(values)), float(np.nanmax(values))
            self.low, self.high = min(self.low, low), max(self.high, high)
            there = values[~absent] if n_missing else values
            self.whole = self.whole and bool((there == np.floor(there)).all())
            if self._judging:
                self._look(there, low, high, values, first_row)
        self._counting = self._counting and not n_missing
        self.rows += len(values)

    def _look(
        self, there: NDArray[np.float64], low: float, high: float, values: NDArray[np.float64], first_row: int
    ) -> None:
        if not self.rows:
            self._start = float(there[0])
        if self._counting:
            expected = np.arange(self._start + self.rows, self._start + self.rows + len(there))
            self._counting = self._start in (0.0, 1.0) and np.array_equal(there, expected)
        if self._few is not None:
            self._few = self._few.union(np.unique(there).tolist())
            self._few = None if len(self._few) > FEW else self._few
        if low in SENTINELS or high in SENTINELS or self._known:
            marks = np.isin(there, _SENTINELS)
            for value in np.unique(there[marks]).tolist():
                count, row = self._known.get(value, (0, first_row + int(np.argmax(values == value))))
                self._known[value] = (count + int(np.count_nonzero(there == value)), row)
            there = there[~marks]
            low, high = (float(there.min()), float(there.max())) if len(there) else (np.inf, -np.inf)
        self._inner = [min(self._inner[0], low), max(self._inner[1], high)]

    def outside(self, low: float, high: float) -> bool:
        """Whether a number read so far is outside this range."""
        return self.low < low or self.high > high

    def range(self, absent: Collection[float] = ()) -> Real:
        """The range of the numbers, some left out."""
        kept = [value for value in self._known if value not in absent]
        low, high = (self.low, self.high) if not absent else (self._inner[0], self._inner[1])
        if absent and kept:
            low, high = min(low, *kept), max(high, *kept)
        return Real(low, high) if low <= high else Real(0.0, 0.0)

    def count(self, values: Collection[float]) -> int:
        """In how many rows these stand."""
        return sum(self._known[value][0] for value in values)

    def judged(self, values: NDArray[np.float64]) -> Judgement:
        """What the column is; `values` are all of them, if they were kept."""
        if self._counting and (self.rows > MANY_NAMES or self._unnamed):
            return numbers_of_rows(self.name, int(self._start), self.rows, self._unnamed)
        if self._typed:
            return Judgement("real", findings=tuple(self._notes()))
        beyond = max(-self.low, self.high) >= EXACT and self.whole
        may_be_keys = not self._wanted and self.whole and (beyond or is_id(self.name)) and not self.n_missing
        if may_be_keys and len(values) > MANY_NAMES and len(np.unique(values)) == len(values):
            return keys(self.name, self.rows)
        said_all: list[Finding] = []
        if beyond:
            said_all.append(too_many_digits(self.name, self.high if self.high >= EXACT else self.low))
        absent = sentinels({value: n for value, (n, _) in self._known.items()}, *self._inner)
        for value in absent:
            count, row = self._known[value]
            said_all.append(sentinel_finding(self.name, f"{value:g}", count, row))
        if self.whole and (note := spreadsheet_days(self.name, self.low, self.high)):
            said_all.append(note)
        said_all += self._lowest(values)
        return Judgement("real", None, frozenset(), absent, tuple(said_all))

    def _lowest(self, values: NDArray[np.float64]) -> Iterator[Finding]:
        """A note about -1 or 0 that may mark a missing value."""
        if self.low in (-1.0, 0.0) and len(values):
            others = values[values > self.low]
            count = int(np.count_nonzero(values == self.low))
            if len(others) and (
                note := mark_perhaps(self.name, self.low, count, len(values), float(others.min()), float(others.max()))
            ):
                yield note

    def _notes(self) -> Iterator[Finding]:
        if self._few and len(self._few) <= FEW and self.whole and self.n_missing:
            what = f"{len(self._few)} different whole numbers, stored as fractions for what is missing: levels?"
            yield Finding(
                "note", what, self.name, None, f"--column {quoted(f'{self.name}=categorical')} makes them levels"
            )
        for value in sentinels({value: n for value, (n, _) in self._known.items()}, *self._inner):
            count, row = self._known[value]
            what = f"{value:g}, far from all others, in {count:,} rows: a mark for what is missing?"
            yield Finding("note", what, self.name, row + 1, f'{{"missing": ["{value:g}"]}} in the schema makes it one')
