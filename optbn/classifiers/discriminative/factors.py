"""The parts of a network that a class has a say in, as tables of scores.

    P(y | x)  is proportional to  exp( s_y + sum over factors of s[y, x_i, parents of i] )

A factor belongs to an attribute whose parents include the class; where the class itself has parents, P(y | parents)
is one more, filed under the first of them. Everything else cancels. The cells of a factor are the configurations of
its other parents that occur (`contexts`) times the levels of its attribute; all cells of all factors stand end to end,
then comes the class's own prior, then a cell of zeros for values that are not known.

Configurations that never occur are answered higher up. What was trained is averaged over the contexts below each node
of the tree of contexts, by the rows each has seen of that level: free scores as they are, exponents and changes of
probabilities to be applied to the generative probability there. The same is done for a level that a context has not
seen, to whose parameters no row has anything to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import LimitError
from optbn.classifiers.forest import Forest, StoredTree
from optbn.classifiers.member import class_prior
from optbn.classifiers.pairs import Batch
from optbn.smoothing.counting import FamilyCounts
from optbn.smoothing.protocol import Smoother
from optbn.smoothing.tree import CountTree

FLOOR = -30.0
"""The least generative logarithm: an exponent can do nothing with log 0."""

LARGEST = 1 << 26
"""Scores of a model, 512 MB."""


@dataclass(frozen=True)
class Family:
    """attribute, and its parents besides the class;  of_class  the attribute and the parents are those of the class"""

    attribute: int
    parents: tuple[int, ...]
    of_class: bool = False


@dataclass(frozen=True, eq=False)
class Factor:
    """A family with what occurs of it: `tree` has the contexts as leaves and n(x, y) as counts, the class fastest."""

    family: Family
    levels: int
    n_classes: int
    tree: CountTree

    @cached_property
    def leaves(self) -> NDArray[np.int64]:
        """int64[contexts]: the tree's nodes for them."""
        return np.flatnonzero(self.tree.depth == len(self.family.parents))

    @property
    def contexts(self) -> int:
        return len(self.leaves)

    @property
    def cells(self) -> int:
        return self.contexts * self.levels

    @cached_property
    def prefixes(self) -> NDArray[np.int64]:
        """int64[nodes, parents]: the parents' values on the way to each node, -1 for those not asked yet."""
        found = np.full((len(self.tree.parent), len(self.family.parents)), -1, dtype=np.int64)
        for u in range(1, len(found)):
            found[u] = found[self.tree.parent[u]]
            found[u, self.tree.depth[u] - 1] = self.tree.branch[u]
        return found

    def counts(self, nodes: Any = slice(None)) -> NDArray[np.float64]:
        """float64[nodes, levels, C]."""
        return np.asarray(self.tree.counts[nodes]).reshape(-1, self.levels, self.n_classes)

    def cell_of(self, codes: NDArray[np.int32], unknown: int) -> NDArray[np.int64]:
        """int64[n]: the cell of every row, `unknown` where a value is not known or the configuration is new."""
        x = codes[:, self.family.attribute].astype(np.int64)
        if not self.family.parents:
            return np.where(x >= 0, x, unknown)
        place = np.full(len(self.tree.parent), -1, dtype=np.int64)
        place[self.leaves] = np.arange(self.contexts)
        context = place[self.tree.locate([codes[:, p] for p in self.family.parents])]
        return np.where((x >= 0) & (context >= 0), context * self.levels + x, unknown)

    def generative(
        self, counts: NDArray[np.float64], smoother: Smoother, generator: np.random.Generator
    ) -> NDArray[np.float64]:
        """float64[C, nodes, levels]: log P(x | y, values so far) at every node, from counts[contexts, levels, C].

        Of a class's own family log P(y | values so far and x).
        """
        C, paths = self.n_classes, self.prefixes
        inside = paths[self.leaves]
        if self.family.of_class:
            rows = np.concatenate(
                [np.repeat(inside, self.levels, axis=0), np.tile(np.arange(self.levels), len(inside))[:, None]], axis=1
            )
            tree = CountTree.from_configurations(rows, counts.reshape(-1, C), (*self.tree.sizes, self.levels))
            every = np.repeat(paths, self.levels, axis=0)
            x = np.tile(np.arange(self.levels), len(paths))
            found = _logs(tree, smoother, generator, [*every.T, x])
            return found.reshape(len(paths), self.levels, C).transpose(2, 0, 1)
        rows = np.concatenate([np.repeat(np.arange(C), len(inside))[:, None], np.tile(inside, (C, 1))], axis=1)
        tree = CountTree.from_configurations(
            rows, counts.transpose(2, 0, 1).reshape(-1, self.levels), (C, *self.tree.sizes)
        )
        found = _logs(tree, smoother, generator, [np.repeat(np.arange(C), len(paths)), *np.tile(paths, (C, 1)).T])
        return found.reshape(C, len(paths), self.levels)

    def backed_off(
        self, trained: NDArray[np.float64], otherwise: float | NDArray[np.float64], replace: bool
    ) -> NDArray[np.float64]:
        """float64[C, nodes, levels]: what was trained at the contexts, float64[C, contexts, levels], at every node.

        Inner nodes have the mean over the rows below; `otherwise` (broadcast to it) is the answer where there are none
        at all. With `replace`, levels that a context has not seen are answered by the node above as well.
        """
        tree, deepest = self.tree, len(self.family.parents)
        seen = self.counts().sum(axis=2)
        total = np.zeros((self.n_classes, *seen.shape))
        total[:, self.leaves] = trained * seen[self.leaves]
        for d in range(deepest, 0, -1):
            level = np.flatnonzero(tree.depth == d)
            np.add.at(total.swapaxes(0, 1), tree.parent[level], total[:, level].swapaxes(0, 1))
        answer = total / np.where(seen > 0, seen, 1.0)
        known = seen > 0
        if not replace:
            answer[:, self.leaves] = trained
            known[self.leaves] = True
        for d in range(deepest + 1):
            level = np.flatnonzero(tree.depth == d)
            above = otherwise if d == 0 else answer[:, tree.parent[level]]
            answer[:, level] = np.where(known[level], answer[:, level], above)
        return answer

    def stored(self, scores: NDArray[np.float64]) -> StoredTree:
        """The scores of all nodes, float64[C, nodes, levels], as a class-first tree to walk."""
        tree, C = self.tree, self.n_classes
        fanout, branch, values = [C], [0], [np.zeros((1, self.levels))]
        for d in range(len(self.family.parents) + 1):
            level = np.flatnonzero(tree.depth == d)
            children = np.diff(tree.first_child)[level]
            for y in range(C):
                fanout.extend(children.tolist())
                branch.extend([y] if d == 0 else tree.branch[level].tolist())
                values.append(scores[y, level])
        first = (1 + np.concatenate([[0], np.cumsum(fanout)])).astype(np.int32)
        return StoredTree(first, np.array(branch, dtype=np.int32), np.concatenate(values))


