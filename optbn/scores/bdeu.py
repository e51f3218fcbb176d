"""BDeu: the Bayesian Dirichlet score with a likelihood-equivalent uniform prior (Heckerman, Geiger, Chickering 1995).

With r levels of the child, q = product of the parents' declared levels, counts n_jk and n_j = sum_k n_jk,

    sum_j [ lgamma(a/q) - lgamma(a/q + n_j) ] + sum_jk [ lgamma(a/(q r) + n_jk) - lgamma(a/(q r)) ]

where a is the equivalent sample size `ess`. Markov-equivalent graphs score the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from optbn.data.dataset import Dataset
from optbn.scores.counting import CountScore, Term, log_gamma
from optbn.scores.settings import check_positive


@dataclass(frozen=True)
class BDeu:
    """`ess`: the equivalent sample size of the prior, spread evenly over the cells of each family's table."""

    ess: float = 1.0

    observed = False
    uniform = True

    def __post_init__(self) -> None:
        check_positive(self, "ess")

    def bind(self, data: Dataset) -> CountScore:
        return CountScore(self, data)

    def joint(self, cells: float) -> Term:
        return log_gamma(self.ess / cells)

    def parent(self, configurations: float, levels: int) -> Term:
        return log_gamma(self.ess / configurations)

    def penalty(self, configurations: float, levels: int, rows: int) -> float:
        return 0.0

    def price(self, rows: int) -> float:
        return 0.0
