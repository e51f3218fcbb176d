"""Hierarchical multinomial-Dirichlet smoothing: contexts share one unknown mean, and it is learned from all of them.

    beta ~ Dir(alpha0, ..., alpha0),   theta_y | beta ~ Dir(s beta),   alpha = s beta     (Azzimonti, Corani, Zaffalon)

Estimates are posterior means, E theta_xy = (n_xy + E alpha_x) / (N_y + s), so an empty context answers E alpha / s.

Variational: q(beta) = Dir(tau kappa), q(theta_y) = Dir(nu_y). The one expectation without closed form is bounded by

    E log Gamma(alpha) <= log Gamma(1 + a) - a log a + E[alpha log alpha] - E[log alpha],   a = E alpha,

for log Gamma(1 + z) - z log z is concave. Given kappa the best nu is n_xy + s kappa_x whatever tau is, so nu is
eliminated: what remains is a function of kappa and tau in which the counts enter as a Dirichlet-multinomial evidence,
and whose Hessian is a diagonal with a border (`kernels.hierarchical.ascend`). Newton's method takes 5 to 10 steps
where alternating updates take 15 to 35; every step is halved until the bound rises. Contexts without rows are left
out: they do not change the posterior, and each would loosen the bound.

The strength s is learned: the bound, maximised over kappa and tau, is a function of s alone
(`kernels.hierarchical.ascend_strength`), and where the evidence is highest new rows are predicted best. A weak prior
around the number of levels keeps the s of few contexts from the ends, where a level that was not seen is impossible.

Exact: `polynomial`, for small tables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from optbn.base.errors import UnsupportedError
from optbn.base.registry import unknown
from optbn.base.settings import check_positive
from optbn.smoothing.kernels.hierarchical import ascend, ascend_strength
from optbn.smoothing.m_estimate import whole_counts
from optbn.smoothing.polynomial import exact_moments
from optbn.smoothing.protocol import Estimate, matched_precision
from optbn.smoothing.tree import CountTree

METHODS = ("variational", "exact")
STRENGTHS = ("learned", "levels")
MOST_STEPS = 100
SPREAD = 1.5
"""Of log s around log K, where s is learned: two contexts say little about it, and no evidence is highest at 0 or
infinity."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is known about alpha and about every context's distribution.

    counts        float64[Y, K], the contexts' counts
    s             the strength of the contexts' prior
    mean          float64[K], E alpha
    covariance    float64[K, K], Cov alpha
    log_evidence  of the counts; variational: its lower bound
    trace         the bound before and after every step; empty for the exact posterior
    precision     tau, what Dir(tau kappa) has learned about beta; nan for the exact posterior
    """

    counts: NDArray[np.float64]
    s: float
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    log_evidence: float
    trace: NDArray[np.float64]
    precision: float

    def theta(self) -> NDArray[np.float64]:
        """float64[Y, K]: posterior means."""
        return np.asarray((self.counts + self.mean) / (self.counts.sum(axis=1, keepdims=True) + self.s))

    def theta_covariance(self, y: int, z: int) -> NDArray[np.float64]:
        """float64[K, K]: Cov(theta_y, theta_z).

        Given alpha the contexts are independent and theta_y ~ Dir(n_y + alpha): the covariance is that of the
        conditional means, Cov(alpha) / ((N_y + s)(N_z + s)), plus for y = z the mean of the conditional one.
        """
        weight = self.counts.sum(axis=1) + self.s
        between = self.covariance / (weight[y] * weight[z])
        if y != z:
            return np.asarray(between)
        nu = self.counts[y] + self.mean
        products = np.outer(nu, nu) + self.covariance  # E of nu nu' over alpha
        within = (np.diag(nu) * weight[y] - products) / (weight[y] ** 2 * (weight[y] + 1.0))
        return np.asarray(between + within)

    def theta_deviations(self) -> NDArray[np.float64]:
        """float64[Y, K]: posterior standard deviations, the roots of the diagonals of `theta_covariance(y, y)`."""
        weight = self.counts.sum(axis=1, keepdims=True) + self.s
        nu = self.counts + self.mean
        variance = np.diag(self.covariance)
        within = (nu * weight - nu * nu - variance) / (weight**2 * (weight + 1.0))
        return np.asarray(np.sqrt(np.maximum(within + variance / weight**2, 0.0)))


def posterior(
    counts: NDArray[np.float64],
    s: float | None = None,
    alpha0: float = 1.0,
    method: str = "variational",
    tolerance: float = 1e-6,
) -> Posterior:
    """The posterior of one table, counts float64[Y, K], at a strength s, by default K. Exact needs whole counts."""
    counts = np.asarray(counts, dtype=np.float64)
    s = float(counts.shape[1]) if s is None else float(s)
    seen = counts[counts.sum(axis=1) > 0]
    if method == "exact":
        mean, covariance, evidence = exact_moments(np.rint(seen).astype(np.int64), s, alpha0)
        return Posterior(counts, s, mean, covariance, evidence, np.zeros(0), float("nan"))
    if seen.shape[0] == 0 or seen.shape[1] == 1:
        return _nothing_learned(counts, s, alpha0)

    table, trace = _Distinct.of(seen), np.empty(MOST_STEPS + 1)
    kappa, tau = table.start_of_ascent(alpha0)
    tau, steps = ascend(kappa, tau, float(len(seen)), *table.levels, s, alpha0, tolerance, trace)
    return _variational(counts, table, s, alpha0, kappa, tau, trace[: steps + 1])


def learned_posterior(
    counts: NDArray[np.float64], alpha0: float = 1.0, spread: float = SPREAD, tolerance: float = 1e-6
) -> Posterior:
    """The variational posterior at the likeliest strength s: log s ~ Normal(log K, spread^2), evidence by the bound.

    Without rows, or with one level, nothing is known about s but its prior.
    """
    counts = np.asarray(counts, dtype=np.float64)
    levels = float(counts.shape[1])
    seen = counts[counts.sum(axis=1) > 0]
    if seen.shape[0] == 0 or seen.shape[1] == 1:
        return _nothing_learned(counts, levels, alpha0)

    table, trace = _Distinct.of(seen), np.empty(MOST_STEPS + 1)
    kappa, tau = table.start_of_ascent(alpha0)
    tau, s, steps = ascend_strength(kappa, tau, table.levels, table.contexts, levels, spread, alpha0, tolerance, trace)
    return _variational(counts, table, s, alpha0, kappa, tau, trace[: steps + 1])


@dataclass(frozen=True, eq=False)
class _Distinct:
    """A table of counts in which every context has rows, as the bound needs it: each count of a level once.

    levels     start, value, times: level x was seen value[j] times in times[j] contexts, j = start[x] .. start[x+1]-1
    contexts   (total, times): `times` contexts have `total` rows each
    shares     float64[K]: each level's frequency, summed over the contexts
    """

    levels: tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]
    contexts: tuple[NDArray[np.float64], NDArray[np.float64]]
    shares: NDArray[np.float64]

    @classmethod
    def of(cls, counts: NDArray[np.float64]) -> _Distinct:
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
            (counts / total[:, None]).sum(axis=0),
        )

    def start_of_ascent(self, alpha0: float) -> tuple[NDArray[np.float64], float]:
        """kappa and tau to begin from."""
        kappa = self.shares + alpha0
        return kappa / kappa.sum(), float(self.contexts[1].sum() + len(kappa) * alpha0)


def _nothing_learned(counts: NDArray[np.float64], s: float, alpha0: float) -> Posterior:
    """No rows to learn from, or one level only: beta is what it was before, and the evidence is 1."""
    K = counts.shape[1]
    kappa, tau = np.full(K, 1.0 / K), K * alpha0
    return Posterior(counts, s, s * kappa, _covariance(s, kappa, tau), 0.0, np.zeros(1), tau)


def _variational(
    counts: NDArray[np.float64],
    table: _Distinct,
    s: float,
    alpha0: float,
    kappa: NDArray[np.float64],
    tau: float,
    trace: NDArray[np.float64],
) -> Posterior:
    """The posterior at the end of an ascent; the trace gets what is constant in kappa and tau."""
    K, (total, contexts) = len(kappa), table.contexts
    constant = (contexts * (gammaln(s) - gammaln(total + s))).sum() + gammaln(K * alpha0) - K * gammaln(alpha0)
    trace = trace + constant
    return Posterior(counts, s, s * kappa, _covariance(s, kappa, tau), float(trace[-1]), trace, tau)


def _covariance(s: float, kappa: NDArray[np.float64], tau: float) -> NDArray[np.float64]:
    """Cov alpha of alpha = s beta, beta ~ Dir(tau kappa)."""
    return np.asarray(s * s * (np.diag(kappa) - np.outer(kappa, kappa)) / (tau + 1.0))


@dataclass(frozen=True)
class Hierarchical:
    """s           strength of the prior of each context: "learned" (the likeliest, for each family and depth on its
                own), "levels" (the number of levels, as published) or a number
    spread      of a learned s: log s ~ Normal(log K, spread^2) beforehand; inf: where the evidence is highest
    alpha0      the prior of the shared mean, per level
    method      "variational" or "exact"
    tolerance   relative change of kappa and tau at which Newton's method stops
    deviations  report posterior standard deviations

    A learned strength is always that of the variational bound, also for the exact posterior.
    """

    s: float | str = "learned"
    spread: float = SPREAD
    alpha0: float = 1.0
    method: str = "variational"
    tolerance: float = 1e-6
    deviations: bool = False

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise unknown("method of the hierarchical smoother", self.method, METHODS)
        if isinstance(self.s, str) and self.s not in STRENGTHS:
            raise UnsupportedError(
                f"Hierarchical: s is {self.s!r}, expected a number above 0, {' or '.join(STRENGTHS)}"
            )
        for name in ("s", "alpha0", "tolerance"):
            if not isinstance(getattr(self, name), str):
                check_positive(self, name)
        if self.spread != float("inf"):
            check_positive(self, "spread")

    def fit(self, tree: CountTree, generator: np.random.Generator) -> Estimate:
        """The leaves share one model; the inner nodes of a depth are contexts of a model of their own."""
        if self.method == "exact":
            whole_counts(tree, "hierarchical(method='exact')")
        probabilities = np.empty_like(tree.counts)
        deviations = np.empty_like(tree.counts)
        deepest = int(tree.depth[-1])
        no_children = np.diff(tree.first_child) == 0
        for d in range(deepest + 1):
            contexts = np.flatnonzero((tree.depth == d) | (no_children & (tree.depth < d)))
            answer = self.posterior(tree.counts[contexts])
            probabilities[contexts] = answer.theta()
            deviations[contexts] = answer.theta_deviations()
        empty = replace(answer, counts=np.zeros((1, tree.n_levels)))
        unseen = np.tile(empty.theta(), (len(probabilities), 1))
        rows = matched_precision(empty.theta(), empty.theta_deviations())
        evidence = {"log_evidence" if self.method == "exact" else "lower_bound": answer.log_evidence}
        return Estimate(
            probabilities, unseen, deviations if self.deviations else None, {**evidence, "s": answer.s},
            matched_precision(probabilities, deviations), np.repeat(rows, len(probabilities)),
        )  # fmt: skip

    def posterior(self, counts: NDArray[np.float64]) -> Posterior:
        """The posterior of one table under these settings."""
        if self.s == "learned":
            learned = learned_posterior(counts, self.alpha0, self.spread, self.tolerance)
            if self.method == "variational":
                return learned
            return posterior(counts, learned.s, self.alpha0, self.method, self.tolerance)
        s = float(counts.shape[1]) if isinstance(self.s, str) else self.s
        return posterior(counts, s, self.alpha0, self.method, self.tolerance)
