"""Best trees with leaves of their own kinds, leaf="bdeu" and leaf="runs" (trees/leaves.py), tied to their data.

A leaf of BDeu depends on how many of the parents' configurations it holds, declared ones without rows included: boxes
are those of all declared levels. Runs are of ordered responses; others of the same data have Dirichlet leaves, by the
kernels of all other trees. Both compute every leaf, and lay out the whole lattice: sets of more boxes are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.scores.kernels.kinds import CATEGORICAL
from optbn.scores.kernels.own_leaves import BDEU, RUNS, score_own_leaves
from optbn.scores.pcart import BoundTrees
from optbn.scores.trees.fitted import FittedTree
from optbn.scores.trees.large import SparsePlan, workspace
from optbn.scores.trees.leaves import best_runs
from optbn.scores.trees.prior import Priors
from optbn.scores.trees.space import digit_space, lattice_space

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BoundOwnLeaves(BoundTrees):
    """See BoundTrees."""

    @cached_property
    def _own(self) -> NDArray[np.bool_]:
        """bool[n]: the responses with such leaves."""
        return np.asarray(~self.leaves.is_real) if self.leaves.by_share else self.leaves.in_runs

    @cached_property
    def _weights(self) -> Floats:
        """float64[n]: ess, or alpha."""
        n = self.columns.data.n_variables
        return np.full(n, float(self.score.ess)) if self.leaves.by_share else self.leaves.alpha

    def too_dear(self, sets: NDArray[np.int32]) -> NDArray[np.bool_]:
        """See BoundTrees; here lattices are laid out or not at all."""
        return np.asarray(super().too_dear(sets) | ~self.costs.laid_out(sets, *self.costs.extent(sets)))

    def fitted(self, child: int, parents: tuple[int, ...]) -> FittedTree:
        """See BoundTrees; with the runs of an ordered child."""
        tree = super().fitted(child, parents)
        if not self.leaves.in_runs[child]:
            return tree
        assert tree.content.counts is not None
        alpha, r = float(self.leaves.alpha[child]), self.columns.data.cardinalities[child]
        runs = np.zeros((tree.n_leaves, r), np.int32)
        for leaf, counts in enumerate(tree.content.counts * tree.content.unit):
            starts = best_runs(counts, alpha)[1]
            runs[leaf] = np.searchsorted(starts, np.arange(r), side="right") - 1
        return replace(tree, runs=runs)

    def _numbered(self, members: NDArray[np.int32]) -> bool:
        return False

    def _sparse(self, members: NDArray[np.int32], wanted: NDArray[np.bool_], leaf_rows: int) -> SparsePlan:
        if self._own[wanted].any():
            raise self._too_large(members, f"leaf={self.score.leaf!r} needs a lattice that fits into memory")
        return super()._sparse(members, wanted, leaf_rows)

    def _share(self, parents: tuple[int, ...], names: NDArray[np.int64]) -> Floats | None:
        if not self.leaves.by_share:
            return None
        share = np.ones(len(names))
        for j, u in enumerate(parents):
            kind, size = int(self.columns.predictors.kinds[u]), int(self.columns.predictors.sizes[u])
            share *= np.array([_levels_in(kind, int(name)) for name in names[:, j]]) / size
        return share

    def _dense(
        self,
        sets: NDArray[np.int32],
        wanted: NDArray[np.bool_],
        floor: Floats | None,
        priors: Priors,
        boxes: Floats,
        splits: Floats,
    ) -> tuple[Floats, Any, Any, Any]:
        rest = wanted & ~self._own
        if not (wanted & self._own).any():
            return super()._dense(sets, wanted, floor, priors, boxes, splits)
        found = self._own_leaves(sets, wanted & self._own, floor, priors, boxes, splits)
        if rest.any():
            np.maximum(found[0], super()._dense(sets, rest, floor, priors, boxes, splits)[0], out=found[0])
        return found

    def _own_leaves(
        self,
        sets: NDArray[np.int32],
        wanted: NDArray[np.bool_],
        floor: Floats | None,
        priors: Priors,
        boxes: Floats,
        splits: Floats,
    ) -> tuple[Floats, Any, Any, Any]:
        """As `_dense`, of the responses that have such leaves."""
        most_boxes, most_splits = int(boxes.max(initial=1)), int(splits.max(initial=0))
        box, plan = lattice_space(most_boxes, most_splits)
        room = digit_space(sets, self.columns.predictors)
        kind, out, part = BDEU if self.leaves.by_share else RUNS, np.full(wanted.shape, -np.inf), np.empty(wanted.shape)
        mine = np.flatnonzero((wanted & self._own).any(axis=0))
        below = np.empty((0, 0)) if floor is None else np.ascontiguousarray(floor, dtype=np.float64)
        lanes = min(len(mine), self.costs.lanes_at_a_time(most_boxes))
        work = workspace(most_boxes + 1, lanes, self.leaves.widths[mine], self.leaves.is_real[mine])
        for begin in range(0, len(mine), lanes):
            score_own_leaves(
                sets,
                self._digits(sets),
                wanted & np.isin(np.arange(wanted.shape[1]), mine[begin : begin + lanes]),
                below,
                (priors.leaf_cost, priors.constant, self._xlogx),
                tuple(self.columns.predictors),
                tuple(self.leaves.responses),
                (kind, self._weights, self.leaves.unit),
                (box, room, plan, work),
                part,
            )
            np.maximum(out, part, out=out)
        return out, box, plan, work


def _levels_in(kind: int, part: int) -> int:
    """How many finest cells lie in a part of a categorical or ordinal predictor (kernels/lattice.py)."""
    if kind == CATEGORICAL:
        return (part + 1).bit_count()
    hi = 0
    while (hi + 1) * (hi + 2) // 2 <= part:
        hi += 1
    return 1 + part - hi * (hi + 1) // 2
