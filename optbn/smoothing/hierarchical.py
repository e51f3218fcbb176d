"""Hierarchical multinomial-Dirichlet smoothing: contexts share one unknown mean, and it is learned from all of them.

    beta ~ Dir(alpha0_1, .., alpha0_K),   theta_y | beta ~ Dir(s beta),   alpha = s beta   (Azzimonti, Corani, Zaffalon)

Estimates are posterior means, E theta_xy = (n_xy + E alpha_x) / (N_y + s), so an empty context answers E alpha / s.

Variational: q(beta) = Dir(tau kappa), q(theta_y) = Dir(nu_y). The one expectation without closed form is bounded by

    E log Gamma(alpha) <= log Gamma(1 + a) - a log a + E[alpha log alpha] - E[log alpha],   a = E alpha,

for log Gamma(1 + z) - z log z is concave. Written out it is log Gamma(a) + s (1 - kappa) / tau + (1 - a) (log kappa +
psi(tau) - psi(tau kappa)), the published Lemma 6 (of Kim, Voelker, Saul 2013). Given kappa the best nu is n_xy + s
kappa_x whatever tau is, so nu is eliminated: what remains is a function of kappa and tau in which the counts enter as
a Dirichlet-multinomial evidence, and whose Hessian is a diagonal with a border (`kernels.hierarchical.ascend`).
Newton's method takes 5 to 10 steps where alternating updates take 15 to 35; every step is halved until the bound
rises. Contexts without rows are left out: they do not change the posterior, and each would loosen the bound;
`compat="published"` has them in.

The strength s is learned: the bound, maximised over kappa and tau, is a function of s alone
(`kernels.hierarchical.ascend_strength`), and where the evidence is highest new rows are predicted best. A weak prior
around the number of levels keeps the s of few contexts from the ends, where a level that was not seen is impossible.
alpha0 is learned the same way (`ascent`), one number for all levels, around 1; one for each level predicts worse: a
table has but one mean to learn it from. Each family has its own: one s for a whole network is nearer on some and much
farther on others (results/strength).

Exact: `polynomial`, for small tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.base.registry import unknown
from optbn.base.settings import check_positive
from optbn.smoothing.ascent import Distinct
from optbn.smoothing.integrated import Mixture
from optbn.smoothing.m_estimate import whole_counts
from optbn.smoothing.polynomial import exact_moments
from optbn.smoothing.protocol import Estimate, matched_precision
from optbn.smoothing.tree import CountTree

METHODS = ("variational", "exact")
STRENGTHS = ("learned", "levels", "integrated")
PRIORS = ("learned", "each")
SPREAD = 1.5
"""Of log s around log K, where s is learned: two contexts say little about it, and no evidence is highest at 0 or
infinity."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is known about alpha and about every context's distribution.

    counts        float64[Y, K], the contexts' counts
    s             the strength of the contexts' prior
    alpha0        float64[K], the prior of beta
    mean          float64[K], E alpha
    covariance    float64[K, K], Cov alpha
    log_evidence  of the counts; variational: its lower bound
    trace         the bound before and after every step; empty for the exact posterior
    precision     tau, what Dir(tau kappa) has learned about beta; nan for the exact posterior
    """

    counts: NDArray[np.float64]
    s: float
    alpha0: NDArray[np.float64]
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

    def elsewhere(self) -> Posterior:
        """Of a context without rows."""
        return replace(self, counts=np.zeros((1, self.counts.shape[1])))


Prior = float | str | Sequence[float]
"""alpha0: a number for all levels, a number for each, or how it is learned (PRIORS)."""


def posterior(
    counts: NDArray[np.float64],
    s: float | str = "levels",
    alpha0: Prior = 1.0,
    method: str = "variational",
    tolerance: float = 1e-6,
    spread: float = SPREAD,
    compat: str | None = None,
) -> Posterior:
    """The posterior of one table, counts float64[Y, K]; see Hierarchical for the rest. Exact needs whole counts.

    Without rows, or with one level, nothing is known about s and alpha0 but their priors.
    """
    counts = np.asarray(counts, dtype=np.float64)
    K = counts.shape[1]
    seen = counts[counts.sum(axis=1) > 0]
    if compat == "published" and len(seen):
        seen = counts
    known = np.ones(K) if isinstance(alpha0, str) else np.broadcast_to(np.asarray(alpha0, np.float64), K).copy()
    if seen.shape[0] == 0 or K == 1:
        return _nothing_learned(counts, float(K) if isinstance(s, str) else float(s), known)
    peak = Distinct.of(seen).peak(
        None if s == "learned" else float(K) if isinstance(s, str) else float(s),
        alpha0 if isinstance(alpha0, str) else known,
        spread,
        tolerance,
    )
    if method == "exact":
        mean, covariance, evidence = exact_moments(np.rint(seen).astype(np.int64), peak.s, peak.alpha0)
        return Posterior(counts, peak.s, peak.alpha0, mean, covariance, evidence, np.zeros(0), float("nan"))
    kappa, tau, strength, prior, trace = peak
    covariance = _covariance(strength, kappa, tau)
    return Posterior(counts, strength, prior, strength * kappa, covariance, float(trace[-1]), trace, tau)


def _nothing_learned(counts: NDArray[np.float64], s: float, alpha0: NDArray[np.float64]) -> Posterior:
    """No rows to learn from, or one level only: beta is what it was before, and the evidence is 1."""
    tau = float(alpha0.sum())
    kappa = alpha0 / tau
    return Posterior(counts, s, alpha0, s * kappa, _covariance(s, kappa, tau), 0.0, np.zeros(1), tau)


def _covariance(s: float, kappa: NDArray[np.float64], tau: float) -> NDArray[np.float64]:
    """Cov alpha of alpha = s beta, beta ~ Dir(tau kappa)."""
    return np.asarray(s * s * (np.diag(kappa) - np.outer(kappa, kappa)) / (tau + 1.0))


@dataclass(frozen=True)
class Hierarchical:
    """s           strength of the prior of each context: "learned" (the likeliest, for each family and depth on its
                own), "integrated" (all, each as likely as the evidence says: `integrated`, which takes longer),
                "levels" (the number of levels, as published) or a number
    spread      of an s that is learned or integrated: log s ~ Normal(log K, spread^2) beforehand; inf: s is learned
                where the evidence is highest
    alpha0      the prior of the shared mean: "learned" (one number for all levels), "each" (one for each is learned), a
                number (1, as published) or a list with one for each level
    method      "variational" or "exact"
    tolerance   relative change of kappa and tau at which Newton's method stops
    compat      "published" has contexts without rows in the bound, too; with s="levels" and alpha0=1 the answers are
                the paper's

    What is learned is always that of the variational bound, also for the exact posterior.
    """

    paper: ClassVar[str] = (
        "Probabilities: Azzimonti, Corani, Zaffalon (2019), Hierarchical estimation of parameters in Bayesian"
        " networks, Computational Statistics and Data Analysis 137."
    )

    s: float | str = "learned"
    spread: float = SPREAD
    alpha0: Prior = "learned"
    method: str = "variational"
    tolerance: float = 1e-6
    compat: str | None = None

    def __post_init__(self) -> None:
        if self.compat not in (None, "published"):
            raise UnsupportedError(f"hierarchical: compat is {self.compat!r}, expected None or 'published'")
        if self.method not in METHODS:
            raise unknown("method of the hierarchical smoother", self.method, METHODS)
        if isinstance(self.s, str) and self.s not in STRENGTHS:
            raise UnsupportedError(
                f"Hierarchical: s is {self.s!r}, expected a number above 0, {' or '.join(STRENGTHS)}"
            )
        if isinstance(self.alpha0, str):
            known = self.alpha0 in PRIORS
        else:
            known = bool(np.all(np.isfinite(self.alpha0)) and np.all(np.asarray(self.alpha0) > 0))
        if not known:
            raise UnsupportedError(
                f"Hierarchical: alpha0 is {self.alpha0!r}, expected numbers above 0, {' or '.join(PRIORS)}"
            )
        for name in ("s", "tolerance"):
            if not isinstance(getattr(self, name), str):
                check_positive(self, name)
        if self.spread != float("inf"):
            check_positive(self, "spread")
        elif self.s == "integrated":
            raise UnsupportedError("Hierarchical: s='integrated' needs a prior, a finite spread such as 1.5")

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
            answer = self.posterior(tree.counts[contexts], self._empty(tree, d, len(contexts)))
            probabilities[contexts] = answer.theta()[: len(contexts)]
            deviations[contexts] = answer.theta_deviations()[: len(contexts)]
        empty = answer.elsewhere()
        unseen = np.tile(empty.theta(), (len(probabilities), 1))
        rows = matched_precision(empty.theta(), empty.theta_deviations())
        evidence = {"log_evidence" if self.method == "exact" else "lower_bound": answer.log_evidence}
        learned = {"s": answer.s, "alpha0": answer.alpha0.tolist()}
        return Estimate(
            probabilities, unseen, deviations, {**evidence, **learned},
            matched_precision(probabilities, deviations), np.repeat(rows, len(probabilities)),
        )  # fmt: skip

    def _empty(self, tree: CountTree, depth: int, seen: int) -> int:
        """How many configurations of a depth have no rows, where they count."""
        return math.prod(tree.sizes[:depth]) - seen if self.compat == "published" and tree.sizes else 0

    def posterior(self, counts: NDArray[np.float64], empty: int = 0) -> Posterior | Mixture:
        """The posterior of one table under these settings; `empty` contexts more have no rows."""
        counts = np.concatenate([counts, np.zeros((empty, counts.shape[1]))]) if empty else counts
        if not isinstance(self.alpha0, str) and np.size(self.alpha0) not in (1, counts.shape[1]):
            raise UnsupportedError(
                f"Hierarchical: alpha0 has {np.size(self.alpha0)} numbers for a variable of {counts.shape[1]} levels"
            )

        def at(s: float | str) -> Posterior:
            return posterior(counts, s, self.alpha0, self.method, self.tolerance, self.spread, self.compat)

        return Mixture.over(counts.shape[1], self.spread, at) if self.s == "integrated" else at(self.s)
