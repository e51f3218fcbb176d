"""BDeu and BIC of all families as intervals of whole numbers: H(P + v) - H(P) - penalty, H a sum over cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from optbn.base.errors import UnsupportedError
from optbn.certify.constants import LARGEST, Ints, check_constants, finest, log, n_log_n, rising
from optbn.certify.definition import Definition
from optbn.certify.kernels.cells import sums_of_sets
from optbn.certify.ranks import Ranks

MOST_CELLS = 1 << 40  # of a family's table, declared


class Contingency:
    """The intervals of one score of one data set, in units of 2^-bits; `columns` are codes below `levels`."""

    def __init__(self, definition: Definition, columns: Ints, levels: Sequence[int], ranks: Ranks, bits: int) -> None:
        self.definition, self.columns, self.ranks = definition, columns, ranks
        self.levels = np.array(levels, dtype=np.int64)
        self.n, self.rows = columns.shape
        self.products = self._products()
        if definition.name == "bdeu":
            check_constants(len(self.products) * self.rows, "merge rare levels, or take fewer rows or parents")
            starts = [definition.parameter / product for product in self.products]
            steepest = max(abs(math.log(start)) for start in (*starts, max(starts) + self.rows))
        else:
            check_constants(self.rows, "take fewer rows")
            steepest = math.log(self.rows) + 1
        self.bits = finest(self.rows * steepest, bits)
        self.tables = (
            [rising(start, self.rows, self.bits) for start in starts]
            if definition.name == "bdeu"
            else [n_log_n(self.rows, self.bits)] * len(self.products)
        )
        self.width = max(int((table.high - table.low).max()) for table in self.tables)

    def upper(self, size: int) -> Ints:
        """int64[sets, n]: the upper ends of every variable given every set of that many parents; members excepted."""
        low, cells = self._sums
        joined, begin = self.ranks.sets[size + 1], self.ranks.first[size + 1]
        end = begin + len(joined)
        top = low[begin:end] + self.width * cells[begin:end]
        found = np.zeros((len(self.ranks.sets[size]), self.n), np.int64)
        for i in range(size + 1):
            child, rank = joined[:, i], self.ranks.without(size + 1, i)
            found[rank, child] = top - low[self.ranks.first[size] + rank] - self._penalty(rank, size, child)
        return found

    def interval(self, child: int, parents: Sequence[int]) -> tuple[int, int]:
        """The ends of one family's score."""
        low, cells = self._sums
        whole = self.ranks.position(sorted((*parents, child)))
        part = self.ranks.position(sorted(parents))
        ends = int(low[whole] - low[part])
        q = math.prod(int(self.levels[u]) for u in parents)
        down, up = self._price
        free = q * (int(self.levels[child]) - 1)
        return ends - self.width * int(cells[part]) - up * free, ends + self.width * int(cells[whole]) - down * free

    def _penalty(self, rank: Ints, size: int, child: Ints) -> Ints | int:
        """The least that the free parameters cost."""
        price = self._price[0]
        if not price:
            return 0
        q = self.levels[self.ranks.sets[size][rank]].prod(axis=1)
        return np.minimum(q * (self.levels[child] - 1), LARGEST // price) * price

    @cached_property
    def _price(self) -> tuple[int, int]:
        """The ends of what a free parameter costs."""
        return log(Fraction(self.rows))(self.bits - 1) if self.definition.name == "bic" else (0, 0)

    @cached_property
    def _sums(self) -> tuple[Ints, Ints]:
        """The lower end of H, and how many cells are occupied, of every set."""
        first = np.array(self.ranks.first, dtype=np.int64)
        sums, cells = np.empty(self.ranks.count, np.int64), np.empty(self.ranks.count, np.int64)
        products = np.array(self.products, dtype=np.int64)
        low = np.array([table.low for table in self.tables])
        sums_of_sets(self.columns, self.levels, self.ranks.largest, products, low, first, sums, cells)
        return sums, cells

    def _products(self) -> list[int]:
        """What the declared levels of up to `largest` variables multiply to, ascending."""
        found = {1}
        reached = [{1}, *(set[int]() for _ in range(self.ranks.largest))]
        for r in self.levels.tolist():
            for size in range(self.ranks.largest, 0, -1):
                reached[size] |= {product * r for product in reached[size - 1]}
        found = set[int]().union(*reached)
        if max(found) > MOST_CELLS:
            raise UnsupportedError(
                f"a family may have a table of {max(found):,} declared cells, too many for a certificate: "
                "merge rare levels, or take fewer parents"
            )
        return sorted(found)
