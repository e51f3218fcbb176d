"""The tree behind a score: traced back through the solved boxes of one family, then scored again from its rows.

Among trees of the best score the one with the fewest leaves is taken; among those, at every node a leaf before a split,
and splits in the order of the plan: parents in order, a categorical one's larger right sides first, an ordinal one's
cuts upwards. Levels that no row of a node has follow the side with more rows (the left one if equal), except that an
ordinal parent's levels stay contiguous.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import CheckError
from optbn.data.dataset import Categorical
from optbn.network.tree import Split, Tree
from optbn.scores.kernels.kinds import CATEGORICAL, ORDINAL, REAL
from optbn.scores.trees.columns import Columns
from optbn.scores.trees.leaves import LeafContent
from optbn.scores.trees.responses import BoundLeaves

if TYPE_CHECKING:
    from optbn.network.tree import Split, Tree

TIE = 1e-12
"""Difference below which a leaf counts as good as a split: it is computed anew here, with other last bits."""


@dataclass(frozen=True, eq=False)
class FittedTree:
    """The optimal tree of a family.

    child, parents  variable numbers; parents ascending
    score           the family's score
    nodes           root first: a `Split` (its `parent` counts within `parents`), or the number of a leaf
    content         what each leaf's rows look like
    runs            int32[leaves, r], the run each level of an ordered child is in, where leaves have runs; else None
    """

    child: int
    parents: tuple[int, ...]
    score: float
    nodes: tuple[Split | int, ...]
    content: LeafContent
    runs: NDArray[np.int32] | None = None

    @property
    def n_leaves(self) -> int:
        return self.content.leaves

    def tree(self, data_domains: tuple[object, ...]) -> Tree:
        """The splits as `optbn.network.tree.Tree`, given the data's domains."""
        return Tree.build(self.nodes, [data_domains[u] for u in self.parents])  # type: ignore[misc]


@dataclass(frozen=True, eq=False)
class Solved:
    """Every box of one family with its value, as the kernels left them. Slot 0 holds no rows, the last is the root.

    names   int64[slots, k], the part of each predictor (see kernels/lattice.py)
    value   float64[slots]; leaf float64[slots], what it would be unsplit
    offset, left, right   the splits of each slot, in the plan's order
    """

    names: NDArray[np.int64]
    content: LeafContent
    value: NDArray[np.float64]
    leaf: NDArray[np.float64]
    offset: NDArray[np.int64]
    left: NDArray[np.integer]
    right: NDArray[np.integer]

    def best_splits(self, slot: int) -> NDArray[np.int64]:
        """The positions in left and right of the splits that attain the slot's value, to the bit; none at a leaf."""
        value = self.value[slot]
        begin, end = self.offset[slot], self.offset[slot + 1]
        if self.leaf[slot] >= value - TIE * (1 + abs(value)):
            end = begin
        sums = self.value[self.left[begin:end]] + self.value[self.right[begin:end]]
        best: NDArray[np.int64] = begin + np.flatnonzero(sums == value)
        return best


def trace(
    solved: Solved,
    leaves: BoundLeaves,
    cost: float,
    constant: float,
    child: int,
    parents: tuple[int, ...],
) -> FittedTree:
    """The best tree of a solved family; cost = log 4C, `constant` is what the score adds to the root's value."""
    columns = leaves.columns
    root = len(solved.value) - 1
    fewest = _fewest_leaves(solved, root)

    def leaves_at(t: int) -> int:
        return fewest[int(solved.left[t])] + fewest[int(solved.right[t])]

    nodes: list[Split | int] = []
    slots: list[int] = []  # of the leaves
    waiting = [(root, -1)]  # slots, and for a right side the node that waits for its number
    while waiting:
        slot, above = waiting.pop()
        number = len(nodes)
        if above >= 0:
            nodes[above] = replace(nodes[above], right=number)  # type: ignore[type-var]
        splits = solved.best_splits(slot)
        if not len(splits):
            nodes.append(len(slots))
            slots.append(slot)
            continue
        t = next(t for t in splits if leaves_at(t) == fewest[slot])
        a, b = int(solved.left[t]), int(solved.right[t])
        j, first, second = _split(columns, parents, solved.names[slot], int(t - solved.offset[slot]))
        heavier_left = bool(solved.content.rows[a] >= solved.content.rows[b])
        nodes.append(Split(j, _goes_left(columns, parents[j], first, second, heavier_left), number + 1, -1))
        waiting += [(b, number), (a, -1)]

    leaf, n_leaves = _leaf_of_rows(columns, parents, nodes), len(slots)
    share = None if solved.content.share is None else solved.content.share[slots]
    again = leaves.log_likelihood(child, leaf, n_leaves, share) - n_leaves * cost + constant
    score = float(solved.value[root]) + constant + float(leaves.jacobian[child])
    if abs(again - score) > 1e-9 * max(1.0, abs(score)):
        raise CheckError(
            f"the tree found for variable {child} given {parents} scores {again}, its search said {score}; "
            "please report this"
        )
    return FittedTree(child, parents, score, tuple(nodes), leaves.content(child, leaf, n_leaves))


