"""A small forest of smoothed trees, grown in the places that soft networks see.

Its trees leave a fold out, a fifth of them each fold, so that it can be said what they and the networks together would
make of rows that none has seen. They are bootstrapped from the other folds, and never grown again.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.soft.member import PlacedTree
from optbn.classifiers.soft.places import Places
from optbn.classifiers.soft.training import Data
from optbn.classifiers.trees.growing import Growth, Prepared
from optbn.data.discretise.transformer import Column
from optbn.smoothing.m_estimate import MEstimate

SMOOTHER = MEstimate(0.05)
DIGITS = 5
"""Decimals of probabilities."""


def forest(
    places: Places, data: Data, inside: list[NDArray[np.float64]], n_trees: int, seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> tuple[list[PlacedTree], NDArray[np.float64]]:  # fmt: skip
    """The trees, and the mean of those that leave a row out, float64[rows, C], NaN where none does."""
    from sklearn.utils.parallel import Parallel, delayed

    columns = [
        Column(column.name, np.zeros(0), None, 1 if np.isnan(data.places[i]).any() else None)
        if column.levels is None
        else Column(column.name, None, tuple(str(cell) for cell in range(scale.n_cells)), None)
        for i, (column, scale) in enumerate(zip(places.columns, places.scales, strict=True))
    ]
    rows = Prepared.of(columns, data.places, data.classes, data.n_classes)
    growth = Growth(1.0, False, False, candidates=max(1, math.isqrt(len(columns))))

    def planted(t: int, stream: np.random.SeedSequence) -> PlacedTree:
        draw, split = stream.spawn(2)
        weights = inside[t % len(inside)]
        many = max(1, round(float(weights.sum())))
        drawn = np.random.default_rng(draw).multinomial(many, weights / weights.sum()).astype(np.float64)
        tree = rows.grow(drawn, growth, np.asarray(split.generate_state(1, np.uint64), dtype=np.uint64))
        counted = tree.count_tree
        found = SMOOTHER.fit(counted, np.random.default_rng(0)).at(counted, np.arange(tree.size))
        return PlacedTree(tree, np.round(found, DIGITS))

    streams = seed.spawn(n_trees)
    trees = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(planted)(t, s) for t, s in enumerate(streams))
    total, times = np.zeros((len(data.classes), data.n_classes)), np.zeros(len(data.classes))
    for fold, weights in enumerate(inside):
        out = np.flatnonzero(data.weights - weights > 1e-9)
        some = np.ascontiguousarray(data.places[:, out])
        for tree in trees[fold :: len(inside)]:
            total[out] += tree.at(some)
            times[out] += 1.0
    return trees, np.where(times > 0, 1.0, np.nan)[:, None] * total / np.maximum(times, 1.0)[:, None]
