"""The grid of a score table: how fine it can be, which rows may decide that, and when it is too coarse to be used.

The quantum is 2^-k, k as large as sums of one score per variable below 2^51 units allow. Rounding moves the score of a
graph by at most n quanta / 2, so the best graph on the grid is the best one of the file but for n quanta: what the grid
leaves open. One absurd score ("never": -1e15) would leave everything open. So where the grid of all rows leaves more
open than FINE,
    dominated    rows go, compared as floats: no optimum needs them, whatever the grid
    unusable     rows go: a graph is known (the greedy one below) that loses less, all in all, against every variable's
                 best row than such a row loses alone
    the rest     get the finest grid that holds their sums. If it still leaves more open than COARSE, or has no two
                 points between the best and the worst of a variable, and leaves open as much as two scores of one
                 variable differ by, the table is refused: rounding could choose the graph.
The greedy graph places the variable that loses least, again and again; no graph avoids bad rows better, as its largest
single loss is the least possible (what can be placed only grows).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.errors import TableError
from optbn_solvers.base.kernels.masks import greedy_loss, undominated

GRID_BITS = 51
MAX_EXPONENT = 1000  # keeps the quantum a normal number when all scores are tiny
FINE = 1e-6  # of score (a natural logarithm, as a rule): nobody cares
COARSE = 1e-3  # the most that may be left open where rounding can choose among graphs
ROUNDING = 1 + 1e-9  # sums of n positive floats are that exact


def grid_exponent(n: int, largest: float) -> int:
    """The k for which sums of n scores of at most `largest` in magnitude stay below 2^GRID_BITS quanta of 2^-k."""
    if largest == 0.0:
        return GRID_BITS
    mantissa, power = math.frexp(largest)  # largest = mantissa * 2^power, 1/2 <= mantissa < 1
    scaled = n * mantissa
    return min(GRID_BITS - power - math.ceil(math.log2(scaled)), MAX_EXPONENT)


def settle(
    n: int,
    children: NDArray[np.int64],
    masks: NDArray[np.uint64],
    scores: NDArray[np.float64],
    keep_dominated: bool,
) -> tuple[NDArray[np.int64], int]:
    """(the rows that matter, ascending; the exponent of their grid), or TableError. Rows come in any order."""
    rows = np.arange(len(scores))
    if (exponent := _fine(n, scores)) is not None:
        return rows, exponent
    if not keep_dominated:
        rows = usable(n, children, masks, scores)
        children, scores = children[rows], scores[rows]
        if (exponent := _fine(n, scores)) is not None:
            return rows, exponent
    tops = np.zeros(n)
    np.maximum.at(tops, children, np.abs(scores))
    with np.errstate(over="ignore"):
        total = float(tops.sum()) * ROUNDING
    if not math.isfinite(2.0 * total):  # twice: with room for the rounding to the grid
        raise TableError(f"a score of {tops.max():g} in magnitude: {n} of them may add up to more than a number holds")
    exponent = grid_exponent(1, total)
    errors = np.zeros(n)
    np.maximum.at(errors, children, np.abs(np.ldexp(np.rint(np.ldexp(scores, exponent)), -exponent) - scores))
    left_open = 2 * math.fsum(errors)
    least, narrowest = _differences(n, children, scores)
    if (left_open > COARSE or narrowest < math.ldexp(1.0, -exponent)) and left_open >= least:
        raise TableError(
            f"the scores are as large as {tops.max():g}, and some of one variable differ by only {least:g}: the sums "
            f"of {n} scores are kept to within {left_open:.1g}, and that could decide which graph is the best. Leave "
            "rows that are never to be used out of the file, or take the same number away from all scores of a variable"
        )
    return rows, exponent


def _fine(n: int, scores: NDArray[np.float64]) -> int | None:
    """The exponent of a grid for any n of the scores, if it is fine enough."""
    exponent = grid_exponent(n, float(np.abs(scores).max()))
    return exponent if math.ldexp(float(n), -exponent) <= FINE else None


def usable(
    n: int, children: NDArray[np.int64], masks: NDArray[np.uint64], scores: NDArray[np.float64]
) -> NDArray[np.int64]:
    """The rows that an optimum may need, ascending: neither dominated nor worse than a known graph allows."""
    sizes = np.bitwise_count(masks).sum(axis=1, dtype=np.int64)
    order = np.lexsort((*masks.T, sizes, -scores, children))
    offsets = np.searchsorted(children[order], np.arange(n + 1))
    ranks = np.arange(len(order))[::-1].copy()
    order = order[undominated(offsets, masks[order], ranks)]
    offsets = np.searchsorted(children[order], np.arange(n + 1))
    with np.errstate(over="ignore"):
        losses = np.repeat(scores[order[offsets[:-1]]], np.diff(offsets)) - scores[order]
        lost = greedy_loss(offsets, np.ascontiguousarray(masks[order]), losses) * ROUNDING
    kept: NDArray[np.int64] = np.sort(order[losses <= lost])
    return kept


def _differences(n: int, children: NDArray[np.int64], scores: NDArray[np.float64]) -> tuple[float, float]:
    """The smallest difference of two unequal scores of one variable, and the smallest difference of best and worst.

    Both are infinite where all scores of each variable are equal.
    """
    order = np.lexsort((scores, children))
    with np.errstate(over="ignore"):
        steps = np.diff(scores[order])
    steps[np.diff(children[order]) > 0] = 0.0
    ranges = np.zeros(n)
    np.add.at(ranges, children[order][1:], steps)
    return float(steps[steps > 0].min(initial=math.inf)), float(ranges[ranges > 0].min(initial=math.inf))