def alone(
    leaves: BoundLeaves, child: int, cost: float, constant: float, share: NDArray[np.float64] | None
) -> FittedTree:
    """The tree of a child without parents, straight from its column."""
    leaf = np.zeros(leaves.data.n_rows, np.int64)
    score = leaves.log_likelihood(child, leaf, 1, share) - cost + constant
    return FittedTree(child, (), score, (0,), leaves.content(child, leaf, 1))


def _fewest_leaves(solved: Solved, root: int) -> dict[int, int]:
    """The least number of leaves of an optimal subtree, of every box that an optimal tree may reach."""
    fewest: dict[int, int] = {}
    waiting = [root]  # a tree may be deeper than calls can be
    while waiting:
        slot = waiting[-1]
        if slot in fewest:  # it waited for several boxes
            waiting.pop()
            continue
        sides = [(int(solved.left[t]), int(solved.right[t])) for t in solved.best_splits(slot)]
        below = [side for pair in sides for side in pair if side not in fewest]
        if below:
            waiting += below
            continue
        fewest[slot] = min((fewest[a] + fewest[b] for a, b in sides), default=1)
        waiting.pop()
    return fewest


def _split(columns: Columns, parents: tuple[int, ...], name: NDArray[np.int64], number: int) -> tuple[int, int, int]:
    """The position of the parent and the parts of the sides of a box's split, counted as in the plan."""
    predictors = columns.predictors
    for j, u in enumerate(parents):
        part = int(name[j])
        sides = list(sides_of_part(int(predictors.kinds[u]), int(predictors.parts[u]), part, number))
        if len(sides) > number:
            return (j, *sides[number])
        number -= len(sides)
    raise AssertionError("a box has fewer splits than its plan")


def sides_of_part(kind: int, parts: int, part: int, last: float = math.inf) -> Iterator[tuple[int, int]]:
    """The pairs of parts that a part splits into, up to number `last`, in the order of kernels/lattice.py."""
    if kind == CATEGORICAL:
        mask = part + 1
        rest = mask & (mask - 1)
        away = rest
        while away and last >= 0:
            yield mask - away - 1, away - 1
            away = (away - 1) & rest
            last -= 1
    elif kind == ORDINAL:
        hi = _interval_end(part)
        lo = hi - (part - hi * (hi + 1) // 2)
        for cut in range(lo, hi):
            yield cut * (cut + 1) // 2 + cut - lo, hi * (hi + 1) // 2 + hi - cut - 1
    elif 2 * part >= parts:
        yield 2 * part - parts - 1, 2 * part - parts


def _interval_end(part: int) -> int:
    return (math.isqrt(8 * part + 1) - 1) // 2


def _goes_left(columns: Columns, u: int, left: int, right: int, heavier_left: bool) -> float | tuple[int, ...]:
    """The levels that go left, or the threshold below which values do, for two parts of variable u."""
    kind, parts = int(columns.predictors.kinds[u]), int(columns.predictors.parts[u])
    if kind == REAL:
        while 2 * right >= parts:  # the first finest cell of the right side
            right = 2 * right - parts - 1
        return float(columns.thresholds[u][right - 1])
    observed = columns.observed[u]
    if kind == ORDINAL:
        hi = _interval_end(right)
        lo = hi - (right - hi * (hi + 1) // 2)
        if not columns.data.cardinalities[u]:  # a real one that may be cut anywhere
            return float(columns.thresholds[u][lo - 1])
        return tuple(range(int(observed[lo])))
    sides = {
        int(code): side
        for side, part in ((0, left), (1, right))
        for i, codes in enumerate(columns.members[u])
        for code in codes
        if (part + 1) >> i & 1
    }
    absent = 0 if heavier_left else 1
    levels = len(columns.data.domains[u].levels)  # type: ignore[union-attr]
    return tuple(code for code in range(levels) if sides.get(code, absent) == 0)


def _leaf_of_rows(columns: Columns, parents: tuple[int, ...], nodes: list[Split | int]) -> NDArray[np.int64]:
    """int64[N]: the leaf each row falls into, walked from the root with the data's own values."""
    data = columns.data
    leaf = np.zeros(data.n_rows, np.int64)
    reached = {0: np.arange(data.n_rows)}
    for i, node in enumerate(nodes):
        rows = reached.pop(i)
        if isinstance(node, int):
            leaf[rows] = node
            continue
        u = parents[node.parent]
        values = data.columns[u][rows]
        if isinstance(data.domains[u], Categorical):
            left = np.isin(values, node.goes_left)
        else:
            left = values < node.goes_left
        reached[node.left], reached[node.right] = rows[left], rows[~left]
    return leaf
