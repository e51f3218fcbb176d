"""Training soft networks, whose penalty is chosen by the rows that its members leave out.

The penalty is lambda / 2 times the squares of main scores and lambda r / 2 times those of pairs; with one lane for two
classes half of that. Every member leaves a fifth of the rows out. Together they go from one penalty to the next, each
from where it is, for as long as their mean prediction for rows left out, raised to the best power, gives these rows'
classes more probability: first towards weaker main effects with the pairs as they are, which many sets want; then on
with the pairs alone, or, where main effects should not be weaker, with all of it stronger. What is best for the mean is
weaker than what is best for one, and cannot be found by looking at one, nor at a few: a row is left out by a fifth of
them.

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
from optbn.classifiers.soft.kernels.descent import Descent, begun, minimise, repenalised
from optbn.classifiers.soft.kernels.scores import Rows, loss_and_slopes, zero_scores
from optbn.classifiers.soft.member import SoftNetwork, posterior
from optbn.classifiers.soft.structure import Structure

_log = logging.getLogger("optbn.classifiers.soft")

LAMBDAS = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
RATIOS = (1.0, 3.0, 10.0, 30.0)
START = 2, 0
"""Where the search begins: most tables are near it."""

INTERCEPT = 1e-3
"""The penalty of the class's own scores."""

ITERATIONS = 200
ROUGH, FINE = 2e-3, 5e-4
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


State = tuple[NDArray[np.float64], NDArray[np.float64], float, NDArray[np.float64]]
"""Scores, the gradient and the objective there, and the penalty."""


class Trainee:
    """A member in training: `inside` is how much of each row's weight it learns from.

    descent  where its training is; None before it begins
    """

    descent: Descent | None = None

    def __init__(self, data: Data, structure: Structure, inside: NDArray[np.float64]) -> None:
        self.structure, self.design = structure, structure.design
        self.begin(data, inside)
        self.scores = zero_scores(data.n_classes, structure.cells)
        shares = np.bincount(self._classes, self._weights, data.n_classes) + 0.5
        logs = np.log(shares / shares.sum())
        own = logs if data.n_classes > 2 else logs[-1:] - logs[:1]
        self.scores[:, 0] = np.pad(own, (0, self.scores[:, 0].size - len(own))).reshape(self.scores[:, 0].shape)

    def begin(self, data: Data, inside: NDArray[np.float64]) -> Trainee:
        """From now on learn from these rows, and leave out the rest of them."""
        self.data = data
        self.outside = np.flatnonzero(data.weights - inside > 1e-9)
        self.learn(inside)
        self.left, self.left_weights = self._rows_of(self.outside), (data.weights - inside)[self.outside]
        return self

    def learn(self, inside: NDArray[np.float64]) -> None:
        """From now on learn from rows of these weights."""
        rows = np.flatnonzero(inside > 1e-9)
        self._rows, self._classes, self._weights = self._rows_of(rows), self.data.classes[rows], inside[rows]
        if self.descent is not None:
            self.descent.many[0] = 0

    def forget(self) -> Trainee:
        """Let go of the cells of rows, which are larger than all else, until it begins again."""
        self.learn(np.zeros(len(self.data.weights)))
        self.left = self._rows
        return self

    def _rows_of(self, rows: NDArray[np.int64]) -> Rows:
        places = self.data.places if len(rows) == self.data.places.shape[1] else self.data.places[:, rows]
        return self.structure.rows(np.ascontiguousarray(places))

    def penalty(self, strength: float, ratio: float) -> NDArray[np.float64]:
        """float64[cells], of the square of a score, times two."""
        found = np.full(self.structure.cells, float(strength))
        found[1 + sum(self.structure.mains) :] *= ratio
        found[0] = INTERCEPT
        return found / 2.0 if self.data.n_classes == 2 else found

    def aim(self, strength: float, ratio: float, mass: float | None = None) -> Descent:
        """The descent with this penalty; `mass` is what the rows weigh together, if they are not those in memory."""
        penalty, here = self.penalty(strength, ratio), float(self._weights.sum())
        if self.descent is None:
            diagonal = np.empty_like(self.scores)
            loss_and_slopes(
                self._rows, self.design, self.data.n_classes, self._classes, self._weights, self.scores, True, diagonal
            )
            self.descent, self._mass = begun(self.scores, diagonal, penalty), here
        mass = here if mass is None else mass
        repenalised(self.descent, penalty, mass / self._mass)
        self._mass = mass
        return self.descent

    def state(self) -> State | None:
        """What `back_to` takes it back to."""
        d = self.descent
        return None if d is None else (d.x.copy(), d.g.copy(), float(d.at[0]), d.penalty.copy())

    def back_to(self, state: State | None) -> None:
        if self.descent is None or state is None:
            return
        repenalised(self.descent, state[3], 1.0)
        self.descent.x[:], self.descent.g[:], self.descent.at[0] = state[:3]

    def train(self, strength: float, ratio: float, tolerance: float) -> Trainee:
        """Go to the optimum from here."""
        if self.data.n_classes > 1:
            minimise(
                self._rows, self.design, self.data.n_classes, self._classes, self._weights, self.aim(strength, ratio),
                ITERATIONS, tolerance * float(self._weights.sum()),
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
    losses: dict[tuple[int, int], float] = {}
    best, kept = START, [trainee.state() for trainee in trainees]

    def attempt(place: tuple[int, int]) -> float:
        run(lambda trainee: trainee.train(LAMBDAS[place[0]], RATIOS[place[1]], ROUGH), trainees)
        p, rows = together(data, trainees, run)
        losses[place] = loss_of(p, data.classes[rows], data.weights[rows])
        return losses[place]

    def climb(weaker: int, pairs: int, steps: int = len(LAMBDAS)) -> bool:
        """In one direction for as long as it gets better; whether it did."""
        nonlocal best, kept
        begin = best
        for _ in range(steps):
            place = best[0] + weaker, best[1] + pairs
            if place in losses or not (0 <= place[0] < len(LAMBDAS) and 0 <= place[1] < len(RATIOS)):
                break
            if attempt(place) > losses[best]:
                for trainee, state in zip(trainees, kept, strict=True):
                    trainee.back_to(state)
                break
            best, kept = place, [trainee.state() for trainee in trainees]
        return best != begin

    attempt(best)
    kept = [trainee.state() for trainee in trainees]
    if not climb(1, 0, 1):
        climb(-1, 0)
        climb(0, 1)
    elif not climb(1, 1):  # main effects weaker, pairs as they are
        climb(1, 0)
        climb(0, 1)
    elif climb(0, -1):
        climb(1, 0)
    else:
        climb(0, 1)
    named = {(LAMBDAS[i], RATIOS[j]): loss for (i, j), loss in losses.items()}
    _log.info("strengths: %s", ", ".join(f"{s:g} x {r:g}: {loss:.5f}" for (s, r), loss in named.items()))
    return Strengths(LAMBDAS[best[0]], RATIOS[best[1]], named)
