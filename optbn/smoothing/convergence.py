"""How well chains agree and how much they know: split R-hat and effective sample size from batch means.

Every chain is recorded as the means of equal, consecutive batches of its draws, and the total of squares. Halves of
chains are compared with each other (split R-hat; Gelman et al., Bayesian Data Analysis). Batch means of length b vary
as sigma^2 tau / b with tau the autocorrelation time, so (draws) x var(draw) / (b x var(batch means)) estimates the
effective number of draws without keeping any. Of very many quantities, evenly spaced ones are watched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WATCHED = 1 << 18
"""The most quantities whose batches are kept: 16 MB per pair of batches and chains."""


@dataclass
class Moments:
    """Running record of `quantities` over batches of `length` draws in several chains."""

    means: list[list[NDArray[np.float64]]]  # per chain, per batch, of the watched quantities
    total: NDArray[np.float64]  # of all draws, of all quantities
    squares: NDArray[np.float64]
    length: int
    stride: int

    @classmethod
    def empty(cls, chains: int, quantities: int, length: int) -> Moments:
        stride = max(1, -(-quantities // WATCHED))
        return cls([[] for _ in range(chains)], np.zeros(quantities), np.zeros(quantities), length, stride)

    def add(self, chain: int, total: NDArray[np.float64], squares: NDArray[np.float64]) -> None:
        """One batch: the sum and the sum of squares of its draws."""
        self.means[chain].append(total[:: self.stride] / self.length)
        self.total += total
        self.squares += squares

    def halve(self) -> None:
        """Join neighbouring batches, so that a long run keeps few of them."""
        self.means = [[(a + b) / 2 for a, b in zip(c[::2], c[1::2], strict=True)] for c in self.means]
        self.length *= 2

    @property
    def batches(self) -> int:
        return len(self.means[0])

    @property
    def draws(self) -> int:
        return len(self.means) * self.batches * self.length

    def mean(self) -> NDArray[np.float64]:
        """Of all quantities."""
        return self.total / self.draws

    def spread(self) -> NDArray[np.float64]:
        """The variance of single draws, of all quantities."""
        return np.maximum(self.squares / self.draws - self.mean() ** 2, 0.0)

    def variance(self) -> NDArray[np.float64]:
        """The same of the watched quantities, as is all below."""
        return self.spread()[:: self.stride]

    def r_hat(self) -> NDArray[np.float64]:
        """Per quantity; 1 where nothing varies."""
        half = self.batches // 2
        halves = [np.mean(part, axis=0) for c in self.means for part in (c[:half], c[half:])]
        n = self.length * half
        between = np.var(halves, axis=0, ddof=1)
        within = np.maximum(self.variance() - np.var(halves, axis=0), 0.0) * n / max(n - 1, 1)
        varies = self._varies()
        ratio = between / np.where(varies & (within > 0), within, 1.0)
        return np.where(varies, np.sqrt((n - 1) / n + ratio), 1.0)

    def effective_draws(self) -> NDArray[np.float64]:
        """Per quantity, at most the number of draws; that number where nothing varies."""
        spread = np.mean([np.var(chain, axis=0, ddof=1) for chain in self.means], axis=0) * self.length
        varies = self._varies() & (spread > 0)
        ess = self.draws * self.variance() / np.where(varies, spread, 1.0)
        return np.where(varies, np.minimum(ess, self.draws), float(self.draws))

    def _varies(self) -> NDArray[np.bool_]:
        """Quantities whose draws differ by more than rounding."""
        return self.variance() > 1e-18 + 1e-12 * self.mean()[:: self.stride] ** 2


@dataclass
class Record:
    """What the chains of a sampler add up: of their estimates the moments, and sums over all kept draws.

    within         float64[m K], over `looks` draws: what theta varies by within a draw; of length 0 where nobody asks
    concentration, discount  float64[G]
    surprise       float64[m K], 1 over the probability of a row by the others; of length 0 where nobody asks
    """

    moments: Moments
    within: NDArray[np.float64]
    concentration: NDArray[np.float64]
    discount: NDArray[np.float64]
    surprise: NDArray[np.float64]
    looks: int = 0

    def variance(self) -> NDArray[np.float64]:
        """float64[m K], of theta: within draws and between them."""
        return self.within / self.looks + self.moments.spread()
