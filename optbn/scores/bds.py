"""BDs: the Bayesian Dirichlet sparse score (Scutari 2016, "An empirical-Bayes score for discrete Bayesian networks").

BDeu with the prior spread over the parents' configurations that occur in the data only: q is replaced by their number
q~, so an unobserved configuration neither takes nor gives. Equal to BDeu when all configurations occur.
"""

from __future__ import annotations

from dataclasses import dataclass

from optbn.data.dataset import Dataset
from optbn.scores.counting import CountScore, Term, log_gamma
from optbn.scores.settings import check_positive


@dataclass(frozen=True)
class BDs:
    """`ess`: the equivalent sample size of the prior, spread evenly over the observed configurations."""

    ess: float = 1.0

    observed = True
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
