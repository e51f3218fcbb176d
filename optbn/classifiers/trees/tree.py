"""A decision tree as arrays, and as the count tree that smoothers take.

Nodes are numbered breadth first, the children of a node together. A numeric attribute has branches 0 (at most `cut`), 1
(above) and, where missing values are a level of their own, 2; a nominal one has a branch for each of its levels. Only
branches that training rows took have a node: on another one the answer is the smoother's for an unseen child.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.trees.kernels.walk import Nodes, child, depths, spread
from optbn.smoothing.tree import CountTree

Values = NDArray[np.float64]
"""float64[A, n]: numbers, levels of nominal attributes as numbers, NaN for unknown."""


@dataclass(frozen=True, eq=False)
class Tree:
    """Over m nodes: attribute int32[m] (-1 at leaves), cut float64[m], parent, first (child), children and branch
    int32[m], counts float64[m, C], totals float64[m] of the rows that grew the tree (unknown values are divided in
    proportion to them); kind int64[A]: 0 nominal, 1 numeric, 2 numeric with a level for missing values."""

    attribute: NDArray[np.int32]
    cut: NDArray[np.float64]
    parent: NDArray[np.int32]
    first: NDArray[np.int32]
    children: NDArray[np.int32]
    branch: NDArray[np.int32]
    counts: NDArray[np.float64]
    totals: NDArray[np.float64]
    kind: NDArray[np.int64]

    @classmethod
    def of(
        cls, parent: NDArray[np.integer], attribute: NDArray[np.integer], cut: NDArray[np.float64],
        branch: NDArray[np.integer], counts: NDArray[np.float64], totals: NDArray[np.float64],
        kind: NDArray[np.int64],
    ) -> Tree:  # fmt: skip
        """From nodes in any order with parents before children; siblings are put in the order of their branches."""
        m = len(parent)
        depth = depths(parent.astype(np.int64))
        place = np.zeros(m, dtype=np.int64)
        by_depth = np.argsort(depth, kind="stable")
        deepest = int(depth.max())
        starts = np.searchsorted(depth[by_depth], np.arange(deepest + 2))
        at, found = 1, [by_depth[:1]]
        for d in range(1, deepest + 1):
            level = by_depth[starts[d] : starts[d + 1]]
            level = level[np.lexsort((branch[level], place[parent[level]]))]
            place[level] = np.arange(at, at + len(level))
            at += len(level)
            found.append(level)
        order = np.concatenate(found)
        above = np.asarray(np.where(parent[order] >= 0, place[parent[order]], -1), dtype=np.int32)
        children = np.asarray(np.bincount(above[1:], minlength=m), dtype=np.int32)
        first = np.asarray(1 + np.cumsum(children) - children, dtype=np.int32)
        questions = np.asarray(np.where(children > 0, attribute[order], -1), dtype=np.int32)
        cut = np.where(children > 0, cut[order], np.nan)
        return cls(
            questions,
            cut,
            above,
            first,
            children,
            np.asarray(branch[order], dtype=np.int32),
            counts[order],
            totals[order],
            kind,
        )

    @property
    def size(self) -> int:
        return len(self.parent)

    @cached_property
    def depth(self) -> NDArray[np.int32]:
        return np.asarray(depths(self.parent.astype(np.int64)).astype(np.int32))

    @cached_property
    def count_tree(self) -> CountTree:
        """The same nodes for smoothers."""
        span = (self.children == 0).astype(np.float64)
        for d in range(int(self.depth[-1]), 0, -1):
            level = np.flatnonzero(self.depth == d)
            np.add.at(span, self.parent[level], span[level])
        return CountTree(self.counts, self.parent, self.depth, self.branch, span)

    def cut_back(self, leaves: NDArray[np.bool_]) -> Tree:
        """The tree in which the marked nodes are leaves."""
        gone = np.zeros(self.size, dtype=np.bool_)
        for d in range(1, int(self.depth[-1]) + 1):
            level = np.flatnonzero(self.depth == d)
            above = self.parent[level]
            gone[level] = gone[above] | leaves[above]
        return self._of(np.flatnonzero(~gone))

    def counted(self, counts: NDArray[np.float64]) -> Tree:
        """With other counts; nodes without any are left out, besides the root.

        Rows on a branch that is not there do not count: inner nodes are the sums of their children.
        """
        counts = counts.copy()
        for d in range(int(self.depth[-1]), 0, -1):
            level = np.flatnonzero(self.depth == d)
            below = np.zeros_like(counts)
            np.add.at(below, self.parent[level], counts[level])
            some = below.sum(axis=1) > 0
            counts[some] = below[some]
        kept = counts.sum(axis=1) > 0
        kept[0] = True
        return replace(self, counts=counts)._of(np.flatnonzero(kept))

    def _of(self, kept: NDArray[np.int64]) -> Tree:
        place = np.full(self.size, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        parent = np.where(self.parent[kept] >= 0, place[self.parent[kept]], -1)
        return Tree.of(
            parent, self.attribute[kept], self.cut[kept], self.branch[kept], self.counts[kept], self.totals[kept],
            self.kind,
        )  # fmt: skip

    def predict(self, values: Values, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[n, C]: the answers of the nodes where rows end, weighed where a value is unknown."""
        n = values.shape[1]
        out = np.zeros((n, answers.shape[1]))
        self._spread(values, np.ones(n), np.zeros(n, dtype=np.int32), answers, out)
        return out

    def tally(self, values: Values, classes: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64[m, C]: the counts of some rows at every node."""
        out = np.zeros_like(self.counts)
        self._spread(values, weights, classes.astype(np.int32), np.zeros((0, out.shape[1])), out)
        return out

    def _spread(
        self, values: Values, weights: NDArray[np.float64], classes: NDArray[np.int32], answers: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> None:  # fmt: skip
        nodes = Nodes(self.kind, self.attribute, self.cut, self.first, self.children, self.branch, self.totals)
        spread(values, np.flatnonzero(weights > 0), nodes, weights, classes, answers, out)

    def path(self, values: Sequence[float]) -> list[tuple[int, float]]:
        """The nodes one row passes, each with the share of the row; more than one per level after unknown values."""
        found, waiting = [], [(0, 1.0)]
        while waiting:
            node, share = waiting.pop()
            found.append((node, share))
            if self.children[node] == 0:
                continue
            a = int(self.attribute[node])
            follow = int(
                child(node, float(values[a]), int(self.kind[a]), self.cut, self.first, self.children, self.branch)
            )
            if follow >= 0:
                waiting.append((follow, share))
            elif follow == -2:
                inside = np.arange(self.first[node], self.first[node] + self.children[node])
                whole = self.totals[inside].sum()
                waiting += [(int(k), share * float(self.totals[k] / whole)) for k in inside[::-1]]
        return found
