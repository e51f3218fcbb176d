"""Families that cannot beat a subset, shown by their plan in single precision: most of those that no bound discards.

The plan is run as in kernels/climb.py, sixteen responses at a time, in floats and with approximate leaves: a third of
the time. Its root is at most `slack` below the true value (trees/sieve.py), so a response whose root is further below
its floor needs no exact score. The others, one in a hundred, go through the plan again in double precision: what is
answered has the same bits as without. Twin: kernels/climb.py.
"""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.simd32 import LANES, approximate_terms, raise_lanes
from optbn_solvers.base.compiled import kernel, leaf, part

ROUNDING = 2.0**-24


@leaf
def sieve(plan, n_slots, prior, site_counts, lane, cats, start, levels, floor, terms, work):
    """Move those of lane[:cats] that may be above their floor to the front; returns how many they are.

    plan     see `lattice`
    prior    (depth, how many splits a way from root to leaf has at most; leaf_cost, log_c)
    floor    float64[n]; a response without one (-inf) is not tried
    terms    (shift, constant: of the levels; tilt; total_shift, total_constant float32[n]; slack, deepest float64[n]),
             see trees/sieve.py
    work     scratch (value float32[., LANES], counts float32[.]; totals float32[2, LANES]; some, place int64[LANES];
             keep bool[n]): responses for which the slots are too many are not tried
    """
    depth, leaf_cost, log_c = prior
    at, kept = 0, 0
    _, _, _, some, place, keep = work
    for q in range(cats):
        keep[q] = True
    while at < cats:
        m = 0
        while at < cats and m < LANES:
            v = lane[at]
            if floor[v] > -np.inf and n_slots <= len(work[0]) and n_slots * levels[v] * LANES <= len(work[1]):
                some[m], place[m] = v, at
                m += 1
            at += 1
        if m == 0:
            break
        roots(plan, n_slots, leaf_cost, site_counts, some[:m], start, levels, terms, work)
        value = work[0][n_slots - 1]
        for q in range(m):
            v = some[q]
            slack = terms[5][v] + ROUNDING * (depth + levels[v] + 3) * (terms[6][v] + leaf_cost)
            keep[place[q]] = value[q] + log_c + slack > floor[v] - 1e-9 * (1.0 + abs(floor[v]))
    for q in range(cats):  # in their order: `climb` wants those of more levels first
        if keep[q]:
            lane[kept] = lane[q]
            kept += 1
    return kept


@part
def roots(plan, n_slots, leaf_cost, site_counts, some, start, levels, terms, work):
    """Fill value float32[slots, LANES], the root last, for at most LANES responses, those of most levels first."""
    first, second, rows, offset, left, right = plan
    shift, constant, tilt, total_shift, total_constant, _, _ = terms
    value, counts, totals = work[0], work[1], work[2]
    most = levels[some[0]]
    for q in range(LANES):
        v = some[min(q, len(some) - 1)]
        totals[0, q] = total_shift[v]
        totals[1, q] = total_constant[v] - leaf_cost
        value[0, q] = -leaf_cost
        for level in range(most):
            counts[level * LANES + q] = 0.0
    for s in range(1, n_slots):
        a, b = first[s], second[s]
        if b < 0:
            for q in range(LANES):
                v = some[min(q, len(some) - 1)]
                for level in range(most):
                    inside = level < levels[v]
                    w = (s * most + level) * LANES + q
                    counts[w] = site_counts[a, start[v] + level] if inside else 0.0
            a, b = s, 0
        raise_lanes(
            value, counts, s, a, b, np.float32(rows[s]), most, shift, constant, tilt, totals, left, right,
            offset[s], offset[s + 1],
        )  # fmt: skip


@kernel
def approximate(counts, shift, constant, tilt, out):
    """Fill float32[n] with the approximate terms of so many counts, none of them 0; n is a multiple of LANES."""
    for at in range(0, len(counts), LANES):
        approximate_terms(counts, at, shift, constant, tilt, out)
