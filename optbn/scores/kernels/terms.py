"""What one cell of a contingency table adds to a score, as a function of its count alone.

    N_LOG_N      n log n                                      (maximum likelihood)
    LOG_GAMMA    lgamma(n + a) - lgamma(a)                     (a Dirichlet marginal likelihood's factor)
    N_LOG_REGRET n log n + log C(r, n), r the parameter        (normalised maximum likelihood of r levels)

C(r, n) is the multinomial regret sum over counts n_1 + .. + n_r = n of n!/prod n_k! prod (n_k/n)^{n_k}. It obeys
C(1, n) = 1, C(2, n) = sum_{k=0}^{n} n (n-1) .. (n-k+1) / n^k (terms fall like exp(-k^2 / 2n): O(sqrt n) of them
matter) and C(r + 2, n) = C(r + 1, n) + n/r C(r, n) (Kontkanen and Myllymaki 2007). Every term is 0 at n = 0.
Twin: tests/naive/phase1.py.
"""

from __future__ import annotations

import math

import numpy as np

from optbn_solvers.base.compiled import kernel

N_LOG_N, LOG_GAMMA, N_LOG_REGRET = 0, 1, 2


@kernel
def log_regret(levels, n):
    """log C(levels, n), float64; cost O(sqrt n + levels).

    The recurrence runs on the ratios C(r + 1) / C(r), all of one sign and size, so nothing overflows or cancels.
    """
    if n == 0 or levels <= 1:
        return 0.0
    two, term = 1.0, 1.0
    for k in range(n):
        term *= (n - k) / n
        two += term
        if term < 1e-18 * two:
            break
    ratio, total = two, math.log(two)
    for r in range(1, levels - 1):
        ratio = 1.0 + n / r / ratio
        total += math.log(ratio)
    return total


@kernel
def term(kind, parameter, n):
    """The term of kind `kind` at count n, a float; N_LOG_REGRET wants a whole one."""
    if n == 0:
        return 0.0
    if kind == LOG_GAMMA:
        return math.lgamma(n + parameter) - math.lgamma(parameter)
    value = n * math.log(n)
    if kind == N_LOG_REGRET:
        value += log_regret(np.int64(parameter), np.int64(n))
    return value


@kernel
def tabulate(kind, parameter, length, unit):
    """float64[length]: the term at 0..length-1 units, bit for bit what `term` answers."""
    out = np.empty(length)
    for n in range(length):
        out[n] = term(kind, parameter, n * unit)
    return out
