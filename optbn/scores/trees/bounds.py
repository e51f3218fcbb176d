"""Proofs that need no optimisation: families that cannot beat their subsets, boxes that are best left whole.

For a categorical response let phi(c) = c log c - [lgamma(c + alpha) - lgamma(alpha)] and

    regret(n) = maximum log-likelihood - log m  of n rows
              = sum_x phi(n_x) - n log n + lgamma(n + r alpha) - lgamma(r alpha)

A tree that uses all k predictors and beats every subset has at least L = k + 1 leaves with rows (contract splits with
an empty side: for each predictor a proper one must remain, or dropping the predictor would have been as good). The
maximum likelihood of its leaves is at most that of the sites, the finest partition, so its score is at most

    ML(sites) - L log 4C + log c(P) - min { regret over L leaves with N rows in all }.

regret(n) is at least its value with phi replaced by its greatest convex minorant and the rows spread evenly (Jensen);
if m rows are outside the largest leaf, the largest of the others has at least m / (L - 1). So the last term is at least

    min over m from L - 1 to N - N/L of  min_{n >= N-m} regret(n) + min_{n >= m/(L-1)} regret(n) + (L - 2) min regret.

In the same way an unsplit box of n rows is optimal when even its worst log m (rows spread evenly, lgamma being convex)
is no less than what any L >= 2 leaves could have: 0 - (L - 1) (min regret + log 4C) - min_{m >= n/L} regret(m).

Where a leaf has its maximum likelihood less p = weight (r - 1) (BIC, AIC), regret(n) is p: L leaves have L p, and
unsplit is best for n rows when the worst maximum likelihood -n log r is no less than -p - log 4C.

All hold for alpha and cardinalities at large; tests/scores_pcart checks them against trees without bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

Floats = NDArray[np.float64]
MARGIN = 1e-9
"""Relative room left for rounding: a bound decides nothing closer than this."""
MOST_LEAF_ROWS = 256


@dataclass(frozen=True)
class Regret:
    """The least regrets of responses with r declared levels, up to n_rows rows."""

    alpha: float
    r: int
    n_rows: int

    @cached_property
    def least(self) -> Floats:
        """float64[N + 1]: a lower bound on the regret of n rows; [0] is inf, leaves here have rows."""
        n = np.arange(self.n_rows + 1, dtype=np.float64)
        phi = xlogy(n, n) - gammaln(n + self.alpha) + gammaln(self.alpha)
        # 1/c, the curvature of c log c, is at least trigamma(c + alpha) from alpha = 1/2 on: phi is convex
        minorant = phi if self.alpha >= 0.5 else _convex_minorant(phi)
        each = n / self.r
        low = np.floor(each).astype(np.int64)
        spread = minorant[low] + (each - low) * (minorant[np.minimum(low + 1, self.n_rows)] - minorant[low])
        least = self.r * spread - xlogy(n, n) + gammaln(n + self.r * self.alpha) - gammaln(self.r * self.alpha)
        least[0] = math.inf
        return np.asarray(least, dtype=np.float64)

    @cached_property
    def least_from(self) -> Floats:
        """float64[N + 1]: the least of `least` at n or above."""
        return np.minimum.accumulate(self.least[::-1])[::-1]

    def of_leaves(self, leaves: int) -> float:
        """A lower bound on the regret of all rows in that many leaves; inf when there are fewer rows than leaves."""
        if leaves > self.n_rows:
            return math.inf
        if leaves == 1:
            return float(self.least[self.n_rows])
        others = np.arange(leaves - 1, self.n_rows + self.n_rows // -leaves + 1)  # rows outside the largest leaf
        second = -(-others // (leaves - 1))
        total = self.least_from[self.n_rows - others] + self.least_from[second]
        return float(total.min() + (leaves - 2) * self.least_from[1])

    @cached_property
    def least_cost(self) -> Floats:
        """float64[.]: the log 4C from which on a box of n rows is best left whole."""
        rows = min(self.n_rows, MOST_LEAF_ROWS)
        cost = np.full(rows + 1, -math.inf)
        for n in range(2, rows + 1):
            each, more = divmod(n, self.r)
            log_m = more * gammaln(each + 1 + self.alpha) + (self.r - more) * gammaln(each + self.alpha)
            log_m -= self.r * gammaln(self.alpha) + gammaln(n + self.r * self.alpha) - gammaln(self.r * self.alpha)
            leaves = np.arange(2, n + 1)
            cost[n] = ((-log_m - self.least_from[-(-n // leaves)]) / (leaves - 1)).max() - self.least_from[1]
        return cost

    def never_split(self, leaf_cost: float) -> int:
        """The largest n such that all boxes of up to n rows are best left whole."""
        too_cheap = self.least_cost > leaf_cost - MARGIN * (1 + leaf_cost)
        return int(np.argmax(too_cheap)) - 1 if too_cheap.any() else len(too_cheap) - 1


@dataclass(frozen=True)
class Penalty:
    """The same of responses with r declared levels whose leaves cost `weight` per parameter."""

    weight: float
    r: int
    n_rows: int

    def of_leaves(self, leaves: int) -> float:
        """See Regret."""
        return math.inf if leaves > self.n_rows else leaves * self.weight * (self.r - 1)

    def never_split(self, leaf_cost: float) -> int:
        """See Regret."""
        if self.r == 1:
            return self.n_rows
        return min(self.n_rows, int((1 - MARGIN) * (leaf_cost + self.weight * (self.r - 1)) / math.log(self.r)))


class NoRegret:
    """The same where rows have weights that are not whole, or are too many: nothing is known but that no regret is
    below 0, and that a box of one unit is at most one row."""

    def of_leaves(self, leaves: int) -> float:
        """See Regret."""
        return 0.0

    def never_split(self, leaf_cost: float) -> int:
        """See Regret."""
        return 1


def _convex_minorant(values: Floats) -> Floats:
    """The greatest convex function below values at 0, 1, .., by Andrew's lower hull."""
    if (np.diff(values, 2) >= -1e-15 * np.abs(values).max()).all():
        return values
    hull: list[int] = []
    for i, y in enumerate(values):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            if (values[b] - values[a]) * (i - b) < (y - values[b]) * (b - a):
                break
            hull.pop()
        hull.append(i)
    return np.interp(np.arange(len(values)), hull, values[hull])
