"""Scores of the few responses that the sieve leaves, in double precision on the lattice that it went through.

The entries of kernels/product.py are the boxes that differ in their rows, and their splits are at hand: a plan of all
boxes would be several times as long, and takes longer to lay out than to run. A leaf adds up the same terms in the same
order as in kernels/climb.py, and the best sum of two boxes is the best whatever else is tried, so the bits are its.
"""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.simd import WIDTH, raise_entry, raise_runs
from optbn_solvers.base.compiled import part


@part
def score_entries(size, prior, lattice, site_counts, lane, kept, responses, tables, work, out):
    """out[v] = score of the responses lane[:kept]; returns how many of them, from the front, there was room for.

    size, prior, lattice, site_counts   see `sieve`
    responses  (start, levels, row int64[n]): columns of site_counts, rows of tables[1]
    tables     (per_level float64[N + 1]; total float64[., N + 1]), see trees/leaves.py
    work       (best float64[entries, >= WIDTH]; counts, column: see `sieve`; ends int64[WIDTH + 1])
    """
    start, levels, _ = responses
    best, counts, column, ends = work
    done = 0
    while done < kept:
        some = min(WIDTH, kept - done)
        length = 0
        for q in range(some):
            v = lane[done + q]
            for level in range(levels[v]):
                column[length] = start[v] + level
                length += 1
            ends[q] = length
        if size[0] > len(best) or size[0] * length > len(counts):
            break
        leaf = prior[1], site_counts, lane[done : done + some], responses[2], tables
        if size[2] > 0:
            best_of_runs(size, prior[0], lattice, length, leaf, work)
        else:
            best_of_entries(size, prior[0], lattice, length, leaf, work)
        for q in range(some):
            out[lane[done + q]] = best[size[0] - 1, q] + prior[2]
        done += some
    return done


@part
def leaf_of_entry(n, rows, first, second, length, leaf, work):
    """What entry n is worth unsplit, and its counts."""
    leaf_cost, site_counts, lane, row, (per_level, total) = leaf
    best, counts, column, ends = work
    a, b, here = first[n], second[n], np.uint64(n * length)
    if b < 0:
        for w in range(length):
            counts[here + np.uint64(w)] = site_counts[a, column[w]]
        a, b = n, 0  # the sum of what it has and entry 0, which has nothing
    one, other, w = np.uint64(a * length), np.uint64(b * length), np.uint64(0)
    for q in range(len(lane)):
        value = -leaf_cost
        if rows[n] > 0:
            value = -total[row[lane[q]], rows[n]] - leaf_cost
        while w < np.uint64(ends[q]):
            count = counts[one + w] + counts[other + w]
            counts[here + w] = count
            value += per_level[count]
            w += np.uint64(1)
        best[n, q] = value
    for q in range(len(lane), WIDTH):
        best[n, q] = 0.0


@part
def best_of_entries(size, leaf_rows, lattice, length, leaf, work):
    """Fill best of all entries, the root last."""
    entries, slots, _ = size
    (_, _, _, offset, left, right), (part_offset, part_left, part_right, _), product = lattice
    at, in_slot, in_part, first, second, rows, _ = product
    best = work[0]
    for w in range(length):
        work[1][w] = 0
    for n in range(entries + 1):
        if n < entries:
            leaf_of_entry(n, rows, first, second, length, leaf, work)
        # One entry behind, because what was just written element by element cannot be read as a vector at once.
        m = n - 1
        if m > 0 and rows[m] > leaf_rows:
            s, p = in_slot[m], in_part[m]
            raise_entry(best, m, at, left, right, p * slots, offset[s], offset[s + 1])
            raise_entry(best, m, at, part_left, part_right, s, part_offset[p], part_offset[p + 1])


@part
def best_of_runs(size, leaf_rows, lattice, length, leaf, work):
    """The same of a lattice in runs (kernels/runs.py)."""
    _, slots, parts = size
    (_, _, _, offset, left, right), (part_offset, part_left, part_right, _), product = lattice
    at, _, _, first, second, rows, _ = product
    best = work[0]
    for w in range(length):
        work[1][w] = 0
    for s in range(slots):
        run = s * parts
        for n in range(run, run + parts):
            leaf_of_entry(n, rows, first, second, length, leaf, work)
        if rows[run + parts - 1] > leaf_rows:
            for t in range(offset[s], offset[s + 1]):
                raise_runs(best, run, np.int64(left[t]) * parts, np.int64(right[t]) * parts, parts)
            for p in range(parts):
                if rows[run + p] > leaf_rows:
                    raise_entry(best, run + p, at, part_left, part_right, run, part_offset[p], part_offset[p + 1])
