"""Best trees where ordered predictors have many cells: every box, and of its cuts only those that may be the best.

Rows only cost. A leaf of counts is a probability of its rows, so the best tree of a box is worth no more than that of a
smaller one: restrict it to the smaller, where it has no more leaves, each of them the probability of some of its rows.
Of densities that does not hold; there a row adds at most `per_row`, the log of the highest density that a leaf with no
more rows than the box can give one of them. So any cut j between two cuts i < k of one predictor is worth at most

    best left of i + best right of k + per_row x rows between i and k,

and a range of cuts is halved only while that is above the best so far. What lies within `MARGIN` of it is looked at, so
values have the bits of kernels/climb.py. Boxes are numbered by their parts as in kernels/lattice.py, the first member
fastest, and none is laid out but by its number: no plan, one response at a time. Cost: boxes, times levels, and the
cuts looked at. Twins: kernels/climb.py, tests/naive/pcart.py.
"""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.kinds import CATEGORICAL
from optbn.scores.kernels.parts import interval_end
from optbn_solvers.base.compiled import kernel, part

MARGIN = 1e-9
MOST_RANGES = 64
"""Of those that wait: as often as a number of cuts can be halved."""


@kernel
def best_of_boxes(shape, sites, leaves, work):
    """Fill the content and value of every box, the last of which holds all rows; returns how many cuts were looked at.

    shape   (kinds, sizes, parts int64[k]), see `lattice`; no predictor is halved
    sites   (coordinates int32[S, k]; rows int32[S]; counts uint32[S, r] of the response, r = 0 of a real one; mean,
            spread float64[S])
    leaves  (leaf_cost; leaf_rows; (per_level, total float64[N + 1]); (constant, power, shrink float64[N + 1]; scale);
            per_row float64[N + 1])
    work    (rows int32[boxes], counts uint32[boxes, r], mean, spread float64[boxes, 0 or 1], value float64[boxes])
    """
    kinds, _, parts = shape
    leaf_cost, leaf_rows = leaves[0], leaves[1]
    rows, value = work[0], work[4]
    k, looked_at = len(parts), 0
    stride, at = np.ones(k + 1, np.int64), np.zeros(k, np.int64)
    for j in range(k):
        stride[j + 1] = stride[j] * parts[j]
    place_sites(shape, sites, stride, work)
    one, other = 0, 0
    for box in range(stride[k]):
        for j in range(k - 1, -1, -1):
            one, other = halves(kinds[j], at[j])
            if one >= 0:
                one, other = box + (one - at[j]) * stride[j], box + (other - at[j]) * stride[j]
                rows[box] = rows[one] + rows[other]
                break
        same = without_a_cell(kinds, at, box, stride, rows)
        if same >= 0:
            copy(box, same, work)
            value[box] = value[same]
        else:
            if one >= 0:
                merge(box, one, other, work)
            best = leaf_value(box, leaves, work) if rows[box] > 0 else -leaf_cost
            if rows[box] > leaf_rows:
                for j in range(k):
                    base = box - at[j] * stride[j]
                    if kinds[j] == CATEGORICAL:
                        best, seen = best_levels(at[j], base, stride[j], best, value)
                    else:
                        best, seen = best_cut(at[j], base, stride[j], best, leaves[4][rows[box]], rows, value)
                    looked_at += seen
            value[box] = best
        for j in range(k):
            at[j] += 1
            if at[j] < parts[j]:
                break
            at[j] = 0
    return looked_at


