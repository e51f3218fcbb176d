"""Normal and Student-t leaves cut to an interval: probability, mean, variance, quantiles and draws.

The intervals are those between the thresholds of a variable's children, clipped to the support of its numbers (beyond
which no leaf reaches) and to an interval that is given.

With z the standardised value, f the density and F the distribution function, on a <= z < b

    normal      E z   = (f(a) - f(b)) / (F(b) - F(a))
                E z^2 = 1 + (a f(a) - b f(b)) / (F(b) - F(a))
    Student-t   the integral of z f is -(v + z^2) / (v - 1) f(z), for v > 1 degrees of freedom; and since
                (1 + z^2/v) f_v(z) is (v - 1)/(v - 2) times the density of a t with v - 2 degrees of freedom
                stretched by sqrt(v / (v - 2)), the integral of z^2 f follows from two distribution functions, v > 2

(Johnson, Kotz, Balakrishnan 1994, ch. 13 and 28.) Draws invert the distribution function, on whichever side of the
interval has the smaller tail.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.data.support import EVERYWHERE, Support
from optbn.network.cut import Floats, masses
from optbn.network.leaves import Leaves, MixedLeaves, NormalLeaves, StudentLeaves

EVERY = (-np.inf, np.inf)


def ends_of(leaves: Leaves, cuts: Floats, within: tuple[float, float] = EVERY) -> Floats:
    """The ends of the intervals between the cuts, within the support and the given ends."""
    support = support_of(leaves)
    low, high = support.ends
    return np.clip(
        np.concatenate([[-np.inf], support.between(cuts), [np.inf]]), max(low, within[0]), min(high, within[1])
    )


def support_of(leaves: Leaves) -> Support:
    """Where the numbers lie."""
    numbers = numbers_of(leaves)
    return numbers.support if isinstance(numbers, NormalLeaves) else EVERYWHERE


def shares(leaves: Leaves, cuts: Floats, within: tuple[float, float] = EVERY) -> Floats:
    """float64[cells, intervals]: the probability of each interval between the cuts, within these ends."""
    location, scale, law = _parts(numbers_of(leaves))

    def between(ends: Floats) -> Floats:
        z = (ends[None, :] - location[:, None]) / scale[:, None]
        return masses(law, z[:, :-1], z[:, 1:])

    parts = between(ends_of(leaves, cuts, within))
    support = support_of(leaves)
    return parts / between(np.array(support.ends)) if support.bounded else parts


def moments(leaves: Leaves, cuts: Floats, within: tuple[float, float] = EVERY) -> tuple[Floats, Floats]:
    """(mean, variance), float64[cells, intervals] each, of the leaves' numbers cut to the intervals between the cuts.

    nan where a moment does not exist; where an interval has no probability to speak of, its nearer end and 0.
    """
    leaves = numbers_of(leaves)
    location, scale, law = _parts(leaves)
    ends = ends_of(leaves, cuts, within)
    low = (ends[None, :-1] - location[:, None]) / scale[:, None]
    high = (ends[None, 1:] - location[:, None]) / scale[:, None]
    mass = masses(law, low, high)
    with np.errstate(all="ignore"):
        if isinstance(leaves, NormalLeaves):
            first = law.pdf(low) - law.pdf(high)
            second = mass + _times(low, law.pdf(low)) - _times(high, law.pdf(high))
        else:
            assert isinstance(leaves, StudentLeaves)
            first, second = _student(leaves.dof[:, None], low, high, mass)
        mean, square = first / mass, second / mass
        variance = np.maximum(square - mean**2, 0.0)
    nearest = np.clip(0.0, low, high)
    vanishing = mass < 1e-290
    mean, variance = np.where(vanishing, nearest, mean), np.where(vanishing, 0.0, variance)
    return location[:, None] + scale[:, None] * mean, scale[:, None] ** 2 * variance


def draw_inside(
    leaves: Leaves,
    cuts: Floats,
    cells: NDArray[np.int64],
    intervals: NDArray[np.int64],
    generator: np.random.Generator,
    within: tuple[float, float] = EVERY,
) -> Floats:
    """A value per row from the leaf of its cell, cut to its interval; the interval after the last is no number."""
    leaves = numbers_of(leaves)
    none = intervals > len(cuts)
    intervals = np.where(none, 0, intervals)
    location, scale, law = _parts(leaves, cells)
    ends = ends_of(leaves, cuts, within)
    low, high = (ends[intervals] - location) / scale, (ends[intervals + 1] - location) / scale
    uniform = generator.random(len(cells))
    right = low > 0  # in the right tail the survival function has the digits
    a, b = np.where(right, law.sf(high), law.cdf(low)), np.where(right, law.sf(low), law.cdf(high))
    p = a + uniform * (b - a)
    z = np.where(right, law.isf(p), law.ppf(p))
    values = location + scale * np.clip(z, low, high)
    below = np.nextafter(ends[intervals + 1], -np.inf)  # rounding must not carry a value over its interval's end
    inside: Floats = np.clip(values, ends[intervals], np.where(np.isinf(below), np.inf, below))
    return np.where(none, np.nan, support_of(leaves).nearest(inside))


def quantile(leaves: Leaves, cuts: Floats, weights: Floats, within: tuple[float, float], share: float) -> float:
    """The number below which that share of a mixture lies: `weights` float64[cells, intervals], of the leaves' numbers
    cut to the intervals. By halving, to the last bits that matter."""
    location, scale, law = _parts(numbers_of(leaves))
    ends = ends_of(leaves, cuts, within)
    z = (ends[None, :] - location[:, None]) / scale[:, None]
    mass = masses(law, z[:, :-1], z[:, 1:])
    used = (weights > 0) & (mass > 1e-290)
    total = float(weights[used].sum())
    if total == 0.0:
        return float("nan")
    cells = used.any(axis=1)
    low = float((location[cells] - 1e4 * scale[cells]).min())
    high = float((location[cells] + 1e4 * scale[cells]).max())
    for _ in range(100):
        x = (low + high) / 2
        at = (np.clip(x, ends[:-1], ends[1:])[None, :] - location[:, None]) / scale[:, None]
        part = np.where(used, masses(law, z[:, :-1], at) / np.where(used, mass, 1.0), 0.0)
        if float((weights * part).sum()) < share * total:
            low = x
        else:
            high = x
    return float(support_of(leaves).nearest(np.array((low + high) / 2)))


def numbers_of(leaves: Leaves) -> Leaves:
    """The distribution of the numbers, where there may be none."""
    return leaves.numbers if isinstance(leaves, MixedLeaves) else leaves


def _parts(leaves: Leaves, cells: NDArray[np.int64] | None = None) -> tuple[Floats, Floats, Any]:
    """(location, scale, standard law) per cell, or per row in the given cells."""
    from scipy.stats import norm, t

    at = slice(None) if cells is None else cells
    if isinstance(leaves, NormalLeaves):
        return leaves.mean[at], leaves.sd[at], norm()
    assert isinstance(leaves, StudentLeaves)
    dof = leaves.dof[at]
    return leaves.location[at], leaves.scale[at], t(dof[:, None] if cells is None else dof)


def _times(z: Floats, density: Floats) -> Floats:
    """z f(z), which is 0 at either infinity."""
    return np.where(np.isinf(z), 0.0, z * density)


def _student(dof: Floats, low: Floats, high: Floats, mass: Floats) -> tuple[Floats, Floats]:
    """The integrals of z f and z^2 f."""
    from scipy.stats import t

    def edge(z: Floats) -> Floats:
        return np.where(np.isinf(z), 0.0, (dof + z * z) / (dof - 1) * t.pdf(z, dof))

    first = np.where(dof > 1, edge(low) - edge(high), np.nan)
    shrink = np.sqrt(np.maximum(dof - 2, 0.0) / dof)
    narrow = np.maximum(dof - 2, 1e-300)
    inner = np.where(
        low > 0,
        t.sf(low * shrink, narrow) - t.sf(high * shrink, narrow),
        t.cdf(high * shrink, narrow) - t.cdf(low * shrink, narrow),
    )
    second = np.where(dof > 2, dof * ((dof - 1) / (dof - 2) * inner - mass), np.nan)
    return first, second
