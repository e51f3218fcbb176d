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
from optbn.classifiers.soft.kernels.descent import advance, begun, penalised
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
        diagonals = [np.empty_like(one.scores) for one in trainees]
        self._sums(trainees, [one.scores for one in trainees], diagonals, run, without, second=True)
        penalties = [one.penalty(strengths.strength, strengths.ratio) for one in trainees]
        states = [begun(one.scores, d, p) for one, d, p in zip(trainees, diagonals, penalties, strict=True)]
        wanted, passes = list(range(len(trainees))), 1
        while wanted:
            some = [states[m] for m in wanted]
            members = [trainees[m] for m in wanted]
            losses = self._sums(members, [s.tried for s in some], [s.fresh for s in some], run, without)
            passes += 1
            left = []
            for m, s, loss in zip(wanted, some, losses, strict=True):
                rows = self.rows.total - (trainees[m].left_weights.sum() if without else 0.0)
                if advance(s, penalised(loss, s.tried, penalties[m], s.fresh), ITERATIONS, FINE * rows):
                    left.append(m)
            wanted = left
        _log.info("%d passes over the rows", passes)

    def _sums(
        self, trainees: Sequence[Trainee], at: Sequence[Scores], found: Sequence[Scores], run: Run, without: bool,
        second: bool = False,
    ) -> list[float]:  # fmt: skip
        """The losses at scores; found become their gradients, or the diagonals of their Hessians."""
        losses = [0.0] * len(trainees)
        for m, one in enumerate(trainees):
            found[m][:] = 0.0
            if without:
                data, out = one.data, one.outside
                losses[m] = loss_and_slopes(
                    one.left, one.design, data.n_classes, data.classes[out], -one.left_weights, at[m], second, found[m]
                )
        for words, classes, weights in self.rows:
            places = from_words(words)

            def add(
                m: int, places: Scores = places, classes: NDArray[np.int64] = classes, weights: Scores = weights
            ) -> float:
                one, part, loss = trainees[m], np.empty_like(found[m]), 0.0
                for first in range(0, len(classes), CHUNK):
                    end = min(first + CHUNK, len(classes))
                    rows = one.structure.rows(places, first, end - first)
                    loss += loss_and_slopes(
                        rows,
                        one.design,
                        one.data.n_classes,
                        classes[first:end],
                        weights[first:end],
                        at[m],
                        second,
                        part,
                    )
                    found[m][:] += part
                return loss

            for m, loss in enumerate(run(add, range(len(trainees)))):
                losses[m] += loss
        return losses
