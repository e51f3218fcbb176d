"""What a leaf is worth: log marginal likelihoods of the rows in it, by counts and moments.

Counts n and S below are of rows; where rows have weights, kernels count units, and n units are n * unit rows.

categorical response, r declared levels, Dirichlet(alpha each):
    log m = sum_x [lgamma(n_x + alpha) - lgamma(alpha)] - [lgamma(n + r alpha) - lgamma(r alpha)]
real response, sigma^2 ~ inverse-gamma(nu/2, nu lambda/2), mu | sigma^2 ~ normal(mean, sigma^2 / a):
    log m = -n/2 log pi + 1/2 log(a/(a+n)) + lgamma((nu+n)/2) - lgamma(nu/2) + nu/2 log(nu lambda)
            - (nu+n)/2 log(nu lambda + S + a n/(a+n) (x - mean)^2)
with x the average and S the sum of squared deviations from it; no rows, 0. Instead of a marginal likelihood a leaf of a
categorical response may have the penalised one of BIC or AIC (`leaf`): the maximum less (r - 1) log(N)/2 or r - 1.
real response in which rows may have no number: the first of two levels, with and without one, Dirichlet(alpha each),
times the second, of the numbers there are.

`mean` and `lambda` are on the scale of standardised columns (units.py), unless real_prior is "paper": then on that of
the columns as they come. Either way a column is turned into t = (y - location) / unit, for which mean is 0 and lambda
is 1, and log m of the column is log m of t less n log unit: kernels know of nothing else. Twin: tests/naive/pcart.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from optbn.base.errors import UnsupportedError
from optbn.base.registry import unknown
from optbn.base.settings import check_finite, check_positive, check_rows
from optbn.scores.units import RealPrior, check_real_prior

Floats = NDArray[np.float64]
PerColumn = float | Mapping[str, float]
"""One number for all columns, or numbers by name; "*" is for those not named, without it they have the default."""

LeafKind = Literal["dirichlet", "bic", "aic"]


class LeafTables(NamedTuple):
    """What the kernels look up by counts 0..N. Responses of one prior (and number of declared levels) share a row.

    per_level, total         float64[rows, N + 1], categorical responses
    constant, power, shrink  float64[real rows, N + 1] and scale float64[real rows], real ones, on the scale of t
    there_level, there_total float64[mixed rows, N + 1], whether a real one has a number
    """

    per_level: Floats
    total: Floats
    constant: Floats
    power: Floats
    shrink: Floats
    scale: Floats
    there_level: Floats
    there_total: Floats


@dataclass(frozen=True, eq=False)
class LeafContent:
    """What the rows of some leaves look like.

    rows    int64[leaves]
    counts  int64[leaves, r], per declared level of a categorical response; of a real one with and without a number,
            or None where every row has one
    mean, spread   float64[leaves], a real response's average and sum of squared deviations from it; else None
    unit    how many rows each of these rows counts for (optbn/data/weights.py)
    """

    rows: NDArray[np.int64]
    counts: NDArray[np.int64] | None = None
    mean: Floats | None = None
    spread: Floats | None = None
    unit: float = 1.0

    @property
    def leaves(self) -> int:
        return len(self.rows)

    @property
    def numbers(self) -> LeafContent:
        """The rows of a real response that have a number."""
        return self if self.counts is None else LeafContent(self.counts[:, 0], None, self.mean, self.spread, self.unit)


@dataclass(frozen=True)
class LeafPrior:
    """Hyper-parameters of both kinds of leaf, for all columns or by name; the scale of `mean`, `lambda_`; and `leaf`,
    "dirichlet", "bic" or "aic", what a leaf of a categorical response is worth."""

    alpha: PerColumn = 0.5
    nu: PerColumn = 1.0
    lambda_: PerColumn = 1.0
    mean: PerColumn = 0.0
    a: PerColumn = 1.0
    real_prior: RealPrior = "unit-free"
    leaf: LeafKind = "dirichlet"

    def __post_init__(self) -> None:
        for name in ("alpha", "nu"):
            check_rows(self, name)
        for name in ("lambda_", "a"):
            check_positive(self, name)
        check_finite(self, "mean")
        check_real_prior(self, self.real_prior)
        if self.leaf not in get_args(LeafKind):
            raise UnsupportedError(
                f"{type(self).__name__}: leaf is {self.leaf!r}, expected one of: {', '.join(get_args(LeafKind))}"
            )

    def of_columns(self, field: str, names: tuple[str, ...]) -> Floats:
        """float64[n]: a hyper-parameter of every column."""
        value = getattr(self, field)
        if not isinstance(value, Mapping):
            return np.full(len(names), float(value))
        for name in value:
            if name != "*" and name not in names:
                raise unknown("column", name, names)
        default = next(f.default for f in fields(LeafPrior) if f.name == field)
        return np.array([float(value.get(name, value.get("*", default))) for name in names])


def dirichlet_tables(alpha: float, r: int, units: int, unit: float) -> tuple[Floats, Floats]:
    """Rows of LeafTables.per_level and total."""
    n = np.arange(units + 1) * unit
    return gammaln(n + alpha) - gammaln(alpha), gammaln(n + r * alpha) - gammaln(r * alpha)


def penalised_tables(weight: float, r: int, units: int, unit: float) -> tuple[Floats, Floats]:
    """The same for maximum likelihoods with so large a weight of a parameter; a leaf without rows has none."""
    n = np.arange(units + 1) * unit
    return xlogy(n, n), xlogy(n, n) + weight * (r - 1) * (n > 0)


def normal_tables(nu: float, a: float, units: int, unit: float) -> tuple[Floats, Floats, Floats]:
    """Rows of LeafTables.constant, power and shrink. The kernels' S and nu are in units, so log unit is in here."""
    n = np.arange(units + 1) * unit
    power = (nu + n) / 2
    constant = -n / 2 * math.log(math.pi) + 0.5 * np.log(a / (a + n)) + gammaln(power)
    constant += nu / 2 * math.log(nu) - gammaln(nu / 2) - power * math.log(unit)
    return constant, power, a * n / (a + n) / unit


def dirichlet_log_marginals(content: LeafContent, alpha: float) -> Floats:
    """float64[leaves], straight from the formula."""
    assert content.counts is not None
    n, r = content.rows * content.unit, content.counts.shape[1]
    levels = gammaln(content.counts * content.unit + alpha) - gammaln(alpha)
    return np.asarray(levels.sum(axis=1) - gammaln(n + r * alpha) + gammaln(r * alpha))


def penalised_log_likelihoods(content: LeafContent, weight: float) -> Floats:
    """float64[leaves], straight from the definition."""
    assert content.counts is not None
    share = content.counts / np.maximum(content.rows, 1)[:, None]
    r = content.counts.shape[1]
    most = xlogy(content.counts * content.unit, share).sum(axis=1)
    return np.asarray(most - weight * (r - 1) * (content.rows > 0))


def normal_log_marginals(content: LeafContent, nu: float, a: float) -> Floats:
    """float64[leaves], straight from the formula, of a response on the scale of t."""
    assert content.mean is not None and content.spread is not None
    n = content.rows * content.unit
    posterior = nu + content.spread * content.unit + a * n / (a + n) * content.mean**2
    log_m = 0.5 * (np.log(a / (a + n)) - n * math.log(math.pi) + nu * math.log(nu))
    log_m += gammaln((nu + n) / 2) - gammaln(nu / 2) - (nu + n) / 2 * np.log(posterior)
    return np.where(content.rows > 0, log_m, 0.0)
