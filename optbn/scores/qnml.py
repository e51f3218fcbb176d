"""qNML: quotient normalised maximum likelihood (Silander, Leppa-aho, Jaasaari, Roos 2018).

    log NML(v and P as one variable of q r values) - log NML(P as one variable of q values)
        = log-likelihood(v given P) - log C(q r, N) + log C(q, N)

Markov-equivalent graphs score the same, and there is nothing to tune. C is the multinomial regret (kernels/terms.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from optbn.base.errors import LimitError
from optbn.scores.counting import CountTerms
from optbn.scores.kernels.terms import log_regret
from optbn.scores.terms import Term, n_log_n

MAX_CELLS = 1 << 28  # the regret takes a step per cell
_regret = lru_cache(maxsize=1 << 16)(log_regret)


@dataclass(frozen=True)
class QNML(CountTerms):
    """No hyper-parameters."""

    paper: ClassVar[str] = (
        "qNML: Silander, Leppä-aho, Jääsaari, Roos (2018), Quotient normalized maximum likelihood criterion "
        "for learning Bayesian network structures, AISTATS."
    )

    uniform = False
    whole = True

    def joint(self, cells: float) -> Term:
        return n_log_n()

    def parent(self, configurations: float, levels: int) -> Term:
        return n_log_n()

    def penalty(self, configurations: float, levels: int, rows: float) -> float:
        if configurations * levels > MAX_CELLS:
            raise LimitError(
                f"QNML: a family with {configurations * levels:.3g} cells; lower max_parents, or merge levels"
            )
        cells = int(configurations) * levels
        return float(_regret(cells, int(rows)) - _regret(int(configurations), int(rows)))
