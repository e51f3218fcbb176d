"""Where a real predictor may be cut: x < cut goes left. What a search scores and what it builds is cut here, once.

    range      midpoints: the declared range in 2^s equal parts (as published)
    rank       halves of the rows, each cut between two different values as near to its middle as ties allow, s times
    all        between any two neighbouring values, in any order: the column is an ordinal one of its different values
    quantiles  b bins of about as many rows each: before the row of rank ceil(N i / b - 1/2), equal values together on
               the right, which parts the rows as Hazen's quantiles do (position N i / b - 1/2, linear interpolation)

Cuts by rank part the rows the same way after every increasing change of the column, midpoints after every change of
unit and zero: a value within rounding below a midpoint is taken for it. Twins: exact fractions in tests/naive/pcart.py.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optbn.data.dataset import Real
from optbn.data.weights import Weights

Floats = NDArray[np.float64]
CutRule = Literal["range", "rank"]
Splits = int | Literal["all"]
NEAR = 2.0**-30
"""Of the range: so near to a midpoint a value is taken for it. Another unit moves it by 2^-50 of the range or so."""


def with_numbers(column: Floats, weights: Weights | None) -> tuple[Floats, Weights | None]:
    """The rows of a column that have a number, and their weights."""
    there = np.flatnonzero(~np.isnan(column))
    if len(there) == len(column):
        return column, weights
    return column[there], None if weights is None else weights.take(there)


def midpoints(domain: Real, column: Floats, splits: int) -> Floats:
    """float64[2^s - 1], not falling: the ends of the 2^s equal parts of the range."""
    cells = 1 << splits
    span = domain.high - domain.low
    cuts = domain.low + np.arange(1, cells) / cells * span
    rounding = 8 * np.finfo(np.float64).eps * max(abs(domain.low), abs(domain.high))
    near = min(NEAR * span + rounding, span / (4 * cells))
    values = np.unique(column)
    first = np.searchsorted(values, cuts - near)  # the least value that is not clearly below
    least = values[np.minimum(first, len(values) - 1)]
    return np.where((first < len(values)) & (least < cuts), least, cuts)


def halves(column: Floats, splits: int, weights: Weights | None = None) -> Floats:
    """float64[2^s - 1], not falling: halves of the rows, halves of these, and so on; inf where nothing is left."""
    values, counts = _occurring(column, weights)
    below = np.concatenate([[0], np.cumsum(counts)])
    ends = [0, len(values)]  # of the parts, as positions in `values`
    for _ in range(splits):
        finer = ends[:1]
        for low, high in pairwise(ends):
            finer += [_middle(below, low, high), high]
        ends = finer
    return _before(values, np.array(ends[1:-1], np.int64))


def everywhere(column: Floats) -> Floats:
    """Ascending: a cut between any two neighbouring values."""
    values = np.unique(column)
    return _before(values, np.arange(1, len(values)))


def quantiles(column: Floats, bins: int, weights: Weights | None = None) -> Floats:
    """Ascending: at most bins - 1 cuts into bins of about as many rows each."""
    values, counts = _occurring(column, weights)
    row = 1.0 if weights is None else 1 / weights.unit
    up_to = np.cumsum(counts)
    # Row ceil(t) is of the first value up to which there are ceil(t) + 1 rows, t + 1 or more.
    ends = [2 * int(up_to[-1]) * i + bins * row for i in range(1, bins)]
    position = np.unique(np.minimum(np.searchsorted(2 * bins * up_to, ends), len(values) - 1))
    return _before(values, position[position > 0])


def _occurring(column: Floats, weights: Weights | None) -> tuple[Floats, NDArray[np.int64]]:
    """The different values, ascending, and how often each occurs."""
    if weights is None:
        return np.unique(column, return_counts=True)
    values, at = np.unique(column, return_inverse=True)
    return values, np.bincount(at, weights.units, minlength=len(values)).astype(np.int64)


def _middle(below: NDArray[np.int64], low: int, high: int) -> int:
    """The position in low + 1 .. high - 1 with most nearly half of the rows before it (of two, the first)."""
    if high - low < 2:
        return high  # one value: nothing can be cut off
    rows = int(below[low]) + int(below[high])
    after = int(np.clip(np.searchsorted(2 * below, rows), low + 1, high - 1))
    if after - 1 > low and rows - 2 * int(below[after - 1]) <= 2 * int(below[after]) - rows:
        return after - 1
    return after


def _before(values: Floats, position: NDArray[np.int64]) -> Floats:
    """The cuts between values[position - 1] and values[position]."""
    right = np.append(values, np.inf)[position]
    left = values[position - 1]
    with np.errstate(invalid="ignore"):
        between = left + (right - left) / 2
    return np.where(between > left, between, right)