@part
def halves(kind, p):
    """Two parts that a part is made of, see columns.py `part_halves`; -1 for the finest."""
    if kind == CATEGORICAL:
        lowest = (p + 1) & -(p + 1)
        return (p - lowest if p + 1 > lowest else -1), lowest - 1
    high = interval_end(p)
    low = high - (p - high * (high + 1) // 2)
    return (p - 1 if low < high else -1), cell_part(low, low)


@kernel
def without_a_cell(kinds, at, box, stride, rows):
    """A box with the same rows and one cell of a member less; -1 where there is none."""
    for j in range(len(kinds)):
        p = at[j]
        if kinds[j] == CATEGORICAL:
            mask = p + 1
            while mask:
                level = mask & -mask
                mask -= level
                if level <= p and rows[box - level * stride[j]] == rows[box]:
                    return box - level * stride[j]
        else:
            high = interval_end(p)
            if p > high * (high + 1) // 2:
                for less in (1, high + 1):
                    if rows[box - less * stride[j]] == rows[box]:
                        return box - less * stride[j]
    return -1


@part
def best_cut(p, base, stride, best, per_row, rows, value):
    """(best, how many cuts were looked at) after all cuts of an interval of cells, whose part is p."""
    high = interval_end(p)
    low = high - (p - high * (high + 1) // 2)
    seen, waiting = 0, 0
    begins, ends = np.empty(MOST_RANGES, np.int64), np.empty(MOST_RANGES, np.int64)
    right_of = high * (high + 1) // 2 + high - 1  # less the cut
    if low < high:
        for cut in (low, high - 1):
            left, right = base + cell_part(low, cut) * stride, base + (right_of - cut) * stride
            best = max(best, value[left] + value[right])
        seen, begins[0], ends[0], waiting = 2, low, high - 1, 1
    while waiting > 0:
        waiting -= 1
        i, k = begins[waiting], ends[waiting]
        if k - i < 2:
            continue
        left, right = base + cell_part(low, i) * stride, base + (right_of - k) * stride
        between = rows[base + cell_part(low, k) * stride] - rows[left]
        if value[left] + value[right] + per_row * between < best - MARGIN * (1.0 + abs(best)):
            continue
        cut = (i + k) // 2
        best = max(best, value[base + cell_part(low, cut) * stride] + value[base + (right_of - cut) * stride])
        seen += 1
        begins[waiting], ends[waiting] = i, cut
        begins[waiting + 1], ends[waiting + 1] = cut, k
        waiting += 2
    return best, seen


@part
def cell_part(low, high):
    """The part that holds the cells from low to high."""
    return high * (high + 1) // 2 + high - low


@part
def best_levels(p, base, stride, best, value):
    """The same after all splits of a set of levels."""
    mask, seen = p + 1, 0
    rest = mask & (mask - 1)
    away = rest
    while away:
        best = max(best, value[base + (mask - away - 1) * stride] + value[base + (away - 1) * stride])
        seen += 1
        away = (away - 1) & rest
    return best, seen


@kernel
def smaller_box(kinds, parts, box, rows):
    """As `without_a_cell`, of a box by its number."""
    k = len(parts)
    at, stride = np.empty(k, np.int64), np.ones(k, np.int64)
    for j in range(k):
        at[j] = box // stride[j] % parts[j]
        if j + 1 < k:
            stride[j + 1] = stride[j] * parts[j]
    return without_a_cell(kinds, at, box, stride, rows)


@kernel
def place_sites(shape, sites, stride, work):
    """The content of all finest boxes: that of a site, or nothing."""
    kinds, sizes, _ = shape
    coordinates, site_rows, site_counts, site_mean, site_spread = sites
    rows, counts, mean, spread, _ = work
    k, cells = len(sizes), 1
    for j in range(k):
        cells *= sizes[j]
    for i in range(cells + len(site_rows)):
        box, rest, s = 0, i, i - cells
        for j in range(k):
            cell = coordinates[s, j] if s >= 0 else rest % sizes[j]
            box += ((1 << cell) - 1 if kinds[j] == CATEGORICAL else cell_part(cell, cell)) * stride[j]
            rest //= sizes[j]
        rows[box] = site_rows[s] if s >= 0 else 0
        for level in range(counts.shape[1]):
            counts[box, level] = site_counts[s, level] if s >= 0 else 0
        for one in range(mean.shape[1]):
            mean[box, one] = site_mean[s] if s >= 0 else 0.0
            spread[box, one] = site_spread[s] if s >= 0 else 0.0


@part
def merge(box, a, b, work):
    """The content of a box is that of two others."""
    rows, counts, mean, spread, _ = work
    for level in range(counts.shape[1]):
        counts[box, level] = counts[a, level] + counts[b, level]
    for one in range(mean.shape[1]):
        gap, share = mean[b, one] - mean[a, one], rows[b] / rows[box]
        mean[box, one] = mean[a, one] + gap * share
        spread[box, one] = spread[a, one] + spread[b, one] + gap * gap * (rows[a] * share)


@part
def copy(box, other, work):
    """The content of a box is that of another."""
    _, counts, mean, spread, _ = work
    for level in range(counts.shape[1]):
        counts[box, level] = counts[other, level]
    for one in range(mean.shape[1]):
        mean[box, one], spread[box, one] = mean[other, one], spread[other, one]


@part
def leaf_value(box, leaves, work):
    """What a box is worth unsplit, less what a leaf costs."""
    leaf_cost, _, (per_level, total), (constant, power, shrink, scale), _ = leaves
    rows, counts, mean, spread, _ = work
    n, r = rows[box], counts.shape[1]
    if r == 0:
        away = scale + spread[box, 0] + shrink[n] * mean[box, 0] * mean[box, 0]
        return constant[n] - leaf_cost - power[n] * np.log(away)
    leaf = -total[n] - leaf_cost
    for level in range(r):
        leaf += per_level[counts[box, level]]
    return leaf
