"""Where values lie, once for all members of an ensemble: numbers by their rank, texts and missing values in a cell.

Ranks make knots that are uniform equally busy, and nothing depends on the unit. The map from numbers to ranks has at
most POINTS corners, so that it is small where a model is kept; between them it is linear, as it is between the training
values that it has all of where they are fewer.

The levels of a text that have few rows share a cell, in pairs sooner than alone: `cells` and `coarse` say which. The
last cell of every attribute is that of missing values and of levels that training did not see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.trees.growing import columns_of, values_of
from optbn.data.discretise.table import Table
from optbn.data.discretise.transformer import Column

POINTS = 257
MOST_LEVELS, MOST_IN_PAIRS = 2048, 24
"""Levels of a text that have a cell of their own; the others, and those of fewer than two rows, are pooled."""


@dataclass(frozen=True, eq=False)
class Scale:
    """points, ranks  float64, ascending corners of a number's map (none if it is always missing)
    cells   of a text: int32[levels], the cell of each;  coarse  int32[cells + 1], what each is in pairs, missing last
    """

    points: NDArray[np.float64]
    ranks: NDArray[np.float64]
    cells: NDArray[np.int32]
    coarse: NDArray[np.int32]

    def places(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Ranks of numbers, NaN where they are missing; cells of texts (levels as numbers), the last for missing."""
        if len(self.points):
            return np.asarray(np.interp(values, self.points, self.ranks))
        if not len(self.cells):
            return np.zeros(len(values))
        missing = self.cells.max(initial=-1) + 1
        table = np.append(self.cells, missing)
        return table[np.where(np.isnan(values), len(self.cells), values).astype(np.int64)].astype(np.float64)

    @property
    def n_cells(self) -> int:
        """Of a text."""
        return int(self.cells.max(initial=-1)) + 2

    @classmethod
    def of_numbers(cls, values: NDArray[np.float64], weights: NDArray[np.float64]) -> Scale:
        known = ~np.isnan(values)
        points, inverse = np.unique(values[known], return_inverse=True)
        mass = np.bincount(inverse, weights[known], len(points))
        ranks = (np.cumsum(mass) - 0.5 * mass) / max(mass.sum(), 1e-300)
        if len(points) > POINTS:
            wanted = np.linspace(ranks[0], ranks[-1], POINTS)
            kept = np.unique(np.clip(np.searchsorted(ranks, wanted), 0, len(points) - 1))
            points, ranks = points[kept], ranks[kept]
        return cls(points, ranks, np.zeros(0, np.int32), np.zeros(1, np.int32))

    @classmethod
    def of_levels(cls, values: NDArray[np.float64], weights: NDArray[np.float64], levels: int) -> Scale:
        known = ~np.isnan(values)
        mass = np.bincount(values[known].astype(np.int64), weights[known], levels).astype(np.float64)
        cells = _pooled(mass, MOST_LEVELS)
        together = np.bincount(cells, mass).astype(np.float64) if levels else mass
        coarse = _pooled(together, MOST_IN_PAIRS)
        return cls(np.zeros(0), np.zeros(0), cells, np.append(coarse, coarse.max(initial=-1) + 1).astype(np.int32))


def _pooled(mass: NDArray[np.float64], most: int) -> NDArray[np.int32]:
    """A cell for each of the commonest levels, in the order of the levels, and one more for all others."""
    some = len(mass) > most
    common = np.zeros(len(mass), dtype=np.bool_)
    common[np.argsort(-mass, kind="stable")[:most]] = True
    if some:
        common &= mass >= 2.0
    cells = np.cumsum(common) - 1
    return np.where(common, cells, common.sum()).astype(np.int32)


@dataclass(frozen=True, eq=False)
class Places:
    """How the columns of a table become places."""

    columns: tuple[Column, ...]
    scales: tuple[Scale, ...]

    @classmethod
    def of(cls, table: Table, weights: NDArray[np.float64]) -> Places:
        columns = columns_of(table, weights, "level")
        scales = [
            Scale.of_numbers(values, weights)
            if column.levels is None
            else Scale.of_levels(values, weights, len(column.levels))
            for column, values in zip(columns, _values(columns, table), strict=True)
        ]
        return cls(columns, tuple(scales))

    def __call__(self, table: Table) -> NDArray[np.float64]:
        """float64[a, n]."""
        found: NDArray[np.float64] = _values(self.columns, table)
        for i, scale in enumerate(self.scales):
            found[i] = scale.places(found[i])
        return found

    def words(self, table: Table) -> NDArray[np.int32]:
        """Places in single precision, a row in a line, as integers: equal rows have equal ones (see `from_words`)."""
        found = self(table).T.astype(np.float32)
        found[np.isnan(found)] = np.nan  # one kind of it
        return np.ascontiguousarray(found).view(np.int32)


def from_words(words: NDArray[np.int32]) -> NDArray[np.float64]:
    """float64[a, n]."""
    return np.ascontiguousarray(words.view(np.float32).T, dtype=np.float64)


def _values(columns: Sequence[Column], table: Table) -> Any:
    """Numbers as they are, levels as numbers, NaN where a value is missing or its level is new."""
    found = values_of(columns, table) + 0.0
    for i, column in enumerate(columns):
        if column.levels is not None and column.missing is not None:
            found[i][found[i] == column.missing] = np.nan
    return found
