"""How much each row counts: a whole number of units per row, and what one unit is.

A row of weight 2 is two equal rows, a row of weight 0 does not exist. Counts of units are whole numbers, so sums over
rows are exact, whatever their order, and weights that are multiples of one number (whole weights, quarters, m completed
copies of 1/m each, two decimals) are kept as they are. Others are rounded to a billionth of their sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from optbn.base.errors import DataError

MOST_UNITS = 1 << 30
"""Of all rows together: sums of units are 32-bit integers in the kernels."""
NEAR = 1e-9
"""So near to a multiple of a unit, relatively, a weight is one: 0.1 is no floating-point number."""


@dataclass(frozen=True, eq=False)
class Weights:
    """units int32[N], at least 1 each; a row counts for units * unit rows."""

    units: NDArray[np.int32]
    unit: float = 1.0

    @property
    def values(self) -> NDArray[np.float64]:
        """float64[N]: how many rows each row counts for."""
        return np.asarray(self.units * self.unit, dtype=np.float64)

    @property
    def total_units(self) -> int:
        return int(self.units.sum(dtype=np.int64))

    @property
    def total(self) -> float:
        """How many rows all rows count for."""
        return self.total_units * self.unit

    @property
    def whole(self) -> bool:
        """Whether every row counts for a whole number of rows."""
        return self.unit == round(self.unit)

    @property
    def at_least_one(self) -> bool:
        """Whether every row counts for a row or more."""
        return bool(len(self.units) == 0 or int(self.units.min()) * self.unit >= 1.0)

    def take(self, rows: slice | NDArray[np.intp]) -> Weights:
        return Weights(self.units[rows], self.unit)

    def coarsened(self, most: int) -> tuple[Weights, NDArray[np.intp]] | None:
        """The weights in at most this many units, and the rows that still count; None if they are few enough."""
        if self.total_units <= most:
            return None
        return _rounded(self.values, self.total / most)


def weights_of(values: ArrayLike, n_rows: int, where: str = "weights") -> tuple[Weights, NDArray[np.intp]]:
    """The weights of some rows, and the numbers of the rows that count; what is no weight is refused by row."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (n_rows,):
        raise DataError(f"{where} have the shape {numbers.shape}, but there are {n_rows} rows")
    bad = ~(np.isfinite(numbers) & (numbers >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(f"{where}, row {row + 1}: the weight {numbers[row]:g} is not a number of at least 0")
    with np.errstate(over="ignore"):
        total = float(numbers.sum())
    if n_rows and total == 0:
        raise DataError(f"{where}: all weights are 0, so no row counts")
    if not math.isfinite(total):
        raise DataError(f"{where}: the weights sum to more than floating-point numbers hold; divide them by a constant")
    for unit in _candidates(numbers):
        if total / unit <= MOST_UNITS:
            multiples = np.rint(numbers / unit)
            if (np.abs(multiples * unit - numbers) <= NEAR * numbers).all():
                return _kept(multiples, unit)
    return _rounded(numbers, total / MOST_UNITS)


def _candidates(numbers: NDArray[np.float64]) -> Iterable[float]:
    """What the weights may be multiples of, simple ones first."""
    yield 1.0
    yield float(numbers[numbers > 0].min(initial=math.inf))
    yield from (0.5, 0.25, 0.2, *(10.0**-digits for digits in range(1, 10)))


def _rounded(numbers: NDArray[np.float64], unit: float) -> tuple[Weights, NDArray[np.intp]]:
    return _kept(np.floor(numbers / unit + 0.5), unit)


def _kept(multiples: NDArray[np.float64], unit: float) -> tuple[Weights, NDArray[np.intp]]:
    rows = np.flatnonzero(multiples)
    return Weights(multiples[rows].astype(np.int32), unit), rows
