"""What a leaf is worth: log marginal likelihoods of the rows in it, by counts and moments.

Counts n and S below are of rows; where rows have weights, kernels count units, and n units are n * unit rows.

categorical response, r declared levels, Dirichlet(alpha each):
    log m = sum_x [lgamma(n_x + alpha) - lgamma(alpha)] - [lgamma(n + r alpha) - lgamma(r alpha)]
real response, sigma^2 ~ inverse-gamma(nu/2, nu lambda/2), mu | sigma^2 ~ normal(mean, sigma^2 / a):
    log m = -n/2 log pi + 1/2 log(a/(a+n)) + lgamma((nu+n)/2) - lgamma(nu/2) + nu/2 log(nu lambda)
            - (nu+n)/2 log(nu lambda + S + a n/(a+n) (x - mean)^2)
with x the average and S the sum of squared deviations from it; no rows, 0. Instead of a marginal likelihood a leaf of a
categorical response may have the penalised one of BIC or AIC (`leaf`): the maximum less (r - 1) log(N)/2 or r - 1.
    bdeu    alpha is ess/r times the share of the parents' configurations that lie in the leaf, so that a leaf for
            each of them makes the score BDeu: leaves of many rows of the table have as much prior as those rows
    runs    (an ordered response) the levels fall into runs, neighbours that are equally likely; a run of l levels has
            Dirichlet(l alpha). The best of the 2^(r-1) ways to cut levels into runs, all as likely beforehand:
            log m = max sum over runs of [lgamma(n_run + l alpha) - lgamma(l alpha) - n_run log l]
                    - [lgamma(n + r alpha) - lgamma(r alpha)] - (r - 1) log 2
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
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from optbn.base.errors import UnsupportedError
from optbn.base.registry import unknown
from optbn.base.settings import check_finite, check_positive, check_rows
from optbn.scores.units import RealPrior, check_real_prior

Floats = NDArray[np.float64]
PerColumn = float | str | Mapping[str, Any]
"""One number for all columns, or numbers by name; "*" is for those not named, without it they have the default. Instead
of a number AUTO (but for `mean`): that of the grid which has the most evidence (by_evidence.py)."""

AUTO = "auto"
GRIDS: dict[str, tuple[float, ...]] = {
    "alpha": (0.1, 0.25, 0.5, 1.0, 2.0),
    "nu": (0.5, 1.0, 2.0, 4.0),
    "lambda_": (0.03, 0.1, 0.3, 1.0),
    "a": (0.01, 0.1, 1.0),
}

LeafKind = Literal["dirichlet", "bic", "aic", "bdeu", "runs"]


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
    share   float64[leaves], of the parents' configurations, where leaves depend on it
    """

    rows: NDArray[np.int64]
    counts: NDArray[np.int64] | None = None
    mean: Floats | None = None
    spread: Floats | None = None
    unit: float = 1.0
    share: Floats | None = None

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
    what a leaf of a categorical response is worth: "dirichlet", or as listed above."""

    leaf_kinds: ClassVar[tuple[str, ...]] = ("dirichlet", "bic", "aic")

    alpha: PerColumn = 0.5
    nu: PerColumn = 1.0
    lambda_: PerColumn = 1.0
    mean: PerColumn = 0.0
    a: PerColumn = 1.0
    real_prior: RealPrior = "unit-free"
    leaf: LeafKind = "dirichlet"

    def __post_init__(self) -> None:
        for name in ("alpha", "nu"):
            check_rows(self, name, AUTO)
        for name in ("lambda_", "a"):
            check_positive(self, name, word=AUTO)
        check_finite(self, "mean")
        check_real_prior(self, self.real_prior)
        if self.leaf not in self.leaf_kinds:
            raise UnsupportedError(
                f"{type(self).__name__}: leaf is {self.leaf!r}, expected one of: {', '.join(self.leaf_kinds)}"
            )

    @property
    def by_evidence(self) -> bool:
        """Whether some hyper-parameter is AUTO."""
        values = [getattr(self, name) for name in GRIDS]
        return any(AUTO in value.values() if isinstance(value, Mapping) else value == AUTO for value in values)

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


def dirichlet_tables(
    alpha: float, r: int, units: int, unit: float, per_level: Floats | None = None
) -> tuple[Floats, Floats]:
    """Rows of LeafTables.per_level, which may be there already, and total."""
    n = np.arange(units + 1) * unit
    levels = gammaln(n + alpha) - gammaln(alpha) if per_level is None else per_level
    return levels, gammaln(n + r * alpha) - gammaln(r * alpha)


def penalised_tables(
    weight: float, r: int, units: int, unit: float, per_level: Floats | None = None
) -> tuple[Floats, Floats]:
    """The same for maximum likelihoods with so large a weight of a parameter; a leaf without rows has none."""
    n = np.arange(units + 1) * unit
    levels = xlogy(n, n) if per_level is None else per_level
    return levels, levels + weight * (r - 1) * (n > 0)


def normal_tables(nu: float, a: float, units: int, unit: float) -> tuple[Floats, Floats, Floats]:
    """Rows of LeafTables.constant, power and shrink. The kernels' S and nu are in units, so log unit is in here."""
    n = np.arange(units + 1) * unit
    power = (nu + n) / 2
    constant = -n / 2 * math.log(math.pi) + 0.5 * np.log(a / (a + n)) + gammaln(power)
    constant += nu / 2 * math.log(nu) - gammaln(nu / 2) - power * math.log(unit)
    return constant, power, a * n / (a + n) / unit


