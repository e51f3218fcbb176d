"""Training by all rows of a file, of which a sample is in memory: a pass for each evaluation, for all members at once.

Cut points, structure and strengths come from the sample; then every member goes from its optimum for the sample to that
for all rows, by the same descent and to the same tolerance as in memory. Each has a place of its own where it wants the
loss and the gradient; a pass adds them up for those that are not done yet. What the rows add that a member leaves out,
which are some of the sample, is taken off again: that calibrates what was trained, not what would be by the sample.

The rows are read from the file once. As places in single precision they stay in memory or in a temporary file, see
`optbn.classifiers.discriminative.rows`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.discriminative.rows import Rows
from optbn.classifiers.soft.kernels.descent import Descent, advance, again, penalised
from optbn.classifiers.soft.kernels.scores import loss_and_slopes
from optbn.classifiers.soft.member import CHUNK
from optbn.classifiers.soft.places import from_words
from optbn.classifiers.soft.training import FINE, ITERATIONS, Run, Strengths, Trainee

_log = logging.getLogger("optbn.classifiers.soft")

Scores = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Whole:
    """rows  all of them, as `Places.words`"""

    rows: Rows

    def train(self, trainees: Sequence[Trainee], strengths: Strengths, run: Run, without: bool) -> None:
        """Go to the optimum for all rows, or for all without those that each leaves out."""
        if trainees[0].data.n_classes == 1:
            return
        totals = [self.rows.total - (one.left_weights.sum() if without else 0.0) for one in trainees]
        states = [
            one.aim(strengths.strength, strengths.ratio, total) for one, total in zip(trainees, totals, strict=True)
        ]
        wanted, passes = [m for m, s in enumerate(states) if again(s, ITERATIONS)], 0
        while wanted:
            losses = self._sums([trainees[m] for m in wanted], [states[m] for m in wanted], run, without)
            passes += 1
            left = []
            for m, loss in zip(wanted, losses, strict=True):
                s = states[m]
                if advance(s, penalised(loss, s.tried, s.penalty, s.fresh), ITERATIONS, FINE * totals[m]):
                    left.append(m)
            wanted = left
        _log.info("%d passes over the rows", passes)

    def _sums(self, trainees: Sequence[Trainee], states: Sequence[Descent], run: Run, without: bool) -> list[float]:
        """The losses where the members want to know them; the gradients go where they want them."""
        losses = [0.0] * len(trainees)
        for m, (one, s) in enumerate(zip(trainees, states, strict=True)):
            s.fresh[:] = 0.0
            if without:
                classes = one.data.classes[one.outside]
                losses[m] = loss_and_slopes(
                    one.left, one.design, one.data.n_classes, classes, -one.left_weights, s.tried, False, s.fresh
                )
        for words, classes, weights in self.rows:
            places = from_words(words)

            def add(
                m: int, places: Scores = places, classes: NDArray[np.int64] = classes, weights: Scores = weights
            ) -> float:
                one, s = trainees[m], states[m]
                part, loss = np.empty_like(s.fresh), 0.0
                for first in range(0, len(classes), CHUNK):
                    end = min(first + CHUNK, len(classes))
                    loss += loss_and_slopes(
                        one.structure.rows(places, first, end - first), one.design, one.data.n_classes,
                        classes[first:end], weights[first:end], s.tried, False, part,
                    )  # fmt: skip
                    s.fresh[:] += part
                return loss

            for m, loss in enumerate(run(add, range(len(trainees)))):
                losses[m] += loss
        return losses
