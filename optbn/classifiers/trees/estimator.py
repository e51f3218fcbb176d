"""Probability trees as scikit-learn classifiers, and what forests share with them.

A tree is grown (`growing`), perhaps cut back (`pruning`), and its nodes get smoothed probabilities: growing needs pure
leaves, predicting does not. With `validation` a share of the rows does not grow the tree but only counts in it, so that
estimates are not those of the rows that chose the splits; nodes that none of them reaches are left out.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from optbn.base.errors import UnsupportedError
from optbn.base.registry import unknown
from optbn.classifiers.discriminative.rows import distinct
from optbn.classifiers.discriminative.strength import folds
from optbn.classifiers.estimator import NetworkClassifier
from optbn.classifiers.source import OnDisk, Source
from optbn.classifiers.trees.explain import Explanation, dot, explanation, text
from optbn.classifiers.trees.growing import Growth, Prepared, columns_of, values_of
from optbn.classifiers.trees.member import TreeMember
from optbn.classifiers.trees.pruning import pessimistic, reduced
from optbn.classifiers.trees.tree import Tree, Values
from optbn.data.discretise.transformer import Column, checked_table
from optbn.smoothing.gradient import Gradient
from optbn.smoothing.protocol import Smoother

_log = logging.getLogger("optbn.classifiers.trees")

MISSING = ("level", "fractional")
CRITERIA = ("gain_ratio", "gain")
PRUNING = ("pessimistic", "reduced")
FOLDS = 5
CANDIDATES: dict[str, Smoother] = {
    **{f"gradient, strength {alpha:g}": Gradient(alpha) for alpha in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)},
    "gradient": Gradient(),
}
"""What "cv" chooses from. Learned strengths are among them, but not without trial: they minimise the loss of rows left
out of the counts and not of the choice of the splits, and a tree that knows its rows is trusted too much."""

HELD_OUT = 1 / 3
"""The share of the rows that reduced-error pruning keeps from growing."""


class Trees(NetworkClassifier):
    """What trees and forests share: rows coded once, settings checked."""

    smoother: Any
    missing: str
    min_leaf: float
    criterion: str
    mdl: bool

    def _rows(self, source: Source) -> tuple[tuple[Column, ...], Values, NDArray[Any], NDArray[np.float64], Prepared]:
        """Everything in memory: columns, values, classes, weights, and the rows prepared for growing.

        Equal rows are one with their total weight, so a row of weight 2 and a repeated row are drawn alike. What is
        drawn depends on their order, which is by the ranks of their values, whatever the units.
        """
        if self.missing not in MISSING:
            raise unknown("treatment of missing values", str(self.missing), MISSING)
        if self.criterion not in CRITERIA:
            raise unknown("criterion", str(self.criterion), CRITERIA)
        if not (np.isfinite(self.min_leaf) and self.min_leaf > 0):
            raise UnsupportedError(f"min_leaf={self.min_leaf!r}: expected a number above 0")
        table, classes, weights = source.sample()
        if isinstance(source, OnDisk) and len(classes) < source.n_rows:
            _log.warning("grown from a sample of %d of the %d rows; raise sample_size", len(classes), source.n_rows)
        columns = columns_of(table, weights, self.missing)
        ranked = [np.unique(column, return_inverse=True) for column in values_of(columns, table)]
        ranks, classes, weights = distinct(np.stack([of for _, of in ranked], axis=1), classes, weights)
        values = np.stack([points[ranks[:, a]] for a, (points, _) in enumerate(ranked)])
        return columns, values, classes, weights, Prepared.of(columns, values, classes, source.n_classes)

    @property
    def networks_(self) -> list[Any]:
        raise AttributeError(f"{type(self).__name__} is no network over the attributes")


class ProbabilityTree(Trees):
    """smoother    of the leaves' probabilities: a name of optbn.smoothing or an object, or "cv": hierarchical gradient
                smoothing with the strength of the ancestors chosen by five folds
    missing     "level": missing values are a branch of their own; "fractional": they go down all, as in C4.5
    min_leaf    rows that two branches of a split must have
    criterion   what splits are chosen by: "gain_ratio" among those of at least average gain, or "gain"
    mdl         lower the gain of cuts by the cost of naming them;  collapse  subtrees that make no fewer errors
    resolution  numbers nearer than this are not cut apart (C4.5 has 1e-5, whatever the unit)
    pruning     None, "pessimistic" (with `confidence`) or "reduced" (by a third of the rows, which then count again)
    validation  share of the rows that does not grow the tree but gives the counts; 0: all rows do both
    curtail     rows that a node needs to answer; below that the nearest node above does (Zadrozny and Elkan 2001)

    After fitting: `tree_`, `smoother_` and, when it was chosen, `smoother_losses_` (held-out RMSE by candidate).
    """

    def __init__(
        self,
        smoother: Any = "cv",
        missing: str = "level",
        min_leaf: float = 2.0,
        criterion: str = "gain_ratio",
        mdl: bool = True,
        collapse: bool = True,
        resolution: float = 0.0,
        pruning: str | None = None,
        confidence: float = 0.25,
        validation: float = 0.0,
        curtail: float = 0.0,
        random_state: Any = 0,
    ) -> None:
        self.smoother = smoother
        self.missing = missing
        self.min_leaf = min_leaf
        self.criterion = criterion
        self.mdl = mdl
        self.collapse = collapse
        self.resolution = resolution
        self.pruning = pruning
        self.confidence = confidence
        self.validation = validation
        self.curtail = curtail
        self.random_state = random_state

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Any], NDArray[np.float64]]:
        if self.pruning is not None and self.pruning not in PRUNING:
            raise unknown("pruning", str(self.pruning), PRUNING)
        if not 0.0 < self.confidence <= 0.5:
            raise UnsupportedError(f"confidence={self.confidence!r}: expected a number above 0, at most 0.5")
        if not 0.0 <= self.validation < 1.0:
            raise UnsupportedError(f"validation={self.validation!r}: expected a share, at least 0 and less than 1")
        if not (np.isfinite(self.curtail) and self.curtail >= 0):
            raise UnsupportedError(f"curtail={self.curtail!r}: expected a number of rows, at least 0")
        columns, values, classes, weights, prepared = self._rows(source)
        grow, choose, sample = seed.spawn(3)
        self.smoother_ = smoother
        self.smoother_losses_ = {}
        if self.smoother == "cv":
            self.smoother_, self.smoother_losses_ = self._by_folds(values, classes, weights, prepared, choose)
        tree = self._grown(values, classes, weights, prepared, grow)
        random = np.random.default_rng(sample)
        return [TreeMember.smoothed(columns, tree, self.smoother_, random, self.curtail)], np.ones(1)

    def _grown(
        self, values: Values, classes: NDArray[Any], weights: NDArray[np.float64], prepared: Prepared,
        seed: np.random.SeedSequence,
    ) -> Tree:  # fmt: skip
        """The tree, cut back, with the counts that are smoothed."""
        split, draw = seed.spawn(2)
        growth = Growth(self.min_leaf, self.mdl, self.collapse, self.resolution, criterion=self.criterion)
        apart = HELD_OUT if self.pruning == "reduced" else self.validation
        inside, outside = weights, np.zeros_like(weights)
        if apart:
            units = np.floor(weights).astype(np.int64)
            outside = np.random.default_rng(split).binomial(units, apart).astype(np.float64)
            inside, outside = (weights - outside, outside) if (outside < weights).any() else (weights, 0.0 * weights)
        tree = prepared.grow(inside, growth, bits(draw))
        if self.pruning == "pessimistic":
            tree = tree.cut_back(pessimistic(tree, self.confidence))
        if outside.any():
            counts = tree.tally(values, classes, outside)
            if self.pruning == "reduced":
                tree = tree.cut_back(reduced(tree, counts))
                counts = tree.tally(values, classes, weights)
            tree = tree.counted(counts)
        return tree

    def _by_folds(
        self, values: Values, classes: NDArray[Any], weights: NDArray[np.float64], prepared: Prepared,
        seed: np.random.SeedSequence,
    ) -> tuple[Smoother, dict[str, float]]:  # fmt: skip
        """The candidate with the least squared error on rows that neither grew the tree nor counted in it."""
        deal, *streams = seed.spawn(1 + FOLDS)
        losses = dict.fromkeys(CANDIDATES, 0.0)
        for held, stream in zip(folds(classes, weights, FOLDS, deal).T, streams, strict=True):
            rows, inside = np.flatnonzero(held > 0), np.where(weights - held > 1e-9, weights - held, 0.0)
            if not len(rows) or not inside.any():
                continue
            tree = self._grown(values, classes, inside, prepared, stream)
            truth = np.eye(prepared.n_classes)[classes[rows]]
            for name, smoother in CANDIDATES.items():
                try:
                    member = TreeMember.smoothed((), tree, smoother, np.random.default_rng(0), self.curtail)
                except UnsupportedError:  # learned strengths need whole counts
                    losses[name] = np.inf
                    continue
                p = tree.predict(np.ascontiguousarray(values[:, rows]), member.probabilities)
                losses[name] += float(held[rows] @ ((p - truth) ** 2).sum(axis=1))
        total = float(weights.sum()) * prepared.n_classes
        errors = {name: float(np.sqrt(loss / total)) for name, loss in losses.items()}
        best = min(errors, key=errors.__getitem__)
        return CANDIDATES[best], errors

    def _chosen_smoother(self) -> Smoother:
        return CANDIDATES["gradient, strength 1"] if self.smoother == "cv" else super()._chosen_smoother()

    smoother_: Smoother
    smoother_losses_: dict[str, float]

    @property
    def tree_(self) -> Tree:
        """The fitted tree."""
        return self._member().tree

    def _member(self) -> TreeMember:
        check_is_fitted(self)
        member: TreeMember = self.members_[0]  # type: ignore[assignment]
        return member

    def to_text(self, max_depth: int | None = None) -> str:
        """The tree with counts and estimates, one node a line, down to `max_depth` (None: all of it)."""
        return text(self._member(), [str(c) for c in self.classes_], max_depth)

    def to_dot(self, max_depth: int | None = None) -> str:
        """The tree for Graphviz, down to `max_depth` (None: all of it)."""
        return dot(self._member(), [str(c) for c in self.classes_], max_depth)

    def explain(self, X: Any) -> list[Explanation]:
        """For every row of X the path it takes, with counts and how the estimate moved; print one to read it."""
        member = self._member()
        values = values_of(member.columns, checked_table(self, X, reset=False))
        classes = [str(c) for c in self.classes_]
        return [explanation(member, values[:, r], classes) for r in range(values.shape[1])]


def bits(stream: np.random.SeedSequence) -> NDArray[np.uint64]:
    """uint64[1]: the state of compiled random numbers."""
    return np.asarray(stream.generate_state(1, np.uint64), dtype=np.uint64)
