"""Exact moments of the hierarchical multinomial-Dirichlet model, by integrating a polynomial.

With beta ~ Dir(alpha0) and theta_y ~ Dir(s beta), integrating the theta_y out leaves

    p(beta | n)  ~  prod_x beta_x^(alpha0_x - 1) prod_y (s beta_x)(s beta_x + 1) ... (s beta_x + n_xy - 1)

a Dirichlet density times one polynomial per level, all coefficients positive. A Dirichlet moment is
E prod beta_x^{k_x} = Gamma(s0) / Gamma(s0 + sum k) prod_x Gamma(alpha0_x + k_x) / Gamma(alpha0_x), so with
a_x[k] = coefficient[k] Gamma(alpha0_x + k) / Gamma(alpha0_x) the sum over all powers depends on them through their
total only: it is a product of polynomials. Nothing cancels, and in logarithms nothing overflows: the moments are exact
to rounding. O(n^2) per product of total degree n, K^2 products.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from optbn.base.errors import LimitError
from optbn.smoothing.kernels.hierarchical import log_product, log_rising_product, log_sum

MOST_WORK = 2e9
"""n^2 K^2, about half a minute."""


def exact_moments(
    counts: NDArray[np.int64], s: float, alpha0: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """E alpha (float64[K]), Cov alpha (float64[K, K]) for alpha = s beta, and the log evidence; counts int64[Y, K],
    alpha0 float64[K]."""
    Y, K = counts.shape
    if float(counts.sum()) ** 2 * K**2 > MOST_WORK:
        raise LimitError(
            f"the exact hierarchical posterior of {int(counts.sum())} rows and {K} levels is out of reach; "
            "use method='variational'"
        )
    plain, once = [], []
    for x in range(K):
        value, times = np.unique(counts[:, x], return_counts=True)
        log_coefficients = log_rising_product(value, times, s)
        k = np.arange(len(log_coefficients))
        plain.append(log_coefficients + gammaln(alpha0[x] + k) - gammaln(alpha0[x]))
        once.append(plain[-1] + np.log(alpha0[x] + k))
    one = np.zeros(1)
    before, after = [one], [one]
    for x in range(K):
        before.append(log_product(before[-1], plain[x]))
        after.append(log_product(after[-1], plain[K - 1 - x]))

    def integral(powers: NDArray[np.float64], extra: int) -> float:
        """log of the sum over totals m of powers[m] Gamma(s0) / Gamma(s0 + m + extra)."""
        s0 = alpha0.sum()
        return float(log_sum(powers + gammaln(s0) - gammaln(s0 + np.arange(len(powers)) + extra), len(powers)))

    norm = integral(before[K], 0)
    mean, second = np.empty(K), np.empty((K, K))
    for x in range(K):
        rest = after[K - 1 - x]
        mean[x] = np.exp(integral(log_product(log_product(before[x], once[x]), rest), 1) - norm)
        k = np.arange(len(once[x]))
        twice = once[x] + np.log(alpha0[x] + k + 1.0)
        second[x, x] = np.exp(integral(log_product(log_product(before[x], twice), rest), 2) - norm)
        run = log_product(before[x], once[x])
        for z in range(x + 1, K):
            pair = log_product(log_product(run, once[z]), after[K - 1 - z])
            second[x, z] = second[z, x] = np.exp(integral(pair, 2) - norm)
            run = log_product(run, plain[z])
    evidence = norm + Y * gammaln(s) - gammaln(s + counts.sum(axis=1)).sum()
    return s * mean, s * s * (second - np.outer(mean, mean)), float(evidence)
