"""The parameters of one network: a count tree per attribute, class first, and its smoothed probabilities.

    log P(y, x) = log P(y) + sum_i log P(x_i | y, parents)

is a walk down each tree for each class and a look-up where it ends. Trees are laid end to end for the compiled walk
(see `kernels.forest`), and their logarithms are taken once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import polygamma

from optbn.classifiers.kernels.forest import add_logs
from optbn.classifiers.kernels.levels import count_up, split
from optbn.classifiers.pairs import Batch
from optbn.smoothing.counting import FamilyCounts
from optbn.smoothing.protocol import Smoother
from optbn.smoothing.tree import CountTree

Parents = dict[int, tuple[int, ...]]
"""The attributes of a network in the order they were taken up, each with its parents besides the class, best first."""

DENSE = 1 << 22
"""Keys that are looked up in a table, 32 MB; more are sorted."""


class TreeLike(Protocol):
    """What is needed of a count tree to walk it."""

    @property
    def first_child(self) -> NDArray[np.int32]: ...
    @property
    def branch(self) -> NDArray[np.int32]: ...


@dataclass(frozen=True, eq=False)
class StoredTree:
    """The walk and the values of a tree whose counts are gone."""

    first_child: NDArray[np.int32]
    branch: NDArray[np.int32]
    values: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Forest:
    """See `kernels.forest` for the arrays; `values` is a row of sizes[t] numbers for every node.

    precision  float64[nodes]: how many rows each of the probabilities is worth, where the smoother has a posterior
    """

    attribute: NDArray[np.int64]
    questions: NDArray[np.int64]
    sizes: NDArray[np.int64]
    node_at: NDArray[np.int64]
    value_at: NDArray[np.int64]
    children: NDArray[np.int32]
    branch: NDArray[np.int32]
    values: NDArray[np.float64]
    precision: NDArray[np.float64] | None = None

    @classmethod
    def of(cls, parents: Parents, trees: Sequence[TreeLike], values: Sequence[NDArray[np.float64]]) -> Forest:
        """Trees of the attributes and what stands at their nodes, float64[nodes, levels]."""
        deepest = max((len(p) for p in parents.values()), default=0)
        nodes = np.concatenate([[0], np.cumsum([len(tree.branch) for tree in trees])]).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum([v.size for v in values])]).astype(np.int64)
        children = [
            np.stack([t.first_child[:-1], t.first_child[1:]], axis=1) + at for t, at in zip(trees, nodes, strict=False)
        ]
        return cls(
            np.array(list(parents), dtype=np.int64),
            np.array([[*p, *[-1] * (deepest - len(p))] for p in parents.values()], dtype=np.int64).reshape(
                len(parents), deepest
            ),
            np.array([v.shape[1] for v in values], dtype=np.int64),
            nodes,
            starts,
            np.concatenate([np.zeros((0, 2)), *children]).astype(np.int32),
            np.concatenate([np.zeros(0), *(tree.branch for tree in trees)]).astype(np.int32),
            np.concatenate([np.zeros(0), *(v.ravel() for v in values)]),
        )

    def add_logs(self, codes: NDArray[np.int32], out: NDArray[np.float64]) -> None:
        """out[r, y] += the values (logarithms) that rows reach under each class."""
        add_logs(
            codes, self.attribute, self.questions, self.sizes, self.node_at, self.value_at, self.children, self.branch,
            self.values, out,
        )  # fmt: skip

    def alone(self, t: int) -> Forest:
        """The forest of tree t only."""
        one = slice(t, t + 1)
        return replace(
            self, attribute=self.attribute[one], questions=self.questions[one], sizes=self.sizes[one],
            node_at=self.node_at[one], value_at=self.value_at[one], precision=None,
        )  # fmt: skip

    def variances(self) -> Forest:
        """The same walk with the posterior variances of the logarithms: those of a Dirichlet distribution."""
        assert self.precision is not None
        rows = np.repeat(self.precision, np.repeat(self.sizes, np.diff(self.node_at)))
        shares = np.exp(self.values)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(shares > 0, polygamma(1, rows * shares) - polygamma(1, rows), np.inf)
        return replace(self, values=found)

    def tree(self, t: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """Of tree t: children[m, 2] and branch[m] counted from its root, values[m, levels]."""
        nodes = slice(self.node_at[t], self.node_at[t + 1])
        values = self.values[self.value_at[t] : self.value_at[t + 1]].reshape(-1, self.sizes[t])
        return self.children[nodes] - np.int32(self.node_at[t]), self.branch[nodes], values


def count_trees(batches: Iterable[Batch], parents: Parents, sizes: Sequence[int], n_classes: int) -> list[CountTree]:
    """One pass: the count tree of every attribute given the class and its parents; incomplete rows are left out.

    Rows that come in one batch are split level by level, which is faster than to hash what comes in many.
    """
    question_sizes = [(n_classes, *(sizes[p] for p in questions)) for questions in parents.values()]
    waiting = iter(batches)
    first = next(waiting, None)
    second = next(waiting, None)
    if first is not None and second is None:
        families = zip(_families(first, parents), question_sizes, parents, strict=True)
        return [_tree_of_rows(*rows, questions, sizes[i]) for rows, questions, i in families]
    counts = [FamilyCounts(questions, sizes[i]) for questions, i in zip(question_sizes, parents, strict=True)]
    for batch in itertools.chain([b for b in (first, second) if b is not None], waiting):
        for (columns, child, weights), count in zip(_families(batch, parents), counts, strict=True):
            count.add(columns, child, weights)
    return [count.tree(order=range(len(questions))) for count, questions in zip(counts, question_sizes, strict=True)]


FamilyRows = tuple[list[NDArray[Any]], NDArray[Any], NDArray[np.float64]]
"""What a tree asks for, the attribute itself, weights."""


def _families(batch: Batch, parents: Parents) -> Iterator[FamilyRows]:
    """The rows of each attribute's family that know all of it."""
    codes, classes, weights = batch
    columns = [np.ascontiguousarray(codes[:, j]) for j in range(codes.shape[1])]
    incomplete = [bool((column < 0).any()) for column in columns]
    for i, questions in parents.items():
        if any(incomplete[j] for j in (i, *questions)):
            rows = (codes[:, [i, *questions]] >= 0).all(axis=1)
            yield [classes[rows], *(columns[p][rows] for p in questions)], columns[i][rows], weights[rows]
        else:
            yield [classes, *(columns[p] for p in questions)], columns[i], weights


