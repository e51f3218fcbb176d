"""Where the numbers of a variable can lie, beyond those that were seen.

A declared range is all there is. Else numbers none of which is below zero are never below it, and those between 0 and 1
are shares and never above 1; days since 1970 have no bounds, hours have those of a day. Whole numbers are the nearest
ones of numbers that lie anywhere: between `least` and `most`, half a unit around each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Support:
    """An interval, closed where it is finite; whether only its whole numbers are meant, and whether it is declared."""

    least: float = -math.inf
    most: float = math.inf
    whole: bool = False
    declared: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """Of the numbers that become the nearest whole ones, where they do."""
        half = 0.5 if self.whole else 0.0
        return self.least - half, self.most + half

    @property
    def bounded(self) -> bool:
        """Whether it has an end."""
        return math.isfinite(self.least) or math.isfinite(self.most)

    def nearest(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The numbers that are meant."""
        inside: NDArray[np.float64] = np.clip(values, *self.ends)
        return np.clip(np.rint(inside), self.least, self.most) + 0.0 if self.whole else inside

    def between(self, cuts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cuts of the numbers that are meant, x < cut, as cuts of those that become them."""
        return np.ceil(cuts) - 0.5 if self.whole else cuts


EVERYWHERE = Support()


def support(low: float, high: float, whole: bool, unit: str, declared: bool) -> Support:
    """The support of numbers that were seen, or are declared to lie, between low and high."""
    if declared:
        return Support(low, high, whole, declared=True)
    if unit == "hours":
        return Support(0.0, 24.0)
    if unit:
        return Support(whole=whole)
    if low < 0:
        return Support(whole=whole)
    return Support(0.0, 1.0 if high <= 1 and not whole else math.inf, whole)
