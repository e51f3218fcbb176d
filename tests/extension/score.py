"""Toy: the Bayesian Dirichlet score with the same prior count in every cell of a table."""

from dataclasses import dataclass

from optbn.scores.counting import CountTerms
from optbn.scores.terms import Term, log_gamma


@dataclass(frozen=True)
class Toy(CountTerms):
    """`prior`: the count."""

    prior: float = 0.5
    urn = True

    def joint(self, cells: float) -> Term:
        return log_gamma(self.prior)

    def parent(self, configurations: float, levels: int) -> Term:
        return log_gamma(self.prior * levels)
