"""Families that cannot beat a subset, shown by whole numbers of 16 bits: most of those that no bound discards.

The lattice of kernels/product.py is gone through as in kernels/climb.py, 32 responses at a time, with costs that are
approximate and rounded down. Each response has its own unit: what a tree may cost that reaches its floor is near the
largest number. The root is no more than the true cost and `slack` (trees/sieve.py), so a response whose root costs more
than it may needs no exact score. The others, one in a thousand, are scored in double precision by a plan of their own:
what is answered has the same bits as without. Twin: kernels/climb.py.
"""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.lgammas import HALF, approximate_terms
from optbn.scores.kernels.sums import LANES, leaf_costs, least_runs, least_sums
from optbn_solvers.base.compiled import kernel, part

ROUNDING = 2.0**-24


@part
def sieve(size, prior, lattice, site_counts, lane, cats, start, levels, floor, terms, work):
    """Move those of lane[:cats] that may be above their floor to the front; returns how many they are.

    size     (entries; slots of all members but the last; parts of the last where the lattice is in runs, else 0)
    prior    (leaf_rows, leaf_cost, log_c) of the set
    lattice  (the plan of all members but the last, see `lattice`; offset, left, right, .. of the last one's splits, see
             `part_splits`; product, see `number_entries`)
    floor    float64[n]; a response without one (-inf) is not tried
    terms    (shift, constant: of the levels; tilt; total_shift, total_constant float32[n]; slack float64[n]; largest,
             the most that a tree may cost in units), see trees/sieve.py
    work     scratch (value uint16 or uint32[., LANES], counts of the same kind[.]; lanes float32[3, LANES]; some, place
             int64[LANES]; most float64[LANES]; keep bool[n]; column int64[LANES * levels]): responses for which entries
             are too many are not tried
    """
    value, _, lanes, some, place, most, keep, _ = work
    leaf_rows, leaf_cost, log_c = prior
    at, kept = 0, 0
    for q in range(cats):
        keep[q] = True
    while at < cats:
        m = 0
        while at < cats and m < LANES:
            v = lane[at]
            if floor[v] > -np.inf and size[0] <= len(value) and size[0] * levels[v] * LANES <= len(work[1]):
                some[m], place[m] = v, at
                m += 1
            at += 1
        if m == 0:
            break
        for q in range(LANES):
            v = some[min(q, m - 1)]
            may_cost = log_c - floor[v] + 1e-9 * (1.0 + abs(floor[v])) + terms[5][v]
            unit = np.float32(max(may_cost, 1.0) / terms[6])
            lanes[0, q] = terms[3][v]
            # As often as a leaf's sum is rounded: in proportion to what it costs.
            lanes[1, q] = terms[4][v] - leaf_cost * (1.0 - 2.0 * ROUNDING * (levels[v] + 8))
            lanes[2, q] = np.float32(-1.0) / unit
            most[q] = may_cost * -np.float64(lanes[2, q]) * (1.0 + 2.0 * ROUNDING)
            value[0, q] = min(leaf_cost * -np.float64(lanes[2, q]) * (1.0 - 2.0 * ROUNDING), terms[6] + 1.0)
        length, wide = lay_columns(some[:m], start, levels, work)
        if size[2] > 0:
            roots_of_runs(size, leaf_rows, lattice, site_counts, (length, wide, levels[some[0]]), terms, work)
        else:
            roots(size, leaf_rows, lattice, site_counts, (length, wide, levels[some[0]]), terms, work)
        for q in range(m):
            keep[place[q]] = value[size[0] - 1, q] <= most[q]
    for q in range(cats):  # in their order: `climb` wants those of more levels first
        if keep[q]:
            lane[kept] = lane[q]
            kept += 1
    return kept


@part
def lay_columns(some, start, levels, work):
    """(counts of an entry, levels of all LANES) of at most LANES responses, those of most levels first; the columns of
    site_counts behind them, and no counts in entry 0."""
    _, counts, _, _, _, _, _, column = work
    most = levels[some[0]]
    wide = levels[some[HALF]] if len(some) > HALF else 0
    length = wide * LANES + (most - wide) * HALF
    for level in range(most):
        for q in range(LANES if level < wide else HALF):
            v, w = some[min(q, len(some) - 1)], level * LANES + q - max(level - wide, 0) * HALF
            column[w] = start[v] + level if level < levels[v] else -1
            counts[w] = 0
    return length, wide


@part
def leaves_of(n, rows, first, second, site_counts, columns, terms, work):
    """The costs of entry n unsplit, and its counts."""
    value, counts, lanes, _, _, _, _, column = work
    length, wide, most = columns
    a, b = first[n], second[n]
    if b < 0:
        for w in range(length):
            counts[n * length + w] = site_counts[a, column[w]] if column[w] >= 0 else 0
        a, b = n, 0
    leaf_costs(value, counts, n, a, b, np.float32(rows[n]), wide, most, terms[0], terms[1], terms[2], lanes)


@part
def roots(size, leaf_rows, lattice, site_counts, columns, terms, work):
    """Fill value of all entries, the root last."""
    entries, slots, _ = size
    plan, splits, product = lattice
    value = work[0]
    _, _, _, offset, left, right = plan
    part_offset, part_left, part_right, _ = splits
    at, in_slot, in_part, first, second, rows, _ = product
    for n in range(1, entries):
        leaves_of(n, rows, first, second, site_counts, columns, terms, work)
        if rows[n] > leaf_rows:
            s, p = in_slot[n], in_part[n]
            least_sums(value, n, at, left, right, p * slots, offset[s], offset[s + 1])
            least_sums(value, n, at, part_left, part_right, s, part_offset[p], part_offset[p + 1])


@part
def roots_of_runs(size, leaf_rows, lattice, site_counts, columns, terms, work):
    """The same of a lattice in runs (kernels/runs.py)."""
    _, slots, parts = size
    plan, splits, product = lattice
    value, counts = work[0], work[1]
    _, _, _, offset, left, right = plan
    part_offset, part_left, part_right, _ = splits
    at, _, _, first, second, rows, _ = product
    for s in range(slots):
        run, length = s * parts, columns[0]
        for n in range(run, run + parts):
            if rows[n] > 0:
                leaves_of(n, rows, first, second, site_counts, columns, terms, work)
                continue
            for w in range(length):
                counts[n * length + w] = 0
            for q in range(LANES):
                value[n, q] = value[0, q]
        if rows[run + parts - 1] > leaf_rows:
            for t in range(offset[s], offset[s + 1]):
                least_runs(value, run, np.int64(left[t]) * parts, np.int64(right[t]) * parts, parts)
            for p in range(parts):
                if rows[run + p] > leaf_rows:
                    least_sums(value, run + p, at, part_left, part_right, run, part_offset[p], part_offset[p + 1])


@kernel
def approximate(counts, shift, constant, tilt, out):
    """Fill out, float32[n], with the approximate terms of counts, uint16 or uint32[n] as in the sieve, none of them 0;
    HALF divides n."""
    for at in range(0, len(counts), HALF):
        approximate_terms(counts, at, shift, constant, tilt, out)
