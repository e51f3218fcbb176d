"""How far below the truth the approximate values of kernels/sieve.py may be.

What is off about a count's term is measured for every count that can occur, against the formula that exact scores come
from, and put below a line: a count n is too low by at most  e + d n  (totals, which are subtracted, too high). A leaf's
e are given back to it: its constant is that much larger. The d add up to no more than N d, whatever the tree, for its
leaves have N rows together: that is the slack. What the few additions of a leaf lose is 2^-24 of what is added, which
is put below a line in the same way.

Costs are rounded down to whole numbers, of which the largest sum that matters is `largest`: of 16 bits, or of 32 where
rows are so many that 16 would round away what a leaf costs. Whole numbers add up exactly.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from optbn.scores.kernels.lgammas import HALF
from optbn.scores.kernels.sieve import approximate
from optbn.scores.kernels.sums import LANES, LARGEST
from optbn.scores.trees.responses import BoundLeaves
from optbn.scores.trees.scratch import Empty, aligned

Floats = NDArray[np.float64]
ROUNDING = 2.0**-24
MOST_ROWS = 1 << 22
"""Counts are exact in single precision up to four times as many."""
FEW_ROWS = (1 << 12) - 1
"""The most rows whose costs and counts have 16 bits."""
ROOM = 0.9
"""The part of the largest number that a tree which reaches its floor may cost."""
MANY = 16
"""A line begins at the counts of so small a part of all rows."""


class Terms(NamedTuple):
    """See kernels/sieve.py."""

    shift: np.float32
    constant: np.float32
    tilt: np.float32
    total_shift: NDArray[np.float32]
    total_constant: NDArray[np.float32]
    slack: Floats
    largest: float

    @classmethod
    def of(cls, leaves: BoundLeaves, alpha: float) -> Terms:
        """Of the categorical responses with that alpha."""
        rows, n = leaves.total_units, leaves.data.n_variables
        if leaves.prior.leaf != "dirichlet" or not leaves.whole or rows > MOST_ROWS:
            return NO_TERMS
        tilt = np.float32(1 - math.log(rows + 1))
        level = _Line.of(alpha, rows, tilt, 1)
        totals = {r: _Line.of(r * alpha, rows, tilt, -1) for a, r in leaves.rows[0] if a == alpha}
        total_shift, total_constant = np.zeros(n, np.float32), np.zeros(n, np.float32)
        slack = np.zeros(n)
        for v in np.flatnonzero(~leaves.is_real & (leaves.alpha == alpha)).tolist():
            r = leaves.data.cardinalities[v]
            total = totals[r]
            # A sum is rounded as often as there are levels, and three times more, each time by part of what all terms
            # are together; three more times for what such roundings change themselves.
            rounding = (int(leaves.responses.levels[v]) + 6) * ROUNDING
            largest = r * level.size + total.size + abs(total.constant)
            given = r * level.error + total.error + rounding * (largest + 1)
            total_shift[v], total_constant[v] = total.shift, given - total.constant
            slack[v] = rows * max(0.0, level.slope + total.slope + rounding * (level.growth + total.growth))
        if not (np.isfinite(slack).all() and np.isfinite(total_constant).all()):
            return NO_TERMS
        return cls(
            level.shift, level.constant, tilt, total_shift, total_constant, slack, ROOM * LARGEST[bits_for(rows)]
        )


NO_TERMS = Terms(*(np.float32(0),) * 3, *(np.empty(0, np.float32),) * 2, np.empty(0), 0.0)
"""Where nothing is approximated."""


class _Line(NamedTuple):
    """Of the approximation of lgamma(n + a) - lgamma(a) + tilt n: at most  error + slope n  too low (or too high), and
    at most  size + growth n  in size."""

    shift: np.float32
    constant: np.float32
    error: float
    slope: float
    size: float
    growth: float

    @classmethod
    def of(cls, a: float, rows: int, tilt: np.float32, sign: int) -> _Line:
        """Too low where sign is 1, too high where it is -1."""
        shift = np.float32(a - 0.5)
        constant = np.float32(0.5 * math.log(2 * math.pi) - gammaln(a) - float(tilt) * float(shift))
        counts = np.arange(1, -(-rows // HALF) * HALF + 1).astype(f"u{bits_for(rows) // 8}")
        found = np.empty(len(counts), np.float32)
        approximate(counts, shift, constant, tilt, found)
        n = np.arange(1, rows + 1)
        exact = gammaln(n + a) - gammaln(a) + float(tilt) * n
        return cls(shift, constant, *_above(sign * (exact - found[:rows])), *_above(np.abs(exact)))


def _above(values: Floats) -> tuple[float, float]:
    """(e, d) with e + d n at least values[n - 1], e not negative; d may be, for what is off everywhere cancels."""
    n = np.arange(1, len(values) + 1)
    slope = float((values / n)[len(values) // MANY :].max())
    return max(0.0, float((values - slope * n).max())), slope


def bits_for(rows: int) -> int:
    """Of a cost, and of a count."""
    return 16 if rows <= FEW_ROWS else 32


def last_of_most_parts(sets: NDArray[np.int32], parts: NDArray[np.int64], some: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The sets, some of them with their members in another order, by their parts (see kernels/runs.py)."""
    ordered = sets.copy()
    place = np.argsort(parts[sets[some]], axis=1, kind="stable")
    ordered[some] = np.take_along_axis(sets[some], place, axis=1)
    return ordered


def sieve_space(
    entries: int, levels: int, responses: int, rows: int, most_bytes: int, empty: Empty = np.empty
) -> tuple[NDArray[Any], ...]:
    """The scratch of kernels/sieve.py for these numbers of entries, levels of a response, responses and rows; less
    where it would take more than `most_bytes`."""
    kind = np.uint16 if bits_for(rows) == 16 else np.uint32
    most = most_bytes // (kind().itemsize * LANES)
    return (
        aligned(min(entries, most), LANES, kind, empty),
        aligned(min(entries * levels, most), LANES, kind, empty).reshape(-1),
        np.empty((3, LANES), np.float32),
        np.empty(LANES, np.int64),
        np.empty(LANES, np.int64),
        np.empty(LANES),
        np.empty(responses, np.bool_),
        np.empty(LANES * levels, np.int64),
    )