def highest_density(tables: LeafTables, row: int) -> Floats:
    """float64[N + 1], at n: the most by which one unit can raise log m of a real response's leaf that holds n units at
    most then, or 0. What log m is less by (the spread, and how far off the mean is) only grows with rows, so the most
    is where there is none of it."""
    raised = np.diff(tables.constant[row]) - np.diff(tables.power[row]) * math.log(tables.scale[row])
    return np.maximum.accumulate(np.append(0.0, np.maximum(raised, 0.0)))


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


def share_log_marginals(content: LeafContent, ess: float) -> Floats:
    """float64[leaves], of BDeu's leaves, straight from the formula."""
    assert content.counts is not None and content.share is not None
    n, r = content.rows * content.unit, content.counts.shape[1]
    whole = (ess * content.share)[:, None]
    levels = gammaln(content.counts * content.unit + whole / r) - gammaln(whole / r)
    return np.asarray(levels.sum(axis=1) - gammaln(n + whole[:, 0]) + gammaln(whole[:, 0]))


def best_runs(counts: Floats, alpha: float) -> tuple[float, tuple[int, ...]]:
    """log m of a leaf with these counts of ordered levels, and where its runs begin; without rows, 0 and one run."""
    r, n = len(counts), float(counts.sum())
    if n == 0:
        return 0.0, (0,)
    below = np.concatenate([[0.0], np.cumsum(counts)])
    best: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    for end in range(1, r + 1):
        begin = np.arange(end)
        rows, prior = below[end] - below[begin], alpha * (end - begin)
        run = gammaln(rows + prior) - gammaln(prior) - rows * np.log(end - begin)
        last = max(begin.tolist(), key=lambda i: best[i][0] + run[i])  # of equals the longest run
        best.append((best[last][0] + float(run[last]), (*best[last][1], last)))
    value, starts = best[r]
    return value - float(gammaln(n + r * alpha) - gammaln(r * alpha)) - (r - 1) * math.log(2), starts


def normal_log_marginals(content: LeafContent, nu: float, a: float) -> Floats:
    """float64[leaves], straight from the formula, of a response on the scale of t."""
    assert content.mean is not None and content.spread is not None
    n = content.rows * content.unit
    posterior = nu + content.spread * content.unit + a * n / (a + n) * content.mean**2
    log_m = 0.5 * (np.log(a / (a + n)) - n * math.log(math.pi) + nu * math.log(nu))
    log_m += gammaln((nu + n) / 2) - gammaln(nu / 2) - (nu + n) / 2 * np.log(posterior)
    return np.where(content.rows > 0, log_m, 0.0)
