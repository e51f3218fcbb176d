"""One pass of counting that structures are chosen by: every attribute, and every pair of them, with the class.

The tables take C sum_{j < i} |X_i| |X_j| numbers whatever the number of rows. What is read off them is the mutual
information I(X_i; Y) and the conditional one I(X_i; X_j | Y).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import LimitError
from optbn.classifiers.kernels.pairs import ASIDE, WORDS, count_by_bits, count_by_rows, count_singles, pair_information

Batch = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]
"""Codes int32[n, a] with -1 for unknown, classes, weights."""

LARGEST = 1 << 27
"""Cells of the pair tables, 1 GB."""

CHEAPER = 2.0
"""How many words of 64 rows are compared, and their bits counted, in the time of one increment (of a table, by a row).
A cell takes a word for each 64 rows of a class, and some more to begin with."""

NEGLIGIBLE = 1e-9
"""Information per row, in nats, that is only rounding."""


class PairCounts:
    """Tables of n(x_i, y) and, unless `pairs` is False, n(x_i, x_j, y)."""

    def __init__(self, sizes: Sequence[int], n_classes: int, names: Sequence[str], pairs: bool = True) -> None:
        self.sizes = np.array(sizes, dtype=np.int64)
        self.n_classes = n_classes
        self.classes = np.zeros(n_classes)
        a = len(sizes)
        cells = [int(sizes[i]) * int(sizes[j]) * n_classes for i in range(a) for j in range(i)] if pairs else []
        if sum(cells) > LARGEST:
            most = sorted(zip(sizes, names, strict=True), reverse=True)[:2]
            raise LimitError(
                f"counting all pairs of attributes would take {sum(cells) * 8 / 1e9:.1f} GB: "
                f"{' and '.join(f'{name!r} has {size:,} levels' for size, name in most)}; "
                "leave such columns out or merge rare levels, or use NaiveBayes"
            )
        self.single_at = np.concatenate([[0], np.cumsum(self.sizes * n_classes)]).astype(np.int64)
        self.pair_at = np.concatenate([[0], np.cumsum(cells)]).astype(np.int64)
        self.singles = np.zeros(int(self.single_at[-1]))
        self.pairs = np.zeros(int(self.pair_at[-1]))

    def add(self, batch: Batch) -> None:
        """Count one batch; rows that count once apart from others, where sums are the same in any order."""
        codes, classes, weights = batch
        self.classes += np.bincount(classes, weights, self.n_classes)
        count_singles(codes, classes, weights, self.n_classes, self.single_at, self.singles)
        if not len(self.pairs):
            return
        once = weights == 1.0
        if once.all() or not (weights == np.floor(weights)).all():
            self._add_pairs(codes, classes, weights)
            return
        for some in (once, ~once & (weights > 0.0)):
            self._add_pairs(codes[some], classes[some], weights[some])

    def _add_pairs(self, codes: NDArray[np.int32], classes: NDArray[np.int64], weights: NDArray[np.float64]) -> None:
        """By bits what has few cells, if every row counts once; the rest a row at a time."""
        per_class = np.bincount(classes, weights, self.n_classes)
        few = 0.0
        if len(classes) and (weights == 1.0).all():
            runs = np.ceil(per_class / (64 * WORDS))
            few = CHEAPER * len(classes) / float((np.ceil(per_class / 64) + ASIDE * runs).sum())
        if few >= 1.0:
            begin = np.concatenate([[0], np.cumsum(per_class)]).astype(np.int64)
            count_by_bits(codes, classes, begin, self.sizes, few, self.pair_at, self.pairs)
        count_by_rows(codes, classes, weights, self.n_classes, self.sizes, few, self.pair_at, self.pairs)

    def grown(self, sizes: Sequence[int], names: Sequence[str]) -> PairCounts:
        """The same counts with room for more levels, which come after those there are."""
        if list(sizes) == self.sizes.tolist():
            return self
        larger = PairCounts(sizes, self.n_classes, names, len(self.pairs) > 0)
        larger.classes += self.classes
        for i in range(len(sizes)):
            larger.single(i)[: self.sizes[i]] = self.single(i)
            for j in range(i if len(self.pairs) else 0):
                larger.pair(i, j)[: self.sizes[i], : self.sizes[j]] = self.pair(i, j)
        return larger

    @classmethod
    def of(cls, batches: Iterable[Batch], sizes: Sequence[int], n_classes: int, names: Sequence[str]) -> PairCounts:
        """The counts of all batches."""
        counts = cls(sizes, n_classes, names)
        for batch in batches:
            counts.add(batch)
        return counts

    def single(self, i: int) -> NDArray[np.float64]:
        """float64[|X_i|, C]."""
        return self.singles[self.single_at[i] : self.single_at[i + 1]].reshape(-1, self.n_classes)

    def pair(self, i: int, j: int) -> NDArray[np.float64]:
        """float64[|X_i|, |X_j|, C] for any i != j."""
        if i < j:
            return self.pair(j, i).transpose(1, 0, 2)
        p = i * (i - 1) // 2 + j
        return self.pairs[self.pair_at[p] : self.pair_at[p + 1]].reshape(self.sizes[i], self.sizes[j], self.n_classes)

    def information(self) -> NDArray[np.float64]:
        """float64[a]: I(X_i; Y) in nats per row; what is only rounding is 0."""
        found = np.zeros(len(self.sizes))
        for i in range(len(self.sizes)):
            table = self.single(i)
            total = table.sum()
            if total > 0:
                found[i] = (_xlogx(table) - _xlogx(table.sum(axis=0)) - _xlogx(table.sum(axis=1))) / total
                found[i] += np.log(total)
        found[found < NEGLIGIBLE] = 0.0
        return found

    def conditional_information(self) -> NDArray[np.float64]:
        """float64[a, a]: I(X_i; X_j | Y) in nats per row; what is only rounding is 0."""
        found = pair_information(self.pairs, self.n_classes, self.sizes, self.pair_at) / max(self.classes.sum(), 1e-300)
        found[found < NEGLIGIBLE] = 0.0
        return np.asarray(found)


def _xlogx(counts: NDArray[Any]) -> float:
    positive = counts[counts > 0]
    return float((positive * np.log(positive)).sum())
