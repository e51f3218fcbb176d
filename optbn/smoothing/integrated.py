"""The hierarchical model with its strength integrated out: posteriors at many strengths, each weighed by its evidence.

log s ~ Normal(log K, spread^2) beforehand. The integral over log s is a sum over points at even steps, as far as WIDTH
spreads to both sides: for a smooth integrand that dies away, even steps are as good as any rule. The weight of a point
is its prior times the evidence of the counts there (of the variational posterior, the lower bound).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

if TYPE_CHECKING:
    from optbn.smoothing.hierarchical import Posterior

POINTS, WIDTH = 17, 4.0


@dataclass(frozen=True, eq=False)
class Mixture:
    """Posteriors at several strengths, and how much each is believed; its moments are those of the whole."""

    parts: tuple[Posterior, ...]
    weights: NDArray[np.float64]
    log_evidence: float

    @classmethod
    def over(cls, levels: int, spread: float, at: Callable[[float], Posterior]) -> Mixture:
        """Of the posteriors `at` each strength."""
        steps = np.linspace(-WIDTH, WIDTH, POINTS)
        parts = tuple(at(float(levels * np.exp(spread * step))) for step in steps)
        prior = -0.5 * steps**2
        logs = prior - logsumexp(prior) + np.array([part.log_evidence for part in parts])
        total = float(logsumexp(logs))
        return cls(parts, np.exp(logs - total), total)

    @property
    def s(self) -> float:
        """The geometric mean."""
        return float(np.exp(self.weights @ np.log([part.s for part in self.parts])))

    @property
    def alpha0(self) -> NDArray[np.float64]:
        """The mean."""
        return np.asarray(self.weights @ np.array([part.alpha0 for part in self.parts]))

    def theta(self) -> NDArray[np.float64]:
        """float64[Y, K]: posterior means."""
        return np.tensordot(self.weights, np.array([part.theta() for part in self.parts]), 1)

    def theta_deviations(self) -> NDArray[np.float64]:
        """float64[Y, K]: what the strengths vary by themselves, and what is between their means."""
        means = np.array([part.theta() for part in self.parts])
        squares = np.array([part.theta_deviations() for part in self.parts]) ** 2 + (means - self.theta()) ** 2
        return np.sqrt(np.tensordot(self.weights, squares, 1))

    def elsewhere(self) -> Mixture:
        """Of a context without rows."""
        return Mixture(tuple(part.elsewhere() for part in self.parts), self.weights, self.log_evidence)
