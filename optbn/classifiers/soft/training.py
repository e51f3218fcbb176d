"""Training members, alone and as an ensemble whose penalty is chosen by the rows that its members leave out.

The penalty is lambda / 2 times the squares of main scores and lambda r / 2 times those of pairs; with one lane for two
classes half of that. Every member leaves a fifth of the rows out. Together they go along lambda, each from where it
is, for as long as their mean prediction for rows left out, raised to the best power, gives these rows' classes more
probability; then r is raised as long as that helps. What is best for the mean is weaker than what is best for one, and
cannot be found by looking at one, nor at a few: a row is left out by a fifth of them.

Then every member is trained a little longer, and its predictions for the rows it leaves out give the power; then once
more with all rows, from where it is. Iterations end when little is gained: to go on to the optimum costs three times as
much, and is not better on rows left out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.combine import best_power, raised
from optbn.classifiers.soft.kernels.descent import minimise
from optbn.classifiers.soft.kernels.scores import Rows, zero_scores
from optbn.classifiers.soft.member import SoftNetwork, posterior
from optbn.classifiers.soft.structure import Structure

_log = logging.getLogger("optbn.classifiers.soft")

LAMBDAS = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
START = 2
"""Where the search begins: most tables are near it."""

RATIOS = (1.0, 3.0, 10.0, 30.0)
INTERCEPT = 1e-3
"""The penalty of the class's own scores."""

ITERATIONS = 200
ROUGH, FINE = 1e-3, 3e-4
"""Nats per row that an iteration must gain, while strengths are compared and at the end."""

DIGITS = 4
"""Decimals of scores: a model is a third as large, and says the same."""


@dataclass(frozen=True, eq=False)
class Data:
    """places float64[a, n], classes, weights; equal rows are one."""

    places: NDArray[np.float64]
    classes: NDArray[np.int64]
    weights: NDArray[np.float64]
    n_classes: int

    def take(self, rows: NDArray[np.int64]) -> Data:
        """Some of the rows."""
        return Data(self.places[:, rows], self.classes[rows], self.weights[rows], self.n_classes)


class Trainee:
    """A member in training: `inside` is how much of each row's weight it learns from."""

    def __init__(self, data: Data, structure: Structure, inside: NDArray[np.float64]) -> None:
        self.data, self.structure, self.design = data, structure, structure.design
        self.outside = np.flatnonzero(data.weights - inside > 1e-9)
        self.learn(inside)
        self.left, self.left_weights = self._rows_of(self.outside), (data.weights - inside)[self.outside]
        self.scores = zero_scores(data.n_classes, structure.cells)
        shares = np.bincount(self._classes, self._weights, data.n_classes) + 0.5
        logs = np.log(shares / shares.sum())
        own = logs if data.n_classes > 2 else logs[-1:] - logs[:1]
        self.scores[:, 0] = np.pad(own, (0, self.scores[:, 0].size - len(own))).reshape(self.scores[:, 0].shape)

    def learn(self, inside: NDArray[np.float64]) -> None:
        """From now on learn from rows of these weights."""
        rows = np.flatnonzero(inside > 1e-9)
        self._rows, self._classes, self._weights = self._rows_of(rows), self.data.classes[rows], inside[rows]

    def _rows_of(self, rows: NDArray[np.int64]) -> Rows:
        places = self.data.places if len(rows) == self.data.places.shape[1] else self.data.places[:, rows]
        return self.structure.rows(np.ascontiguousarray(places))

    def penalty(self, strength: float, ratio: float) -> NDArray[np.float64]:
        """float64[cells], of the square of a score, times two."""
        found = np.full(self.structure.cells, strength)
        found[1 + sum(self.structure.mains) :] *= ratio
        found[0] = INTERCEPT
        return found / 2.0 if self.data.n_classes == 2 else found

    def train(self, strength: float, ratio: float, tolerance: float) -> Trainee:
        """Go to the optimum from here."""
        if self.data.n_classes > 1:
            minimise(
                self._rows, self.design, self.data.n_classes, self._classes, self._weights, self.scores,
                self.penalty(strength, ratio), ITERATIONS, tolerance * float(self._weights.sum()),
            )  # fmt: skip
        return self

    def left_out(self) -> NDArray[np.float64]:
        """Its predictions for the rows outside, float64[outside, C]."""
        return posterior(self.left, self.design, self.scores, self.data.n_classes)

    def network(self) -> SoftNetwork:
        return SoftNetwork(self.structure, np.round(self.scores, DIGITS) + 0.0, self.data.n_classes)


@dataclass(frozen=True, eq=False)
class Strengths:
    """What was chosen, and the losses (nats per row left out) of what was tried, by (lambda, r)."""

    strength: float
    ratio: float
    losses: dict[tuple[float, float], float]


Run = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]
"""Applies a function to every item, perhaps in threads."""


def together(data: Data, trainees: Sequence[Trainee], run: Run) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The mean prediction for rows by the trainees that leave them out, float64[rows, C], and which rows these are."""
    total, times = np.zeros((len(data.classes), data.n_classes)), np.zeros(len(data.classes))
    for trainee, p in zip(trainees, run(Trainee.left_out, trainees), strict=True):
        total[trainee.outside] += p
        times[trainee.outside] += 1.0
    rows = np.flatnonzero(times)
    return total[rows] / times[rows, None], rows


def loss_of(p: NDArray[np.float64], classes: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
    """Nats per row after the best power."""
    if not len(p):
        return 0.0
    p = raised(p, best_power(p, classes, weights))
    own = np.maximum(p[np.arange(len(p)), classes], 1e-12)
    return float(-(weights @ np.log(own)) / weights.sum())


def choose(data: Data, trainees: Sequence[Trainee], run: Run) -> Strengths:
    """The strengths under which the trainees together are best; they end trained with them."""
    losses: dict[tuple[float, float], float] = {}
    states: dict[tuple[float, float], list[NDArray[np.float64]]] = {}

    def attempt(strength: float, ratio: float) -> float:
        run(lambda trainee: trainee.train(strength, ratio, ROUGH), trainees)
        p, rows = together(data, trainees, run)
        losses[strength, ratio] = loss_of(p, data.classes[rows], data.weights[rows])
        states[strength, ratio] = [trainee.scores.copy() for trainee in trainees]
        return losses[strength, ratio]

    def back_to(place: tuple[float, float]) -> None:
        for trainee, scores in zip(trainees, states[place], strict=True):
            trainee.scores[:] = scores

    def climb(strengths: Sequence[float], ratio: float, best: tuple[float, float]) -> tuple[float, float]:
        """Along the strengths for as long as it gets better."""
        for strength in strengths:
            if attempt(strength, ratio) > losses[best]:
                break
            best = (strength, ratio)
        return best

    best = (LAMBDAS[START], 1.0)
    attempt(*best)
    best = climb(LAMBDAS[START + 1 :], 1.0, best)
    if best == (LAMBDAS[START], 1.0):
        back_to(best)
        best = climb(LAMBDAS[START - 1 :: -1], 1.0, best)
    for ratio in RATIOS[1:]:
        back_to(best)
        if attempt(best[0], ratio) > losses[best]:
            break
        best = (best[0], ratio)
    if best[1] > 1.0:
        back_to(best)
        best = climb(LAMBDAS[LAMBDAS.index(best[0]) + 1 :], best[1], best)
    back_to(best)
    _log.info("strengths: %s", ", ".join(f"{s:g} x {r:g}: {loss:.5f}" for (s, r), loss in losses.items()))
    return Strengths(*best, losses)
