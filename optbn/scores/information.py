"""Penalised maximum likelihood: log-likelihood - weight * free parameters.

Categorical data: sum_jk n_jk log(n_jk / n_j) - weight q (r - 1), q and r counting declared levels.
Real data: the linear-Gaussian regression of v on P with k members, N rows and residual sum of squares S:
- N/2 (log(2 pi S / N) + 1) - weight (k + 2), the parameters being k slopes, the intercept and the variance.
BIC has weight = log(N) / 2 (Schwarz 1978), AIC has weight = 1 (Akaike 1974).
"""

from __future__ import annotations

import math
from abc import abstractmethod

from optbn.data.dataset import Dataset, Real
from optbn.scores.counting import CountScore, CountTerms
from optbn.scores.gaussian import Coefficients, GaussianScore, cross_products
from optbn.scores.terms import Term, n_log_n


class PenalisedLikelihood(CountTerms):
    """What BIC and AIC share; a subclass says the weight of a parameter."""

    uniform = False

    @abstractmethod
    def weight(self, rows: float) -> float:
        """What one parameter costs, in nats."""

    def bind(self, data: Dataset) -> CountScore | GaussianScore:
        """Tied to categorical or to real data; mixed data are refused by name."""
        if not any(isinstance(domain, Real) for domain in data.domains):
            return CountScore(self, data)
        _, products, jacobian = cross_products(self, data)
        rows, weight = data.total_weight, self.weight(data.total_weight)

        def coefficients(k: int) -> Coefficients:
            constant = -rows / 2 * (math.log(2 * math.pi / rows) + 1) - weight * (k + 2)
            return Coefficients(constant, 0.0, rows / 2)

        return GaussianScore(data, products, coefficients, jacobian, ends=True)

    def joint(self, cells: float) -> Term:
        return n_log_n()

    def parent(self, configurations: float, levels: int) -> Term:
        return n_log_n()

    def penalty(self, configurations: float, levels: int, rows: float) -> float:
        return self.weight(rows) * configurations * (levels - 1)

    def price(self, rows: float) -> float:
        return self.weight(rows)
