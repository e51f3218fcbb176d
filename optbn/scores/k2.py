"""K2: the Bayesian Dirichlet score with all hyper-parameters 1 (Cooper and Herskovits 1992).

    sum_j [ lgamma(r) - lgamma(n_j + r) + sum_k lgamma(n_jk + 1) ]

Every distribution of the child is equally likely a priori, in every configuration of its parents.
"""

from __future__ import annotations

from dataclasses import dataclass

from optbn.data.dataset import Dataset
from optbn.scores.counting import CountScore, Term, log_gamma


@dataclass(frozen=True)
class K2:
    """No hyper-parameters."""

    observed = False
    uniform = True

    def bind(self, data: Dataset) -> CountScore:
        return CountScore(self, data)

    def joint(self, cells: float) -> Term:
        return log_gamma(1.0)

    def parent(self, configurations: float, levels: int) -> Term:
        return log_gamma(float(levels))

    def penalty(self, configurations: float, levels: int, rows: int) -> float:
        return 0.0

    def price(self, rows: int) -> float:
        return 0.0
