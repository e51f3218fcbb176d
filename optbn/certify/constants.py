"""Logarithms in whole numbers: lower and upper ends, in units of 2^-bits, of what scores are sums of.

python-flint (Arb) encloses each logarithm in a ball that is proved to hold it. Sums are of whole numbers, GUARD bits
finer than wanted, one end rounded down and one up, so that a sum of 2^GUARD logarithms is as good as one.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError

Ints = NDArray[np.int64]
GUARD = 40
MOST_CONSTANTS = 1 << 23  # half a minute
LARGEST = 1 << 61  # of sums, so that two of them can be added up


@dataclass(frozen=True)
class Table:
    """A function of counts 0..N: `low[n] <= f(n) 2^bits <= high[n]`; both are 0 at count 0."""

    low: Ints
    high: Ints


def log(number: Fraction) -> Callable[[int], tuple[int, int]]:
    """bits -> the ends of log(number) in units of 2^-bits."""
    ball = _flint().log(number)

    def ends(bits: int) -> tuple[int, int]:
        return _whole(ball, bits)

    return ends


def rising(start: Fraction, most: int, bits: int) -> Table:
    """n -> log(start (start + 1) .. (start + n - 1)), n = 0..most."""
    flint = _flint()
    ends = (_whole(flint.log(start + n), bits + GUARD) for n in range(most))
    return _summed(ends, most, bits)


def n_log_n(most: int, bits: int) -> Table:
    """n -> n log n."""
    flint = _flint()
    found = [(0, 0)]
    for n in range(1, most + 1):
        low, high = _whole(flint.log(Fraction(n)), bits + GUARD)
        found.append((n * low >> GUARD, -(-n * high >> GUARD)))
    return Table(*(np.array(side, dtype=np.int64) for side in zip(*found, strict=True)))


def finest(largest: float, wanted: int) -> int:
    """At most `wanted` bits, such that sums of magnitude `largest` are below LARGEST units."""
    return min(wanted, math.floor(math.log2(LARGEST / max(largest, 1.0))) - 1)


def check_constants(count: int, remedy: str) -> None:
    """Refuse what would take long for its logarithms alone."""
    if count > MOST_CONSTANTS:
        raise UnsupportedError(
            f"a certificate needs {count:,} logarithms enclosed, and at most {MOST_CONSTANTS:,} are: {remedy}"
        )


def _summed(ends: Iterable[tuple[int, int]], most: int, bits: int) -> Table:
    """Running sums of finer ends."""
    low, high = np.zeros(most + 1, np.int64), np.zeros(most + 1, np.int64)
    below = above = 0
    for n, (down, up) in enumerate(ends, 1):
        below, above = below + down, above + up
        low[n], high[n] = below >> GUARD, -(-above >> GUARD)
    return Table(low, high)


def _whole(ball: Any, bits: int) -> tuple[int, int]:
    """The whole numbers around 2^bits times what is in a ball."""
    scaled = ball * _flint().power(bits)
    return int(scaled.lower().floor().unique_fmpz()), int(scaled.upper().ceil().unique_fmpz())


class _Flint:
    """python-flint at a precision of 192 bits, far more than sums below 2^61 units and GUARD need."""

    def __init__(self) -> None:
        try:
            import flint
        except ImportError:
            raise UnsupportedError(
                "certify encloses logarithms with python-flint, which is not installed: pip install 'optbn[certify]'"
            ) from None
        self.flint: Any = flint
        self.powers: dict[int, Any] = {}
        flint.ctx.prec = 192

    def log(self, number: Fraction) -> Any:
        """A ball that holds log(number)."""
        return self.flint.arb(self.flint.fmpq(number.numerator, number.denominator)).log()

    def power(self, bits: int) -> Any:
        """2^bits."""
        if bits not in self.powers:
            self.powers[bits] = self.flint.arb(2) ** bits
        return self.powers[bits]


@functools.cache
def _flint() -> _Flint:
    """python-flint, imported when it is first used."""
    return _Flint()
