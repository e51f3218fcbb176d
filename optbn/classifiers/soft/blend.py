"""Soft networks, smoothed trees and counted networks, mixed in the proportion that rows left out favour.

What is smooth and additive in pairs the soft networks have; trees have deep interactions and sharp edges; networks with
counted probabilities are steady where rows are few. All leave rows out in training, so there is a prediction of each
for rows that it has not seen: the shares are those that give these rows' classes the most probability (see `combine`),
and one power calibrates the mixture.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from optbn.base.settings import check_whole
from optbn.classifiers.combine import best_power, stacked
from optbn.classifiers.soft.ensemble import Fitted, dealt, left_out
from optbn.classifiers.soft.estimator import SoftESKDB
from optbn.classifiers.soft.generative import Counted
from optbn.classifiers.soft.member import Mixture, Part
from optbn.classifiers.soft.places import Places
from optbn.classifiers.soft.training import Data
from optbn.classifiers.soft.whole import Whole
from optbn.classifiers.soft.woods import planted

_log = logging.getLogger("optbn.classifiers.soft")


class Blend(SoftESKDB):
    """n_members, k, n_knots  of the soft networks, as for SoftESKDB
    n_trees, n_counted     trees and counted networks beside them;  n_jobs  threads

    After fitting: `strengths_`, and `shares_` of soft networks, trees and counted networks.
    """

    def __init__(
        self,
        n_members: int = 20,
        k: int = 4,
        n_knots: int | None = None,
        n_trees: int = 100,
        n_counted: int = 20,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(n_members, k, n_knots, random_state, n_jobs)
        self.n_trees = n_trees
        self.n_counted = n_counted

    shares_: tuple[float, ...]

    def _check(self) -> None:
        super()._check()
        check_whole(self, "n_trees", 1)
        check_whole(self, "n_counted", 1)

    def _fitted(self, places: Places, data: Data, seed: np.random.SeedSequence, whole: Whole | None) -> Fitted:
        if whole is not None:
            drawn = data.weights.sum()
            _log.warning("trees and counted networks learn from a sample of %g of %g rows", drawn, whole.rows.total)
        soft, deal, plant, count = seed.spawn(4)
        networks = super()._fitted(places, data, soft, whole)
        inside = dealt(data, 1, deal)
        trees = planted(places, data, inside, self.n_trees, plant, self.n_jobs)
        counted = Counted.of(places.scales, data, inside, self.n_counted, count, self.n_jobs)
        predictions = np.full((3, len(data.classes), data.n_classes), np.nan)
        predictions[0, networks.rows] = networks.left_out
        predictions[1] = left_out(trees, data, inside)
        predictions[2] = counted.left_out
        rows = np.flatnonzero(~np.isnan(predictions).any(axis=(0, 2)))
        predictions, classes, weights = predictions[:, rows], data.classes[rows], data.weights[rows]
        shares, power = np.full(3, 1.0 / 3.0), 1.0
        if len(rows):
            shares = stacked(predictions[:, np.arange(len(rows)), classes].T, weights)
            power = best_power(np.tensordot(shares, predictions, 1), classes, weights)
        self.shares_ = tuple(shares.tolist())
        parts: tuple[Part, ...] = (*networks.mixture.parts, *trees, *counted.networks)
        inner = (networks.mixture.shares, np.full(len(trees), 1.0 / len(trees)), counted.shares)
        each = np.concatenate([share * those for share, those in zip(shares, inner, strict=True)])
        mixed = np.tensordot(shares, predictions, 1)
        return Fitted(Mixture(places, parts, each), power, networks.strengths, networks.resolution, mixed, rows)
