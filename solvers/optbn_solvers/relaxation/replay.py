"""Stages applied to the whole table, again and again, to find out which of them are needed.

A ledger keeps a stage for every step that lowered the bound or dropped families, and a row comes in most of the stages
after its first. Here the entries of a row are worked out once, on the whole table: a stage then takes a millisecond,
of which its entries alone would be twenty. Families that are dropped stay in the arrays and are only `alive` no more.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import StoppedError
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.kernels.families import subtract_rows
from optbn_solvers.relaxation.ledger import LARGEST, Ledger, Stage
from optbn_solvers.relaxation.rows import Entries, Row

AGAIN = 3  # times a suffix of the stages is applied to what it left
WORTH = 3  # times as many stages as there are may be applied to find fewer
MOST_ENTRIES = 20_000_000  # that are kept: 160 MB; those of other rows are worked out each time


class _Worked(NamedTuple):
    """A stage in arrays: the numbers of the rows whose entries are kept, their multipliers, and the other rows.

    fits      64 bits do
    constant  what the rows add to the bound
    """

    fits: bool
    which: NDArray[np.int64]
    y: NDArray[np.int64]
    others: list[tuple[Row, int]]
    constant: int


class Replay:
    """What the stages applied since `begin` prove: no graph has more than `bound` units, and one that beats `rows` has
    families that are `alive`. Where `late` says so, a stage is not applied (StoppedError)."""

    def __init__(self, table: ScoreTable, rows: NDArray[np.int64], late: Callable[[], bool] = lambda: False) -> None:
        self.table, self.rows, self.late = table, rows, late
        self.score = table.total_units(rows)
        self._families = Families.of(table, np.arange(len(table)))
        self._largest_units = float(np.abs(table.units).max(initial=0))
        self._number: dict[int, int] = {}  # of a row by identity, in `_rows`, which keeps them
        self._rows: list[Row] = []
        self._largest: list[float] = []  # coefficient of each row
        self._starts = [0]
        self._worked: dict[Stage, _Worked] = {}
        # memory that no entry has been written to takes no room
        self._index, self._value = np.empty(MOST_ENTRIES, dtype=np.int32), np.empty(MOST_ENTRIES, dtype=np.int32)
        self.begin()

    def begin(self) -> None:
        """Nothing is known."""
        self.alive = np.ones(len(self.table), dtype=np.bool_)
        self.bound = int(sum(self.table.units[self.table.offsets[:-1]].tolist()))

    def apply(self, stage: Stage) -> bool:
        """Use a stage; whether it lowered the bound or dropped a family."""
        if self.late():
            raise StoppedError("no time was left to replay a stage")
        adjusted = self.adjusted(stage)
        if adjusted is None:
            books = Ledger(self.table, self.rows, self._families)
            books.bound, books.alive = self.bound, self.alive
            books.settle(stage, [row.entries(self._families) for row, _ in stage.rows])
            return self._close_in(books.bound, books.alive)
        bits = stage.bits
        tops = self._tops(adjusted)
        bound = sum(tops.tolist()) + self._worked[stage].constant
        most = min(bound - (self.score + 1 << bits), int(LARGEST))  # that a family of a better graph may lack
        lacks = np.repeat(tops, np.diff(self.table.offsets)) - adjusted
        return self._close_in(bound >> bits, self.alive & (lacks <= most))

    def reaches(self, stage: Stage) -> int:
        """No graph of the families alive has more units, by this stage alone."""
        adjusted = self.adjusted(stage)
        if adjusted is None:
            return int(LARGEST)
        return sum(self._tops(adjusted).tolist()) + self._worked[stage].constant >> stage.bits

    def _tops(self, adjusted: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64[n], the best of each child among the families alive."""
        listed = np.where(self.alive, adjusted, np.iinfo(np.int64).min)
        tops: NDArray[np.int64] = np.maximum.reduceat(listed, self.table.offsets[:-1])
        return tops

    def adjusted(self, stage: Stage) -> NDArray[np.int64] | None:
        """int64[families], in 2^-bits units: their units less what the rows take; None where 64 bits might not do."""
        worked = self._worked.get(stage)
        if worked is None:
            worked = self._worked[stage] = self._work_out(stage)
        if not worked.fits:
            return None
        adjusted: NDArray[np.int64] = self.table.units << stage.bits
        subtract_rows(self._index, self._value, np.array(self._starts), worked.which, worked.y, adjusted)
        for row, multiplier in worked.others:
            index, value = row.entries(self._families)
            adjusted[index] -= value * multiplier
        return adjusted

    def _work_out(self, stage: Stage) -> _Worked:
        which, y, others = [], [], []
        largest, constant = self._largest_units * 2.0**stage.bits, 0
        for row, multiplier in stage.rows:
            constant += multiplier * row.rhs
            number = self._number.get(id(row))
            if number is None:
                if self.late():
                    raise StoppedError("no time was left to replay a stage")
                found = row.entries(self._families)
                number = self._keep(row, found)
            if number is None:
                others.append((row, multiplier))
                largest += float(multiplier) * float(np.abs(found[1]).max(initial=0))
            else:
                which.append(number)
                y.append(multiplier)
                largest += float(multiplier) * self._largest[number]
        if largest > LARGEST / 2:
            return _Worked(False, np.array([]), np.array([]), others, constant)
        return _Worked(True, np.array(which, dtype=np.int64), np.array(y, dtype=np.int64), others, constant)

    def _keep(self, row: Row, entries: Entries) -> int | None:
        """The number of a row whose entries are kept from now on; None where there is no room for them."""
        index, value = entries
        filled, end = self._starts[-1], self._starts[-1] + len(index)
        largest = float(np.abs(value).max(initial=0))
        if end > MOST_ENTRIES or largest > np.iinfo(np.int32).max:
            return None
        self._index[filled:end], self._value[filled:end] = index, value
        self._starts.append(end)
        self._largest.append(largest)
        self._rows.append(row)
        number = self._number[id(row)] = len(self._rows) - 1
        return number

    def _close_in(self, bound: int, alive: NDArray[np.bool_]) -> bool:
        if not np.logical_or.reduceat(alive, self.table.offsets[:-1]).all():
            bound = self.score
        bound = max(self.score, min(bound, self.bound))
        changed = bound < self.bound or bool((alive != self.alive).any())
        self.alive, self.bound = alive, bound
        return changed


def fewest(replay: Replay, stages: Sequence[Stage], enough: Callable[[], bool]) -> list[Stage] | None:
    """Few of the stages, in the order to be applied, after which `enough` says that the replay proves enough; None
    when all of them do not. Raises StoppedError only while there is nothing to fall back on.

    Usually the last stages do: the final multipliers are good ones, and a stage may be applied again to what it left.
    So it is the shortest suffix of length 1, 2, 4, .. that does, and of it only the stages that matter. On large tables
    that fails, as the last multipliers speak of few families.
    """

    def after(some: Sequence[Stage], times: int) -> list[Stage] | None:
        replay.begin()
        used = []
        for stage in itertools.chain.from_iterable(itertools.repeat(some, times)):
            if enough():
                break
            if replay.apply(stage):
                used.append(stage)
        return used if enough() else None

    used = after(stages[-1:], AGAIN)
    if used is not None:
        return used
    every = after(stages, 1)
    if every is None:
        return None
    left, length = WORTH * len(stages), 2
    try:
        while length < len(every) and left > 0:
            used = after(stages[-length:], AGAIN)
            if used is not None:
                return min(used, every, key=len)
            left -= AGAIN * length
            length *= 2
    except StoppedError:
        pass
    return every
