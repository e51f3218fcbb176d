"""Growing decision trees as C4.5 does (Quinlan 1993, 1996).

A node is split by the attribute with the greatest gain ratio among those whose information gain is at least average.
A nominal attribute has a branch for every level; a numeric one is cut in two, at the training value below the best
midpoint, and its gain is lowered by log2(cuts tried) / rows, the cost of naming the cut (with `mdl`). At least two
branches must have `min_leaf` rows each, and the sides of a cut a tenth of the average class (at most 25). Nothing is
split that has one class or fewer than 2 min_leaf rows.

Afterwards subtrees are collapsed that make no fewer errors on the training rows than a leaf would.

Missing values are a level of their own: a branch more (missing="level"), or rows that have them go down every branch in
proportion to the others, and a split's gain counts only for the rows where it is known (missing="fractional").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.trees.kernels import grow as kernel
from optbn.classifiers.trees.kernels import splits
from optbn.classifiers.trees.tree import Tree, Values
from optbn.data.discretise.table import Table
from optbn.data.discretise.transformer import Column, Discretizer

LARGEST_TABLE = 1 << 22
"""Rows up to which n log n is looked up."""


class _AsTheyAre(Discretizer):
    """Finds the levels of columns and whether values are missing; numbers are not cut."""

    supervised = False

    def cut_points(self, *_: Any) -> NDArray[np.float64]:
        return np.zeros(0)


def columns_of(table: Table, weights: NDArray[np.float64], missing: str) -> tuple[Column, ...]:
    """How attributes are coded; with missing="fractional" nothing has a level for missing values."""
    rows = np.zeros(len(weights), dtype=np.int64)
    columns = _AsTheyAre().fit_table(table, rows, 1, weights).columns_
    return columns if missing == "level" else tuple(replace(column, missing=None) for column in columns)


def values_of(columns: Sequence[Column], table: Table) -> Values:
    """Numbers as they are and levels as numbers, NaN for unknown."""
    answer = np.empty((len(columns), len(table[0])))
    for a, (column, values) in enumerate(zip(columns, table, strict=True)):
        if column.levels is not None:
            codes = column.encode(values)
            answer[a] = np.where(codes < 0, np.nan, codes)
        elif values.levels is None:
            answer[a] = values.data
        else:
            column.encode(values)  # refuses texts that are no numbers
            answer[a] = np.array([*map(float, values.levels), np.nan])[values.data]
    return answer


SORTING = 3
"""How many lists of rows are kept sorted in the time of sorting one at every node."""


@dataclass(frozen=True)
class Growth:
    """min_leaf, mdl, collapse   as above
    resolution  numbers nearer than this are not cut apart (C4.5 has 1e-5, whatever the unit)
    candidates  attributes drawn at random at every node, or None: all of them
    criterion   "gain_ratio", or "gain"
    """

    min_leaf: float = 2.0
    mdl: bool = True
    collapse: bool = True
    resolution: float = 0.0
    candidates: int | None = None
    criterion: str = "gain_ratio"


@dataclass(frozen=True, eq=False)
class Prepared:
    """Training rows, coded and sorted once for any number of trees; see `kernels.splits` for the arrays."""

    codes: NDArray[np.int32]
    levels: NDArray[np.int64]
    third: NDArray[np.bool_]
    order: NDArray[np.int32]
    place: NDArray[np.int64]
    points: tuple[NDArray[np.float64], ...]
    classes: NDArray[np.int32]
    n_classes: int

    @classmethod
    def of(cls, columns: Sequence[Column], values: Values, classes: NDArray[Any], n_classes: int) -> Prepared:
        levels = np.array([0 if c.levels is None else c.n_levels for c in columns], dtype=np.int64)
        codes = np.empty(values.shape, dtype=np.int32)
        points: list[NDArray[np.float64]] = []
        orders: list[NDArray[np.int64]] = []
        place = np.full(len(columns), -1, dtype=np.int64)
        for a, column in enumerate(values):
            unknown = np.isnan(column)
            distinct = np.zeros(0)
            if levels[a]:
                codes[a] = np.where(unknown, -1, column)
            else:
                distinct, found = np.unique(column[~unknown], return_inverse=True)
                codes[a] = -1
                codes[a, ~unknown] = found
                place[a] = len(orders)
                orders.append(np.argsort(np.where(unknown, np.iinfo(np.int32).max, codes[a]), kind="stable"))
            points.append(distinct)
        order = np.array(orders, dtype=np.int32).reshape(len(orders), values.shape[1])
        third = np.array([c.levels is None and c.missing is not None for c in columns], dtype=np.bool_)
        return cls(codes, levels, third, order, place, tuple(points), classes.astype(np.int32), n_classes)

    @cached_property
    def _rows(self) -> splits.Rows:
        point_at = np.concatenate([[0], np.cumsum([len(p) for p in self.points])]).astype(np.int64)
        return splits.Rows(
            self.codes, self.levels, self.third, self.order, self.place, np.concatenate(self.points), point_at,
            self.classes, self.n_classes,
        )  # fmt: skip

    @cached_property
    def _divided(self) -> bool:
        """Whether rows go down several branches."""
        return bool(((self.codes < 0).any(axis=1) & ~self.third).any())

    def grow(self, weights: NDArray[np.float64], growth: Growth, random: NDArray[np.uint64]) -> Tree:
        """A tree from the rows with positive weight; `random` is uint64[1]."""
        A = len(self.levels)
        drawn = min(growth.candidates or A, A)
        total = float(weights.sum())
        whole = not self._divided and total <= LARGEST_TABLE and bool((weights == np.rint(weights)).all())
        rules = splits.Rules(
            float(growth.min_leaf), float(growth.resolution), bool(growth.mdl), growth.criterion == "gain", drawn,
            drawn * SORTING >= len(self.order), _n_log_n(int(total)) if whole else np.zeros(0),
        )  # fmt: skip
        found, counts = kernel.grow(self._rows, rules, weights, random)
        tree = Tree.of(
            found[:, kernel.PARENT], found[:, kernel.ATTRIBUTE], kernel.cuts(found, self._rows),
            found[:, kernel.BRANCH], counts, counts.sum(axis=1), np.where(self.levels == 0, 1 + self.third, 0),
        )  # fmt: skip
        return tree.cut_back(useless(tree)) if growth.collapse else tree


def useless(tree: Tree) -> NDArray[np.bool_]:
    """Which nodes to make leaves: their subtrees make as many errors on the training rows as they would."""
    own = tree.totals - tree.counts.max(axis=1)
    below = np.where(tree.children == 0, own, 0.0)
    for d in range(int(tree.depth[-1]), 0, -1):
        level = np.flatnonzero(tree.depth == d)
        np.add.at(below, tree.parent[level], below[level])
    return np.asarray((tree.children > 0) & (below >= own - 1e-3))


_TABLE = np.zeros(1)


def _n_log_n(n: int) -> NDArray[np.float64]:
    """n log n for 0 .. at least n; the longest so far is kept."""
    global _TABLE
    if len(_TABLE) <= n:
        whole = np.arange(max(2 * n, 1024) + 1, dtype=np.float64)
        _TABLE = whole * np.log(np.maximum(whole, 1.0))
    return _TABLE
