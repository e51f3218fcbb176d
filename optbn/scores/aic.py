"""AIC, Akaike's information criterion, for categorical or for real data; defined in information.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from optbn.scores.information import PenalisedLikelihood


@dataclass(frozen=True)
class AIC(PenalisedLikelihood):
    """No hyper-parameters."""

    paper: ClassVar[str] = (
        "AIC: Akaike (1974), A new look at the statistical model identification, IEEE Transactions on "
        "Automatic Control 19."
    )

    def weight(self, rows: float) -> float:
        return 1.0
