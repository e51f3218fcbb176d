"""Sums over all trees: what `climb` does with a maximum, done with a sum, box after box and for many responses at once.

    W(box) = m(rows of the box) / 4C + sum over splits of W(left) W(right),     score = log W(whole) - log Z(whole)

with Z the same sum for m = 1 (see optbn/scores/trees/prior.py), which is lane 0: boxes without rows have W = Z. Numbers
are mantissa x RADIX^exponent, with the mantissa between RADIX^-1/2 and RADIX^1/2, so that sums and products need no
logarithm and lose no more than a sum of positive numbers does. Boxes are those of all declared levels, since trees that
differ only in where an absent level goes are different trees. Twin: tests/naive/pcart.py adds up all trees.
"""

from __future__ import annotations

import math

import numpy as np

from optbn.scores.kernels.arrange import (
    COLUMN,
    LEVEL_LANES,
    NUMBER,
    NUMBER_ROW,
    REAL_COLUMN,
    REAL_ROW,
    ROWS,
    RUN_END,
    RUN_ROW,
    arrange,
)
from optbn.scores.kernels.parts import finest_part, splits
from optbn.scores.kernels.sites import refine, tabulate
from optbn_solvers.base.compiled import kernel, part

LOG_RADIX = 256 * math.log(2.0)
DOWN = 2.0**-256
LOW, HIGH = 2.0**-128, 2.0**128


@kernel
def average_trees(sets, wanted, leaf_cost, predictors, responses, tables, lanes_at_a_time, work, out):
    """out[i, v] = log of the mean of the likelihood over the prior's trees, where wanted; -inf elsewhere.

    leaf_cost float64[m], log 4C; predictors, responses, tables  see kernels/trees.py, but declared levels have cells
    work  (rows int32[boxes], site int32[boxes], same int32[boxes] = 0, 1, .., left, right uint32[splits of a box],
          counts uint32[boxes, W], mean, spread float64[boxes, R], mantissa float64[boxes, L], exponent int32[boxes, L])
    """
    cells, _, _, _, kinds, sizes, parts, table, halves, _ = predictors
    order, onehot, _, levels, _, values, real, there, _ = responses
    rows, site_of, _, _, _, _, _, _, mantissa, exponent = work
    m, k = sets.shape
    n_rows = cells.shape[1]
    site = np.zeros((k + 1, n_rows), np.int32)
    coordinates = np.zeros((k + 1, max(n_rows, 1), k), np.int32)
    largest = 1
    for v in sets.reshape(-1):
        largest = max(largest, sizes[v])
    lookup = np.empty(n_rows * largest, np.int32)
    site_rows = np.empty(n_rows, np.int32)
    counts = np.empty((n_rows, onehot.shape[1]), np.uint32)
    mean = np.empty((n_rows, values.shape[1]))
    spread = np.empty((n_rows, values.shape[1]))
    has_number = np.full(values.shape[1], -1, np.int64)
    for v in range(len(real)):
        if real[v] >= 0:
            has_number[real[v]] = there[v]
    lane = np.empty(len(order), np.int64)
    table_of_lanes = np.empty((ROWS, max(onehot.shape[1], len(order)) + 3), np.int64)
    stride = np.ones(k + 1, np.int64)
    for i in range(m):
        n_lanes, cats = 0, 0
        for v in order:
            out[i, v] = -np.inf
            if wanted[i, v]:
                lane[n_lanes] = v
                n_lanes += 1
                cats += levels[v] > 0
        if n_lanes == 0:
            continue
        u = min(n_rows, 1)
        for j in range(k):
            v = sets[i, j]
            u = refine(cells[v], sizes[v], site[j], u, coordinates[j], j, site[j + 1], lookup, coordinates[j + 1])
            stride[j + 1] = stride[j] * parts[v]
        tabulate(site[k], u, onehot, values, has_number, site_rows, counts, mean, spread)
        boxes = stride[k]
        for box in range(boxes):
            rows[box] = 0
            site_of[box] = -1
        for s in range(u):
            box = 0
            for j in range(k):
                box += finest_part(kinds[sets[i, j]], coordinates[k, s, j]) * stride[j]
            rows[box] = site_rows[s]
            site_of[box] = s
        for q in range(0, n_lanes, lanes_at_a_time):
            some = lane[q : min(q + lanes_at_a_time, n_lanes)]
            some_cats = min(max(cats - q, 0), len(some))
            width, most, runs = arrange(some, len(some), some_cats, responses, table_of_lanes)
            lanes = table_of_lanes, width, most, runs, some_cats, len(some) - some_cats
            shape = sets[i], stride, kinds, parts, table, halves
            add_up(shape, leaf_cost[i], (counts, mean, spread), lanes, tables, work)
            whole = math.log(mantissa[boxes - 1, 0]) + exponent[boxes - 1, 0] * LOG_RADIX
            for s in range(len(some)):
                top = math.log(mantissa[boxes - 1, s + 1]) + exponent[boxes - 1, s + 1] * LOG_RADIX
                out[i, some[s]] = top - whole


