"""BGe: the marginal likelihood of a Gaussian network under a normal-Wishart prior.

Geiger and Heckerman (2002) with the corrections of Kuipers, Moffa and Heckerman (2014). For n variables, N rows, prior
mean m, prior precision matrix T = t I with t = am (aw - n - 1) / (am + 1), and

    R = T + centred cross products + N am / (N + am) (mean - m)(mean - m)^T,

a child v with k parents P, A = aw - n, and the residual of v on P in R scores

    1/2 log(am / (N + am)) - N/2 log pi + lgamma((N + A + k + 1) / 2) - lgamma((A + k + 1) / 2)
    + (A + 2k + 1)/2 log t - 1/2 log |R_P| - (N + A + k + 1)/2 log residual.

Markov-equivalent graphs score the same. Columns are standardised first (units.py), or t would mean something else in
every unit; real_prior = "paper" takes them as they come.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from optbn.base.errors import UnsupportedError
from optbn.base.settings import check_finite, check_rows
from optbn.data.dataset import Dataset
from optbn.scores.gaussian import Coefficients, GaussianScore, cross_products
from optbn.scores.units import RealPrior, check_real_prior


@dataclass(frozen=True)
class BGe:
    """The prior's strength.

    alpha_mu  am, how many rows the prior mean counts for
    alpha_w   aw, the Wishart's degrees of freedom, above n + 1; None: n + am + 1
    mean      m, the prior mean of every variable; None: the mean of the data
    real_prior  the scale of t and m: "unit-free", of standardised columns, or "paper", of the columns as they come
    """

    paper: ClassVar[str] = (
        "BGe: Geiger, Heckerman (2002), Parameter priors for directed acyclic graphical models and the "
        "characterization of several probability distributions, Annals of Statistics 30."
    )

    alpha_mu: float = 1.0
    alpha_w: float | None = None
    mean: float | None = None
    real_prior: RealPrior = "unit-free"

    def __post_init__(self) -> None:
        check_rows(self, "alpha_mu")
        if self.alpha_w is not None:
            check_rows(self, "alpha_w")
        if self.mean is not None:
            check_finite(self, "mean")
        check_real_prior(self, self.real_prior)

    def bind(self, data: Dataset) -> GaussianScore:
        means, matrix, jacobian = cross_products(self, data, self.real_prior)
        n, rows, am = data.n_variables, data.total_weight, self.alpha_mu
        aw = n + am + 1 if self.alpha_w is None else self.alpha_w
        if aw <= n + 1:
            raise UnsupportedError(f"BGe: alpha_w is {aw}, expected more than the number of variables plus 1, {n + 1}")
        t = am * (aw - n - 1) / (am + 1)
        matrix = matrix + t * np.eye(n)
        if self.mean is not None:
            matrix += rows * am / (rows + am) * np.outer(means - self.mean, means - self.mean)

        def coefficients(k: int) -> Coefficients:
            a = aw - n + k
            constant = 0.5 * math.log(am / (rows + am)) - rows / 2 * math.log(math.pi)
            constant += math.lgamma((rows + a + 1) / 2) - math.lgamma((a + 1) / 2) + (a + k + 1) / 2 * math.log(t)
            return Coefficients(constant, 0.5, (rows + a + 1) / 2)

        return GaussianScore(data, matrix, coefficients, jacobian)