def _logs(
    tree: CountTree, smoother: Smoother, generator: np.random.Generator, columns: Sequence[NDArray[np.int64]]
) -> NDArray[np.float64]:
    estimate = smoother.fit(tree, generator)
    with np.errstate(divide="ignore"):
        logs = np.log(estimate.at(tree, tree.locate(columns)))
    return np.asarray(np.maximum(logs, FLOOR))


@dataclass(frozen=True, eq=False)
class Layout:
    """All factors, and where the cells of each begin; `prior` says whether the class has a term of its own."""

    factors: tuple[Factor, ...]
    class_counts: NDArray[np.float64]
    prior: bool

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum([factor.cells for factor in self.factors])]).astype(np.int64)

    @property
    def n_classes(self) -> int:
        return len(self.class_counts)

    @property
    def cells(self) -> int:
        """Of the factors; the prior's is the next one, and the one after that is always zero."""
        return int(self.starts[-1])

    @classmethod
    def of(cls, batches: Iterable[Batch], families: Sequence[Family], sizes: Sequence[int], n_classes: int) -> Layout:
        """One pass of counting; rows in which a family is not completely known do not count for it."""
        counts = [FamilyCounts([sizes[p] for p in f.parents], sizes[f.attribute] * n_classes) for f in families]
        classes = np.zeros(n_classes)
        for codes, y, weights in batches:
            classes += np.bincount(y, weights, n_classes)
            columns = [np.ascontiguousarray(codes[:, j]) for j in range(codes.shape[1])]
            for family, count in zip(families, counts, strict=True):
                used = (family.attribute, *family.parents)
                child = columns[family.attribute].astype(np.int64) * n_classes + y
                parents = [columns[p] for p in family.parents]
                if any(columns[j].min(initial=0) < 0 for j in used):
                    known = (codes[:, used] >= 0).all(axis=1)
                    count.add([column[known] for column in parents], child[known], weights[known])
                else:
                    count.add(parents, child, weights)
        factors = tuple(
            Factor(family, sizes[family.attribute], n_classes, count.tree(order=range(len(family.parents))))
            for family, count in zip(families, counts, strict=True)
        )
        cells = sum(factor.cells for factor in factors) * n_classes
        if cells > LARGEST:
            raise LimitError(
                f"the network has {cells:,} parameters, more than {LARGEST:,}: leave columns with very many levels "
                "out, or use a structure with fewer parents"
            )
        return cls(factors, classes, not any(family.of_class for family in families))

    def part(self, table: NDArray[np.float64], f: int) -> NDArray[np.float64]:
        """View of float64[C, cells..] as float64[C, contexts, levels] of factor f."""
        factor = self.factors[f]
        return table[:, self.starts[f] : self.starts[f + 1]].reshape(len(table), factor.contexts, factor.levels)

    def rows(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """int32[n, factors]: the cells of each row, besides the prior's that all have."""
        found = np.empty((len(codes), len(self.factors)), dtype=np.int32)
        for f, factor in enumerate(self.factors):
            start = self.starts[f]
            found[:, f] = start + factor.cell_of(codes, self.cells + 1 - start)
        return found

    def counted(self, cells: NDArray[np.int32], classes: NDArray[np.int64], weights: NDArray[np.float64]) -> Any:
        """Per factor n(context, x, y), and n(y), of some coded rows."""
        C, width = self.n_classes, self.cells + 2
        table = np.zeros(width * C)
        for f in range(len(self.factors)):
            table += np.bincount(cells[:, f].astype(np.int64) * C + classes, weights, width * C)
        return table.reshape(width, C)[: self.cells], np.bincount(classes, weights, C)

    def generative(
        self, counts: NDArray[np.float64], class_counts: NDArray[np.float64], smoother: Smoother,
        seed: np.random.SeedSequence,
    ) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:  # fmt: skip
        """float64[C, cells + 2]: the smoothed logarithms as scores; and those of all nodes, per factor.

        counts  float64[cells, C]
        """
        table = np.zeros((self.n_classes, self.cells + 2))
        everywhere = []
        for f, (factor, stream) in enumerate(zip(self.factors, seed.spawn(len(self.factors)), strict=True)):
            own = counts[self.starts[f] : self.starts[f + 1]].reshape(factor.contexts, factor.levels, -1)
            logs = factor.generative(own, smoother, np.random.default_rng(stream))
            everywhere.append(logs)
            self.part(table, f)[:] = logs[:, factor.leaves]
        if self.prior:
            table[:, self.cells] = class_prior(class_counts)
        return table, everywhere

    @cached_property
    def own_counts(self) -> NDArray[np.float64]:
        """float64[cells, C]: the counts of all rows."""
        parts = [factor.counts(factor.leaves).reshape(-1, self.n_classes) for factor in self.factors]
        return np.concatenate([np.zeros((0, self.n_classes)), *parts])

    def forest(self, scores: Callable[[int], NDArray[np.float64]]) -> tuple[dict[int, tuple[int, ...]], Forest]:
        """Parents and trees with `scores(f)`, float64[C, nodes, levels], of each factor."""
        parents = {factor.family.attribute: factor.family.parents for factor in self.factors}
        trees = [factor.stored(scores(f)) for f, factor in enumerate(self.factors)]
        return parents, Forest.of(parents, trees, [tree.values for tree in trees])
