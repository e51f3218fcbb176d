"""PCART of all families as intervals of whole numbers: the dynamic program on upper ends of leaves, and on lower ones.

    C   splits a root may choose from: 2^(m-1) - 1 for m unordered levels, m - 1 for ordered ones
    Z(box) = gamma/C + sum over splits of Z(left) Z(right), in fractions;     log c(P) = -log Z(whole space)

A predictor of more than `most_levels` unordered levels is coarsened: all but its most_levels - 1 levels of most rows
(of equals the earlier) are one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.certify.constants import Ints, check_constants, finest, log, rising
from optbn.certify.definition import Definition
from optbn.certify.kernels.boxes import best_trees
from optbn.certify.ranks import Ranks

MOST_BOXES = 1 << 18
Shape = tuple[tuple[bool, int], ...]  # per predictor whether its levels are ordered, and how many there are


class Trees:
    """The intervals of PCART of one data set, in units of 2^-bits; `columns` are codes below `levels`."""

    def __init__(
        self,
        definition: Definition,
        columns: Ints,
        levels: Sequence[int],
        ordered: Sequence[bool],
        names: Sequence[str],
        ranks: Ranks,
        bits: int,
    ) -> None:
        self.definition, self.columns, self.ranks, self.names = definition, columns, ranks, names
        self.n, self.rows = columns.shape
        self.levels = np.array(levels, dtype=np.int64)
        alpha, kinds = definition.parameter, sorted(set(levels))
        check_constants((len(kinds) + 1) * self.rows, "merge rare levels, or take fewer rows")
        self.predictors = [
            _coarse(column, size, None if in_order else definition.most_levels)
            for column, size, in_order in zip(columns, levels, ordered, strict=True)
        ]
        self.shape: Shape = tuple((o, size) for o, (_, size) in zip(ordered, self.predictors, strict=True))
        steepest = abs(math.log(alpha)) + math.log(self.rows + max(kinds) * alpha) + abs(math.log(max(kinds) * alpha))
        self.bits = finest(2 * self.rows * steepest + 1e6, bits)
        self.each = rising(alpha, self.rows, self.bits)
        self.totals = {r: rising(r * alpha, self.rows, self.bits) for r in kinds}

    def upper(self, size: int) -> Ints:
        """int64[sets, n]: the upper ends of every variable given every set of that many parents; members excepted."""
        sets = self.ranks.sets[size]
        found, wanted = np.zeros((len(sets), self.n), np.int64), np.ones((len(sets), self.n), np.bool_)
        np.put_along_axis(wanted, sets, False, axis=1)
        shapes = [tuple(self.shape[u] for u in parents) for parents in sets.tolist()]
        number = {shape: i for i, shape in enumerate(dict.fromkeys(shapes))}
        which = np.array([number[shape] for shape in shapes])
        for i in number.values():
            alike = np.flatnonzero(which == i)
            found[alike] = self._climb(sets[alike], wanted[alike], True)
        return found

    def interval(self, child: int, parents: Sequence[int]) -> tuple[int, int]:
        """The ends of one family's score."""
        sets = np.array([sorted(parents)], dtype=np.int64).reshape(1, len(parents))
        wanted = np.arange(self.n)[None, :] == child
        low, high = (int(self._climb(sets, wanted, up)[0, child]) for up in (False, True))
        return low, high

    def _climb(self, sets: Ints, wanted: NDArray[np.bool_], up: bool) -> Ints:
        """int64[sets, n]: one end of the scores of the wanted variables, for sets of predictors of one shape."""
        shape = tuple(self.shape[u] for u in sets[0])
        parts, splits = _plan(shape)
        if math.prod(parts) > MOST_BOXES:
            raise UnsupportedError(
                f"trees over {', '.join(self.names[u] for u in sets[0])} cut {math.prod(parts):,} boxes, and a "
                f"certificate goes through at most {MOST_BOXES:,}: merge levels, or take fewer parents"
            )
        cost, constant = self._prior(shape)
        each, total = self._leaves[up]
        out = np.zeros(wanted.shape, np.int64)
        predictors = np.array([column for column, _ in self.predictors])
        cuts = np.array(parts, dtype=np.int64), splits
        best_trees(sets, wanted, predictors, cuts, self.levels, self._rare, (each, total, cost[1 - up]), out)
        return np.where(wanted, out + constant[up], 0)

    @cached_property
    def _rare(self) -> tuple[Ints, Ints, Ints]:
        """(row, code) where a variable is not at its commonest level; where each variable's begin; those levels."""
        common = np.array([np.bincount(column).argmax() for column in self.columns], dtype=np.int64)
        child, row = np.nonzero(self.columns != common[:, None])
        first = np.searchsorted(child, np.arange(self.n + 1))
        return np.column_stack([row, self.columns[child, row]]), first, common

    @cached_property
    def _leaves(self) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
        """(what the counts of levels add, what the rows of the leaf take away) for lower and for upper ends."""
        total = np.zeros((2, int(self.levels.max()) + 1, self.rows + 1), np.int64)
        for r, table in self.totals.items():
            total[:, r] = table.low, table.high
        return (self.each.low, total[1]), (self.each.high, total[0])

    def _prior(self, shape: Shape) -> tuple[tuple[int, int], tuple[int, int]]:
        """The ends of what a leaf costs, and of the constant that goes with a set of parents."""
        return _prior(tuple(sorted(shape)), self.definition.gamma, self.definition.size_prior, self.n, self.bits)


