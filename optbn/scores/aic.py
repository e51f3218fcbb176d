"""AIC, Akaike's information criterion, for categorical or for real data; defined in information.py."""

from __future__ import annotations

from dataclasses import dataclass

from optbn.scores.information import PenalisedLikelihood


@dataclass(frozen=True)
class AIC(PenalisedLikelihood):
    """No hyper-parameters."""

    def weight(self, rows: float) -> float:
        return 1.0
