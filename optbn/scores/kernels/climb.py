"""Running a plan: contents, leaf scores and best subtrees of every slot, for many responses side by side.

    value(box) = max( leaf(box),  max over splits of  value(left) + value(right) ),    leaf(box) = log m(rows) - log 4C

What the plan does never depends on the response, so the responses are *lanes*: consecutive doubles that one vector
instruction adds or compares at a time. Categorical lanes come first, those with more levels before those with fewer;
then the counts of level 0 of all of them are consecutive, then of level 1 of those that have one, and so on.

Dirichlet leaves are look-ups in tables of lgamma differences. Normal-inverse-gamma leaves need one logarithm; their
moments are merged as (rows, mean, sum of squared deviations), which neither cancels nor depends on where zero is.
Twin: tests/naive/pcart.py.
"""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.arrange import (
    COLUMN,
    LEVEL_START,
    NUMBER,
    NUMBER_ROW,
    REAL_COLUMN,
    REAL_END,
    REAL_ROW,
    RUN_END,
    RUN_LEVELS,
    RUN_ROW,
)
from optbn.scores.kernels.normal import normal_leaves
from optbn.scores.kernels.simd import WIDTH, raise_to_best_sum
from optbn_solvers.base.compiled import leaf, part


@leaf
def real_slots(plan, n_slots, leaf_cost, site_content, lanes, tables, mean, spread, value):
    """The moments and leaves of all slots and of those real lanes whose rows all have a number, which come first;
    returns how many they are. Apart from the loop of `climb`: to pass so much once per slot takes longer than this."""
    first, second, rows, _, _, _ = plan
    _, site_mean, site_spread = site_content
    table, _, _, _, cats, reals = lanes
    real, real_row, number, real_end = table[REAL_COLUMN], table[REAL_ROW], table[NUMBER], table[REAL_END]
    _, _, constant, power, shrink, scale, _, _ = tables
    plain = 0
    while plain < reals and number[plain] < 0:
        plain += 1
    for q in range(reals):
        mean[0, q] = 0.0
        spread[0, q] = 0.0
    for s in range(1, n_slots):
        a, b, n = first[s], second[s], rows[s]
        share, product = 0.0, 0.0
        if b < 0:
            for q in range(reals):
                mean[s, q] = site_mean[a, real[q]]
                spread[s, q] = site_spread[a, real[q]]
            a, b = s, 0  # the sum of what it has and slot 0, which has nothing
        else:
            share = rows[b] / n
            product = share * rows[a]
        begin = 0
        while begin < plain:
            t, end = real_row[begin], real_end[begin]
            terms = scale[t], shrink[t, n], power[t, n], constant[t, n] - leaf_cost
            normal_leaves(mean, spread, value, (s, a, b), (share, product), (begin, end, cats), terms)
            begin = end
    return plain


@leaf
def mixed_leaves(mean, spread, counts, s, a, b, n, plain, lanes, tables, leaf_cost, value):
    """The same of slot s and the real lanes after those, once its counts are known; n rows."""
    table, _, _, _, cats, reals = lanes
    real_row, number, number_row = table[REAL_ROW], table[NUMBER], table[NUMBER_ROW]
    _, _, real_constant, real_power, real_shrink, real_scale, there_level, there_total = tables
    for q in range(plain, reals):
        t, there = real_row[q], number[q]
        numbers = counts[s, there]
        if b >= 0:
            gap = mean[b, q] - mean[a, q]
            share = counts[b, there] / max(numbers, 1)
            mean[s, q] = mean[a, q] + gap * share
            spread[s, q] = spread[a, q] + spread[b, q] + gap * gap * (counts[a, there] * share)
        scale = real_scale[t] + spread[s, q] + real_shrink[t, numbers] * mean[s, q] * mean[s, q]
        total = real_constant[t, numbers] - real_power[t, numbers] * np.log(scale) - leaf_cost
        t = number_row[q]
        total += there_level[t, numbers] + there_level[t, counts[s, there + 1]] - there_total[t, n]
        value[s, cats + q] = total


@part
def climb(plan, n_slots, leaf_cost, site_content, lanes, tables, work):
    """Fill value float64[slot, lane] of every slot; the last slot is the root.

    plan          see `lattice`; leaf_cost = log 4C
    site_content  (counts int32[site, M], mean float64[site, R], spread float64[site, R])
    lanes         what `arrange` says of the responses (kernels/arrange.py)
    tables        (count float64[N + 1], total float64[., N + 1]; real_constant, real_power, real_shrink
                   float64[., N + 1] and real_scale float64[.]; there_level, there_total float64[., N + 1])
    work          (counts int32[slots, >= W], mean, spread float64[slots, >= R], value float64[slots, >= L]) and a slot
                   more: vectors of a slot's real lanes may reach into the next one, which is written later
    """
    first, second, rows, offset, left, right = plan
    site_counts = site_content[0]
    table, width, _, runs, cats, reals = lanes
    column, level_start, run_end, run_row = table[COLUMN], table[LEVEL_START], table[RUN_END], table[RUN_ROW]
    run_levels = table[RUN_LEVELS]
    count_table, total_table, _, _, _, _, _, _ = tables
    counts, mean, spread, value = work
    level_1, level_2 = np.uint64(level_start[1]), np.uint64(level_start[2])
    n_lanes = cats + reals
    padded = (width + 15) // 16 * 16
    vectors = (n_lanes + WIDTH - 1) // WIDTH
    for w in range(padded):
        counts[0, w] = 0
    plain = 0
    if reals > 0:
        plain = real_slots(plan, n_slots, leaf_cost, site_content, lanes, tables, mean, spread, value)
    for q in range(n_lanes):
        value[0, q] = -leaf_cost
    for s in range(1, n_slots):
        a, b = first[s], second[s]
        n = rows[s]
        if b < 0:
            for w in range(width):
                counts[s, w] = site_counts[a, column[w]]
        else:
            one, other, both = counts[a], counts[b], counts[s]
            for w in range(padded):
                both[w] = one[w] + other[w]

        row, content, begin = value[s], counts[s], 0
        for g in range(runs):
            base, end, levels = -total_table[run_row[g], n] - leaf_cost, run_end[g], run_levels[g]
            if levels == 2:
                for lane in range(begin, end):
                    q = np.uint64(lane)
                    row[q] = base + count_table[content[q]] + count_table[content[q + level_1]]
            elif levels == 3:
                for lane in range(begin, end):
                    q = np.uint64(lane)
                    two = base + count_table[content[q]] + count_table[content[q + level_1]]
                    row[q] = two + count_table[content[q + level_2]]
            else:
                for lane in range(begin, end):
                    total = base
                    for level in range(levels):
                        total += count_table[content[np.uint64(level_start[level] + lane)]]
                    row[np.uint64(lane)] = total
            begin = end
        if plain < reals:
            mixed_leaves(mean, spread, counts, s, a, b, n, plain, lanes, tables, leaf_cost, value)

        # One slot behind, because what was just written element by element cannot be read as vectors at once.
        raise_to_best_sum(value, s - 1, vectors, left, right, offset[s - 1], offset[s])
    raise_to_best_sum(value, n_slots - 1, vectors, left, right, offset[n_slots - 1], offset[n_slots])
