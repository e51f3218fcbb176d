"""BDeu: the Bayesian Dirichlet score with a likelihood-equivalent uniform prior (Heckerman, Geiger, Chickering 1995).

With r levels of the child, q = product of the parents' declared levels, counts n_jk and n_j = sum_k n_jk,

    sum_j [ lgamma(a/q) - lgamma(a/q + n_j) ] + sum_jk [ lgamma(a/(q r) + n_jk) - lgamma(a/(q r)) ]

where a is the equivalent sample size `ess`. Markov-equivalent graphs score the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from optbn.base.settings import check_rows
from optbn.scores.counting import CountTerms
from optbn.scores.terms import Term, log_gamma


@dataclass(frozen=True)
class BDeu(CountTerms):
    """`ess`: the equivalent sample size of the prior, spread evenly over the cells of each family's table."""

    urn = True
    paper: ClassVar[str] = (
        "BDeu: Heckerman, Geiger, Chickering (1995), Learning Bayesian networks: the combination of knowledge"
        " and statistical data, Machine Learning 20."
    )

    ess: float = 1.0

    def __post_init__(self) -> None:
        check_rows(self, "ess")

    def joint(self, cells: float) -> Term:
        return log_gamma(self.ess / cells)

    def parent(self, configurations: float, levels: int) -> Term:
        return log_gamma(self.ess / configurations)

    def prior_rows(self) -> float | None:
        return self.ess
