"""The interval of a single parameter, the Beta that it has by definition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optbn.network.intervals import beta_interval
from optbn.network.network import BayesianNetwork


def parameter_interval(
    network: BayesianNetwork, name: str, interval: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """float64[cells, K] twice: the ends of an interval around each probability of a variable's distribution."""
    p, precision = network.cpd(name).leaves.probabilities, network.precision[name]
    return beta_interval(p, p * (1.0 - p) / (precision[:, None] + 1.0), interval)
