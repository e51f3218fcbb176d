"""What a leaf is worth: log marginal likelihoods of the rows in it, tabulated by counts.

categorical response, r declared levels, Dirichlet(alpha each):
    log m = sum_x [lgamma(n_x + alpha) - lgamma(alpha)] - [lgamma(n + r alpha) - lgamma(r alpha)]
real response, sigma^2 ~ inverse-gamma(nu/2, nu lambda/2), mu | sigma^2 ~ normal(mean, sigma^2 / a):
    log m = -n/2 log pi + 1/2 log(a/(a+n)) + lgamma((nu+n)/2) - lgamma(nu/2) + nu/2 log(nu lambda)
            - (nu+n)/2 log(nu lambda + S + a n/(a+n) (x - mean)^2)
with x the average and S the sum of squared deviations from it; no rows, 0. Twin: tests/naive/pcart.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from optbn.base.errors import UnsupportedError
from optbn.base.settings import check_finite, check_positive, check_rows

Floats = NDArray[np.float64]


class LeafTables(NamedTuple):
    """What the kernels look up; rows 0..N. `total` has a row per number of declared levels."""

    per_level: Floats
    total: Floats
    constant: Floats
    power: Floats
    shrink: Floats
    scale: float
    mean: float


@dataclass(frozen=True, eq=False)
class LeafContent:
    """What the rows of some leaves look like.

    rows    int64[leaves]
    counts  int64[leaves, r], per declared level of a categorical response; None for a real one
    mean, spread   float64[leaves], a real response's average and sum of squared deviations from it; else None
    """

    rows: NDArray[np.int64]
    counts: NDArray[np.int64] | None = None
    mean: Floats | None = None
    spread: Floats | None = None

    @property
    def leaves(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class LeafPrior:
    """Hyper-parameters of both kinds of leaf."""

    alpha: float = 0.5
    nu: float = 1.0
    lambda_: float = 1.0
    mean: float = 0.0
    a: float = 1.0

    def __post_init__(self) -> None:
        for name in ("alpha", "nu"):
            check_rows(self, name)
        for name in ("lambda_", "a"):
            check_positive(self, name)
        check_finite(self, "mean")
        if not 0.0 < self.nu * self.lambda_ < math.inf:
            raise UnsupportedError(
                f"{type(self).__name__}: nu is {self.nu!r} and lambda is {self.lambda_!r}, so their product is no "
                "finite number above 0"
            )

    def tables(self, n_rows: int, cardinalities: list[int]) -> LeafTables:
        """Tables for up to n_rows rows and these numbers of declared levels."""
        n = np.arange(n_rows + 1, dtype=np.float64)
        total = [gammaln(n + r * self.alpha) - gammaln(r * self.alpha) for r in cardinalities]
        power = (self.nu + n) / 2
        constant = -n / 2 * math.log(math.pi) + 0.5 * np.log(self.a / (self.a + n)) + gammaln(power)
        constant += self.nu / 2 * math.log(self.nu * self.lambda_) - gammaln(self.nu / 2)
        return LeafTables(
            per_level=gammaln(n + self.alpha) - gammaln(self.alpha),
            total=np.array(total).reshape(len(cardinalities), n_rows + 1),
            constant=constant,
            power=power,
            shrink=self.a * n / (self.a + n),
            scale=self.nu * self.lambda_,
            mean=self.mean,
        )

    def log_marginals(self, content: LeafContent) -> Floats:
        """float64[leaves]: log m of each leaf, straight from the formulas."""
        n = content.rows.astype(np.float64)
        if content.counts is not None:
            r = content.counts.shape[1]
            levels = gammaln(content.counts + self.alpha) - gammaln(self.alpha)
            return np.asarray(levels.sum(axis=1) - gammaln(n + r * self.alpha) + gammaln(r * self.alpha))
        assert content.mean is not None and content.spread is not None
        scale = self.nu * self.lambda_
        posterior = scale + content.spread + self.a * n / (self.a + n) * (content.mean - self.mean) ** 2
        log_m = 0.5 * (np.log(self.a / (self.a + n)) - n * math.log(math.pi) + self.nu * math.log(scale))
        log_m += gammaln((self.nu + n) / 2) - gammaln(self.nu / 2) - (self.nu + n) / 2 * np.log(posterior)
        return np.where(content.rows > 0, log_m, 0.0)
