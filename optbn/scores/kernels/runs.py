"""The lattice of kernels/product.py in runs: where most boxes hold rows, all parts of the last member side by side.

A split of another member is then one of runs: row by row in the order of memory, with no number to look up, which the
caches can foresee; splits of the last member stay within a run. So it is to be the member of most parts. Row
s * parts + p is slot s of the others with part p; the first run is the box without rows. Where boxes take megabytes
this is four times as fast as going from entry to entry. Twins: kernels/sieve.py `roots`, kernels/entries.py.
"""

from __future__ import annotations

from optbn.scores.kernels.product import number_entries, part_splits
from optbn_solvers.base.compiled import part

LEAST_ROWS = 1 << 13
"""Of a lattice that is gone through in runs; of fewer the caches hold the values anyway."""


@part
def lay_lattice(members, u, slots, prefix, lookup, site_rows, shapes, splits, product):
    """(entries; slots of all members but the last; parts of the last if the lattice of a set with u sites goes in runs,
    else 0), with the splits of the last member's parts and the product filled."""
    kinds, sizes, parts = shapes[0], shapes[1], shapes[2]
    v, cells = members[len(members) - 1], 1
    for member in members:
        cells *= sizes[member]
    run = parts[v] if slots * parts[v] >= LEAST_ROWS and 4 * u >= 3 * cells else 0
    part_splits(kinds[v], parts[v], 1 if run > 0 else slots, splits)
    if run > 0:
        entries = place_rows(v, slots, prefix, lookup, site_rows, shapes, product)
    else:
        entries = number_entries(v, slots, prefix, lookup, site_rows, shapes, product)
    return entries, slots, run


@part
def place_rows(v, slots, prefix, lookup, site_rows, shapes, product):
    """Fill product's first, second and rows of every row, as `number_entries` does; returns how many rows there are."""
    first_slot, second_slot = prefix[2][0], prefix[2][1]
    sizes, all_parts, table, halves = shapes[1], shapes[2], shapes[3], shapes[4]
    at, _, _, ones, others, rows, _ = product
    size, parts, t = sizes[v], all_parts[v], table[v]
    for n in range(parts):
        at[n], ones[n], others[n], rows[n] = n, 0, 0, 0
    for s in range(1, slots):
        cell, one, other = 0, 0, 0
        for p in range(parts):
            n, half = s * parts + p, halves[t + p, 0]
            at[n] = n
            if half >= 0:
                one, other = s * parts + half, s * parts + halves[t + p, 1]
                rows[n] = rows[one] + rows[other]
            elif second_slot[s] < 0:
                one, other = lookup[first_slot[s] * size + cell], -1
                rows[n] = site_rows[one] if one >= 0 else 0
                if one < 0:
                    one, other = 0, 0
            else:
                one, other = first_slot[s] * parts + p, second_slot[s] * parts + p
                rows[n] = rows[one] + rows[other]
            cell += half < 0
            ones[n], others[n] = one, other
    return slots * parts
