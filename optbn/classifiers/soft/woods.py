"""A small forest of smoothed trees, grown in the places that soft networks see.

Each tree leaves one of five folds out, so that there are predictions of trees and networks together for rows that none
of them has seen. They are bootstrapped from the other folds, and never grown again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from optbn.classifiers.soft.member import PlacedTree
from optbn.classifiers.soft.places import Places
from optbn.classifiers.soft.training import Data
from optbn.classifiers.trees.growing import Growth, Prepared
from optbn.data.discretise.transformer import Column
from optbn.smoothing.m_estimate import MEstimate

SMOOTHER = MEstimate(0.05)
DIGITS = 5
"""Decimals of probabilities."""


def planted(
    places: Places, data: Data, inside: Sequence[NDArray[np.float64]], n_trees: int, seed: np.random.SeedSequence,
    n_jobs: int | None,
) -> list[PlacedTree]:  # fmt: skip
    """The trees; tree t learns from the weights of `inside` number t modulo 5."""
    columns = [
        Column(column.name, np.zeros(0), None, 1)
        if column.levels is None
        else Column(column.name, None, tuple(str(cell) for cell in range(scale.n_cells)), None)
        for column, scale in zip(places.columns, places.scales, strict=True)
    ]
    rows = Prepared.of(columns, data.places, data.classes, data.n_classes)
    growth = Growth(1.0, False, False, candidates=max(1, math.isqrt(len(columns))))

    def one(t: int, stream: np.random.SeedSequence) -> PlacedTree:
        draw, split = stream.spawn(2)
        weights = inside[t % len(inside)]
        many = max(1, round(float(weights.sum())))
        drawn = np.random.default_rng(draw).multinomial(many, weights / weights.sum()).astype(np.float64)
        tree = rows.grow(drawn, growth, np.asarray(split.generate_state(1, np.uint64), dtype=np.uint64))
        counted = tree.count_tree
        found = SMOOTHER.fit(counted, np.random.default_rng(0)).at(counted, np.arange(tree.size))
        return PlacedTree(tree, np.round(found, DIGITS))

    streams = seed.spawn(n_trees)
    trees: list[PlacedTree] = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(one)(t, stream) for t, stream in enumerate(streams)
    )
    return trees
