"""Scores of optimal trees, one predictor set after another: sites, bound, plan, climb."""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.climb import climb
from optbn.scores.kernels.lattice import dense_plan
from optbn.scores.kernels.sieve import sieve
from optbn.scores.kernels.sites import refine, tabulate, tabulate_last
from optbn_solvers.base.compiled import kernel, part


@kernel
def score_trees(
    sets,
    digits,
    wanted,
    floor,
    leaf_cost,
    log_c,
    leaf_rows,
    predictors,
    responses,
    tables,
    bound,
    terms,
    lanes_at_a_time,
    box,
    plan,
    sieve_work,
    work,
    out,
):
    """out[i, v] = score of v given sets[i] where wanted; -inf where the bound shows it is not above floor[i, v].

    digits      int64[m, k], the positions of a set's members in the order of the digits of its boxes, innermost first
    leaf_cost, log_c float64[m], leaf_rows int64[m] per set
    predictors  (cells int32[n, N]; common int64[n], each variable's commonest cell; away int32[.], the rows in other
                cells, variable v's from away_start[v] on; kinds, sizes, parts, table, halves, need: see `lattice`)
    responses   (order int64[n], lane order of the variables; onehot uint8[N, M]; start, levels int64[n]: where a
                 categorical variable's columns of onehot begin and how many; table_row int64[n];
                 values float64[N, R]; real int64[n], the column of values or -1; there int64[n], the columns of
                 onehot "has a number" and "has none" of a real one in which rows may have none, else -1; there_row)
    bound       (xlogx float64[N + 1], least_regret float64[n]); an empty xlogx switches it off
    terms, sieve_work   see `sieve`; no terms (None), or no room in the scratch, switch it off
    lanes_at_a_time  how many responses `work` has room for
    """
    cells, common, away, away_start, kinds, sizes, parts, table, halves, need = predictors
    order, onehot, start, levels, table_row, values, real, there, there_row = responses
    xlogx, regret = bound
    m, k = sets.shape
    n_rows = cells.shape[1]
    width, reals, n = onehot.shape[1], values.shape[1], len(order)
    site = np.zeros((k + 1, n_rows), np.int32)
    n_sites = np.zeros(k + 1, np.int64)
    n_sites[0] = min(n_rows, 1)
    largest, most = 1, min(n_rows, 1)
    for i in range(m):
        for j in range(k):
            largest = max(largest, sizes[sets[i, j]])
    for _ in range(k):
        most = min(most * largest, n_rows)  # sites
    coordinates = np.zeros((k + 1, max(most, 1), k), np.int32)
    lookup = np.empty(most * largest, np.int32)
    site_rows = np.empty(most, np.int32)
    counts = np.empty((most, width), np.uint32)
    prefix_rows = np.empty(most, np.int32)
    prefix_counts = np.empty((most, width), np.uint32)
    mean = np.empty((most, reals))
    spread = np.empty((most, reals))

    has_number = np.full(reals, -1, np.int64)
    for v in range(n):
        if real[v] >= 0:
            has_number[real[v]] = there[v]
    lane = np.empty(n, np.int64)
    for i in range(m):
        shared = 0
        if i > 0:
            while shared < k and sets[i, shared] == sets[i - 1, shared]:
                shared += 1
        whole_rows = reals > 0 or k == 0
        for j in range(shared, k if whole_rows else k - 1):
            v = sets[i, j]
            n_sites[j + 1] = refine(
                cells[v], sizes[v], site[j], n_sites[j], coordinates[j], j, site[j + 1], lookup, coordinates[j + 1]
            )
        if whole_rows:
            u = n_sites[k]
            tabulate(site[k], u, onehot, values, has_number, site_rows, counts, mean, spread)
        else:
            if i == 0 or shared < k - 1:
                tabulate(
                    site[k - 1], n_sites[k - 1], onehot, values, has_number, prefix_rows, prefix_counts, mean, spread
                )
            v = sets[i, k - 1]
            u = tabulate_last(
                cells[v], sizes[v], common[v], away[away_start[v] : away_start[v + 1]],
                site[k - 1], n_sites[k - 1], coordinates[k - 1], k - 1, prefix_rows, prefix_counts, onehot,
                lookup, coordinates[k], site_rows, counts,
            )  # fmt: skip

        n_lanes, cats = 0, 0
        for v in order:
            out[i, v] = -np.inf
            if not wanted[i, v]:
                continue
            if levels[v] > 0:
                if len(xlogx) > 0 and floor[i, v] > -np.inf:
                    top = log_c[i] - (k + 1) * leaf_cost[i] - regret[v]
                    for s in range(u):
                        top -= xlogx[site_rows[s]]
                        for w in range(start[v], start[v] + levels[v]):
                            top += xlogx[counts[s, w]]
                    if top <= floor[i, v] - 1e-9 * (1.0 + abs(floor[i, v])):
                        continue
                cats += 1
            lane[n_lanes] = v
            n_lanes += 1
        if n_lanes == 0:
            continue
        whole = leaf_rows[i] if n_lanes == cats else 1
        n_slots = dense_plan(
            sets[i],
            digits[i],
            coordinates[k],
            site_rows,
            u,
            whole,
            (kinds, sizes, parts, table, halves, need),
            box,
            plan,
        )
        # the first test is of types: without terms nothing of the sieve is compiled
        if terms is not None and cats > 0 and len(sieve_work[0]) > 0:
            depth = 0
            for v in sets[i]:
                depth += sizes[v]
            kept = sieve(
                plan, n_slots, depth, leaf_cost[i], log_c[i], counts, lane, cats, start, levels, floor[i], terms,
                sieve_work,
            )  # fmt: skip
            for q in range(cats, n_lanes):
                lane[kept + q - cats] = lane[q]
            n_lanes -= cats - kept
            cats = kept
        for q in range(0, n_lanes, lanes_at_a_time):
            some = lane[q : min(q + lanes_at_a_time, n_lanes)]
            some_cats = min(max(cats - q, 0), len(some))
            lanes = arrange(some, some_cats, start, levels, table_row, real, there, there_row)
            root = climb(plan, n_slots, leaf_cost[i], (counts, mean, spread), lanes, tables, work)
            for s in range(len(some)):
                out[i, some[s]] = root[s] + log_c[i]


