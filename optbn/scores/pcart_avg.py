"""PCART averaged: the score of a family is the log of its likelihood averaged over all decision trees.

    score(v, P) = log sum over trees T on P of  c(P) prod over leaves R of m(R) gamma/C

with leaves, C, gamma and c(P) as PCART has them (without a gamma, every tree has the same weight): the exact marginal
likelihood of the parent set, where PCART takes the best tree's share of it. The trees of a set are too many to list,
but the sum obeys the recurrence of its maximum (kernels/averages.py). The local model that `fitted` answers is the best
tree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import LimitError
from optbn.data.dataset import Dataset
from optbn.scores.by_evidence import bound_by_evidence
from optbn.scores.kernels.averages import average_trees, predict
from optbn.scores.kernels.kinds import CATEGORICAL
from optbn.scores.kernels.parts import finest_part
from optbn.scores.pcart import PCART, BoundTrees
from optbn.scores.protocol import BoundScore, one_family
from optbn.scores.trees.columns import Columns
from optbn.scores.trees.fitted import FittedTree
from optbn.scores.trees.large import bytes_per_slot, workspace
from optbn.scores.trees.prior import leaf_cost
from optbn.scores.trees.responses import BoundLeaves

Floats = NDArray[np.float64]
MOST_BOXES = 1 << 20
WORK_BYTES = 1 << 28
SECONDS_PER_TERM = 1.5e-8


@dataclass(frozen=True)
class PCARTAverage(PCART):
    """The average over trees; hyper-parameters as PCART's, but without a gamma, that is over all trees alike, which
    predicts better than the prior of best trees (results/averages)."""

    gamma: float | None = None

    leaf_kinds: ClassVar[tuple[str, ...]] = ("dirichlet",)
    fits_dear_sets: ClassVar[bool] = False

    def bind(self, data: Dataset) -> BoundScore:
        return bound_by_evidence(self, data, PCARTAverage.of_numbers) if self.by_evidence else self.of_numbers(data)

    def of_numbers(self, data: Dataset) -> BoundAverages:
        """Tied to data, no hyper-parameter being "auto"."""
        return BoundAverages(self._bind(data), BoundLeaves(self, self.columns(data, declared=True)))


@dataclass(eq=False)
class BoundAverages:
    """PCARTAverage tied to its data; `best` is PCART, and `room` how many bytes a set may take."""

    best: BoundTrees
    leaves: BoundLeaves
    room: int = 8 * WORK_BYTES

    def block(self, sets: NDArray[np.int32], wanted: NDArray[np.bool_], floor: Floats | None = None) -> Floats:
        """See optbn.scores.protocol.BoundScore; sums have no bound cheaper than themselves."""
        sets = np.ascontiguousarray(sets, dtype=np.int32)
        out = np.full(wanted.shape, -np.inf)
        for part in self.leaves.together(np.ascontiguousarray(wanted, dtype=np.bool_)):
            out = np.maximum(out, self._sums(sets, part)[0])
        return out + self.leaves.jacobian

    def too_dear(self, sets: NDArray[np.int32]) -> NDArray[np.bool_]:
        """bool[m]: sets of too many boxes, in number or in memory, or whose best tree would not be found."""
        boxes, splits = self._extent(sets)
        dear = (boxes > MOST_BOXES) | (self._bytes(boxes, splits, 1) > self.room)
        return np.asarray(dear | self.best.too_dear(sets))

    def limit_memory(self, size: int) -> None:
        """See optbn.scores.protocol."""
        self.best.limit_memory(size)
        self.room = self.best.costs.room

    def bytes(self, sets: NDArray[np.int32]) -> int:
        """See optbn.scores.protocol."""
        boxes, splits = self._extent(sets)
        most = int(boxes.max(initial=1))
        return int(self._bytes(boxes.max(initial=1), splits.max(initial=0), self._lanes(most)))

    def _bytes(self, boxes: Any, splits: Any, lanes: int) -> Any:
        """The bytes that a set with these boxes and splits takes."""
        slot = bytes_per_slot(lanes, self.leaves.widths, self.leaves.is_real) + 12 * (lanes + 1) + 12
        return boxes * slot + 8 * splits

    def _lanes(self, boxes: int) -> int:
        """How many responses to run together."""
        lanes = self.leaves.data.n_variables
        while lanes > 1 and self._bytes(boxes, 0, lanes) > min(WORK_BYTES, self.room // 2):
            lanes = (lanes + 1) // 2
        return lanes

    @property
    def columns(self) -> Columns:
        """The data as predictors."""
        return self.leaves.columns

    def seconds(self, sets: NDArray[np.int32]) -> Floats:
        """See optbn.scores.protocol."""
        boxes, splits = self._extent(sets)
        found: Floats = (splits + boxes) * self.leaves.data.n_variables * SECONDS_PER_TERM
        return found

    def fitted(self, child: int, parents: tuple[int, ...]) -> FittedTree:
        """The best tree of one family, with the family's own score."""
        tree = self.best.fitted(child, parents)
        score = self.block(*one_family(child, tree.parents, self.leaves.data.n_variables))[0, child]
        return replace(tree, score=float(score))

    def predictions(self, child: int, parents: tuple[int, ...]) -> Floats:
        """float64[cells, r]: a categorical child's distribution in each of its parents' finest cells (cells of the last
        parent next to each other), averaged over all trees by their posterior probabilities."""
        columns, leaves = self.leaves.columns, self.leaves
        predictors, r = columns.predictors, columns.data.cardinalities[child]
        sets, wanted = one_family(child, parents, columns.data.n_variables)
        _, cost, work = self._sums(sets, wanted)
        stride = np.concatenate([[1], np.cumprod(predictors.parts[sets[0]])]).astype(np.int64)
        shape = sets[0], stride, predictors.kinds, predictors.parts, predictors.table, predictors.halves
        out = np.empty((int(stride[-1]), r))
        alpha, row = float(leaves.alpha[child]) / leaves.unit, int(leaves.responses.row[child])
        predict(shape, cost[0], alpha, r, row, leaves.tables_of(np.array([child])), work, out)
        boxes = np.zeros(1, np.int64)
        for u, step in zip(parents, stride[:-1], strict=True):
            kind, size = int(predictors.kinds[u]), int(predictors.sizes[u])
            place = np.array([finest_part(kind, cell) for cell in range(size)], np.int64) * step
            boxes = (boxes[:, None] + place).reshape(-1)
        return out[boxes]

    def _sums(self, sets: NDArray[np.int32], wanted: NDArray[np.bool_]) -> tuple[Floats, Floats, tuple[Any, ...]]:
        """The sums, the leaf costs of the sets, and the kernel's scratch."""
        columns, responses = self.leaves.columns, self.leaves.responses
        boxes, splits = self._extent(sets[wanted.any(axis=1)])
        self._check(sets[wanted.any(axis=1)], boxes)
        most = int(boxes.max(initial=1))
        lanes = self._lanes(most)
        counts, mean, spread, _ = workspace(most, lanes, self.leaves.widths, self.leaves.is_real)
        work = (
            np.empty(most, np.int32),
            np.empty(most, np.int32),
            np.arange(most, dtype=np.int32),
            *(np.empty(int(splits.max(initial=0)), np.uint32) for _ in range(2)),
            counts,
            mean,
            spread,
            np.empty((most, lanes + 1)),
            np.empty((most, lanes + 1), np.int32),
        )
        shapes, gamma = columns.shapes, self.best.score.gamma
        cost = np.array([leaf_cost(tuple(sorted(shapes[u] for u in members)), gamma) for members in sets.tolist()])
        out = np.empty(wanted.shape)
        tables = self.leaves.tables_of(np.flatnonzero(wanted.any(axis=0)))
        average_trees(sets, wanted, cost, tuple(columns.predictors), tuple(responses), tables, lanes, work, out)
        return out, cost, work

    def _extent(self, sets: NDArray[np.int32]) -> tuple[Floats, Floats]:
        """Per set how many boxes its trees can make, and at most how many splits one of them has."""
        predictors = self.leaves.columns.predictors
        pairs = zip(predictors.kinds.tolist(), predictors.sizes.tolist(), strict=True)
        splits = np.array([2.0 ** min(size - 1, 99) - 1 if kind == CATEGORICAL else size for kind, size in pairs])
        return predictors.parts.astype(np.float64)[sets].prod(axis=1), splits[sets].sum(axis=1)

    def _check(self, sets: NDArray[np.int32], boxes: Floats) -> None:
        """Refuse sets of too many boxes."""
        if boxes.max(initial=0) > MOST_BOXES:
            data = self.leaves.data
            members = sets[int(np.argmax(boxes))].tolist()
            worst = max(members, key=lambda u: int(self.leaves.columns.predictors.parts[u]))
            names = ", ".join(repr(data.names[u]) for u in members)
            raise LimitError(
                f"trees on {names} are averages over {boxes.max():.3g} boxes, "
                f"at most {MOST_BOXES:,} are added up: allow fewer parents, lower --max-splits, merge levels "
                f"of {data.names[worst]!r}, or score best trees instead (--score pcart)"
            )
