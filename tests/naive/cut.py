"""Moments of a normal cut to an interval, by adding up its density."""

import numpy as np


def moments(location, scale, low, high, steps=200_001):
    """(mean, sd) of the part between low and high; an infinite end is 40 scales away."""
    a = max(low, min(location, high if np.isfinite(high) else location) - 40 * scale)
    b = min(high, max(location, low if np.isfinite(low) else location) + 40 * scale)
    x = np.linspace(a, b, steps)
    logs = -0.5 * ((x - location) / scale) ** 2
    weight = np.exp(logs - logs.max())
    weight[[0, -1]] /= 2
    weight /= weight.sum()
    mean = weight @ x
    return mean, np.sqrt(weight @ (x - mean) ** 2)
