"""BDs: the Bayesian Dirichlet sparse score (Scutari 2016, "An empirical-Bayes score for discrete Bayesian networks").

BDeu with the prior spread over the parents' configurations that occur in the data only: q is replaced by their number
q~, so an unobserved configuration neither takes nor gives. Equal to BDeu when all configurations occur.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from optbn.scores.bdeu import BDeu


@dataclass(frozen=True)
class BDs(BDeu):
    """`ess`: the equivalent sample size of the prior, spread evenly over the observed configurations."""

    paper: ClassVar[str] = "BDs: Scutari (2016), An empirical-Bayes score for discrete Bayesian networks, PGM."

    observed = True

    def prior_rows(self) -> float | None:
        return None
