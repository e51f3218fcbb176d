"""Scores that are shrunk down the tree of contexts: h, a fourth way to write them.

    s[y, x, context]  =  sum over the nodes u from the root of contexts down to this one of  decay^depth(u) b[u, y, x]

The root's b is what the attribute says by itself, every further one what a parent's value changes. The penalty on all b
alike makes this the hierarchy of the HDP paper with Gaussian steps: a context is drawn around the one above it, and the
smaller `decay`, the closer. With one parent these are main effects and interactions with a strength each. Contexts that
training has not seen are answered by the deepest that it has. Log-linear in b, hence convex.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.discriminative.factors import Layout

DECAYS = (1.0, 0.5, 0.25)
"""What is tried."""


@dataclass(frozen=True, eq=False)
class Hierarchical:
    """h. Parameters are float64[C, nodes, levels] of each factor, end to end, then the class's own."""

    layout: Layout
    generative: NDArray[np.float64]
    decay: float

    @cached_property
    def _starts(self) -> list[int]:
        C = self.layout.n_classes
        sizes = [C * len(factor.tree.parent) * factor.levels for factor in self.layout.factors]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(int).tolist()

    @cached_property
    def _by_depth(self) -> list[list[NDArray[np.int64]]]:
        """Per factor the nodes of each depth."""
        trees = [factor.tree for factor in self.layout.factors]
        return [[np.flatnonzero(tree.depth == d) for d in range(int(tree.depth[-1]) + 1)] for tree in trees]

    @property
    def size(self) -> int:
        return self._starts[-1] + self.layout.n_classes * self.layout.prior

    @property
    def penalised(self) -> NDArray[np.bool_]:
        return np.arange(self.size) < self._starts[-1]

    @property
    def neutral(self) -> NDArray[np.float64]:
        """The generative scores, all of them at the leaves."""
        x = np.zeros(self.size)
        for f, factor in enumerate(self.layout.factors):
            unit = self.decay ** len(factor.family.parents)
            self._part(x, f)[:, factor.leaves] = self.layout.part(self.generative, f) / unit
        if self.layout.prior:
            x[self._starts[-1] :] = self.generative[:, self.layout.cells]
        return x

    def scores(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        table = np.zeros_like(self.generative)
        for f, factor in enumerate(self.layout.factors):
            self.layout.part(table, f)[:] = self._sums(x, f)[:, factor.leaves]
        if self.layout.prior:
            table[:, self.layout.cells] = x[self._starts[-1] :]
        return table

    def pullback(
        self, x: NDArray[np.float64], scores: NDArray[np.float64], gradient: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        found = np.zeros(self.size)
        for f, factor in enumerate(self.layout.factors):
            part, depths = self._part(found, f).swapaxes(0, 1), self._by_depth[f]
            part[factor.leaves] = self.layout.part(gradient, f).swapaxes(0, 1)
            for d in range(len(depths) - 1, 0, -1):
                np.add.at(part, factor.tree.parent[depths[d]], part[depths[d]])
                part[depths[d]] *= self.decay**d
        if self.layout.prior:
            found[self._starts[-1] :] = gradient[:, self.layout.cells]
        return found

    def everywhere(self, x: NDArray[np.float64], f: int, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._sums(x, f)

    def _part(self, x: NDArray[np.float64], f: int) -> NDArray[np.float64]:
        factor = self.layout.factors[f]
        own = x[self._starts[f] : self._starts[f + 1]]
        return own.reshape(self.layout.n_classes, len(factor.tree.parent), factor.levels)

    def _sums(self, x: NDArray[np.float64], f: int) -> NDArray[np.float64]:
        """float64[C, nodes, levels]: scores at all nodes."""
        found, parent = self._part(x, f).copy(), self.layout.factors[f].tree.parent
        for d, nodes in enumerate(self._by_depth[f][1:], 1):
            found[:, nodes] = self.decay**d * found[:, nodes] + found[:, parent[nodes]]
        return found
