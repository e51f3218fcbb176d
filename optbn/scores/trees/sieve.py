"""How far below the truth the approximate values of kernels/sieve.py may be.

What is off about a count's term is measured for every count that can occur, against the formula that exact scores come
from, and put below a line: a count n is too low by at most  e + d n  (totals, which are subtracted, too high). A leaf's
e are given back to it: its constant is that much larger. The d add up to no more than N d, whatever the tree, for its
leaves have N rows together: that is the slack. What the few additions of a leaf lose is 2^-24 of what is added, which
is put below a line in the same way.

Values are sums of values along at most `depth` splits to a leaf, each rounded by 2^-24 of itself. All are negative,
and those next to each other are at least what the best tree has, so the sums of one depth lose at most 2^-24 of that.
It is at least the worst leaf of all rows, which has them spread evenly (lgamma is convex): `deepest` is its size.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from optbn.scores.kernels.sieve import approximate
from optbn.scores.kernels.simd32 import LANES
from optbn.scores.trees.large import aligned
from optbn.scores.trees.responses import BoundLeaves

Floats = NDArray[np.float64]
ROUNDING = 2.0**-24
MOST_ROWS = 1 << 22
"""Counts are exact in single precision up to four times as many."""
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
    deepest: Floats

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
        slack, deepest = np.zeros(n), np.zeros(n)
        for v in np.flatnonzero(~leaves.is_real & (leaves.alpha == alpha)).tolist():
            r = leaves.data.cardinalities[v]
            total = totals[r]
            # A sum is rounded as often as there are terms and constants, each time by part of what all are together.
            rounding = (int(leaves.responses.levels[v]) + 3) * ROUNDING
            largest = r * level.size + total.size + abs(total.constant)
            given = r * level.error + total.error + 2 * rounding * (largest + 1)
            total_shift[v], total_constant[v] = total.shift, given - total.constant
            slack[v] = rows * (level.slope + total.slope + 2 * rounding * (level.growth + total.growth))
            each = rows / r
            worst = r * (gammaln(each + alpha) - gammaln(alpha)) - gammaln(rows + r * alpha) + gammaln(r * alpha)
            deepest[v] = 2 * (given - worst)
        if not (np.isfinite(slack).all() and np.isfinite(total_constant).all()):
            return NO_TERMS
        return cls(level.shift, level.constant, tilt, total_shift, total_constant, slack, deepest)


NO_TERMS = Terms(*(np.float32(0),) * 3, *(np.empty(0, np.float32),) * 2, *(np.empty(0),) * 2)
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
        counts = np.arange(1, -(-rows // LANES) * LANES + 1, dtype=np.float32)
        found = np.empty_like(counts)
        approximate(counts, shift, constant, tilt, found)
        n = np.arange(1, rows + 1)
        exact = gammaln(n + a) - gammaln(a) + float(tilt) * n
        return cls(shift, constant, *_above(sign * (exact - found[:rows])), *_above(np.abs(exact)))


def _above(values: Floats) -> tuple[float, float]:
    """(e, d), neither negative, with e + d n at least values[n - 1]."""
    n = np.arange(1, len(values) + 1)
    slope = max(0.0, float((values / n)[len(values) // MANY :].max()))
    return max(0.0, float((values - slope * n).max())), slope


def sieve_space(slots: int, levels: int, responses: int, most_bytes: int) -> tuple[NDArray[Any], ...]:
    """The scratch of kernels/sieve.py for so many slots, levels of a response and responses, or what that many bytes
    hold."""
    most = most_bytes // (4 * LANES)
    return (
        aligned(min(slots, most), LANES, np.float32),
        aligned(min(slots * levels, most), LANES, np.float32).reshape(-1),
        np.empty((2, LANES), np.float32),
        np.empty(LANES, np.int64),
        np.empty(LANES, np.int64),
        np.empty(responses, np.bool_),
    )
