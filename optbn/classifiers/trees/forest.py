"""Forests of probability trees: bootstrap samples, a few random attributes at every node (Breiman 2001), averages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from optbn.base.errors import UnsupportedError
from optbn.classifiers.source import Source
from optbn.classifiers.trees.estimator import Trees, bits
from optbn.classifiers.trees.growing import Growth, values_of
from optbn.classifiers.trees.member import TreeMember
from optbn.smoothing.m_estimate import MEstimate
from optbn.smoothing.protocol import Smoother


class ProbabilityForest(Trees):
    """n_trees     bootstrap samples, a tree from each
    candidates  attributes drawn at every node: a number, or "sqrt" of how many there are
    vote        whether probabilities are the shares of the trees that say a class, and not the mean of theirs
    n_jobs      threads
    smoother    None: the m-estimate with a twentieth of a row, so that nothing is impossible; more makes forests worse
    The others are those of ProbabilityTree.
    """

    def __init__(
        self,
        n_trees: int = 100,
        candidates: int | str = "sqrt",
        smoother: Any = None,
        missing: str = "level",
        min_leaf: float = 1.0,
        criterion: str = "gain_ratio",
        mdl: bool = False,
        vote: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_trees = n_trees
        self.candidates = candidates
        self.smoother = smoother
        self.missing = missing
        self.min_leaf = min_leaf
        self.criterion = criterion
        self.mdl = mdl
        self.vote = vote
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Any], NDArray[np.float64]]:
        if isinstance(self.n_trees, bool) or not isinstance(self.n_trees, int | np.integer) or self.n_trees < 1:
            raise UnsupportedError(f"n_trees={self.n_trees!r}: expected a whole number, 1 or more")
        columns, _, _, weights, prepared = self._rows(source)
        growth = Growth(
            self.min_leaf, self.mdl, False, candidates=self._candidates(len(columns)), criterion=self.criterion
        )
        rows = max(1, round(float(weights.sum())))

        def planted(stream: np.random.SeedSequence) -> TreeMember:
            draw, split, sample = stream.spawn(3)
            drawn = np.random.default_rng(draw).multinomial(rows, weights / weights.sum()).astype(np.float64)
            tree = prepared.grow(drawn, growth, bits(split))
            return TreeMember.smoothed(columns, tree, smoother, np.random.default_rng(sample)).slim()

        members = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(planted)(stream) for stream in seed.spawn(self.n_trees)
        )
        return list(members), np.full(self.n_trees, 1.0 / self.n_trees)

    def _posterior(self, table: Any) -> NDArray[np.float64]:
        """All trees see the same columns: they are coded once."""
        first: TreeMember = self.members_[0]  # type: ignore[assignment]
        values = values_of(first.columns, table)
        total = np.zeros((values.shape[1], len(self.classes_)))
        for member, weight in zip(self.members_, self.weights_, strict=True):
            p = member.tree.predict(values, member.probabilities)  # type: ignore[attr-defined]
            total += weight * (np.eye(p.shape[1])[p.argmax(axis=1)] if self.vote else p)
        return np.asarray(total / total.sum(axis=1, keepdims=True))

    def _chosen_smoother(self) -> Smoother:
        return MEstimate(0.05) if self.smoother is None else super()._chosen_smoother()

    def _candidates(self, attributes: int) -> int:
        if self.candidates == "sqrt":
            return max(1, math.isqrt(attributes))
        if (
            isinstance(self.candidates, bool)
            or not isinstance(self.candidates, int | np.integer)
            or self.candidates < 1
        ):
            raise UnsupportedError(f"candidates={self.candidates!r}: expected a whole number above 0, or 'sqrt'")
        return int(self.candidates)
