"""The lattice of a set as that of all its members but the last, once for each part of the last.

A box is a slot of the others and a part of the last; its splits are the slot's, the part staying, and the part's. So
sets that differ in their last member share the plan of the others, which is laid out once for all of them, and what is
left to do per set is to number the boxes that differ in their rows: an *entry* each. A box has the entry of a smaller
one where it has a level that none of its rows has, and entry 0 where it has no rows.
"""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.kinds import CATEGORICAL
from optbn.scores.kernels.lattice import dense_plan
from optbn.scores.kernels.parts import member_splits
from optbn.scores.kernels.simd import lowest_bit
from optbn_solvers.base.compiled import part


@part
def prefix_plan(members, digits, coordinates, n_sites, shapes, prefix):
    """Lay out all members but the last; returns the number of slots.

    digits  of all members, see `lattice`
    prefix  (box, room, plan: see `lattice`; fewer int64[k], scratch; ones int32[.], for the rows of sites;
            first_box int64[slots], the smallest box of each slot; need uint64[slots], the levels of unordered members
            that the slot has): see trees/space.py
    """
    box, room, plan, fewer, ones, _, _ = prefix
    k, n = len(members) - 1, 0
    for j in digits:
        if j != k:
            fewer[n] = j
            n += 1
    n_slots = dense_plan(members[:k], fewer[:k], coordinates, ones, n_sites, np.int64(0), shapes, box, room, plan)
    name_slots(members[:k], shapes, prefix)
    return n_slots


@part
def name_slots(members, shapes, prefix):
    """Fill first_box and need."""
    (_, support, slot), room, _, _, _, first_box, need = prefix
    down, boxes = room[2], 1
    for v in members:
        boxes *= shapes[2][v]
    unordered = np.uint64(0)
    for bit in range(64):
        if down[bit] > 0:
            unordered |= np.uint64(1) << np.uint64(bit)
    n = 1
    for i in range(boxes):
        if slot[i] == n:
            first_box[n] = i
            need[n] = support[i] & unordered
            n += 1


@part
def part_splits(kind, parts, slots, room):
    """Fill (offset int64[parts + 1], left, right uint32[.]) with the splits of one member's parts, of which part
    p has the number p * slots; room's last is int32[parts], scratch."""
    offset, left, right, place = room
    offset[0] = 0
    for p in range(parts):
        place[p] = p * slots
        offset[p + 1] = member_splits(p, p, kind, parts, 1, place, left, right, offset[p])


@part
def number_entries(v, n_slots, prefix, lookup, site_rows, shapes, product):
    """Fill the product of the prefix with variable v; returns the number of entries.

    lookup   int32[.]: at [p, x] the site of prefix site p and cell x of v, or -1
    product  (at int32[parts * slots], the entries; per entry slot, part, first, second int32: where it lies first,
             the two entries its rows are those of, or its site and -1; rows int32, support uint64)
    """
    (_, _, slot), room, plan, _, _, first_box, need = prefix
    down, first, second = room[2], plan[0], plan[1]
    kinds, sizes, all_parts, table, halves, _ = shapes
    at, in_slot, in_part, ones, others, rows, support = product
    kind, size, parts, t = kinds[v], sizes[v], all_parts[v], table[v]
    ones[0], others[0], rows[0], support[0] = 0, 0, 0, np.uint64(0)
    for p in range(parts):
        at[p * n_slots] = 0
    n = 1
    for s in range(1, n_slots):
        inside, cell = 0, 0
        for p in range(parts):
            half, i = halves[t + p, 0], np.uint64(p * n_slots + s)
            new = np.uint64(n)
            if half < 0 and second[s] < 0:
                one, other = lookup[first[s] * size + cell], -1
                entry_rows = site_rows[one] if one >= 0 else 0
                levels, missing = need[s], np.uint64(0)
            else:
                if half < 0:
                    one, other = at[np.uint64(p * n_slots + first[s])], at[np.uint64(p * n_slots + second[s])]
                else:
                    there = (p + 1) & inside
                    if kind == CATEGORICAL and there != p + 1:
                        at[i] = at[np.uint64((there - 1) * n_slots + s)] if there else 0
                        continue
                    one = at[np.uint64(half * n_slots + s)]
                    other = at[np.uint64(halves[t + p, 1] * n_slots + s)]
                levels = support[np.uint64(one)] | support[np.uint64(other)]
                entry_rows = rows[np.uint64(one)] + rows[np.uint64(other)]
                missing = need[s] & ~levels
            # Whether an entry is new cannot be foretold: what a new one would be is written down anyway.
            in_slot[new], in_part[new] = s, p
            ones[new], others[new] = one, other
            rows[new], support[new] = entry_rows, levels
            if entry_rows == 0:
                at[i] = 0
            elif missing:
                same = slot[np.uint64(first_box[s] - down[lowest_bit(missing)])]
                at[i] = at[np.uint64(p * n_slots + same)]
            else:
                at[i] = n
                n += 1
            if half < 0:
                inside |= (at[i] > 0) << cell
                cell += 1
    return n
