"""Where the evidence of contexts that share a mean is highest: over q(beta), and over the strength and the prior too.

`hierarchical` says what the numbers are. By the envelope theorem the slope of the bound's maximum over (kappa, tau), as
a function of s and alpha0, is the bound's own slope at the maximising (kappa, tau).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import gammaln, psi

from optbn.base.threads import one_blas_thread
from optbn.smoothing.kernels.hierarchical import ascend, ascend_strength, slope_by_strength

MOST_STEPS = 100
TINY = 1e-300
AROUND_ONE = 1.5
"""Standard deviation of a learned log alpha0: one table has one mean, which says little about where means lie."""

FURTHEST = 14.0
"""Of logarithms from their centres, where they are learned: a factor of a million."""


class Peak(NamedTuple):
    """The highest point: q(beta) = Dir(tau kappa), s, alpha0 float64[K]; `trace` is the bound after every step."""

    kappa: NDArray[np.float64]
    tau: float
    s: float
    alpha0: NDArray[np.float64]
    trace: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Distinct:
    """A table of counts as the bound needs it: each count of a level once.

    levels     start, value, times: level x was seen value[j] times in times[j] contexts, j = start[x] .. start[x+1]-1
    contexts   (total, times): `times` contexts have `total` rows each
    shares     float64[K]: each level's frequency, summed over the contexts
    """

    levels: tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]
    contexts: tuple[NDArray[np.float64], NDArray[np.float64]]
    shares: NDArray[np.float64]

    @classmethod
    def of(cls, counts: NDArray[np.float64]) -> Distinct:
        Y, K = counts.shape
        ordered = np.sort(counts, axis=0).T.ravel()
        fresh = np.ones(K * Y, dtype=np.bool_)
        fresh[1:] = ordered[1:] != ordered[:-1]
        fresh[::Y] = True
        at = np.flatnonzero(fresh)
        times = np.diff(np.append(at, K * Y)).astype(np.float64)
        total = counts.sum(axis=1)
        rows, contexts = np.unique(total, return_counts=True)
        return cls(
            (np.searchsorted(at, np.arange(K + 1) * Y), ordered[at], times),
            (rows, contexts.astype(np.float64)),
            (counts / np.maximum(total, TINY)[:, None]).sum(axis=0),
        )

    def peak(self, s: float | None, alpha0: NDArray[np.float64] | str, spread: float, tolerance: float) -> Peak:
        """At these s and alpha0, or the highest where s is None and alpha0 is "learned" or "each"."""
        if isinstance(alpha0, str):
            return self._with_prior(s, spread, alpha0 == "each", tolerance)
        return self._with_strength(spread, alpha0, tolerance) if s is None else self._at(s, alpha0, tolerance)

    def _at(self, s: float, alpha0: NDArray[np.float64], tolerance: float) -> Peak:
        """Over (kappa, tau) alone."""
        trace = np.empty(MOST_STEPS + 1)
        kappa, tau = self._start(alpha0)
        tau, steps = ascend(kappa, tau, float(self.contexts[1].sum()), *self.levels, s, alpha0, tolerance, trace)
        return Peak(kappa, tau, s, alpha0, trace[: steps + 1] + self._constant(s, alpha0))

    def _with_strength(self, spread: float, alpha0: NDArray[np.float64], tolerance: float) -> Peak:
        """Over s as well: log s ~ Normal(log K, spread^2) beforehand."""
        trace, centre = np.empty(MOST_STEPS + 1), float(len(self.shares))
        kappa, tau = self._start(alpha0)
        tau, s, steps = ascend_strength(
            kappa, tau, self.levels, self.contexts, centre, spread, alpha0, tolerance, trace
        )
        return Peak(kappa, tau, s, alpha0, trace[: steps + 1] + self._constant(s, alpha0))

    def _with_prior(self, s: float | None, spread: float, each: bool, tolerance: float) -> Peak:
        """Over alpha0, one for all levels or one for each, around 1 beforehand; and over s if it is None."""
        K = len(self.shares)
        centre = np.append(np.zeros(K if each else 1), np.log(K if s is None else s))
        spreads = np.append(np.full(len(centre) - 1, AROUND_ONE), spread)
        kappa, tau = self._start(np.ones(K))
        trace = np.empty(MOST_STEPS + 1)

        def unpacked(logs: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            return float(np.exp(logs[-1])), np.exp(logs[:-1]) * np.ones(K)

        def loss(logs: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            nonlocal tau
            (strength, alpha0), away = unpacked(logs), (logs - centre) / spreads
            n_contexts = float(self.contexts[1].sum())
            tau, steps = ascend(kappa, tau, n_contexts, *self.levels, strength, alpha0, tolerance, trace)
            slope = alpha0 * (psi(alpha0.sum()) - psi(alpha0) + psi(tau * kappa) - psi(tau))
            by_s = slope_by_strength(kappa, tau, self.levels, self.contexts, strength) if s is None else 0.0
            slopes = np.append(slope if each else slope.sum(), by_s) - away / spreads
            return float(0.5 * away @ away - trace[steps] - self._constant(strength, alpha0)), -slopes

        limits = [(c - FURTHEST, c + FURTHEST) for c in centre]
        if s is not None:
            limits[-1] = (centre[-1], centre[-1])
        ends = {"gtol": 1e-3, "ftol": 1e-10}
        with one_blas_thread():
            best = minimize(loss, centre, jac=True, method="L-BFGS-B", bounds=limits, options=ends).x
        strength, alpha0 = unpacked(best)
        return self._at(strength if s is None else s, alpha0, tolerance)

    def _start(self, alpha0: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """kappa and tau to begin from."""
        kappa = self.shares + alpha0
        return kappa / kappa.sum(), float(self.contexts[1].sum() + alpha0.sum())

    def _constant(self, s: float, alpha0: NDArray[np.float64]) -> float:
        """What of the bound is constant in kappa and tau."""
        total, contexts = self.contexts
        prior = gammaln(alpha0.sum()) - gammaln(alpha0).sum()
        return float((contexts * (gammaln(s) - gammaln(total + s))).sum() + prior)
