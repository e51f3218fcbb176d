"""Soft networks and a small forest of smoothed trees, mixed in the proportion that rows left out favour.

What is smooth and additive in pairs the networks have; trees have deep interactions and sharp edges. Both leave folds
out in training, so what each says of a row that it has not seen is known: the shares make the mixture give these rows'
classes the most probability (see `combine`), and one power calibrates it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from optbn.base.settings import check_whole
from optbn.classifiers.combine import best_power, stacked
from optbn.classifiers.soft.ensemble import Fitted, dealt
from optbn.classifiers.soft.estimator import SoftESKDB
from optbn.classifiers.soft.member import Mixture
from optbn.classifiers.soft.places import Places
from optbn.classifiers.soft.training import Data
from optbn.classifiers.soft.woods import forest


class Blend(SoftESKDB):
    """n_members, k, n_knots  of the soft networks, as for SoftESKDB;  n_trees  beside them;  n_jobs  threads

    After fitting: `strengths_`, and `shares_` of networks and trees.
    """

    def __init__(
        self,
        n_members: int = 20,
        k: int = 4,
        n_knots: int | None = None,
        n_trees: int = 100,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(n_members, k, n_knots, random_state, n_jobs)
        self.n_trees = n_trees

    shares_: tuple[float, float]

    def _check(self) -> None:
        super()._check()
        check_whole(self, "n_trees", 1)

    def _fitted(self, places: Places, data: Data, seed: np.random.SeedSequence) -> Fitted:
        soft, deal, plant = seed.spawn(3)
        networks = super()._fitted(places, data, soft)
        trees, said = forest(places, data, dealt(data, 1, deal), self.n_trees, plant, self.n_jobs)
        rows = networks.rows[~np.isnan(said[networks.rows, 0])]
        both = np.stack([networks.left_out[np.isin(networks.rows, rows)], said[rows]])
        classes, weights = data.classes[rows], data.weights[rows]
        share, power = np.array([0.5, 0.5]), 1.0
        if len(rows):
            share = stacked(both[:, np.arange(len(rows)), classes].T, weights)
            power = best_power(np.tensordot(share, both, 1), classes, weights)
        self.shares_ = (float(share[0]), float(share[1]))
        shares = np.concatenate([share[0] * networks.mixture.shares, np.full(len(trees), share[1] / len(trees))])
        mixture = Mixture(places, (*networks.mixture.parts, *trees), shares)
        left_out = np.tensordot(share, both, 1)
        return Fitted(mixture, power, networks.strengths, networks.resolution, left_out, rows)
