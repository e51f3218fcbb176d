"""Random variates for compiled samplers, from one 64-bit word of state held by the caller.

The generator is SplitMix64 (Steele, Lea and Flood 2014): its state is a counter, so draws do not wait for each other.
The caller takes the word from a numpy Generator, so a result depends on the seed alone. Gamma variates are Marsaglia
and Tsang's (2000), on the log scale for shapes below one, where the variate itself would underflow. Table counts of the
Chinese restaurant process are exact and cost O(a log n) instead of O(n); see `tables`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from optbn_solvers.base.compiled import leaf


def _layers() -> NDArray[np.float64]:
    """Right edges of LAYERS blocks of equal area under exp(-x^2 / 2), the first one with the tail beyond EDGE."""
    area = 9.91256303526217e-3
    edges = [area * math.exp(0.5 * EDGE * EDGE), EDGE]
    while len(edges) < LAYERS:
        edges.append(math.sqrt(-2.0 * math.log(area / edges[-1] + math.exp(-0.5 * edges[-1] ** 2))))
    return np.array([*edges, 0.0])


LAYERS = 128
EDGE = 3.442619855899
_RIGHT = _layers()


@leaf
def word(state):
    """The next 64 random bits; `state` is uint64[1]."""
    state[0] += uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return z ^ (z >> uint64(31))


@leaf
def uniform(state):
    """A float64 in the open interval (0, 1), never 0 or 1."""
    return (np.float64(word(state) >> uint64(12)) + 0.5) * 2.220446049250313e-16  # 2^-52


@leaf
def normal(state):
    """A standard normal variate, by the ziggurat (Marsaglia and Tsang 2000) with its layer from bits of its own."""
    while True:
        bits = word(state)
        layer = np.int64(bits & uint64(LAYERS - 1))
        u = (np.float64(bits >> uint64(12)) + 0.5) * 4.440892098500626e-16 - 1.0
        x = u * _RIGHT[layer]
        if abs(x) < _RIGHT[layer + 1]:
            return x
        if layer == 0:
            while True:
                beyond = -math.log(uniform(state)) / EDGE
                if -2.0 * math.log(uniform(state)) > beyond * beyond:
                    return EDGE + beyond if u > 0.0 else -EDGE - beyond
        low = math.exp(-0.5 * (_RIGHT[layer] * _RIGHT[layer] - x * x))
        high = math.exp(-0.5 * (_RIGHT[layer + 1] * _RIGHT[layer + 1] - x * x))
        if high + uniform(state) * (low - high) < 1.0:
            return x


@leaf
def _large_gamma(shape, state):
    """Gamma(shape, 1) for shape >= 1."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(state)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = uniform(state)
        if u < 1.0 - 0.0331 * x * x * x * x or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return d * v


@leaf
def log_gamma(shape, state):
    """The logarithm of a Gamma(shape, 1) variate, shape > 0: no underflow, however small the shape."""
    if shape >= 1.0:
        return math.log(_large_gamma(shape, state))
    return math.log(_large_gamma(shape + 1.0, state)) + math.log(uniform(state)) / shape


@leaf
def gamma(shape, state):
    """Gamma(shape, 1) for shape >= 0; exactly 0 at shape 0."""
    if shape >= 1.0:
        return _large_gamma(shape, state)
    return _large_gamma(shape + 1.0, state) * math.exp(math.log(uniform(state)) / shape) if shape > 0.0 else 0.0


@leaf
def minus_log_beta(a, b, state):
    """-log of a Beta(a, b) variate."""
    difference = log_gamma(b, state) - log_gamma(a, state)
    return difference if difference > 40.0 else math.log1p(math.exp(difference))


@leaf
def tables(n, a, state):
    """How many tables n customers take in a Chinese restaurant of strength a: 1 + sum_{i=1}^{n-1} Bernoulli(a/(a+i)).

    The first terms are drawn as they stand, which compiles to a fifth of a nanosecond each. From i = stop on successes
    are so rare that it is quicker to find them without visiting the failures: a Poisson process of rate a/x, thinned so
    that the interval (i-1, i] keeps rate log(1 + a/i), is empty there with probability i/(a+i); rate a/x means that
    log x advances by exponential steps, of 50 nanoseconds. Exact for every a >= 0.
    """
    if n < 2:
        return n
    t = 1
    if not a > 0.0:
        return t
    stop = n if 128.0 * a >= n else min(n, 64 + int(128.0 * a))
    for i in range(1, stop):
        t += uniform(state) * (a + i) < a
    x = stop - 1.0
    last = 0
    while stop < n:
        x *= math.exp(-math.log(uniform(state)) / a)
        if x >= n - 1.0:
            break
        i = int(x) + 1
        if i != last and uniform(state) * a * math.log1p(1.0 / (i - 1.0)) < math.log1p(a / i):
            t += 1
            last = i
    return t
