"""Ratios of rising factorials, by products where they are short and by log-gamma functions where they are long."""

from __future__ import annotations

import math

from optbn_solvers.base.compiled import leaf

SHORT = 24
"""Factors that are multiplied; log-gamma functions take as long as that many. Factors may reach 10^10."""


@leaf
def log_rising_ratio(x, y, n):
    """log of the rising factorials x (x + 1) ... (x + n - 1) over y (y + 1) ... (y + n - 1)."""
    if n > SHORT:
        return math.lgamma(x + n) - math.lgamma(x) - math.lgamma(y + n) + math.lgamma(y)
    above, below = 1.0, 1.0
    for i in range(n):
        above *= x + i
        below *= y + i
    return math.log(above / below)
