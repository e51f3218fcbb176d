"""fNML: factorised normalised maximum likelihood (Silander, Roos, Kontkanen, Myllymaki 2008).

    log-likelihood - sum_j log C(r, n_j)

C(r, n) is the regret of a multinomial with r levels and n rows (kernels/terms.py); there is nothing to tune.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from optbn.scores.counting import CountTerms
from optbn.scores.terms import Term, n_log_n, n_log_regret


@dataclass(frozen=True)
class FNML(CountTerms):
    """No hyper-parameters."""

    paper: ClassVar[str] = (
        "fNML: Silander, Roos, Kontkanen, Myllymäki (2008), Factorized normalized maximum likelihood "
        "criterion for learning Bayesian network structures, PGM."
    )

    whole = True

    def joint(self, cells: float) -> Term:
        return n_log_n()

    def parent(self, configurations: float, levels: int) -> Term:
        return n_log_regret(levels)
