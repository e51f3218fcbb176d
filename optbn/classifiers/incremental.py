"""Classifiers that are functions of counts of single attributes and pairs: rows are counted in, nothing else is needed.

New levels and missing values get codes of their own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.pairs import PairCounts
from optbn.classifiers.source import Source
from optbn.classifiers.streamed import Rows, Streamed
from optbn.data.discretise.transformer import Column
from optbn.smoothing.protocol import Smoother
from optbn.smoothing.tree import CountTree


class Incremental(Streamed):
    """Subclasses say whether they need pairs, and make their one member from the counts."""

    needs_pairs = True
    counts_: PairCounts
    columns_: tuple[Column, ...]

    @abstractmethod
    def _member(
        self, counts: PairCounts, columns: tuple[Column, ...], smoother: Smoother, seed: np.random.SeedSequence
    ) -> Any:
        """The network of the structure that these counts make, with its parameters."""

    def _learn(
        self, source: Source, smoother: Smoother, seed: np.random.SeedSequence
    ) -> tuple[list[Any], NDArray[np.float64]]:
        discretizer = self._discretized(source)
        self.columns_ = discretizer.columns_
        names = [column.name for column in discretizer.columns_]
        self.counts_ = PairCounts(discretizer.sizes, source.n_classes, names, self.needs_pairs)
        for batch in source.once(discretizer):
            self.counts_.add(batch)
        return [self._member(self.counts_, discretizer.columns_, smoother, seed)], np.ones(1)

    def _count(self, rows: Rows) -> None:
        columns = tuple(c.grown(v) for c, v in zip(self.columns_, rows.table, strict=True))
        self.counts_ = self.counts_.grown([c.n_levels for c in columns], [c.name for c in columns])
        coded = np.empty((len(rows.classes), len(columns)), dtype=np.int32)
        for j, (column, values) in enumerate(zip(columns, rows.table, strict=True)):
            coded[:, j] = column.encode(values)
        self.counts_.add((coded, rows.classes, rows.weights))
        self.columns_ = columns

    def _made(self) -> tuple[list[Any], NDArray[np.float64]]:
        smoother, seed = self._chosen_smoother(), np.random.SeedSequence(self._seed())
        return [self._member(self.counts_, self.columns_, smoother, seed)], np.ones(1)


def single_tree(counts: PairCounts, i: int) -> CountTree:
    """Attribute i given the class."""
    C = counts.n_classes
    return CountTree.from_configurations(np.arange(C)[:, None], counts.single(i).T, (C,))


def pair_tree(counts: PairCounts, i: int, given: int, configurations: NDArray[np.int64]) -> CountTree:
    """Attribute i given the class and another attribute; `configurations` are all (class, level), in order."""
    table = counts.pair(i, given).transpose(2, 1, 0)
    sizes: Sequence[int] = (counts.n_classes, int(counts.sizes[given]))
    return CountTree.from_configurations(configurations, table.reshape(-1, counts.sizes[i]), sizes)
