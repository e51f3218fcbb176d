"""K2: the Bayesian Dirichlet score with all hyper-parameters 1 (Cooper and Herskovits 1992).

    sum_j [ lgamma(r) - lgamma(n_j + r) + sum_k lgamma(n_jk + 1) ]

Every distribution of the child is equally likely a priori, in every configuration of its parents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from optbn.scores.counting import CountTerms
from optbn.scores.terms import Term, log_gamma


@dataclass(frozen=True)
class K2(CountTerms):
    """No hyper-parameters."""

    urn = True
    paper: ClassVar[str] = (
        "K2: Cooper, Herskovits (1992), A Bayesian method for the induction of probabilistic networks from "
        "data, Machine Learning 9."
    )

    def joint(self, cells: float) -> Term:
        return log_gamma(1.0)

    def parent(self, configurations: float, levels: int) -> Term:
        return log_gamma(float(levels))
