"""BIC, the Bayesian information criterion, for categorical or for real data; defined in information.py."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from optbn.scores.information import PenalisedLikelihood


@dataclass(frozen=True)
class BIC(PenalisedLikelihood):
    """No hyper-parameters."""

    paper: ClassVar[str] = "BIC: Schwarz (1978), Estimating the dimension of a model, Annals of Statistics 6."

    def weight(self, rows: float) -> float:
        return 0.5 * math.log(rows)
