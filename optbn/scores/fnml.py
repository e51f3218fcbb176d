"""fNML: factorised normalised maximum likelihood (Silander, Roos, Kontkanen, Myllymaki 2008).

    log-likelihood - sum_j log C(r, n_j)

C(r, n) is the regret of a multinomial with r levels and n rows (kernels/terms.py); there is nothing to tune.
"""

from __future__ import annotations

from dataclasses import dataclass

from optbn.data.dataset import Dataset
from optbn.scores.counting import CountScore, Term, n_log_n, n_log_regret


@dataclass(frozen=True)
class FNML:
    """No hyper-parameters."""

    observed = False
    uniform = True

    def bind(self, data: Dataset) -> CountScore:
        return CountScore(self, data)

    def joint(self, cells: float) -> Term:
        return n_log_n()

    def parent(self, configurations: float, levels: int) -> Term:
        return n_log_regret(levels)

    def penalty(self, configurations: float, levels: int, rows: int) -> float:
        return 0.0

    def price(self, rows: int) -> float:
        return 0.0
