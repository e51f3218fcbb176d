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

from optbn.scores.kernels.simd import WIDTH, raise_to_best_sum
from optbn_solvers.base.compiled import kernel


@kernel
def join_moments(mean, spread, s, a, b, share_b, rows_a, number, counts):
    """Means and squared deviations of slot s from those of a and b.

    A kernel of its own, like `real_leaves`: written out in the loop of `climb`, these lines cost data without real
    responses half as much again."""
    for q in range(len(number)):
        gap, share, one = mean[b, q] - mean[a, q], share_b, rows_a
        if number[q] >= 0:
            share = counts[b, number[q]] / max(counts[s, number[q]], 1)
            one = counts[a, number[q]]
        mean[s, q] = mean[a, q] + gap * share
        spread[s, q] = spread[a, q] + spread[b, q] + gap * gap * (one * share)


@kernel
def real_leaves(mean, spread, counts, s, n, lanes, tables, leaf_cost, value, cats):
    """The leaves of the real lanes of slot s."""
    _, _, _, _, _, real_row, number, number_row = lanes
    _, _, real_constant, real_power, real_shrink, real_scale, there_level, there_total = tables
    for q in range(len(real_row)):
        t, there = real_row[q], number[q]
        numbers = n if there < 0 else counts[s, there]
        scale = real_scale[t] + spread[s, q] + real_shrink[t, numbers] * mean[s, q] * mean[s, q]
        leaf = real_constant[t, numbers] - real_power[t, numbers] * np.log(scale) - leaf_cost
        if there >= 0:
            t = number_row[q]
            leaf += there_level[t, numbers] + there_level[t, counts[s, there + 1]] - there_total[t, n]
        value[s, cats + q] = leaf


@kernel
def climb(plan, n_slots, leaf_cost, site_content, lanes, tables, work):
    """value float64[slot, lane] for every slot; the last slot is the root.

    plan          see `lattice`; leaf_cost = log 4C
    site_content  (counts int32[site, M], mean float64[site, R], spread float64[site, R])
    lanes         (column int64[W], the column of counts behind each count of a slot, level by level;
                   level_lanes int64[.], how many lanes have that level; run_end and run_row int64[.], lanes with one
                   row of total and one number of levels; real and real_row int64[.], behind each real lane the
                   column of mean and spread and
                   the row of tables; number and number_row int64[.], where the counts of a slot's rows with and
                   without a number begin, and their row of tables, or -1 where all rows have one)
    tables        (count float64[N + 1], total float64[., N + 1]; real_constant, real_power, real_shrink
                   float64[., N + 1] and real_scale float64[.]; there_level, there_total float64[., N + 1])
    work          (counts int32[slots, >= W], mean, spread float64[slots, >= R], value float64[slots, >= L])
    """
    first, second, rows, offset, left, right = plan
    site_counts, site_mean, site_spread = site_content
    column, level_lanes, run_end, run_row, real, _, number, _ = lanes
    count_table, total_table, _, _, _, _, _, _ = tables
    counts, mean, spread, value = work
    width, reals = len(column), len(real)
    level_start = np.zeros(len(level_lanes) + 3, np.int64)  # at least three entries
    for level in range(1, len(level_lanes)):
        level_start[level] = level_start[level - 1] + level_lanes[level - 1]
    run_levels = np.zeros(len(run_end), np.int64)
    level_1, level_2 = np.uint64(level_start[1]), np.uint64(level_start[2])
    for g in range(len(run_end)):
        for level in range(len(level_lanes)):
            run_levels[g] += level_lanes[level] >= run_end[g]
    cats = level_lanes[0] if len(level_lanes) else 0
    n_lanes = cats + reals
    padded = (width + 15) // 16 * 16
    vectors = (n_lanes + WIDTH - 1) // WIDTH
    for w in range(padded):
        counts[0, w] = 0
    for q in range(reals):
        mean[0, q] = 0.0
        spread[0, q] = 0.0
    for q in range(n_lanes):
        value[0, q] = -leaf_cost
    for s in range(1, n_slots):
        a, b = first[s], second[s]
        n = rows[s]
        if b < 0:
            for w in range(width):
                counts[s, w] = site_counts[a, column[w]]
            for q in range(reals):
                mean[s, q] = site_mean[a, real[q]]
                spread[s, q] = site_spread[a, real[q]]
        else:
            one, other, both = counts[a], counts[b], counts[s]
            for w in range(padded):
                both[w] = one[w] + other[w]
            if reals > 0:
                join_moments(mean, spread, s, a, b, rows[b] / n, rows[a], number, counts)

        row, content, begin = value[s], counts[s], 0
        for g in range(len(run_end)):
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
        if reals > 0:
            real_leaves(mean, spread, counts, s, n, lanes, tables, leaf_cost, value, cats)

        # One slot behind, because what was just written element by element cannot be read as vectors at once.
        raise_to_best_sum(value, s - 1, vectors, left, right, offset[s - 1], offset[s])
    raise_to_best_sum(value, n_slots - 1, vectors, left, right, offset[n_slots - 1], offset[n_slots])
    return value[n_slots - 1]