def _tree_of_rows(
    columns: Sequence[NDArray[Any]], child: NDArray[Any], weights: NDArray[np.float64], sizes: Sequence[int], K: int
) -> CountTree:
    """The count tree of some rows: with the node of every row known at one level, (node, value) is that at the next."""
    node = np.zeros(len(child), dtype=np.int64)
    parts, nodes, level_at = [np.zeros((1, 2), dtype=np.int64) - 1], 1, [0, 1]
    for column, size in zip(columns if len(child) else (), sizes, strict=False):
        if nodes * size <= DENSE:
            found = split(node, column, nodes, size)
        else:
            found, node = np.unique(node * size + column, return_inverse=True)
        parts.append(np.stack([found // size + level_at[-2], found % size], axis=1))
        nodes = len(found)
        level_at.append(level_at[-1] + nodes)
    shape = np.concatenate(parts).astype(np.int32)
    shape[0, 1] = 0
    parent, counts = shape[:, 0].copy(), np.zeros((len(shape), K))
    count_up(node, child, weights, parent, np.array(level_at), counts)
    depth = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    spans = np.cumprod(np.array([1.0, *sizes[::-1]]))[::-1]
    return CountTree(
        counts, parent, depth.astype(np.int32), shape[:, 1].copy(), spans[depth], tuple(range(len(sizes))), tuple(sizes)
    )


def grown_trees(trees: Sequence[CountTree], parents: Parents, batch: Batch) -> list[CountTree]:
    """The count trees with a batch counted in: what occurred before are rows with weights."""
    found = []
    for tree, (columns, child, weights) in zip(trees, _families(batch, parents), strict=True):
        configurations, before = tree.configurations()
        rows, values = np.nonzero(before)
        counts = FamilyCounts(tree.sizes, before.shape[1])
        counts.add([column[rows] for column in configurations.T], values, before[rows, values])
        counts.add(columns, child, weights)
        found.append(counts.tree(order=range(len(tree.sizes))))
    return found


def truncated(tree: CountTree, parents: int) -> CountTree:
    """The tree that asks for the class and the first few parents only."""
    deep = 1 + parents
    if deep >= len(tree.sizes):
        return tree
    m = int(np.searchsorted(tree.depth, deep, side="right"))
    below = float(np.prod(tree.sizes[deep:]))
    return replace(
        tree, counts=tree.counts[:m], parent=tree.parent[:m], depth=tree.depth[:m], branch=tree.branch[:m],
        span=tree.span[:m] / below, order=tree.order[:deep], sizes=tree.sizes[:deep],
    )  # fmt: skip


def smoothed(parents: Parents, trees: Sequence[CountTree], smoother: Smoother, seed: np.random.SeedSequence) -> Forest:
    """The logarithms of the smoothed probabilities; each tree has random numbers of its own."""
    logs, rows = [], []
    for tree, stream in zip(trees, seed.spawn(len(trees)), strict=True):
        estimate = smoother.fit(tree, np.random.default_rng(stream))
        p = np.where(tree.is_leaf[:, None], estimate.probabilities, estimate.unseen)
        with np.errstate(divide="ignore"):
            logs.append(np.log(p))
        rows.append(estimate.precision_at(np.arange(len(p)), tree.is_leaf))
    known = [part for part in rows if part is not None]
    return replace(
        Forest.of(parents, trees, logs), precision=np.concatenate(known) if len(known) == len(rows) > 0 else None
    )
