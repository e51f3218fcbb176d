"""The training rows as cells, ready for as many passes as it takes.

Rows are coded once, as cells or whatever else is four bytes; equal rows of a block become one with their total weight,
in an order that depends on their content alone, so that repeating a row and giving it weight 2 are the same to the last
bit. What is small stays in memory, the rest is put `aside`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.aside import Aside

HELD = 1 << 24
"""Cells that stay in memory, 64 MB."""

Block = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]
"""Cells int32[n, F], classes, weights."""


class Rows:
    """Blocks of coded rows; iterate as often as needed."""

    def __init__(self, held: Sequence[Block] = ()) -> None:
        self._held = list(held)
        self._aside: Aside | None = None
        self.total = float(sum(block[2].sum() for block in held))

    @classmethod
    def of(cls, batches: Iterable[tuple[Any, Any, Any]], code: Callable[[Any], NDArray[np.int32]]) -> Rows:
        """Code all batches: `code` makes cells of what comes before classes and weights."""
        rows = cls()
        for attributes, classes, weights in batches:
            rows._add(distinct(code(attributes), classes, weights))
        return rows

    def _add(self, block: Block) -> None:
        cells, classes, weights = block
        self.total += float(weights.sum())
        if self._aside is None and cells.size + sum(held[0].size for held in self._held) <= HELD:
            self._held.append(block)
            return
        if self._aside is None:
            self._aside = Aside()
        self._aside.add(cells, classes.astype(np.int32), weights)

    def __iter__(self) -> Iterator[Block]:
        yield from self._held
        for cells, classes, weights in self._aside or ():
            yield cells, classes.astype(np.int64), weights

    def together(self, most: int, seed: np.random.SeedSequence) -> Block:
        """At most this many of the distinct rows as one block, drawn uniformly where there are more."""
        n = sum(len(classes) for _, classes, _ in self._held) + (self._aside.rows if self._aside is not None else 0)
        drawn = np.arange(n)
        if n > most:
            drawn = np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
        parts, first = [], 0
        for cells, classes, weights in self:
            inside = drawn[(drawn >= first) & (drawn < first + len(classes))] - first
            parts.append((cells[inside], classes[inside], weights[inside]))
            first += len(classes)
        if len(parts) == 1:
            return parts[0]
        return distinct(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def distinct(cells: NDArray[Any], classes: NDArray[np.int64], weights: NDArray[np.float64]) -> Block:
    """Equal rows as one, in the order of a hash of their content; where two hashes agree some may stay apart."""
    odd = np.random.default_rng(0).integers(1, 1 << 63, (cells.shape[1] + 1, 2), dtype=np.uint64) | np.uint64(1)
    key = classes.astype(np.uint64) * odd[-1, 0]
    for f in range(cells.shape[1]):
        word = cells[:, f].astype(np.int64).view(np.uint64)
        word = (word ^ (word >> np.uint64(32))) * odd[f, 0]  # numbers with few bits have theirs at one end
        key += (word ^ (word >> np.uint64(29))) * odd[f, 1]
    order = np.argsort(key, kind="stable")
    cells, classes, weights = cells[order], classes[order], weights[order]
    fresh = np.ones(len(classes), dtype=np.bool_)
    fresh[1:] = (classes[1:] != classes[:-1]) | (cells[1:] != cells[:-1]).any(axis=1)
    starts = np.flatnonzero(fresh)
    if len(starts) == len(classes):
        return cells, classes, weights
    return cells[starts], classes[starts], np.add.reduceat(weights, starts)
