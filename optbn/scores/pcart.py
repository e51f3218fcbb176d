"""PCART: the score of a family is that of its best decision tree.

    score(v, P) = max over trees T on P of  [ sum over leaves R of log m(R)  -  l(T) log 4C ]  +  log c(P)  +  log pi_v(P)

with leaves as in trees/leaves.py, structure prior as in trees/prior.py, and pi_v(P) = 1 (PCART) or 1 / binom(n-1, |P|)
(PCARTP). Exact for categorical, ordinal and real predictors and for categorical and real responses: a dynamic program
over all boxes a tree can make (kernels/lattice.py), run for all responses at once (kernels/climb.py).
Source: Talvitie, Eggeling, Koivisto, "Learning Bayesian networks with local structure, mixed variables, and exact
algorithms", International Journal of Approximate Reasoning 115, 2019.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from optbn.data.dataset import Dataset
from optbn.errors import LimitError, UnsupportedError
from optbn.scores.trees.bounds import Regret
from optbn.scores.trees.columns import Columns, count_splits
from optbn.scores.trees.leaves import LeafPrior, LeafTables
from optbn.scores.trees.prior import Shape, leaf_cost, log_normaliser

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PCART(LeafPrior):
    """Optimal decision trees; see optbn/scores/trees/leaves.py for alpha, nu, lambda, mean and a.

    max_splits  how often a real predictor's range may be halved on the way to a leaf
    """

    max_splits: int = 3
    penalises_size: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.max_splits <= 20:
            raise UnsupportedError(f"max-splits is {self.max_splits}; it must be between 0 and 20")

    def bind(self, data: Dataset) -> BoundTrees:
        return BoundTrees(self, Columns(data, self.max_splits))


@dataclass(frozen=True)
class PCARTP(PCART):
    """PCART with the prior 1 / binom(n-1, |P|) over parent sets."""

    penalises_size: ClassVar[bool] = True


@dataclass(frozen=True, eq=False)
class BoundTrees:
    """PCART tied to its data."""

    score: PCART
    columns: Columns

    @cached_property
    def tables(self) -> LeafTables:
        return self.score.tables(self.columns.data.n_rows, self.columns.cardinalities)

    @cached_property
    def regrets(self) -> dict[int, Regret]:
        """By number of declared levels."""
        return {r: Regret(self.score.alpha, r, self.columns.data.n_rows) for r in self.columns.cardinalities}

    def block(
        self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        from optbn.scores.kernels.trees import score_trees

        sets = np.ascontiguousarray(sets, dtype=np.int32)
        m, k = sets.shape
        predictors, responses = self.columns.predictors, self.columns.responses
        cost, constant, leaf_rows = self._priors(sets)
        boxes, splits = self._extent(sets)
        n = self.columns.data.n_variables
        box = (np.empty(boxes, np.int32), np.empty(boxes, np.uint64), np.empty(boxes, np.int32))
        plan = (
            *(np.empty(boxes + 1, np.int32) for _ in range(3)),
            np.empty(boxes + 2, np.int64),
            np.empty(splits, np.uint32),
            np.empty(splits, np.uint32),
        )
        width, reals = responses.onehot.shape[1], responses.values.shape[1]
        work = (
            np.empty((boxes + 1, -(-width // 16) * 16), np.uint32),
            np.empty((boxes + 1, reals)),
            np.empty((boxes + 1, reals)),
            np.zeros((boxes + 1, -(-n // 8) * 8)),
        )
        if floor is None:
            floor, bound = np.empty((0, 0)), (np.empty(0), np.empty(n))
        else:
            bound = (self._xlogx, np.array([self._least_regret(v, k + 1) for v in range(n)]))
        out = np.empty((m, n))
        score_trees(
            sets,
            np.ascontiguousarray(wanted, dtype=np.bool_),
            np.ascontiguousarray(floor, dtype=np.float64),
            cost,
            constant,
            leaf_rows,
            tuple(predictors),
            tuple(responses),
            tuple(self.tables),
            bound,
            box,
            plan,
            work,
            out,
        )
        return out

    def _priors(self, sets: NDArray[np.int32]) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """Per set log 4C, log c(P) + log pi(P), and how many rows a box never worth splitting may have."""
        n, k = self.columns.data.n_variables, sets.shape[1]
        kinds = sorted(set(self.columns.shapes))
        number = np.array([kinds.index(shape) for shape in self.columns.shapes], np.int64)
        distinct, which = np.unique(np.sort(number[sets], axis=1), axis=0, return_inverse=True)
        cost, constant, leaf_rows = np.empty(len(distinct)), np.empty(len(distinct)), np.empty(len(distinct), np.int64)
        for i, members in enumerate(distinct):
            shape: Shape = tuple(kinds[j] for j in members)
            cost[i] = leaf_cost(shape)
            constant[i] = log_normaliser(shape)
            leaf_rows[i] = min((regret.never_split(cost[i]) for regret in self.regrets.values()), default=1)
        if self.score.penalises_size:
            constant -= math.log(math.comb(n - 1, k))
        which = which.reshape(-1)
        return cost[which], constant[which], leaf_rows[which]

    def _extent(self, sets: NDArray[np.int32]) -> tuple[int, int]:
        """The most boxes and the most splits a set of the block has."""
        predictors = self.columns.predictors
        parts = predictors.parts.astype(np.float64)[sets]
        splits = np.array(
            [float(count_splits(int(k), int(s))) for k, s in zip(predictors.kinds, predictors.sizes, strict=True)]
        )[sets]
        boxes = parts.prod(axis=1)
        return int(boxes.max(initial=1)), int((boxes[:, None] * splits / parts).sum(axis=1).max(initial=0))

    @cached_property
    def _xlogx(self) -> Floats:
        n = np.arange(self.columns.data.n_rows + 1, dtype=np.float64)
        return n * np.log(np.maximum(n, 1.0))

    def _least_regret(self, v: int, leaves: int) -> float:
        r = self.columns.data.cardinalities[v]
        return self.regrets[r].of_leaves(leaves) if r else 0.0
