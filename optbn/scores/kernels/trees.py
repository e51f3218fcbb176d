"""Scores of optimal trees, one predictor set after another: sites, bound, plan, climb."""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.arrange import arrange
from optbn.scores.kernels.climb import climb
from optbn.scores.kernels.lattice import dense_plan
from optbn.scores.kernels.sites import refine, tabulate, tabulate_last
from optbn_solvers.base.compiled import leaf, part


@leaf
def score_trees(sets, digits, wanted, floor, priors, predictors, responses, tables, bound, scratch, out):
    """out[i, v] = score of v given sets[i] where wanted; -inf where a bound shows it is not above floor[i, v].

    digits      int64[m, k], the positions of a set's members in the order of the digits of its boxes, innermost first
    priors      (leaf_cost, log_c float64[m], leaf_rows int64[m]) per set
    predictors  (cells int32[n, N]; common int64[n], each variable's commonest cell; away int32[.], the rows in other
                cells, variable v's from away_start[v] on; kinds, sizes, parts, table, halves, need: see `lattice`)
    responses   (order int64[n], lane order of the variables; onehot uint8[N, M]; start, levels int64[n]: where a
                 categorical variable's columns of onehot begin and how many; table_row int64[n];
                 values float64[N, R]; real int64[n], the column of values or -1; there int64[n], the columns of
                 onehot "has a number" and "has none" of a real one in which rows may have none, else -1; there_row)
    bound       (xlogx float64[N + 1], least_regret float64[n]); an empty xlogx switches it off
    scratch     (lanes_at_a_time, how many responses `work` has room for; box, room, plan: see `lattice`; work: `climb`;
                space, lane, table: see trees/space.py)
    """
    leaf_cost, log_c, leaf_rows = priors
    _, _, _, _, kinds, sizes, parts, table, halves, need = predictors
    order, _, start, levels, _, _, _, _, _ = responses
    lanes_at_a_time, box, room, plan, work, space, lane, table_of_lanes = scratch
    shapes = kinds, sizes, parts, table, halves, need
    m, k = sets.shape
    site_rows, counts, coordinates = space[4], space[5], space[1]
    content = (counts, space[8], space[9])
    for i in range(m):
        shared = 0
        if i > 0:
            while shared < k and sets[i, shared] == sets[i - 1, shared]:
                shared += 1
        u = find_sites(sets[i], shared, i == 0, predictors, responses, space)
        n_lanes, cats = 0, 0
        for v in order:
            out[i, v] = -np.inf
            if wanted[i, v]:
                if levels[v] > 0:
                    if len(bound[0]) > 0 and floor[i, v] > -np.inf:
                        top = most_likely(v, u, site_rows, counts, start, levels, bound)
                        top += log_c[i] - (k + 1) * leaf_cost[i]
                        if top <= floor[i, v] - 1e-9 * (1.0 + abs(floor[i, v])):
                            continue
                    cats += 1
                lane[n_lanes] = v
                n_lanes += 1
        if n_lanes == 0:
            continue
        whole = leaf_rows[i] if n_lanes == cats else 1
        n_slots = dense_plan(sets[i], digits[i], coordinates[k], site_rows, u, whole, shapes, box, room, plan)
        for q in range(0, n_lanes, lanes_at_a_time):
            some = lane[q : min(q + lanes_at_a_time, n_lanes)]
            some_cats = min(max(cats - q, 0), len(some))
            width, most, runs = arrange(some, len(some), some_cats, responses, table_of_lanes)
            lanes = table_of_lanes, width, most, runs, some_cats, len(some) - some_cats
            climb(plan, n_slots, leaf_cost[i], content, lanes, tables, work)
            for s in range(len(some)):
                out[i, some[s]] = work[3][n_slots - 1, s] + log_c[i]


@part
def find_sites(members, shared, anew, predictors, responses, space):
    """The sites of one set and what they hold, in `space` (trees/space.py); returns how many there are. The first
    `shared` members are those of the set before, unless there was none (anew)."""
    cells, common, away, away_start, _, sizes, _, _, _, _ = predictors
    onehot, values = responses[1], responses[5]
    site, coordinates, n_sites, lookup, site_rows, counts, prefix_rows, prefix_counts, mean, spread = space[:10]
    has_number, few = space[10], space[11:]
    k = len(members)
    whole_rows = values.shape[1] > 0 or k == 0
    for j in range(shared, k if whole_rows else k - 1):
        v = members[j]
        n_sites[j + 1] = refine(
            cells[v], sizes[v], site[j], n_sites[j], coordinates[j], j, site[j + 1], lookup, coordinates[j + 1]
        )
    if whole_rows:
        tabulate(site[k], n_sites[k], onehot, values, has_number, site_rows, counts, mean, spread)
        return n_sites[k]
    if anew or shared < k - 1:
        tabulate(site[k - 1], n_sites[k - 1], onehot, values, has_number, prefix_rows, prefix_counts, mean, spread)
    v = members[k - 1]
    prefix = site[k - 1], n_sites[k - 1], coordinates[k - 1], prefix_rows, prefix_counts
    rows_away = away[away_start[v] : away_start[v + 1]]
    return tabulate_last(
        cells[v], sizes[v], common[v], rows_away, prefix, k - 1, onehot, lookup, few, coordinates[k], site_rows, counts
    )


@part
def most_likely(v, u, site_rows, counts, start, levels, bound):
    """The most that the sites can say for v: maximum likelihood of each, less the regret of the fewest leaves."""
    xlogx, regret = bound
    top = -regret[v]
    for s in range(u):
        top -= xlogx[site_rows[s]]
        for w in range(start[v], start[v] + levels[v]):
            top += xlogx[counts[s, w]]
    return top
