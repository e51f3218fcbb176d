"""Scores of families that may be above their floors, one predictor set after another: sites, bound, entries, sieve.

A kernel of its own, for to compile it takes longer than it spares where sets are few.
"""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.entries import score_entries
from optbn.scores.kernels.product import prefix_plan
from optbn.scores.kernels.runs import lay_lattice
from optbn.scores.kernels.sieve import sieve
from optbn.scores.kernels.trees import find_sites, most_likely
from optbn_solvers.base.compiled import leaf


@leaf
def sieve_sets(sets, digits, wanted, floor, priors, predictors, responses, tables, bound, terms, scratch, out):
    """Set wanted[i, v] to False where the score of v given sets[i] is shown not to be above floor[i, v], and where it
    is computed: then it is in out[i, v].

    scratch  (prefix, splits, product, work: see `prefix_plan`, `part_splits`, `number_entries`, `sieve`; best, ends:
             see `score_entries`; space, lane: see trees/space.py)
    The others as in `score_trees` (kernels/trees.py); terms, see `sieve`. Sets have a member at least.
    """
    leaf_cost, log_c, leaf_rows = priors
    _, _, _, _, kinds, sizes, parts, table, halves, need = predictors
    order, _, start, levels, row, _, _, _, _ = responses
    prefix, splits, product, work, best, ends, space, lane = scratch
    shapes = kinds, sizes, parts, table, halves, need
    m, k = sets.shape
    coordinates, lookup, site_rows, counts = space[1], space[3], space[4], space[5]
    slots = 0
    for i in range(m):
        shared = 0
        if i > 0:
            while shared < k and sets[i, shared] == sets[i - 1, shared]:
                shared += 1
        if shared < k - 1:
            slots = 0
        u = find_sites(sets[i], shared, i == 0, predictors, responses, space)
        cats = 0
        for v in order:
            if wanted[i, v] and levels[v] > 0 and floor[i, v] > -np.inf:
                top = most_likely(v, u, site_rows, counts, start, levels, bound) + log_c[i] - (k + 1) * leaf_cost[i]
                wanted[i, v] = top > floor[i, v] - 1e-9 * (1.0 + abs(floor[i, v]))
                if wanted[i, v]:
                    lane[cats] = v
                    cats += 1
        if cats == 0:
            continue
        if slots == 0:
            slots = prefix_plan(sets[i], digits[i], coordinates[k - 1], space[2][k - 1], shapes, prefix)
        size = lay_lattice(sets[i], u, slots, prefix, lookup, site_rows, shapes, splits, product)
        prior, lattice = (leaf_rows[i], leaf_cost[i], log_c[i]), (prefix[2], splits, product)
        for q in range(cats):
            wanted[i, lane[q]] = False
        kept = sieve(size, prior, lattice, counts, lane, cats, start, levels, floor[i], terms, work)
        exact = best, work[1], work[7], ends
        exactly = start, levels, row
        scored = score_entries(size, prior, lattice, counts, lane, kept, exactly, tables, exact, out[i])
        for q in range(scored, kept):
            wanted[i, lane[q]] = True
