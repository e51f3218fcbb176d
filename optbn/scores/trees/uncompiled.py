"""Best trees of small tables without the kernels: to compile those takes ten seconds, to do without a tenth of one.

Every box of a set is there at once (boxes.py), and what kernels/climb.py does slot by slot is done to all slots of one
height: the same sums in the same order for each, so the same bits. It is for the first use on a machine alone (see
grace.py), for the kernels are quicker. Twin: kernels/trees.py, which this in turn tests.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.scores.kernels.arrange import REAL_COLUMN, REAL_END, REAL_ROW, ROWS
from optbn.scores.kernels.climb import real_slots
from optbn.scores.kernels.trees import score_trees
from optbn.scores.trees.boxes import Boxes, Laid, ranges
from optbn.scores.trees.costs import Costs
from optbn.scores.trees.grace import grace
from optbn.scores.trees.large import workspace
from optbn.scores.trees.prior import Priors
from optbn.scores.trees.responses import BoundLeaves
from optbn_solvers.base.compiled import at_hand

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Work = tuple[NDArray[Any], ...]

MOST_COLUMNS, MOST_ROWS = 24, 1 << 15
"""Tables of more are not small, whatever they hold."""


def doable(costs: Costs, sets: NDArray[np.int32]) -> bool:
    """Whether the kernels would have to be compiled, and are not worth it for these sets."""
    return not at_hand(score_trees) and grace.covers(costs.uncompiled(sets))


def announce(costs: Costs) -> None:
    """Where all sets of three members are too many to do without the kernels, these may as well be compiled at once."""
    if at_hand(score_trees):
        return
    n, rows = costs.leaves.data.n_variables, costs.leaves.data.n_rows
    if n <= MOST_COLUMNS and rows <= MOST_ROWS:
        sets = (np.array([*combinations(range(n), k)], np.int32) for k in range(min(n, 3) + 1))
        if grace.covers(sum(map(costs.uncompiled, sets))):
            return
    grace.end()


def scored(
    leaves: BoundLeaves, sets: NDArray[np.int32], digits: Ints, wanted: NDArray[np.bool_], priors: Priors
) -> tuple[Floats, tuple[Any, ...], Any, Any]:
    """What `BoundTrees` scores dense sets by: the scores, and of the last set (rows, support, slot) of the boxes, the
    plan and `work` (kernels/trees.py). Floors are of no use here."""
    out, order = np.full(wanted.shape, -np.inf), leaves.responses.order
    slot, plan, work = None, None, None
    for i, members in enumerate(sets):
        lanes = order[wanted[i, order]]
        with grace.used():
            laid, work = solve(leaves, members, digits[i], lanes, float(priors.leaf_cost[i]), int(priors.leaf_rows[i]))
        out[i, lanes] = work[3][-1, : len(lanes)] + priors.constant[i]
        slot, plan = laid.slot, laid.plan
    return out, (None, None, slot), plan, work


def solve(
    leaves: BoundLeaves, members: Ints, digits: Ints, lanes: Ints, leaf_cost: float, leaf_rows: int
) -> tuple[Laid, Work]:
    """The plan of one set, and (counts, mean, spread, value) of its slots for some responses in the order of
    `Responses.order`; digits and leaf_rows, see kernels/lattice.py."""
    predictors = leaves.columns.predictors
    kinds, sizes = (tuple(values[members].tolist()) for values in (predictors.kinds, predictors.sizes))
    boxes = Boxes.of(kinds, sizes, tuple(digits.tolist()))
    place = np.zeros(leaves.data.n_rows, np.int64)
    for j, v in enumerate(members):
        place += boxes.finest[j][0][predictors.cells[v]]
    names, first_row, site = np.unique(place, return_index=True, return_inverse=True)
    support = np.zeros(len(names), np.uint64)
    for j, v in enumerate(members):
        support |= boxes.finest[j][1][predictors.cells[v][first_row]]
    content = _sites(leaves, site.reshape(-1), len(names))
    real = leaves.is_real[lanes]
    laid = boxes.plan(names, support, content[0][:, -1].astype(np.int64), 1 if real.any() else leaf_rows)
    return laid, _climb(leaves, laid, content, lanes, leaf_cost)


def _sites(leaves: BoundLeaves, site: Ints, n: int) -> Work:
    """What every site holds (kernels/sites.py `tabulate`): counts, means and squared deviations, added in row order."""
    order = np.argsort(site, kind="stable")
    starts = np.searchsorted(site[order], np.arange(n))
    responses = leaves.responses
    counts = np.add.reduceat(responses.onehot[order], starts, axis=0, dtype=np.uint32)
    units = responses.onehot[:, -1].astype(np.float64)
    mean, spread = np.zeros((2, n, responses.values.shape[1]))
    for v in np.flatnonzero(leaves.is_real):
        r, there = responses.real[v], responses.there[v]
        values = responses.values[:, r]
        numbers = counts[:, -1] if there < 0 else np.maximum(counts[:, there], 1)
        mean[:, r] = np.bincount(site, units * values, n) / numbers
        squares = (values - mean[site, r]) ** 2
        if there >= 0:
            squares[responses.onehot[:, there] == 0] = 0.0
        spread[:, r] = np.bincount(site, units * squares, n)
    return counts, mean, spread


def _climb(leaves: BoundLeaves, laid: Laid, content: Work, lanes: Ints, cost: float) -> Work:
    """Contents, leaves and values of all slots."""
    responses, tables = leaves.responses, leaves.tables_of(lanes)
    first, second, rows = laid.plan[:3]
    slots, cats = len(first), int((~leaves.is_real[lanes]).sum())
    work = workspace(slots, len(lanes), leaves.widths[lanes], leaves.is_real[lanes], np.zeros)
    counts, _, _, value = work
    column = np.concatenate([np.zeros(0, np.int64), *(_columns(leaves, v) for v in lanes)])
    finest = np.flatnonzero(second < 0)
    counts[finest, : len(column)] = content[0][first[finest]][:, column]
    for level in laid.levels:
        counts[level] = counts[first[level]] + counts[second[level]]

    plain = lanes[cats:][~leaves.is_mixed[lanes[cats:]]]
    if len(plain):
        _real_leaves(leaves, laid, content, plain, cats, work, cost)  # writes beyond its lanes
    value[0, : len(lanes)] = -cost
    at = 0
    for q, v in enumerate(lanes):
        if leaves.is_mixed[v]:
            value[1:, q] = _mixed_leaves(leaves, laid, content, int(v), q - cats, counts[:, at : at + 2], work, cost)
        elif not leaves.is_real[v]:
            value[1:, q] = -tables[1][responses.row[v], rows[1:]] - cost
            for w in range(at, at + int(responses.levels[v])):
                value[1:, q] += tables[0][counts[1:, w]]
        at += int(leaves.widths[v])
    _raise_to_best_sum(value, laid)
    return work


def _raise_to_best_sum(value: Floats, laid: Laid) -> None:
    """Of every slot, where one of its splits is better than its leaf."""
    _, _, _, offset, left, right = laid.plan
    for level in laid.levels:
        some = level[offset[level + 1] > offset[level]]
        if len(some):
            many = offset[some + 1] - offset[some]
            splits = ranges(offset[some], many)
            best = np.maximum.reduceat(value[left[splits]] + value[right[splits]], np.cumsum(many) - many, axis=0)
            value[some] = np.maximum(value[some], best)


def _real_leaves(
    leaves: BoundLeaves, laid: Laid, content: Work, lanes: Ints, cats: int, work: Work, cost: float
) -> None:
    """Moments and leaves of the real responses whose rows all have a number: its vectors are a kernel's own."""
    responses = leaves.responses
    table = np.full((ROWS, max(len(lanes), 3)), -1, np.int64)
    row = responses.row[lanes]
    table[REAL_COLUMN, : len(lanes)], table[REAL_ROW, : len(lanes)] = responses.real[lanes], row
    table[REAL_END, : len(lanes)] = [int(np.flatnonzero(row == t)[-1]) + 1 for t in row]
    _, mean, spread, value = work
    side_by_side = table, 0, 0, 0, cats, len(lanes)
    real_slots(laid.plan, len(value), cost, content, side_by_side, leaves.tables_of(lanes), mean, spread, value)


