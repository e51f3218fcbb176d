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
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from optbn.classifiers.discriminative.factors import Layout

DECAYS = (1.0, 0.5, 0.25)
"""What is tried."""


@dataclass(frozen=True, eq=False)
class Hierarchical:
    """h. Parameters are float64[C, width]: nodes by levels of each factor, end to end, then the class's own."""

    layout: Layout
    generative: NDArray[np.float64]
    decay: float

    @cached_property
    def _starts(self) -> list[int]:
        sizes = [len(factor.tree.parent) * factor.levels for factor in self.layout.factors]
        return [0, *np.cumsum(sizes).tolist()]

    @cached_property
    def _down(self) -> Any:
        """Sparse [cells, nodes by levels]: what each b is in each score."""
        rows, columns, values = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0)]
        for f, factor in enumerate(self.layout.factors):
            level, node = np.arange(factor.levels), factor.leaves
            own = self.layout.starts[f] + np.arange(factor.cells)
            for d in range(len(factor.family.parents), -1, -1):
                rows.append(own)
                columns.append(self._starts[f] + (node[:, None] * factor.levels + level).ravel())
                values.append(np.full(len(own), self.decay**d))
                node = factor.tree.parent[node].astype(np.int64)
        shape = (self.layout.cells, self._starts[-1])
        place = (np.concatenate(rows), np.concatenate(columns))
        return csr_array((np.concatenate(values), place), shape=shape)

    @cached_property
    def _up(self) -> Any:
        return self._down.T.tocsr()

    @property
    def width(self) -> int:
        return self._starts[-1] + self.layout.prior

    @property
    def size(self) -> int:
        return self.layout.n_classes * self.width

    @property
    def penalised(self) -> NDArray[np.bool_]:
        return np.arange(self.size) % self.width < self._starts[-1]

    @property
    def neutral(self) -> NDArray[np.float64]:
        """The generative scores, all of them at the leaves."""
        x = np.zeros((self.layout.n_classes, self.width))
        for f, factor in enumerate(self.layout.factors):
            unit = self.decay ** len(factor.family.parents)
            self._part(x, f)[:, factor.leaves] = self.layout.part(self.generative, f) / unit
        x[:, self._starts[-1] :] = self.generative[:, self.layout.cells : self.layout.cells + self.layout.prior]
        return x.ravel()

    def scores(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        table, b, cells = np.zeros_like(self.generative), x.reshape(-1, self.width), self.layout.cells
        table[:, :cells] = (self._down @ b[:, : self._starts[-1]].T).T
        table[:, cells : cells + self.layout.prior] = b[:, self._starts[-1] :]
        return table

    def pullback(
        self, x: NDArray[np.float64], scores: NDArray[np.float64], gradient: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        cells = self.layout.cells
        own = gradient[:, cells : cells + self.layout.prior]
        return np.concatenate([(self._up @ gradient[:, :cells].T).T, own], axis=1).ravel()

    def everywhere(self, x: NDArray[np.float64], f: int, logs: NDArray[np.float64]) -> NDArray[np.float64]:
        found, tree = self._part(x.reshape(-1, self.width), f).copy(), self.layout.factors[f].tree
        for d in range(1, int(tree.depth[-1]) + 1):
            nodes = np.flatnonzero(tree.depth == d)
            found[:, nodes] = self.decay**d * found[:, nodes] + found[:, tree.parent[nodes]]
        return found

    def _part(self, x: NDArray[np.float64], f: int) -> NDArray[np.float64]:
        """View of float64[C, width] as float64[C, nodes, levels] of factor f."""
        factor = self.layout.factors[f]
        own = x[:, self._starts[f] : self._starts[f + 1]]
        return own.reshape(len(x), len(factor.tree.parent), factor.levels)
