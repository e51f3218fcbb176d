"""Minimising the penalised negative conditional log-likelihood, and what happened on the way.

One evaluation of the loss and its gradient is one pass over the rows. L-BFGS is scipy's; with 20 corrections it needs a
third of the passes that it needs with the 5 of the published experiments. The alternative for very many rows is
stochastic: AdaGrad, one row at a time in a new random order every pass, which needs few passes and ends near the
optimum but not in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from optbn.base.errors import UnsupportedError
from optbn.base.threads import one_blas_thread
from optbn.classifiers.discriminative.kernels.likelihood import adaptive_pass, loss_and_gradient
from optbn.classifiers.discriminative.parameters import Direct, Exponents, Parameters
from optbn.classifiers.discriminative.rows import Block
from optbn.report.tables import Series
from optbn.report.tables import curves as draw

RATE = 0.5
"""The first step of AdaGrad in every parameter."""


@dataclass
class Curve:
    """How the loss fell, from the start: after every iteration its value in nats, and the passes made until then.

    loss is the negative conditional log-likelihood of the training rows without the penalty.
    """

    loss: list[float] = field(default_factory=list)
    passes: list[int] = field(default_factory=list)
    converged: bool = False

    def at(self, iterations: int) -> float:
        """The loss after this many iterations, or at the end where training stopped earlier."""
        return self.loss[min(iterations, len(self.loss) - 1)]


@dataclass(frozen=True, eq=False)
class Objective:
    """The loss of some rows plus strength / 2 times the squared distance of penalised parameters from the target."""

    rows: Iterable[Block]
    parameters: Parameters
    strength: float
    target: NDArray[np.float64]

    def loss(self, x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The negative conditional log-likelihood and its gradient."""
        scores = self.parameters.scores(x)
        gradient = np.zeros_like(scores)
        total = 0.0
        for cells, classes, weights in self.rows:
            total += loss_and_gradient(cells, classes, weights, scores, self.parameters.layout.cells, gradient)
        return total, self.parameters.pullback(x, scores, gradient)

    def penalty(self, x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The penalty and its gradient."""
        away = np.where(self.parameters.penalised, x - self.target, 0.0)
        return 0.5 * self.strength * float(away @ away), self.strength * away


def minimise(
    objective: Objective, start: NDArray[np.float64], iterations: int, tolerance: float, corrections: int = 20
) -> tuple[NDArray[np.float64], Curve]:
    """L-BFGS until an iteration gains less than `tolerance` of the objective."""
    curve = Curve()
    last, evaluations = 0.0, 0

    def evaluate(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        nonlocal last, evaluations
        last, slope = objective.loss(x)
        evaluations += 1
        if evaluations == 1:
            keep(x)
        if objective.strength:
            more, pull = objective.penalty(x)
            return last + more, slope + pull
        return last, slope

    def keep(x: Any) -> None:  # the last evaluation of a line search is the point it goes to
        curve.loss.append(last)
        curve.passes.append(evaluations)

    options = {"maxiter": iterations, "maxfun": 10 * iterations + 10, "maxcor": corrections, "ftol": tolerance,
               "gtol": 1e-6}  # fmt: skip
    with one_blas_thread():
        found = minimize(evaluate, start, jac=True, method="L-BFGS-B", callback=keep, options=options)
    curve.converged = bool(found.success)
    return found.x, curve


def descend(
    objective: Objective, start: NDArray[np.float64], passes: int, seed: np.random.SeedSequence
) -> tuple[NDArray[np.float64], Curve]:
    """AdaGrad; the loss on the curve is the one met on the way through a pass."""
    chosen = objective.parameters
    if not isinstance(chosen, Direct | Exponents):
        raise UnsupportedError(
            "solver='sgd' needs a free parameter for every score: parameterisation d, or w at level 4"
        )
    random = np.random.default_rng(seed)
    layout = chosen.layout
    values, target = chosen._table(start), chosen._table(objective.target)
    scale = chosen.generative if isinstance(chosen, Exponents) else np.ones_like(values)
    scale[:, chosen.width :] = 0.0
    touched = layout.own_counts.sum(axis=1)
    pull = np.zeros(values.shape[1])
    pull[: layout.cells] = objective.strength / np.maximum(touched, 1.0)
    squares = np.full_like(values, 1e-8)
    curve = Curve()
    for done in range(passes):
        loss = 0.0
        for cells, classes, weights in objective.rows:
            order = random.permutation(len(classes))
            loss += adaptive_pass(
                cells, classes, weights, order, scale, target, pull, values, squares, layout.cells, chosen.width, RATE
            )
        curve.loss.append(loss)
        curve.passes.append(done + 1)
    return chosen._flat(values).copy(), curve


def plot_curves(curves: Mapping[str, Curve], path: str | Path, passes: int | None = None) -> None:
    """The loss after every pass, a line per curve, logarithmic axes; needs matplotlib."""
    series: Series = {}
    for name, curve in curves.items():
        points = zip(curve.passes, curve.loss, strict=True)
        series["training", name] = [(float(p), loss) for p, loss in points if passes is None or p <= passes]
    draw(Path(path), series, "passes", "NLL", True)
