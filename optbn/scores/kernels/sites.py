"""One pass over the rows serves every response: sites, their counts and their moments.

A *site* is a configuration of the predictors (each at its finest cell) that holds at least one row. Sites are found by
refinement, one predictor after another: the number of a row's site given the first j + 1 predictors is looked up from
its number given the first j and its cell of the next. There are never more sites than rows, so nothing overflows
however many cells the predictors have, and sets in lexicographic order share the refinements of their common prefix.
The same predictor set has the same sites in the same order everywhere.

Cost: N look-ups per set for the last predictor, then N additions of one row of one-hot codes (and of real values,
twice: means first, squared deviations from them after, which does not cancel as sums of squares do). Counts alone need
less: only the rows away from the last predictor's commonest cell are visited, the others are what remains of the
common prefix's counts (`tabulate_last`).

The last column of one-hot codes is 1 in every row, so its counts are the rows. Where rows have weights, a row of codes
is multiplied by its units: all counts are of units then, and moments are of weighted rows.
"""

from __future__ import annotations

from optbn.scores.kernels.moments import add_row, add_squares
from optbn.scores.kernels.rows import add_counts, clear_row, copy_counts, subtract_counts
from optbn.scores.kernels.simd import add_bits
from optbn_solvers.base.compiled import leaf, part

MOST_RECENT = 255


@leaf
def refine(cells, size, site, old_n, coordinates, depth, fresh, lookup, fresh_coordinates):
    """Refine sites by one more predictor; returns how many there are.

    cells        int32[N], the predictor's cell of each row, below `size`
    depth        how many predictors came before; -1 where nobody asks for coordinates
    site         int32[N], each row's site so far, below old_n; coordinates int32[>= old_n, depth] where they lie
    fresh        int32[N], out; fresh_coordinates int32[>= N, depth + 1], out
    lookup       int32[>= old_n * size], out: the site of [old site, cell], or -1
    """
    for i in range(old_n * size):
        lookup[i] = -1
    n = 0
    for i in range(len(cells)):
        key = site[i] * size + cells[i]
        s = lookup[key]
        if s < 0:
            s = n
            lookup[key] = s
            for j in range(depth):
                fresh_coordinates[s, j] = coordinates[site[i], j]
            if depth >= 0:
                fresh_coordinates[s, depth] = cells[i]
            n += 1
        fresh[i] = s
    return n


@leaf
def tabulate(site, n, onehot, values, there, rows, counts, mean, spread):
    """What every site holds: rows int32[n], counts uint32[n, M], mean and spread (squared deviations) float64[n, R].

    onehot uint8[N, M], values float64[N, R]; R may be 0. there int64[R]: the column of onehot that says which rows have
    a number (the others have 0 in values and do not count), or -1. Sums run in row order.
    """
    width, reals = onehot.shape[1], values.shape[1]
    for s in range(n):
        clear_row(counts, s)
    for i in range(len(site)):
        add_counts(counts, site[i], onehot, i)
    for s in range(n):
        rows[s] = counts[s, width - 1]
    if reals == 0:
        return
    for s in range(n):
        clear_row(mean, s)
        clear_row(spread, s)
    for i in range(len(site)):
        s = site[i]
        add_row(mean, s, values, i, reals, float(onehot[i, width - 1]))
    for s in range(n):
        for r in range(reals):
            mean[s, r] /= rows[s] if there[r] < 0 else max(counts[s, there[r]], 1)
    for i in range(len(site)):
        add_squares(spread, site[i], values, i, mean, reals, float(onehot[i, width - 1]))
    for r in range(reals):
        if there[r] >= 0:
            for s in range(n):
                spread[s, r] = 0.0
            for i in range(len(site)):
                if onehot[i, there[r]]:
                    away = values[i, r] - mean[site[i], r]
                    spread[site[i], r] += onehot[i, width - 1] * (away * away)


@part
def flush(recent, recent_rows, s, counts):
    """Add to the counts of site s what is to be added."""
    add_counts(counts, s, recent, s)
    clear_row(recent, s)
    recent_rows[s] = 0


@leaf
def tabulate_last(cells, size, common, away, prefix, depth, onehot, lookup, few, coordinates, rows, counts):
    """Sites and counts of a prefix and one more predictor, from the prefix's; returns how many sites there are.

    common   the predictor's commonest cell; away int32[.], the rows that lie in others
    prefix   (site int32[N], how many, coordinates, rows, counts): what `refine`, `tabulate` say of the prefix
    lookup   int32[>= sites of the prefix * size], out: the site of [site of the prefix, cell], or -1
    few      (bits uint64[N, .], the rows of onehot in bits, or with no rows where onehot is more than ones; scratch:
             recent uint8[N, 64 .], what is still to be added to counts; int64[N], rows of it): bits are an eighth of
             what has to be fetched from memory, and bytes are added four times as quickly as counts
    coordinates int32[., depth + 1], rows, counts   out
    """
    prefix_site, n_prefix, prefix_coordinates, prefix_rows, prefix_counts = prefix
    bits, recent, recent_rows = few
    width, in_bits = onehot.shape[1], len(bits) > 0
    for i in range(n_prefix * size):
        lookup[i] = -1
    n = 0
    for i in away:
        key = prefix_site[i] * size + cells[i]
        s = lookup[key]
        if s < 0:
            s = n
            lookup[key] = s
            for j in range(depth):
                coordinates[s, j] = prefix_coordinates[prefix_site[i], j]
            coordinates[s, depth] = cells[i]
            clear_row(counts, s)
            if in_bits:
                clear_row(recent, s)
                recent_rows[s] = 0
            n += 1
        if in_bits:
            if recent_rows[s] == MOST_RECENT:
                flush(recent, recent_rows, s, counts)
            add_bits(recent, s, bits, i)
            recent_rows[s] += 1
        else:
            add_counts(counts, s, onehot, i)
    for s in range(n):
        if in_bits:
            flush(recent, recent_rows, s, counts)
        rows[s] = counts[s, width - 1]
    for p in range(n_prefix):
        left = prefix_rows[p]
        for x in range(size):
            if lookup[p * size + x] >= 0:
                left -= rows[lookup[p * size + x]]
        if left == 0:
            continue
        copy_counts(counts, n, prefix_counts, p)
        for x in range(size):
            s = lookup[p * size + x]
            if s >= 0:
                subtract_counts(counts, n, counts, s)
        for j in range(depth):
            coordinates[n, j] = prefix_coordinates[p, j]
        coordinates[n, depth] = common
        lookup[p * size + common] = n
        rows[n] = left
        n += 1
    return n
