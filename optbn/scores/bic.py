"""BIC, the Bayesian information criterion, for categorical or for real data; defined in information.py."""

from __future__ import annotations

import math
from dataclasses import dataclass

from optbn.scores.information import PenalisedLikelihood


@dataclass(frozen=True)
class BIC(PenalisedLikelihood):
    """No hyper-parameters."""

    def weight(self, rows: float) -> float:
        return 0.5 * math.log(rows)