@kernel
def add_up(shape, leaf_cost, content, lanes, tables, work):
    """Fill mantissa and exponent of every box; lane 0 is the prior, the others those of `lanes` in order."""
    members, stride, kinds, parts, table, halves = shape
    rows, _, same, left, right, _, _, _, mantissa, exponent = work
    k = len(members)
    at = np.zeros(k, np.int64)
    n_lanes = lanes[4] + lanes[5]
    leaf = np.empty(n_lanes + 1)
    for box in range(stride[k]):
        a, b = box, box
        for j in range(k - 1, -1, -1):
            t = table[members[j]] + at[j]
            if halves[t, 0] >= 0:
                a, b = box + (halves[t, 0] - at[j]) * stride[j], box + (halves[t, 1] - at[j]) * stride[j]
        if a != b:
            rows[box] = rows[a] + rows[b]
        used = 1
        leaf[0] = -leaf_cost
        if rows[box] > 0:
            used += n_lanes
            leaves(box, a, b, leaf_cost, content, lanes, tables, work, leaf)
        for q in range(used):
            e = np.round(leaf[q] / LOG_RADIX)
            mantissa[box, q] = math.exp(leaf[q] - e * LOG_RADIX)
            exponent[box, q] = np.int32(e)
        n = splits(box, members, at, kinds, parts, stride, same, left, right, 0)
        add_products(mantissa, exponent, box, used, left, right, n)
        for q in range(used, n_lanes + 1):
            mantissa[box, q] = mantissa[box, 0]
            exponent[box, q] = exponent[box, 0]
        for j in range(k):
            at[j] += 1
            if at[j] < parts[members[j]]:
                break
            at[j] = 0


@part
def leaves(box, a, b, leaf_cost, content, lanes, tables, work, leaf):
    """leaf[1:] = log m - log 4C of a box with rows, and its contents: those of its site, or of boxes a and b."""
    site_counts, site_mean, site_spread = content
    table, width, most, runs, cats, reals = lanes
    column, level_lanes, run_end, run_row = table[COLUMN], table[LEVEL_LANES], table[RUN_END], table[RUN_ROW]
    real, real_row, number, number_row = table[REAL_COLUMN], table[REAL_ROW], table[NUMBER], table[NUMBER_ROW]
    count_table, total_table, real_constant, real_power, real_shrink, real_scale, there_level, there_total = tables
    rows, site_of, _, _, _, counts, mean, spread, _, _ = work
    n, s = rows[box], site_of[box]
    for w in range(width):
        if a == b:
            counts[box, w] = site_counts[s, column[w]]
        else:
            counts[box, w] = (counts[a, w] if rows[a] > 0 else 0) + (counts[b, w] if rows[b] > 0 else 0)
    for q in range(reals):
        if a == b:
            mean[box, q], spread[box, q] = site_mean[s, real[q]], site_spread[s, real[q]]
        elif rows[a] == 0 or rows[b] == 0:
            c = b if rows[a] == 0 else a
            mean[box, q], spread[box, q] = mean[c, q], spread[c, q]
        else:
            one, other = rows[a], rows[b]
            if number[q] >= 0:
                one, other = counts[a, number[q]], counts[b, number[q]]
            share = other / max(one + other, 1)
            gap = mean[b, q] - mean[a, q]
            mean[box, q] = mean[a, q] + gap * share
            spread[box, q] = spread[a, q] + spread[b, q] + gap * gap * one * share
    first = 0
    for g in range(runs):
        for q in range(first, run_end[g]):
            leaf[1 + q] = -total_table[run_row[g], n] - leaf_cost
        first = run_end[g]
    first = 0
    for level in range(most):
        for q in range(level_lanes[level]):
            leaf[1 + q] += count_table[counts[box, first + q]]
        first += level_lanes[level]
    for q in range(reals):
        t, there = real_row[q], number[q]
        numbers = n if there < 0 else counts[box, there]
        scale = real_scale[t] + spread[box, q] + real_shrink[t, numbers] * mean[box, q] * mean[box, q]
        leaf[1 + cats + q] = real_constant[t, numbers] - real_power[t, numbers] * np.log(scale) - leaf_cost
        if there >= 0:
            t = number_row[q]
            none = counts[box, there + 1]
            leaf[1 + cats + q] += there_level[t, numbers] + there_level[t, none] - there_total[t, n]


