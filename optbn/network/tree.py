"""A decision tree over a CPD's parents, as flat arrays: the partition of the parents' space that PCART finds.

A split on a categorical parent sends a set of levels left and the others right (an ordinal parent's contiguous splits
are such sets); a split on a real parent sends x < threshold left, one at infinity every number, and rows that have none
right. A side may be empty: PCART needs that of real
parents, whose halving is by fixed midpoints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import NetworkError
from optbn.data.dataset import Categorical, Domain
from optbn.network.kernels import descend


@dataclass(frozen=True)
class Split:
    """One inner node: parent number `parent`; `goes_left` is a threshold (x < it) or the codes of the levels.

    `left` and `right` are node numbers, both larger than the node's own.
    """

    parent: int
    goes_left: float | tuple[int, ...]
    left: int
    right: int


@dataclass(frozen=True, eq=False)
class Tree:
    """Node 0 is the root; m nodes, of which L are leaves, numbered 0..L-1 in any order. Make it with `build`.

    parent     int32[m], the position of the parent a node splits on, -1 at a leaf
    threshold  float64[m], for real parents
    offset     int32[m], where the node's part of `goes_left` begins, -1 where the threshold counts (and at leaves)
    goes_left  bool[...], per level of a categorical split whether it goes left
    left       int32[m], the left child's node number; at a leaf the leaf's number
    right      int32[m], the right child's node number, 0 at a leaf
    """

    parent: NDArray[np.int32]
    threshold: NDArray[np.float64]
    offset: NDArray[np.int32]
    goes_left: NDArray[np.bool_]
    left: NDArray[np.int32]
    right: NDArray[np.int32]

    @classmethod
    def build(cls, nodes: Sequence[Split | int], parent_domains: Sequence[Domain]) -> Tree:
        """A tree from its nodes, root first: a Split, or an int, the number of a leaf."""
        m = len(nodes)
        parent = np.full(m, -1, dtype=np.int32)
        threshold = np.zeros(m)
        offset = np.full(m, -1, dtype=np.int32)
        left, right = np.zeros(m, dtype=np.int32), np.zeros(m, dtype=np.int32)
        sides: list[NDArray[np.bool_]] = []
        used, leaves, reached = 0, [], [0]
        for i, node in enumerate(nodes):
            if not isinstance(node, Split):
                left[i] = node
                leaves.append(node)
                continue
            if not 0 <= node.parent < len(parent_domains):
                raise NetworkError(f"tree node {i} splits on parent {node.parent}, but there are {len(parent_domains)}")
            if not (i < node.left < m and i < node.right < m):
                raise NetworkError(
                    f"tree node {i}: children {node.left} and {node.right} must come after it, below {m}"
                )
            parent[i], left[i], right[i] = node.parent, node.left, node.right
            reached += [node.left, node.right]
            domain = parent_domains[node.parent]
            if isinstance(domain, Categorical):
                if isinstance(node.goes_left, float | int):
                    raise NetworkError(f"tree node {i}: a threshold, but parent {node.parent} is categorical")
                side = np.zeros(len(domain.levels), dtype=np.bool_)
                for code in node.goes_left:
                    if not 0 <= code < len(side):
                        raise NetworkError(f"tree node {i}: level number {code}, but there are {len(side)} levels")
                    side[code] = True
                offset[i] = used
                used += len(side)
                sides.append(side)
            else:
                at_infinity = domain.absent and node.goes_left == np.inf
                if isinstance(node.goes_left, tuple) or not (np.isfinite(node.goes_left) or at_infinity):
                    raise NetworkError(f"tree node {i}: parent {node.parent} is real, expected a finite threshold")
                threshold[i] = node.goes_left
        if sorted(reached) != list(range(m)):
            raise NetworkError("every tree node but the root must be the child of exactly one node")
        if sorted(leaves) != list(range(len(leaves))):
            raise NetworkError(f"the {len(leaves)} leaves must be numbered 0..{len(leaves) - 1}, each once")
        goes_left = np.concatenate(sides) if sides else np.zeros(0, dtype=np.bool_)
        for array in (parent, threshold, offset, goes_left, left, right):
            array.setflags(write=False)
        return cls(parent, threshold, offset, goes_left, left, right)

    @property
    def n_leaves(self) -> int:
        return int((self.parent < 0).sum())

    def nodes(self, parent_domains: Sequence[Domain]) -> list[Split | int]:
        """The inverse of `build`."""
        out: list[Split | int] = []
        for i, parent in enumerate(self.parent.tolist()):
            if parent < 0:
                out.append(int(self.left[i]))
                continue
            domain = parent_domains[parent]
            goes_left: float | tuple[int, ...] = float(self.threshold[i])
            if isinstance(domain, Categorical):
                begin = int(self.offset[i])
                goes_left = tuple(np.flatnonzero(self.goes_left[begin : begin + len(domain.levels)]).tolist())
            out.append(Split(parent, goes_left, int(self.left[i]), int(self.right[i])))
        return out

    def cells(self, columns: Sequence[NDArray[Any]], n: int) -> NDArray[np.int64]:
        """int64[n]: the leaf of every row, given the parents' columns (codes or values)."""
        values = np.empty((n, len(columns)))
        for j, column in enumerate(columns):
            values[:, j] = column
        leaves: NDArray[np.int64] = descend(
            values, self.parent, self.threshold, self.offset, self.goes_left, self.left, self.right
        )
        return leaves

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and all(
            np.array_equal(getattr(self, field), getattr(other, field)) for field in self.__dataclass_fields__
        )

    def __hash__(self) -> int:
        return hash((self.parent.tobytes(), self.threshold.tobytes(), self.goes_left.tobytes(), self.left.tobytes()))
