"""Counting families in one pass: how often each configuration of some variables occurs with each level of another.

Data arrive in batches of any length, so they never have to fit into memory; what is kept is the counts. While all
configurations fit into a small table, a row is one mixed-radix key and one increment. Otherwise rows are walked down a
trie whose edges live in one hash table, which holds what occurs and nothing else, for any number of variables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.smoothing.kernels.counting import insert, rehash, tally, tally_weighted
from optbn.smoothing.order import information_order
from optbn.smoothing.tree import CountTree

DENSE_CELLS = 1 << 18
"""The largest table of several variables counted densely, 2 MB."""

CHUNK = 1 << 14
"""Rows whose keys are made at a time, so that they stay in the cache."""


class FamilyCounts:
    """Counts of one child given conditioning variables; `add` batches, then ask for the `tree`."""

    def __init__(self, sizes: Sequence[int], n_levels: int) -> None:
        self.sizes = tuple(sizes)
        self.n_levels = n_levels
        cells = math.prod(self.sizes) * n_levels
        dense = cells <= DENSE_CELLS or len(self.sizes) < 2
        self._table = np.zeros(cells) if dense else None
        self._trie = None if dense else _Trie(len(self.sizes), n_levels)

    def add(
        self, columns: Sequence[NDArray[Any]], child: NDArray[Any], weights: NDArray[np.float64] | None = None
    ) -> None:
        """Count one batch: codes of the conditioning variables and of the child, one weight a row or 1 for all."""
        if self._trie is not None:
            values = np.empty((len(child), len(columns)), dtype=np.int32)
            for j, column in enumerate(columns):
                values[:, j] = column
            self._trie.add(values, child.astype(np.int64), np.ones(len(child)) if weights is None else weights)
            return

        keys = np.empty(min(CHUNK, len(child)), dtype=np.int64)
        for begin in range(0, len(child), CHUNK):
            rows = slice(begin, begin + CHUNK)
            part = keys[: len(child) - begin]
            self._keys(part, [column[rows] for column in columns], child[rows])
            if weights is None:
                tally(self._table, part)
            else:
                tally_weighted(self._table, part, weights[rows])

    def _keys(self, keys: NDArray[np.int64], columns: Sequence[NDArray[Any]], child: NDArray[Any]) -> None:
        """The cells of some rows, the child fastest."""
        if not columns:
            keys[:] = child
            return
        keys[:] = columns[0]
        for column, size in zip((*columns[1:], child), (*self.sizes[1:], self.n_levels), strict=True):
            keys *= size
            keys += column

    def configurations(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The configurations that occur, int64[c, k], and their counts, float64[c, K]."""
        if self._trie is not None:
            return self._trie.configurations()
        assert self._table is not None
        table = self._table.reshape(-1, self.n_levels)
        seen = np.flatnonzero(table.any(axis=1))
        if not self.sizes:
            return np.zeros((len(seen), 0), dtype=np.int64), table[seen]
        return np.stack(np.unravel_index(seen, self.sizes), axis=1), table[seen]

    def tree(self, order: Sequence[int] | None = None, first: int = 0) -> CountTree:
        """The count tree in the given order, or by falling information about the child given the `first` variables."""
        configurations, counts = self.configurations()
        if order is None:
            order = information_order(configurations, counts, self.sizes, first)
        return CountTree.from_configurations(configurations, counts, self.sizes, order)


class _Trie:
    """Rows as paths from the root; see `kernels.counting.insert` for the arrays."""

    def __init__(self, k: int, n_levels: int) -> None:
        self.k = k
        self.slot_key = np.full(1 << 12, -1, dtype=np.int64)
        self.slot_node = np.zeros(1 << 12, dtype=np.int32)
        self.parent = np.full(1 << 10, -1, dtype=np.int32)
        self.value = np.zeros(1 << 10, dtype=np.int32)
        self.counts = np.zeros((1 << 10, n_levels))
        self.used = np.ones(1, dtype=np.int64)

    def add(self, values: NDArray[np.int32], child: NDArray[np.int64], weights: NDArray[np.float64]) -> None:
        begin = 0
        while True:
            begin = insert(
                values, child, weights, begin, self.slot_key, self.slot_node, self.parent, self.value, self.counts,
                self.used,
            )  # fmt: skip
            if begin == len(values):
                return
            self._grow()

    def _grow(self) -> None:
        """Twice the nodes, and slots enough that at most half are taken; edges are hashed anew."""
        size = 2 * len(self.parent) + self.k
        grown = size - len(self.parent)
        self.parent = np.concatenate([self.parent, np.full(grown, -1, dtype=np.int32)])
        self.value = np.concatenate([self.value, np.zeros(grown, dtype=np.int32)])
        self.counts = np.concatenate([self.counts, np.zeros((grown, self.counts.shape[1]))])
        slots = 1 << (2 * size).bit_length()

        self.slot_key = np.full(slots, -1, dtype=np.int64)
        self.slot_node = np.zeros(slots, dtype=np.int32)
        rehash(self.slot_key, self.slot_node, self.parent, self.value, int(self.used[0]))

    def configurations(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        leaves = np.flatnonzero(self.counts[: self.used[0]].any(axis=1))
        rows = np.empty((len(leaves), self.k), dtype=np.int64)
        node = leaves.astype(np.int32)
        for d in range(self.k - 1, -1, -1):
            rows[:, d] = self.value[node]
            node = self.parent[node]
        return rows, self.counts[leaves]
