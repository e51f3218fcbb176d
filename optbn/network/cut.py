"""Normal and Student-t distributions cut to an interval: the mass of pieces, and the normal with a wanted mean.

A variable that is never negative, or a share, has its leaves cut to where its numbers can lie (data.support). The
numbers keep their mean: `matched` finds the normal whose part inside has the mean and the standard deviation that are
wanted. Where the deviation is too large for that (the part of any normal above 0 has at most its mean) it is the
largest there is, and the shape that of an exponential. Twin: tests/naive/cut.py integrates.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FAR = 8.0  # standard deviations: an end so far away is none
STEEPEST = 12.0  # scales by which a location may lie outside
STEPS = 60  # of halving
ROOT = math.sqrt(2 * math.pi)


def masses(law: Any, low: Floats, high: Floats) -> Floats:
    """The probability between standardised values. The difference is taken on the side where the values are small,
    which keeps their digits."""
    parts: Floats = np.where(low > 0, law.sf(low) - law.sf(high), law.cdf(high) - law.cdf(low))
    return np.maximum(parts, 0.0)


def matched(mean: Floats, sd: Floats, least: float, most: float) -> tuple[Floats, Floats]:
    """(location, scale) of the normals whose parts between `least` and `most` have this mean, inside, and this sd."""
    mean, sd = np.array(mean, dtype=np.float64), np.array(sd, dtype=np.float64)
    near = np.minimum(mean - least, most - mean) < FAR * sd
    if not near.any():
        return mean, sd
    margin = 1e-3 * np.minimum(sd[near], most - least)
    wanted = np.clip(mean[near], least + margin, most - margin)
    deviation, widest = sd[near], STEEPEST * np.minimum(wanted - least, most - wanted)
    low, high = np.log(deviation), np.log(np.maximum(deviation, widest))
    for _ in range(STEPS // 2):  # the sd grows with the scale
        middle = (low + high) / 2
        location = _located(wanted, np.exp(middle), least, most)
        narrow = _moments(location, np.exp(middle), least, most)[1] < deviation
        low, high = np.where(narrow, middle, low), np.where(narrow, high, middle)
    scale = np.exp(low)
    mean[near], sd[near] = _located(wanted, scale, least, most), scale
    return mean, sd


def _located(mean: Floats, scale: Floats, least: float, most: float) -> Floats:
    """The locations with this mean inside, which grows with them."""
    low = np.maximum(least, mean - 2 * STEEPEST * scale) - 2 * STEEPEST * scale
    high = np.minimum(most, mean + 2 * STEEPEST * scale) + 2 * STEEPEST * scale
    for _ in range(STEPS):
        middle = (low + high) / 2
        short = _moments(middle, scale, least, most)[0] < mean
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return (low + high) / 2


def _moments(location: Floats, scale: Floats, least: float, most: float) -> tuple[Floats, Floats]:
    """Mean and standard deviation inside. Called thousands of times, so without scipy.stats and its checks."""
    from scipy.special import ndtr

    low, high = (least - location) / scale, (most - location) / scale
    outside = low > 0  # there the other side has the small values
    mass = np.maximum(ndtr(np.where(outside, -low, high)) - ndtr(np.where(outside, -high, low)), 0.0)
    density_low, density_high = np.exp(-0.5 * low * low) / ROOT, np.exp(-0.5 * high * high) / ROOT
    edge_low = low * density_low if np.isfinite(least) else 0.0
    edge_high = high * density_high if np.isfinite(most) else 0.0
    first = (density_low - density_high) / mass
    second = 1.0 + (edge_low - edge_high) / mass
    return location + scale * first, scale * np.sqrt(np.maximum(second - first**2, 0.0))