@part
def add_products(mantissa, exponent, box, lanes, left, right, n):
    """Add W(left) W(right) of n splits to the first lanes of a box."""
    for t in range(n):
        a, b = left[t], right[t]
        for q in range(lanes):
            e = exponent[a, q] + exponent[b, q]
            term = mantissa[a, q] * mantissa[b, q]
            away = e - exponent[box, q]
            if away == 0:
                mantissa[box, q] += term
            elif away < 0:
                if away > -3:  # beyond, it is below the last bit
                    mantissa[box, q] += term * (DOWN if away == -1 else DOWN * DOWN)
            else:
                mantissa[box, q] = term + (mantissa[box, q] * (DOWN if away == 1 else DOWN * DOWN) if away < 3 else 0.0)
                exponent[box, q] = e
    for q in range(lanes):
        if mantissa[box, q] >= HIGH:
            mantissa[box, q] *= DOWN
            exponent[box, q] += 1
        elif mantissa[box, q] < LOW:
            mantissa[box, q] /= DOWN
            exponent[box, q] -= 1


@kernel
def predict(shape, leaf_cost, alpha, r, row, tables, work, out):
    """out float64[boxes, r]: in its finest cells the child's distribution there, averaged over the posterior's trees.

    For one categorical response of r levels, whose tables are in that row, after `add_up`. O(box) = sum over trees with
    that node of all that is not below it; a box is a leaf with probability O(box) m(box) / 4C / W(whole), and hands its
    prediction, weighted so, down to the cells in it.
    """
    members, stride, kinds, parts, table, halves = shape
    rows, _, same, left, right, counts, _, _, mantissa, exponent = work
    count_table, total_table = tables[0], tables[1]
    k = len(members)
    boxes = stride[k]
    inside = np.empty(boxes)
    for box in range(boxes):
        inside[box] = math.log(mantissa[box, 1]) + exponent[box, 1] * LOG_RADIX
    outside = np.full(boxes, -np.inf)
    outside[boxes - 1] = -inside[boxes - 1]
    out[:boxes] = 0.0
    at = np.empty(k, np.int64)
    for j in range(k):
        at[j] = parts[members[j]] - 1
    for box in range(boxes - 1, -1, -1):
        log_m = 0.0
        if rows[box] > 0:
            log_m = -total_table[row, rows[box]]
            for x in range(r):
                log_m += count_table[counts[box, x]]
        leaf = math.exp(outside[box] + log_m - leaf_cost)
        for x in range(r):
            seen = counts[box, x] if rows[box] > 0 else 0
            out[box, x] += leaf * (seen + alpha) / (rows[box] + r * alpha)
        n = splits(box, members, at, kinds, parts, stride, same, left, right, 0)
        for t in range(n):
            a, b = left[t], right[t]
            outside[a] = np.logaddexp(outside[a], outside[box] + inside[b])
            outside[b] = np.logaddexp(outside[b], outside[box] + inside[a])
        for j in range(k):
            t = table[members[j]] + at[j]
            if halves[t, 0] >= 0:
                for side in range(2):
                    out[box + (halves[t, side] - at[j]) * stride[j]] += out[box]
                break
        for j in range(k):
            at[j] -= 1
            if at[j] >= 0:
                break
            at[j] = parts[members[j]] - 1
