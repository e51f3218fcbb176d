"""Scores of full tables, real predictors cut into bins: all choices of how many, one predictor set after another.

The choices of a set are counted like an odometer, the last predictor's fastest, so a table shares the refinement of the
rows (kernels/sites.py) by all predictors whose choice has not moved. Every response is scored on each table, and keeps
the best; of equal ones the first, which has fewest bins of the first predictors. Cost per table: a pass over the rows
for the counts, and a leaf score per site and response. Twin: tests/naive/pcart.py.
"""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.by_site import MOST_NUMBERS, regroup, tabulate_by_site
from optbn.scores.kernels.normal import normal_leaves
from optbn.scores.kernels.sites import refine, tabulate
from optbn_solvers.base.compiled import leaf


@leaf
def score_tables(sets, wanted, predictors, responses, tables, scratch, out, chosen):
    """out[i, v] = best log-likelihood of v given sets[i] where wanted, -inf elsewhere; chosen[i, v] the table's number.

    predictors  (cells int32[choices, N], sizes int64[choices], first, options int64[n]): variable v has the ways
                first[v] .. first[v] + options[v] - 1 of being cut into cells
    responses, tables   see kernels/trees.py, kernels/climb.py
    scratch     see `table_space` (trees/space.py)
    """
    cells, sizes, first, options = predictors
    order, onehot, values = responses[0], responses[1], responses[5]
    site, n_sites, lookup, nowhere, has_number, content, row_order, column_row, value, total, lane, choice = scratch
    site_rows, counts, mean, spread = content
    m, k = sets.shape
    reals = values.shape[1]
    by_site = values.size <= MOST_NUMBERS
    for i in range(m):
        n_lanes = 0
        for v in order:
            out[i, v] = -np.inf
            if wanted[i, v]:
                lane[n_lanes] = v
                n_lanes += 1
        if n_lanes == 0:
            continue
        for j in range(k):
            choice[j] = 0
        moved, number = 0, 0
        while moved >= 0:
            for j in range(moved, k):
                row = first[sets[i, j]] + choice[j]
                if by_site:
                    n_sites[j + 1] = regroup(cells[row], sizes[row], site[j], n_sites[j], site[j + 1], lookup)
                else:
                    n_sites[j + 1] = refine(
                        cells[row], sizes[row], site[j], n_sites[j], nowhere, -1, site[j + 1], lookup, nowhere
                    )
            u = n_sites[k]
            if by_site:
                tabulate_by_site(site[k], u, onehot, values, has_number, row_order, site_rows, counts, mean, spread)
            else:
                tabulate(site[k], u, onehot, values, has_number, site_rows, counts, mean, spread)
            if reals > 0:
                column_leaves(u, site_rows, column_row, tables, mean, spread, value)
            score_table(u, site_rows, counts, mean, spread, value, lane[:n_lanes], responses, tables, total)
            for q in range(n_lanes):
                if total[q] > out[i, lane[q]]:
                    out[i, lane[q]] = total[q]
                    chosen[i, lane[q]] = number
            number += 1
            moved = k - 1
            while moved >= 0:
                choice[moved] += 1
                if choice[moved] < options[sets[i, moved]]:
                    break
                choice[moved] = 0
                moved -= 1


@leaf
def column_leaves(u, site_rows, column_row, tables, mean, spread, value):
    """value[s, r]: the leaf of site s and real column r, as if all rows had a number."""
    _, _, constant, power, shrink, scale, _, _ = tables
    none = len(mean) - 1
    begin = 0
    while begin < len(column_row):
        t, end = column_row[begin], begin + 1
        while end < len(column_row) and column_row[end] == t:
            end += 1
        for s in range(u):
            n = site_rows[s]
            terms = scale[t], shrink[t, n], power[t, n], constant[t, n]
            normal_leaves(mean, spread, value, (s, s, none), (0.0, 0.0), (begin, end, 0), terms)
        begin = end


@leaf
def score_table(u, site_rows, counts, mean, spread, value, lane, responses, tables, total):
    """total[q]: the sum of the leaves of response lane[q] over the sites."""
    _, _, start, levels, table_row, _, real, there, there_row = responses
    count_table, total_table, real_constant, real_power, real_shrink, real_scale, there_level, there_total = tables
    for q in range(len(lane)):
        v = lane[q]
        found, row, r = 0.0, table_row[v], real[v]
        if levels[v] > 0:
            for s in range(u):
                found -= total_table[row, site_rows[s]]
                for w in range(start[v], start[v] + levels[v]):
                    found += count_table[row, counts[s, w]]
        elif there[v] < 0:
            for s in range(u):
                found += value[s, r]
        else:
            t = there_row[v]
            for s in range(u):
                has, none = counts[s, there[v]], counts[s, there[v] + 1]
                scale = real_scale[row] + spread[s, r] + real_shrink[row, has] * mean[s, r] * mean[s, r]
                found += real_constant[row, has] - real_power[row, has] * np.log(scale)
                found += there_level[t, has] + there_level[t, none] - there_total[t, site_rows[s]]
        total[q] = found
