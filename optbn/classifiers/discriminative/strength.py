"""How strong the penalty is, by cross-validation.

The path runs from strong to weak, every fit starting from the one before, and ends when held-out rows have become less
likely twice in a row. Towards the generative classifier the strongest candidate is infinite, the generative classifier
itself. The strength belongs to the sum of the losses, so it is the precision of a prior, and one found on a sample of
the rows is right for all of them.

Folds are dealt by weight and not by row: in a random order of the distinct rows, class by class, unit after unit of
weight goes to the next fold. So a row of weight 2 is two rows, each in a fold of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.discriminative.factors import Layout
from optbn.classifiers.discriminative.parameters import Parameters
from optbn.classifiers.discriminative.rows import Block, Rows
from optbn.classifiers.discriminative.training import Objective, minimise
from optbn.smoothing.protocol import Smoother

_log = logging.getLogger("optbn.classifiers.discriminative")

STRENGTHS = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
FOLDS = 5
MOST_ROWS = 20_000
"""Distinct rows to choose by."""

ITERATIONS, TOLERANCE = 100, 1e-5


Make = Callable[[Layout, NDArray[np.float64]], Parameters]
"""Parameters for generative scores."""


def chosen_strength(
    rows: Rows, layout: Layout, make: Make, towards: str, smoother: Smoother, seed: np.random.SeedSequence,
    strengths: Sequence[float] = STRENGTHS,
) -> tuple[float, dict[float, float]]:  # fmt: skip
    """The strength with the least held-out loss, and the losses (nats per row) of all that were tried."""
    draw, deal, probabilities = seed.spawn(3)
    cells, classes, weights = rows.together(MOST_ROWS, draw)
    if not weights.sum() >= 2:
        return strengths[0], {}
    held_out = folds(classes, weights, FOLDS, deal)
    fits = []
    for fold in held_out.T:
        inside = weights - fold
        inside[inside < 1e-9] = 0.0
        if fold.sum() == 0 or inside.sum() == 0:
            continue
        counts, class_counts = layout.counted(cells, classes, inside)
        generative, _ = layout.generative(counts, class_counts, smoother, probabilities)
        chosen = make(layout, generative)
        some, rest = inside > 0, fold > 0
        train: Block = (cells[some], classes[some], inside[some])
        test: Block = (cells[rest], classes[rest], fold[rest])
        fits.append((chosen, train, test, chosen.neutral if towards == "generative" else np.zeros(chosen.size)))
    losses: dict[float, float] = {}
    states = [chosen.neutral for chosen, *_ in fits]
    total = sum(test[2].sum() for _, _, test, _ in fits)
    worse = 0
    for strength in (np.inf, *strengths) if towards == "generative" else strengths:
        loss = 0.0
        for i, (chosen, train, test, target) in enumerate(fits):
            if strength < np.inf:
                objective = Objective([train], chosen, strength, target)
                states[i], _ = minimise(objective, states[i], ITERATIONS, TOLERANCE)
            loss += Objective([test], chosen, 0.0, target).loss(states[i])[0]
        losses[float(strength)] = loss / total
        worse = worse + 1 if losses[float(strength)] > min(losses.values()) else 0
        if worse == 2:
            break
    best = min(losses, key=losses.__getitem__)
    _log.info("penalty: %s", ", ".join(f"{s:g}: {value:.5f}" for s, value in losses.items()))
    return best, losses


def folds(
    classes: NDArray[np.int64], weights: NDArray[np.float64], k: int, seed: np.random.SeedSequence
) -> NDArray[np.float64]:
    """float64[n, k]: how much of each row's weight is in each fold."""
    order = np.lexsort((np.random.default_rng(seed).random(len(classes)), classes))
    ends = np.cumsum(weights[order])
    begins = ends - weights[order]

    def measure(to: NDArray[np.float64], fold: int) -> NDArray[np.float64]:
        """Of the numbers below `to`, how many lie in [fold, fold + 1) modulo k."""
        whole, rest = np.divmod(to, k)
        return np.asarray(whole + np.clip(rest - fold, 0.0, 1.0))

    answer = np.empty((len(classes), k))
    for fold in range(k):
        answer[order, fold] = measure(ends, fold) - measure(begins, fold)
    return np.rint(answer * 2**20) / 2**20