@cache
def _prior(
    shape: Shape, gamma: Fraction, size_prior: bool, n: int, bits: int
) -> tuple[tuple[int, int], tuple[int, int]]:
    cost, constant = Fraction(1), Fraction(1)
    splits = sum(size - 1 if ordered else 2 ** (size - 1) - 1 for ordered, size in shape)
    if splits:
        cost = splits / gamma
        constant = 1 / _all_trees(shape, gamma / splits)
    if size_prior:
        constant /= math.comb(n - 1, len(shape))
    return log(cost)(bits), log(constant)(bits)


def _all_trees(shape: Shape, leaf: Fraction) -> Fraction:
    """Z: the sum over all trees on what is left of the predictors, a leaf counting `leaf`."""

    @cache
    def total(box: Shape) -> Fraction:
        found = leaf
        for j, (ordered, size) in enumerate(box):
            for left in range(1, size):
                ways = 1 if ordered else math.comb(size - 1, left - 1)  # sets of this size with the first level
                halves = (tuple(sorted((*box[:j], (ordered, part), *box[j + 1 :]))) for part in (left, size - left))
                found += ways * math.prod(map(total, halves))
        return found

    return total(shape)


@cache
def _plan(shape: Shape) -> tuple[list[int], Ints]:
    """How many parts each predictor has, and the splits of each part as the kernel wants them."""
    found = [_cuts(*member) for member in shape]
    longest = max((len(cuts) for _, cuts in found), default=0) + 1
    splits = np.full((len(shape), longest, 3), -1, np.int64)
    for j, (_, cuts) in enumerate(found):
        splits[j, : len(cuts)] = np.array(cuts, dtype=np.int64).reshape(len(cuts), 3)
    return [count for count, _ in found], splits


@cache
def _cuts(ordered: bool, size: int) -> tuple[int, list[tuple[int, int, int]]]:
    """(how many parts, every (part, left, right)), the parts by their number of levels: level x alone is part x."""
    if ordered:
        parts = [
            tuple(range(begin, begin + length)) for length in range(1, size + 1) for begin in range(size - length + 1)
        ]
    else:
        parts = [part for length in range(1, size + 1) for part in combinations(range(size), length)]
    number = {part: i for i, part in enumerate(parts)}
    cuts = []
    for part in parts:
        for left in range(1, len(part)):
            for rest in [part[1:left]] if ordered else combinations(part[1:], left - 1):
                half = (part[0], *rest)
                other = tuple(x for x in part if x not in half)
                cuts.append((number[part], number[half], number[other]))
    return len(parts), cuts


def _coarse(column: Ints, size: int, most: int | None) -> tuple[Ints, int]:
    """A column as a predictor, and how many levels it then has."""
    if most is None or size <= most:
        return column, size
    counts = np.bincount(column, minlength=size)
    apart = sorted(sorted(range(size), key=lambda x: (-counts[x], x))[: most - 1])
    cell = np.full(size, most - 1, np.int64)
    cell[apart] = range(most - 1)
    return cell[column], most