def _mixed_leaves(
    leaves: BoundLeaves, laid: Laid, content: Work, v: int, q: int, there: NDArray[np.uint32], work: Work, cost: float
) -> Floats:
    """Moments, in column q, and leaves of a real response whose rows may have no number (kernels/climb.py)."""
    responses, tables = leaves.responses, leaves.tables
    first, second, rows = laid.plan[:3]
    mean, spread, t = work[1][:, q], work[2][:, q], int(responses.row[v])
    finest = np.flatnonzero(second < 0)
    mean[0] = spread[0] = 0.0
    mean[finest], spread[finest] = (moment[first[finest], responses.real[v]] for moment in content[1:])
    for level in laid.levels:
        a, b = first[level], second[level]
        gap = mean[b] - mean[a]
        share = there[b, 0] / np.maximum(there[level, 0], 1)
        mean[level] = mean[a] + gap * share
        spread[level] = spread[a] + spread[b] + gap * gap * (there[a, 0] * share)
    has, none = there[1:].T
    scale = tables.scale[t] + spread[1:] + tables.shrink[t, has] * mean[1:] * mean[1:]
    logs = np.array([math.log(number) for number in scale.tolist()])  # numpy's own has other last bits
    found = tables.constant[t, has] - tables.power[t, has] * logs - cost
    t = int(responses.there_row[v])
    found += tables.there_level[t, has] + tables.there_level[t, none] - tables.there_total[t, rows[1:]]
    return np.asarray(found)


def _columns(leaves: BoundLeaves, v: int) -> Ints:
    """The columns of onehot that are counted of a response."""
    if leaves.is_mixed[v]:
        return leaves.responses.there[v] + np.arange(2)
    return leaves.responses.start[v] + np.arange(leaves.responses.levels[v])
