"""What a split of a tree's node is worth: by level, or by the best cut; `grow` puts the splits together.

Entropies are sums of n log n. A row that changes sides changes four of them, so a scan costs the same for any number
of classes; for whole weights the numbers are looked up.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import uint64

from optbn.base.variates import word
from optbn.classifiers.trees.kernels.sorting import sorted_rows
from optbn_solvers.base.compiled import kernel

TINY = 1e-6
"""Differences below this are none."""

SLACK = 1e-3
"""How far below the average gain a split may be."""

LOG2 = math.log(2.0)


class Rows(NamedTuple):
    """Training rows.

    codes    int32[A, n];  levels  int64[A], 0 for numeric;  third  bool[A], unknown numbers have a branch
    order    int32[numeric, n], rows by each numeric attribute, unknown last;  place  int64[A], which of these, or -1
    points   float64, the different values of attribute a from point_at[a] on, ascending
    classes  int32[n];  n_classes  their number
    """

    codes: Any
    levels: Any
    third: Any
    order: Any
    place: Any
    points: Any
    point_at: Any
    classes: Any
    n_classes: int


class Rules(NamedTuple):
    """How to split.

    minimum     the weight that two branches must have;  resolution  values nearer than this are not cut apart
    mdl         whether a cut pays for having been chosen among many
    by_gain     whether splits are chosen by their gain, and not by the ratio of it to the split information
    candidates  attributes drawn at a node (more, while there is no split), A for all
    lists       whether the rows of a node are kept sorted by every numeric attribute, and not sorted when it is drawn
    table       n log n for whole n up to the total weight, or empty: then weights may be anything
    """

    minimum: float
    resolution: float
    mdl: bool
    by_gain: bool
    candidates: int
    lists: bool
    table: Any


class Room(NamedTuple):
    """Scratch for one node: per level, per level and class, three times per class, per attribute, and twice per row."""

    per: Any
    per_class: Any
    left: Any
    right: Any
    unknown: Any
    gains: Any
    ratios: Any
    cuts: Any
    sorted: Any


@kernel
def _nlogn(x, table):
    """x log x; `table` has the values for whole x, or is empty."""
    if len(table):
        return table[int(x)]
    return x * math.log(x) if x > 0.0 else 0.0


@kernel
def _entropy(counts, table):
    """The entropy of some counts in nats, times their sum."""
    total, inside = 0.0, 0.0
    for c in range(len(counts)):
        total += counts[c]
        inside += _nlogn(counts[c], table)
    return _nlogn(total, table) - inside


@kernel
def _nominal(rows, code, classes, weights, table, minimum, per, per_class, known):
    """The split by level: (gain in nats times weight, sum of n log n of the branches, known weight, is it allowed).

    per, per_class  float64[levels] and [levels, C], zero, and so again afterwards;  known  float64[C], room
    """
    inside, of_branches, large = 0.0, 0.0, 0
    known[:] = 0.0
    for r in rows:
        x = code[r]
        if x < 0:
            continue
        w, y = weights[r], classes[r]
        before, own = per[x], per_class[x, y]
        per[x] = before + w
        per_class[x, y] = own + w
        known[y] += w
        of_branches += _nlogn(before + w, table) - _nlogn(before, table)
        inside += _nlogn(own + w, table) - _nlogn(own, table)
        if before < minimum - TINY and before + w >= minimum - TINY:
            large += 1
    for r in rows:
        if code[r] >= 0:
            per[code[r]] = 0.0
            per_class[code[r], classes[r]] = 0.0
    return _entropy(known, table) - (of_branches - inside), of_branches, known.sum(), large >= 2


@kernel
def _numeric(rows, code, points, classes, weights, rules, scale, third, room):
    """The best cut of rows sorted by code, unknown ones last: as `_nominal`, then the codes beside it and cuts tried.

    points  the values that codes stand for
    third   unknown values are a branch of their own; without a cut that tells anything, the only other one (high = -1)
    scale   what gains are divided by to compare them
    """
    table, minimum, resolution = rules.table, rules.minimum, rules.resolution
    left, right, unknown = room.left, room.right, room.unknown
    C = len(left)
    left[:] = 0.0
    right[:] = 0.0
    unknown[:] = 0.0
    end = len(rows)
    while end > 0 and code[rows[end - 1]] < 0:
        end -= 1
        unknown[classes[rows[end]]] += weights[rows[end]]
    sum_left, sum_right, known = 0.0, 0.0, 0.0
    for i in range(end):
        right[classes[rows[i]]] += weights[rows[i]]
    for c in range(C):
        known += right[c]
        sum_right += _nlogn(right[c], table)
    before = _nlogn(known, table) - sum_right
    least = 0.1 * known / C
    least = minimum if least <= minimum + TINY else min(least, 25.0)
    low, high, tried, best, after, of_branches = -1, -1, 0, 0.0, before, _nlogn(known, table)
    weight = 0.0
    for i in range(end - 1):
        r = rows[i]
        w, y = weights[r], classes[r]
        sum_left += _nlogn(left[y] + w, table) - _nlogn(left[y], table)
        sum_right += _nlogn(max(right[y] - w, 0.0), table) - _nlogn(right[y], table)
        left[y] += w
        right[y] = max(right[y] - w, 0.0)
        weight += w
        following = code[rows[i + 1]]
        if not points[code[r]] + resolution < points[following] or weight < least - TINY:
            continue
        if known - weight < least - TINY:
            break
        tried += 1
        parts = _nlogn(weight, table) + _nlogn(max(known - weight, 0.0), table)
        gain = before - (parts - sum_left - sum_right)
        if gain > best + TINY * scale:
            best, low, high = gain, code[r], following
            after, of_branches = parts - sum_left - sum_right, parts
    allowed = low >= 0
    if third:
        lost = unknown.sum()
        if not allowed and known >= minimum - TINY and lost >= minimum - TINY:
            allowed, low, tried = True, code[rows[end - 1]], 1
        for c in range(C):
            right[c] = left[c] + right[c] + unknown[c]
        before = _entropy(right, table)
        after += _entropy(unknown, table)
        of_branches += _nlogn(lost, table)
        known += lost
    return before - after, of_branches, known, allowed, low, high, tried


@kernel
def new_room(rows, most):
    C, A = rows.n_classes, len(rows.levels)
    return Room(
        np.zeros(most), np.zeros((most, C)), np.empty(C), np.empty(C), np.empty(C), np.empty(A), np.empty(A),
        np.zeros((A, 2), dtype=np.int64), np.empty((2, len(rows.classes)), dtype=np.int32),
    )  # fmt: skip


@kernel
def _weigh(a, lists, begin, end, rows, weights, total, rules, room):
    """Whether attribute a may split the segment; its gain, ratio and cut go to `room`."""
    table = rules.table
    room.gains[a], room.ratios[a], tried = -1.0, 0.0, 1
    if rows.levels[a] > 0:
        gain, branches, known, allowed = _nominal(
            lists[0, begin:end], rows.codes[a], rows.classes, weights, table, rules.minimum, room.per, room.per_class,
            room.left,
        )  # fmt: skip
    else:
        points = rows.points[rows.point_at[a] : rows.point_at[a + 1]]
        if rules.lists:
            by_code = lists[1 + rows.place[a], begin:end]
        else:
            by_code = sorted_rows(lists[0, begin:end], rows.codes[a], len(points), room.sorted)
        gain, branches, known, allowed, room.cuts[a, 0], room.cuts[a, 1], tried = _numeric(
            by_code, rows.codes[a], points, rows.classes, weights, rules, total, rows.third[a], room
        )
    gain /= total * LOG2
    if rows.levels[a] == 0:
        gain -= math.log2(tried) / total if rules.mdl and allowed else 0.0
        allowed = allowed and gain > TINY
    if not allowed:
        return False
    lost = 0.0 if len(table) else max(total - known, 0.0)
    split = (_nlogn(total, table) - branches - _nlogn(lost, table)) / (total * LOG2)
    room.gains[a] = gain
    room.ratios[a] = gain if rules.by_gain else gain / split if split > TINY else 0.0
    return True


@kernel
def best_split(lists, begin, end, rows, weights, total, rules, attributes, random, room):
    """The attribute to split by, or -1: the best of those drawn whose gain is about the average at least."""
    A = len(rows.levels)
    found, drawn, average = 0, 0, 0.0
    while drawn < A and (drawn < rules.candidates or found == 0):
        if rules.candidates < A:
            pick = drawn + int(word(random) % uint64(A - drawn))
            attributes[drawn], attributes[pick] = attributes[pick], attributes[drawn]
        a = attributes[drawn]
        drawn += 1
        if _weigh(a, lists, begin, end, rows, weights, total, rules, room):
            average += room.gains[a]
            found += 1
    best, greatest = -1, 0.0
    for i in range(drawn):
        a = attributes[i]
        if room.gains[a] >= average / max(found, 1) - SLACK and room.ratios[a] > greatest + TINY:
            best, greatest = a, room.ratios[a]
    return best
