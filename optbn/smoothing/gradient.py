"""Hierarchical gradient smoothing: a context adds the frequencies of its ancestors, each with a learned strength.

    p_uk = (n_uk + sum_{ancestors p} a_p f_pk + a_0 / K) / (N_u + sum_p a_p + a_0),     f_pk = n_pk / n_p

(Zhang 2020, chapter 5, with strengths a > 0 and the uniform distribution as the topmost ancestor, so that nothing is
impossible that was not seen). The strengths minimise the leave-one-out loss: every row is predicted with its own count
taken away from its leaf and from all its ancestors. Minimised without restraint that overfits, one strength per inner
node; log a_p is pulled to 0, the published a_p = 1, by a penalty lambda / 2 sum (log a_p)^2.

lambda is chosen by leaving rows out once more, from the strengths themselves. Taking row i out of the objective moves
its optimum by H^{-1} g_i to first order, g_i the gradient of row i's loss and H the objective's Hessian, for which
G + lambda I stands, G = sum g_i g_i'; so the loss of rows that neither the counts nor the strengths have seen is

    loss(lambda) + trace(G (G + lambda I)^{-1})

the last being the effective number of strengths. lambda = infinity is among the candidates, so the choice expects no
loss against a = 1. Ordered from the leaves up, G factors without fill, for a row touches one path of the tree.

`Gradient(alpha=1)` is the published behaviour: no optimisation, no uniform ancestor, 0 for a level that never occurs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.base.settings import check_positive
from optbn.base.threads import one_blas_thread
from optbn.smoothing.kernels.gradient import combine, inverse_trace, leave_one_out
from optbn.smoothing.m_estimate import whole_counts
from optbn.smoothing.protocol import Estimate
from optbn.smoothing.tree import CountTree

PENALTIES = (np.inf, 100.0, 10.0, 1.0, 0.1)
WIDEST = 12.0
"""|log a| at most: beyond e^12 rows a strength changes nothing any more."""


@dataclass(frozen=True)
class Gradient:
    """alpha  None to learn the strengths, or one fixed strength for all ancestors (1 as published, no uniform one)
    penalty  None to choose it by leave-one-out, or lambda itself (0 is allowed, inf is a = 1)
    """

    alpha: float | None = None
    penalty: float | None = None

    def __post_init__(self) -> None:
        if self.alpha is not None:
            check_positive(self, "alpha")
        if self.penalty is not None and not (isinstance(self.penalty, int | float) and self.penalty >= 0):
            raise UnsupportedError(f"Gradient: penalty is {self.penalty!r}, expected at least 0 or None")

    @property
    def whole(self) -> bool:
        """Whether counts of rows must be whole numbers."""
        return self.alpha is None

    def fit(self, tree: CountTree, generator: np.random.Generator) -> Estimate:
        problem = Problem.of(tree)
        diagnostics: dict[str, float] = {}
        if self.alpha is not None:
            strength = np.append(np.full(problem.size - 1, float(self.alpha)), 0.0)
        else:
            whole_counts(tree, "gradient")
            with one_blas_thread():
                strength, diagnostics = _learned(problem, PENALTIES if self.penalty is None else (self.penalty,))
        probabilities, unseen = np.empty_like(tree.counts), np.empty_like(tree.counts)
        combine(strength, tree.counts, tree.totals, problem.parent, problem.place, probabilities, unseen)
        return Estimate(probabilities, unseen, diagnostics={**diagnostics, "strength": strength})


class Problem(NamedTuple):
    """What the loss is made of; see `kernels.gradient.leave_one_out`."""

    counts: NDArray[np.float64]
    totals: NDArray[np.float64]
    parent: NDArray[np.int64]
    place: NDArray[np.int64]
    node: NDArray[np.int64]
    level: NDArray[np.int64]
    depth: int
    size: int

    @classmethod
    def of(cls, tree: CountTree) -> Problem:
        """Strengths are numbered from the deepest inner node up, the uniform's last."""
        inner = np.flatnonzero(np.diff(tree.first_child) > 0)[::-1]
        place = np.full(len(tree.parent), -1, dtype=np.int64)
        place[inner] = np.arange(len(inner))
        rows = tree.counts * (np.diff(tree.first_child) == 0)[:, None]
        node, level = np.nonzero(rows)
        return cls(
            tree.counts, tree.totals, tree.parent.astype(np.int64), place, node, level, int(tree.depth[-1]),
            len(inner) + 1,
        )  # fmt: skip

    def loss(self, log_strength: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The leave-one-out loss in nats, summed over rows, and its gradient."""
        gradient = np.zeros(self.size)
        return self._evaluate(log_strength, gradient, np.empty((0, self.depth + 1))), gradient

    def _evaluate(
        self, log_strength: NDArray[np.float64], gradient: NDArray[np.float64], own: NDArray[np.float64]
    ) -> float:
        return float(
            leave_one_out(
                np.exp(log_strength), self.node, self.level, self.counts, self.totals, self.parent, self.place,
                gradient, own,
            )
        )  # fmt: skip

    def effective_number(self, log_strength: NDArray[np.float64], penalty: float) -> float:
        """trace(G (G + penalty I)^{-1})."""
        if not 0.0 < penalty < np.inf:
            return 0.0 if penalty else float(self.size)

        own = np.zeros((len(self.node), self.depth + 1))
        self._evaluate(log_strength, np.zeros(self.size), own)
        counts = self.counts[self.node, self.level]
        return self.size - penalty * float(inverse_trace(own, counts, self.node, self.parent, self.place, penalty))


def _learned(problem: Problem, penalties: tuple[float, ...]) -> tuple[NDArray[np.float64], dict[str, float]]:
    """The strengths under the best of the penalties, each found from the one before, and what was found."""
    from scipy.optimize import minimize

    start = np.zeros(problem.size)
    best: tuple[float, float, float, NDArray[np.float64]] | None = None
    for penalty in penalties:
        if penalty < np.inf and len(problem.node):

            def objective(z: NDArray[np.float64], penalty: float = penalty) -> tuple[float, NDArray[np.float64]]:
                loss, gradient = problem.loss(z)
                return loss + 0.5 * penalty * float(z @ z), gradient + penalty * z

            bounds = [(-WIDEST, WIDEST)] * problem.size
            start = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500}).x
        loss = problem.loss(start)[0]
        criterion = loss + problem.effective_number(start, penalty)
        if best is None or criterion < best[0]:
            best = (criterion, loss, penalty, start)
    assert best is not None
    criterion, loss, penalty, z = best
    return np.exp(z), {"penalty": penalty, "leave_one_out_loss": loss, "criterion": criterion}