@part
def begins_run(lane, q, levels, table_row):
    """Whether lane q has another row of tables, or number of levels, than the one before."""
    return q == 0 or table_row[lane[q]] != table_row[lane[q - 1]] or levels[lane[q]] != levels[lane[q - 1]]


@part
def arrange(lane, cats, start, levels, table_row, real, there, there_row):
    """The lanes argument of `climb` for the responses `lane`, of which the first `cats` are categorical."""
    width, most, runs = 0, 0, 0
    for q in range(cats):
        width += levels[lane[q]]
        most = max(most, levels[lane[q]])
        runs += begins_run(lane, q, levels, table_row)
    for q in range(cats, len(lane)):
        if there[lane[q]] >= 0:
            width += 2
    column = np.empty(width, np.int64)
    level_lanes = np.empty(most, np.int64)
    w = 0
    for level in range(most):
        q = 0
        while q < cats and levels[lane[q]] > level:
            column[w] = start[lane[q]] + level
            w += 1
            q += 1
        level_lanes[level] = q
    run_end = np.empty(runs, np.int64)
    run_row = np.empty(runs, np.int64)
    g = -1
    for q in range(cats):
        if begins_run(lane, q, levels, table_row):
            g += 1
            run_row[g] = table_row[lane[q]]
        run_end[g] = q + 1
    real_column = np.empty(len(lane) - cats, np.int64)
    real_row = np.empty(len(lane) - cats, np.int64)
    number = np.full(len(lane) - cats, -1, np.int64)
    number_row = np.empty(len(lane) - cats, np.int64)
    for q in range(cats, len(lane)):
        v = lane[q]
        real_column[q - cats] = real[v]
        real_row[q - cats] = table_row[v]
        number_row[q - cats] = there_row[v]
        if there[v] >= 0:
            column[w] = there[v]
            column[w + 1] = there[v] + 1
            number[q - cats] = w
            w += 2
    return column, level_lanes, run_end, run_row, real_column, real_row, number, number_row
