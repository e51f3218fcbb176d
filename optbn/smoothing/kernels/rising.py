"""Ratios of rising factorials, by products where they are short and by Stirling's series where they are long."""

from __future__ import annotations

import math

from optbn_solvers.base.compiled import leaf

SHORT = 24
"""Factors that are multiplied; the series takes as long as that many. Factors may reach 10^10."""

FIRST = 10
"""Factors that are multiplied in any case, so that the series, of what is beyond, is exact to the last digits."""


@leaf
def _stirling(z):
    """log Gamma(z) - log(2 pi) / 2 for z > 10, which six terms give to 1e-15."""
    s = 1.0 / z
    t = s * s
    tail = 1.0 / 1260.0 - t * (1.0 / 1680.0 - t * (1.0 / 1188.0 - t * (691.0 / 360360.0)))
    return (z - 0.5) * math.log(z) - z + s * (1.0 / 12.0 - t * (1.0 / 360.0 - t * tail))


@leaf
def log_rising_ratio(x, y, n):
    """log of the rising factorials x (x + 1) ... (x + n - 1) over y (y + 1) ... (y + n - 1)."""
    above, below = 1.0, 1.0
    for i in range(FIRST if n > SHORT else n):
        above *= x + i
        below *= y + i
    first = math.log(above / below)
    if n <= SHORT:
        return first
    return first + (_stirling(x + n) - _stirling(y + n)) - (_stirling(x + FIRST) - _stirling(y + FIRST))
