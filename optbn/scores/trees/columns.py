"""A Dataset's columns as predictors, as the kernels want them: cells and parts.

Levels that no row has are dropped here: as a predictor they would only add empty boxes, as a response they add nothing
to a leaf. The prior and the leaf's total still count them (see `prior`, `leaves`).

An unordered predictor of more than `most_levels` declared levels is coarsened, for trees over it grow with 3 to their
number: its most_levels - 1 levels of most rows (of equals the earlier) stay apart, all others are one. As a response it
stays whole. A real predictor in which rows may have no number is halved once more, at the top: numbers left, others
right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError, UnsupportedError
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.scores.kernels.kinds import CATEGORICAL, ORDINAL, REAL
from optbn.scores.trees.cuts import CutRule, Splits, everywhere, halves, midpoints, with_numbers
from optbn.scores.units import check_range

Ints = NDArray[np.int64]
MOST_TABULATED_PARTS = 1 << 20
"""Variables of more parts than this get no table of them; no dense lattice could hold them either."""


class Predictors(NamedTuple):
    """See kernels/trees.py and lattice.py. table[v] = -1 where the parts are too many to tabulate."""

    cells: NDArray[np.int32]
    common: Ints
    away: NDArray[np.int32]
    away_start: Ints
    kinds: Ints
    sizes: Ints
    parts: Ints
    table: Ints
    halves: NDArray[np.int32]
    need: NDArray[np.uint64]


@dataclass(frozen=True)
class Columns:
    """The data, how often a real predictor may be halved ("all": cut anywhere), and what is halved: its range or its
    rows. Levels that no row has are kept where `declared`."""

    data: Dataset
    max_splits: Splits
    cuts: CutRule = "range"
    declared: bool = False
    most_levels: int | None = None

    def __post_init__(self) -> None:
        if self.data.n_rows == 0:
            raise DataError("the data have no rows; there is nothing to score")
        for name, domain in zip(self.data.names, self.data.domains, strict=True):
            if isinstance(domain, Real):
                check_range(name, domain)
                if domain.absent and self.max_splits == "all":
                    raise UnsupportedError(
                        f"column {name!r} has rows without a number, and max_splits='all' is for columns without: "
                        "choose a number of halvings, 4 say"
                    )

    @cached_property
    def observed(self) -> tuple[NDArray[np.integer], ...]:
        """Per variable the codes that occur (or are declared), ascending; empty for a real one."""
        return tuple(
            np.arange(r) if self.declared or not r else np.unique(column)
            for r, column in zip(self.data.cardinalities, self.data.columns, strict=True)
        )

    @cached_property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """Per variable (kind, declared levels or halvings), as the structure prior counts them."""
        return tuple(
            (REAL, self._halvings(domain))
            if isinstance(domain, Real) and self.max_splits != "all"
            else (ORDINAL, len(self.thresholds[v]) + 1)
            if isinstance(domain, Real)
            else (ORDINAL, len(domain.levels))
            if domain.ordered
            else (CATEGORICAL, min(len(domain.levels), self.most_levels or len(domain.levels)))
            for v, domain in enumerate(self.data.domains)
        )

    def _halvings(self, domain: Real) -> int:
        assert self.max_splits != "all"
        return self.max_splits + domain.absent

    @cached_property
    def coarsened(self) -> tuple[int, ...]:
        """The variables that are no parents with all their levels."""
        return tuple(
            v
            for v, domain in enumerate(self.data.domains)
            if isinstance(domain, Categorical) and not domain.ordered and len(domain.levels) > self.shapes[v][1]
        )

    @cached_property
    def members(self) -> tuple[tuple[NDArray[np.integer], ...], ...]:
        """Per variable the codes in each cell, of those that occur; none of a real one."""
        found = []
        for v, codes in enumerate(self.observed):
            apart = tuple(codes[i : i + 1] for i in range(len(codes)))
            if v in self.coarsened:
                units = None if self.data.weights is None else self.data.weights.units
                counts = np.bincount(self.data.columns[v], units, minlength=self.data.cardinalities[v])[codes]
                frequent = np.sort(np.argsort(-counts, kind="stable")[: self.shapes[v][1] - 1])
                rest = np.delete(codes, frequent)
                apart = (*(codes[i : i + 1] for i in frequent), *((rest,) if len(rest) else ()))
            found.append(apart)
        return tuple(found)

    @cached_property
    def thresholds(self) -> tuple[NDArray[np.float64], ...]:
        """Per variable the cuts between its finest cells, 2^s - 1 of a real one; none of a categorical one. Where rows
        may have no number, as many again that are infinite, the first between those with and those without one."""
        return tuple(
            np.zeros(0) if isinstance(domain, Categorical) else self._cuts(domain, column)
            for domain, column in zip(self.data.domains, self.data.columns, strict=True)
        )

    def _cuts(self, domain: Real, column: NDArray[np.float64]) -> NDArray[np.float64]:
        numbers, weights = with_numbers(column, self.data.weights)
        if self.max_splits == "all":
            return everywhere(numbers)
        if not len(numbers):
            cuts = np.full((1 << self.max_splits) - 1, np.inf)
        elif self.cuts == "rank":
            cuts = halves(numbers, self.max_splits, weights)
        else:
            cuts = midpoints(domain, numbers, self.max_splits)
        return np.append(cuts, np.full(1 << self.max_splits, np.inf)) if domain.absent else cuts

    @cached_property
    def predictors(self) -> Predictors:
        """Every variable as a predictor."""
        n = self.data.n_variables
        cells = np.empty((n, self.data.n_rows), np.int32)
        kinds, sizes, parts = (np.empty(n, np.int64) for _ in range(3))
        table = np.full(n, -1, np.int64)
        halves, need, tabulated = [np.full((1, 2), -1, np.int32)], [np.zeros(1, np.uint64)], {}
        used = 1
        for v, (domain, column) in enumerate(zip(self.data.domains, self.data.columns, strict=True)):
            kinds[v] = self.shapes[v][0]
            if isinstance(domain, Real):
                sizes[v] = len(self.thresholds[v]) + 1
                cuts = self.thresholds[v][: sizes[v] // 2 - 1] if domain.absent else self.thresholds[v]
                cells[v] = np.where(np.isnan(column), sizes[v] // 2, np.searchsorted(cuts, column, side="right"))
            else:
                sizes[v] = len(self.members[v])
                cell = np.zeros(len(domain.levels), np.int32)
                for i, codes in enumerate(self.members[v]):
                    cell[codes] = i
                cells[v] = cell[column]
            kind, size = int(kinds[v]), int(sizes[v])
            parts[v] = min(count_parts(kind, size), 1 << 62)
            if parts[v] <= MOST_TABULATED_PARTS:
                if (kind, size) not in tabulated:
                    tabulated[kind, size] = used
                    rows = part_halves(kind, size)
                    halves.append(rows)
                    need.append(part_need(kind, size))
                    used += len(rows)
                table[v] = tabulated[kind, size]
        common = np.array([np.argmax(np.bincount(column, minlength=1)) for column in cells], np.int64)
        rows_away = [
            np.flatnonzero(column != cell).astype(np.int32) for column, cell in zip(cells, common, strict=True)
        ]
        return Predictors(
            cells,
            common,
            np.concatenate(rows_away),
            np.concatenate([[0], np.cumsum([len(rows) for rows in rows_away])]).astype(np.int64),
            kinds,
            sizes,
            parts,
            table,
            np.concatenate(halves),
            np.concatenate(need),
        )


def count_parts(kind: int, size: int) -> int:
    """How many parts a predictor with this many finest cells has."""
    if kind == CATEGORICAL:
        return int((1 << size) - 1)
    return size * (size + 1) // 2 if kind == ORDINAL else 2 * size - 1


def count_splits(kind: int, size: int) -> int:
    """How many splits its parts have in all."""
    if kind == CATEGORICAL:
        size = min(size, 100)  # enough to be refused, and still a float
        return int((3**size - 2 ** (size + 1) + 1) // 2)
    return math.comb(size + 1, 3) if kind == ORDINAL else size - 1


def part_halves(kind: int, size: int) -> NDArray[np.int32]:
    """int32[parts, 2]: two parts that each part is made of, -1 for the finest."""
    part = np.arange(count_parts(kind, size), dtype=np.int64)
    if kind == CATEGORICAL:
        low = (part + 1) & -(part + 1)
        halves, finest = np.column_stack([part - low, low - 1]), part + 1 == low
    elif kind == ORDINAL:
        hi = np.repeat(np.arange(size), np.arange(1, size + 1))
        lo = hi - (part - hi * (hi + 1) // 2)
        halves, finest = np.column_stack([part - 1, lo * (lo + 1) // 2]), lo == hi
    else:
        halves = np.column_stack([2 * part - len(part) - 1, 2 * part - len(part)])
        finest = part < size
    halves[finest] = -1
    return halves.astype(np.int32)


def part_need(kind: int, size: int) -> NDArray[np.uint64]:
    """uint64[parts]: levels without which a box is no different from a smaller one."""
    part = np.arange(count_parts(kind, size), dtype=np.uint64)
    if kind == CATEGORICAL:
        return part + np.uint64(1)
    if kind == REAL or size > 64:  # beyond 64 bits no dense lattice is made
        return np.zeros(len(part), np.uint64)
    bit = np.left_shift(np.uint64(1), np.arange(size, dtype=np.uint64))
    hi = np.repeat(np.arange(size), np.arange(1, size + 1))
    lo = hi - (part.astype(np.int64) - hi * (hi + 1) // 2)
    return np.asarray(bit[hi] | bit[lo])
