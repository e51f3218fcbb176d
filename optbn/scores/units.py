"""Real columns without their unit: minus their mean, over their standard deviation (of the population), by all rows.

Scores of real data take the standardised values z = (y - m) / s and subtract N log s, so that another unit or another
zero moves every score of the column by one constant and changes nothing else. Constant columns have no scale of their
own: z = 0 and s = 1. The least value is taken off first and the range divided out, so offsets of 10^9, factors of 10^-6
and values near the ends of floating point cost no digits that the column has. Twin: exact fractions in tests/naive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError, UnsupportedError
from optbn.data.dataset import Real

Floats = NDArray[np.float64]
RealPrior = Literal["unit-free", "paper"]
"""On which scale the priors of real variables are: on that of z, or on that of the columns as they come."""


@dataclass(frozen=True, eq=False)
class Standardised:
    """values = z; the column is centre + scale * values. The scale of tiny columns may be 0, its logarithm is right."""

    values: Floats
    centre: float
    scale: float
    log_scale: float


def standardised(column: Floats, weights: Floats | None = None) -> Standardised:
    """The column on the scale of its own mean and deviation, of weighted rows where there are weights."""
    low = float(column.min())
    above = column - low
    span = float(above.max())
    if span == 0.0:
        return Standardised(np.zeros(len(column)), low, 1.0, 0.0)
    share = above / span
    mean = float(np.average(share, weights=weights))
    share -= mean
    deviation = float(np.sqrt(np.average(share**2, weights=weights)))
    return Standardised(share / deviation, low + span * mean, span * deviation, math.log(span) + math.log(deviation))


def check_range(name: str, domain: Real) -> None:
    """Refuse a column whose values lie farther apart than floating point goes."""
    if not math.isfinite(domain.high - domain.low):
        raise DataError(f"column {name!r}: the range [{domain.low}, {domain.high}] is too wide; rescale it")


def check_real_prior(owner: object, value: object) -> None:
    """Refuse a scale that does not exist."""
    if value not in ("unit-free", "paper"):
        raise UnsupportedError(
            f"{type(owner).__name__}: real_prior is {value!r}, expected 'unit-free' (priors are on the scale of "
            "standardised columns) or 'paper' (on that of the columns as they come)"
        )
