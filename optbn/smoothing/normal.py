"""Leaves of a real variable: normal distributions by their posterior means, or Student-t posterior predictives.

Rows are summed up as (weight, mean, sum of squared deviations) per cell, merged batch by batch without cancellation
(Chan, Golub and LeVeque). A cell's mean and variance have a normal-inverse-gamma prior centred on the variable's
overall mean and variance:

    sigma^2 ~ InvGamma(2, v0),  mu | sigma^2 ~ N(m0, sigma^2)     so E mu = m0 and E sigma^2 = v0, worth a row or two

With W rows of mean x and squared deviations S

    a = 2 + W/2,   b = v0 + S/2 + W (x - m0)^2 / (2 (W + 1)),   mu = (m0 + W x) / (W + 1)

the normal leaf is N(mu, b / (a - 1)); the predictive is t with 2a degrees of freedom, scale^2 = b/a (1 + 1/(W + 1)).
Where rows may have no number, the probability of that is (n + p) / (W + n + 1) with n such rows in the cell beside W
others, p being the same overall with a half for 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import DataError
from optbn.base.registry import unknown
from optbn.data.dataset import Real
from optbn.network.leaves import NormalLeaves, StudentLeaves

NARROWEST = 1e-9
"""The variance of a constant, as a share of its square (and at least of this): it still gets a density. Whatever varies
by more than the rounding of its values has its own variance, however far from zero."""

WIDEST = 1e150
"""Of a range that is not empty, and its inverse: beyond, variances are no floating-point numbers."""


def check_range(name: str, domain: Real) -> None:
    """Refuse a variable whose variance would silently become 0 or infinite."""
    width, largest = domain.high - domain.low, max(abs(domain.low), abs(domain.high))
    if largest > WIDEST and width < WIDEST:
        raise DataError(
            f"column {name!r} has values as large as {largest:.3g}, whose squares are too large for floating-point "
            "numbers: rescale it"
        )
    if width and not 1 / WIDEST < width < WIDEST:
        raise DataError(
            f"column {name!r}: its range is {width:.3g} wide, and its variance no floating-point number: rescale it"
        )


class NormalCounts:
    """Sufficient statistics of a real variable in numbered cells."""

    def __init__(self, n_cells: int) -> None:
        self.weight = np.zeros(n_cells)
        self.mean = np.zeros(n_cells)
        self.deviations = np.zeros(n_cells)
        self.without = np.zeros(n_cells)

    def add(self, cells: NDArray[np.integer], values: NDArray[np.float64], weights: NDArray[np.float64] | None) -> None:
        """One batch of rows; NaN is no number."""
        n = len(self.weight)
        none = np.isnan(values)
        if none.any():
            self.without += np.bincount(cells[none], None if weights is None else weights[none], n)
            cells, values = cells[~none], values[~none]
            weights = None if weights is None else weights[~none]
        weight = np.asarray(np.bincount(cells, weights, n), dtype=np.float64)
        safe = np.where(weight > 0, weight, 1.0)
        w = np.ones(len(values)) if weights is None else weights
        zero = values[0] if len(values) else 0.0  # sums of what is far from zero lose digits
        mean = zero + np.bincount(cells, w * (values - zero), n) / safe
        deviations = np.asarray(np.bincount(cells, w * (values - mean[cells]) ** 2, n), dtype=np.float64)
        self.merge(weight, mean, deviations)

    def absent(self, overall: float | NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[cells]: the probability of no number; `overall`, that of all rows or cells, counts as one row."""
        probability: NDArray[np.float64] = (self.without + overall) / (self.weight + self.without + 1.0)
        return probability

    def share(self) -> float:
        """Of rows without a number among all, with half a row of each kind more."""
        return float((self.without.sum() + 0.5) / (self.weight.sum() + self.without.sum() + 1.0))

    def merge(self, weight: NDArray[np.float64], mean: NDArray[np.float64], deviations: NDArray[np.float64]) -> None:
        """Statistics of other rows of the same cells."""
        total = self.weight + weight
        share = weight / np.where(total > 0, total, 1.0)
        step = mean - self.mean
        self.deviations += deviations + self.weight * share * step**2
        self.mean += share * step
        self.weight = total

    def overall(self, domain: Real) -> tuple[float, float]:
        """Mean and variance of all rows; of the uniform distribution on the declared range when there are none."""
        weight = float(self.weight.sum())
        if weight == 0:
            mean, variance = (domain.low + domain.high) / 2, (domain.high - domain.low) ** 2 / 12
        else:
            mean = float(self.weight @ self.mean) / weight
            variance = float((self.deviations + self.weight * (self.mean - mean) ** 2).sum()) / weight
        if variance <= (4 * np.finfo(np.float64).eps * mean) ** 2:
            variance = NARROWEST * max(mean * mean, NARROWEST)
        return mean, variance

    def leaves(
        self, m0: float | NDArray[np.float64], v0: float | NDArray[np.float64], kind: str
    ) -> NormalLeaves | StudentLeaves:
        """The posterior given the prior's centre, "normal" or "student"."""
        W = self.weight
        a = 2.0 + W / 2
        b = v0 + self.deviations / 2 + W * (self.mean - m0) ** 2 / (2 * (W + 1))
        mean = (m0 + W * self.mean) / (W + 1)
        if kind == "student":
            return StudentLeaves(mean, np.sqrt(b / a * (1 + 1 / (W + 1))), 2 * a)
        return NormalLeaves(mean, np.sqrt(b / (a - 1)))


def pooled(parts: Sequence[NormalCounts]) -> NormalCounts:
    """The statistics of several sets of rows together."""
    out = NormalCounts(len(parts[0].weight))
    for part in parts:
        out.merge(part.weight, part.mean, part.deviations)
        out.without += part.without
    return out


LeafKind = Literal["normal", "student"]
KINDS: tuple[str, ...] = get_args(LeafKind)


def check_kind(kind: Any) -> None:
    """Refuse a kind of leaves that does not exist."""
    if kind not in KINDS:
        raise unknown("kind of leaves for real variables", str(kind), KINDS)
