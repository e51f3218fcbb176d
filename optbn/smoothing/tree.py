"""The count tree: how often each level of a variable was seen in each context, contexts refined one variable a level.

The root is the empty context, its children the values of the first conditioning variable that occur in the data, and
so on; the leaves are full configurations. Only what occurs has a node, so the tree is no larger than the data, and a
context that was never seen is answered by the deepest ancestor that was: every smoother gives probabilities for every
node (`protocol.Estimate`). The same type holds the cells of a decision tree, whose nodes are its splits.

Nodes are numbered breadth first, so levels and siblings are contiguous and a parent comes before its children.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.smoothing.kernels.counting import descend


@dataclass(frozen=True, eq=False)
class CountTree:
    """m nodes over K levels of the child.

    counts  float64[m, K], a node's counts are the sum of its children's; every node but the root has some
    parent  int32[m], -1 at the root
    depth   int32[m], ascending
    branch  int32[m], the value of the conditioning variable that leads from the parent here, ascending among siblings
    span    float64[m], how many full configurations lie below a node, seen or not
    order   which of the given conditioning variables the tree asks at depth 0, 1, ...; empty for a decision tree
    sizes   how many values each of those has, in that order
    """

    counts: NDArray[np.float64]
    parent: NDArray[np.int32]
    depth: NDArray[np.int32]
    branch: NDArray[np.int32]
    span: NDArray[np.float64]
    order: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()

    @classmethod
    def from_configurations(
        cls,
        configurations: NDArray[np.integer],
        counts: NDArray[np.float64],
        sizes: Sequence[int],
        order: Sequence[int] | None = None,
    ) -> CountTree:
        """The tree of the distinct rows of `configurations` (int[c, k]) with their counts (float64[c, K])."""
        order = tuple(range(len(sizes))) if order is None else tuple(order)
        level_sizes = tuple(sizes[i] for i in order)
        seen = counts.sum(axis=1) > 0
        rows = configurations[seen][:, list(order)]
        counts = np.asarray(counts[seen], dtype=np.float64)
        if len(order) and len(rows) > 1:
            sorting = np.lexsort(rows.T[::-1])
            rows, counts = rows[sorting], counts[sorting]
        spans = np.cumprod(np.array([1.0, *level_sizes[::-1]]))[::-1]
        parts_counts, parts_parent = [counts.sum(axis=0, keepdims=True)], [np.array([-1])]
        parts_branch, sizes_of_levels = [np.array([0])], [1]
        fresh = np.zeros(len(rows), dtype=np.bool_)
        fresh[:1] = True
        above = np.zeros(len(rows), dtype=np.int64)  # the node each row is at, one level up
        first = 1
        for d in range(len(order) if len(rows) else 0):
            fresh[1:] |= rows[1:, d] != rows[:-1, d]
            starts = np.flatnonzero(fresh)
            parts_counts.append(np.add.reduceat(counts, starts, axis=0))
            parts_parent.append(above[starts])
            parts_branch.append(rows[starts, d])
            sizes_of_levels.append(len(starts))
            above = np.cumsum(fresh) - 1 + first
            first += len(starts)
        depth = np.repeat(np.arange(len(sizes_of_levels)), sizes_of_levels)
        return cls(
            np.concatenate(parts_counts),
            np.concatenate(parts_parent).astype(np.int32),
            depth.astype(np.int32),
            np.concatenate(parts_branch).astype(np.int32),
            spans[depth],
            order,
            level_sizes,
        )

    @classmethod
    def from_splits(cls, parents: Sequence[int], counts: NDArray[np.float64]) -> tuple[CountTree, NDArray[np.int64]]:
        """The tree of a decision tree's nodes (`parents`, each before its children, -1 for the root), and their places.

        counts: float64[nodes, K], of the inner nodes too. A node without counts has no place of its own: the second
        result gives the deepest node with counts on its way from the root.
        """
        parents = list(parents)
        depth = [0] * len(parents)
        inner = set(parents)
        below = np.array([0.0 if i in inner else 1.0 for i in range(len(parents))])
        for i in range(1, len(parents)):
            depth[i] = depth[parents[i]] + 1
        for i in range(len(parents) - 1, 0, -1):
            below[parents[i]] += below[i]
        seen = counts.sum(axis=1) > 0
        place = {0: 0}
        kept = [0]
        for d in range(1, max(depth, default=0) + 1):
            level = [i for i in range(len(parents)) if depth[i] == d and seen[i]]
            level.sort(key=lambda i: (place[parents[i]], i))
            for i in level:
                place[i] = len(kept)
                kept.append(i)
        where = np.zeros(len(parents), dtype=np.int64)
        for i in range(1, len(parents)):
            where[i] = place.get(i, where[parents[i]])
        tree = cls(
            np.asarray(counts, dtype=np.float64)[kept],
            np.array([-1] + [place[parents[i]] for i in kept[1:]], dtype=np.int32),
            np.array([depth[i] for i in kept], dtype=np.int32),
            np.array(kept, dtype=np.int32),
            below[kept],
        )
        return tree, where

    @property
    def n_levels(self) -> int:
        """K, the levels of the child."""
        return int(self.counts.shape[1])

    @cached_property
    def totals(self) -> NDArray[np.float64]:
        """float64[m]: rows that reached each node."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def first_child(self) -> NDArray[np.int32]:
        """int32[m + 1]: the children of u are nodes first_child[u] .. first_child[u + 1] - 1."""
        children = np.bincount(self.parent[1:], minlength=len(self.parent))
        return (1 + np.concatenate([[0], np.cumsum(children)])).astype(np.int32)

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """bool[m]: no conditioning variable is left to ask (in an empty tree with variables, the root is no leaf)."""
        none = np.diff(self.first_child) == 0
        return np.asarray(none & (self.depth == len(self.sizes)) if self.sizes else none)

    @cached_property
    def levels(self) -> NDArray[np.int64]:
        """int64[deepest + 2]: the nodes of depth d are levels[d] .. levels[d + 1] - 1."""
        return np.searchsorted(self.depth, np.arange(int(self.depth[-1]) + 2))

    def configurations(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """What `from_configurations` makes this tree of: int64[leaves, k], as the tree asks, and their counts."""
        leaves = np.flatnonzero(self.is_leaf)
        rows, node = np.empty((len(leaves), len(self.sizes)), dtype=np.int64), leaves.astype(np.int32)
        for d in range(len(self.sizes) - 1, -1, -1):
            rows[:, d], node = self.branch[node], self.parent[node]
        return rows, self.counts[leaves]

    def reweighted(self, leaf_counts: NDArray[np.float64]) -> CountTree:
        """The same nodes with other counts at the leaves (rows of inner nodes are ignored), summed upward."""
        counts = np.where(self.is_leaf[:, None], leaf_counts, 0.0)
        for d in range(len(self.levels) - 2, 0, -1):
            level = slice(self.levels[d], self.levels[d + 1])
            np.add.at(counts, self.parent[level], counts[level])
        return replace(self, counts=counts)

    def locate(self, columns: Sequence[NDArray[Any]], n: int | None = None) -> NDArray[np.int64]:
        """int64[n]: the deepest node each row reaches; `columns` are the conditioning variables as they were given."""
        n = len(columns[0]) if n is None else n
        values = np.empty((n, len(self.order)), dtype=np.int32)
        for d, i in enumerate(self.order):
            values[:, d] = columns[i]

        nodes: NDArray[np.int64] = descend(values, self.branch, self.first_child)
        return nodes

    def cells(self) -> NDArray[np.int64]:
        """int64[all configurations]: the deepest node of each, conditioning variables as given, the last fastest."""
        nodes = np.zeros(1, dtype=np.int64)
        code = np.zeros(len(self.parent), dtype=np.int64)
        for d, size in enumerate(self.sizes):
            nodes = np.repeat(nodes, size)
            if d + 1 < len(self.levels) - 1:
                level = np.arange(self.levels[d + 1], self.levels[d + 2])
                code[level] = code[self.parent[level]] * size + self.branch[level]
                nodes[code[level]] = level
        return nodes.reshape(self.sizes).transpose(np.argsort(self.order)).reshape(-1) if self.order else nodes
