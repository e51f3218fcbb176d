"""The nodes of all trees over a predictor set, laid out as a plan: what to add up, and which splits to try.

A tree node is a box, one *part* per predictor, numbered so that a part comes after the parts it is made of:

    categorical  a non-empty set of levels; part = bit mask - 1
    ordinal      levels lo..hi; part = hi (hi + 1) / 2 + hi - lo
    real         an interval halved at most s times; 2^s finest cells first, the whole range last; the halves of part p
                 of m are the parts 2p - m - 1 and 2p - m

A box's number is the mixed-radix sum of its parts, so increasing numbers are a bottom-up order. Three facts thin
it out:

- Boxes holding the same rows have the same value when they differ in a level none of the rows has (a categorical or
  ordinal split with an empty side only costs a leaf). Such boxes share one *slot*, that of the smallest. `support`
  keeps the levels that occur, one bit per level, and adds up over boxes like their rows do.
- All boxes without rows share slot 0.
- A box of at most `leaf_rows` rows is known to be best left unsplit.

The plan lists per slot the two slots its contents are the sum of (or its site), and the pairs of slots it may be split
into: predictors in order, and for each the splits of its part. The kernels that run a plan know nothing of kinds.
Twin: tests/naive/pcart.py enumerates trees from the definition.
"""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.kinds import CATEGORICAL, ORDINAL, REAL
from optbn.scores.kernels.parts import copy_splits, finest_part, list_sides, member_splits
from optbn.scores.kernels.simd import lowest_bit
from optbn_solvers.base.compiled import leaf
from optbn_solvers.base.compiled import part as inlined

NO_BIT = 64
"""What `lowest_bit` says of 0."""


@leaf
def place_sites(members, digits, coordinates, site_rows, n_sites, shapes, box, room):
    """Mark the finest boxes that hold rows, fill stride, shift and down of `room`; returns the number of boxes."""
    kinds, sizes, parts, _, _, _ = shapes
    box_rows, support, slot = box
    stride, shift, down, _, _, _, _ = room
    k = len(members)
    for bit in range(len(down)):
        down[bit] = 0
    boxes, bits = 1, 0
    for j in digits:
        v = members[j]
        stride[j] = boxes
        boxes *= parts[v]
        shift[j] = bits
        if kinds[v] == CATEGORICAL:
            for level in range(sizes[v]):
                down[bits + level] = stride[j] << level
        if kinds[v] != REAL:
            bits += sizes[v]
    for i in range(boxes):
        box_rows[i] = 0
        support[i] = 0
        slot[i] = 0
    for s in range(n_sites):
        i = 0
        bitset = np.uint64(0)
        for j in range(k):
            v = members[j]
            i += finest_part(kinds[v], coordinates[s, j]) * stride[j]
            if kinds[v] != REAL:
                bitset |= np.uint64(1) << (shift[j] + np.uint64(coordinates[s, j]))
        box_rows[i] = site_rows[s]
        support[i] = bitset
        slot[i] = -1 - s
    return boxes


@inlined
def dense_plan(members, digits, coordinates, site_rows, n_sites, leaf_rows, shapes, box, room, plan):
    """Fill the plan of one predictor set; returns the number of slots.

    members      int32[k]; coordinates int32[n_sites, k] and site_rows int32[n_sites] say where the rows are
    digits       int64[k], the positions of the members in the order of a box's digits, innermost first
    shapes       (kinds, sizes, parts int64[n] per variable: kind, finest cells, parts; table int64[n], where the
                 variable's rows of `halves` int32[., 2] (two parts it is made of, or -1) and of `need` uint64[.]
                 (levels that must occur, or the box is the same as a smaller one) begin; halves; need)
    box          scratch (rows int32, support uint64, slot int32), one entry per box
    room         scratch (stride, where a member's digit lies; shift uint64[k], where its bits of `support` begin;
                 down int64[65], per bit how many boxes further down lies the one without that level, where members are
                 unordered; part, left_below, right_below, made), see trees/space.py
    plan         (first int32, second int32, rows int32, offset int64, left int32, right int32)

    Boxes that differ in their innermost part alone are a row of boxes. What their other parts need, are made of and can
    be split into is found once per row; a row without one of the levels it needs is the same as another one.
    """
    stride, shift, down, part, left_below, right_below, made = room
    boxes = place_sites(members, digits, coordinates, site_rows, n_sites, shapes, box, room)
    for j in range(len(members)):
        part[j] = 0
    below = left_below, right_below, made
    lattice = members, digits, stride, shift, down
    return lay_out(lattice, shapes, boxes, leaf_rows, part, below, box, plan)


@leaf
def lay_out(lattice, shapes, boxes, leaf_rows, part, below, box, plan):
    """The same where the sites are in place; `part` (zeros) and `below` are scratch.

    Makes no array and counts no references, which would take longer than the rest."""
    members, digits, stride, _, down = lattice
    kinds, _, parts, table, halves, need = shapes
    box_rows, support, slot = box
    first, second, rows, offset, left, right = plan
    left_below, right_below, made = below
    k = len(members)
    ordered = False
    for v in members:
        ordered |= kinds[v] == ORDINAL
    first[0] = second[0] = rows[0] = 0
    offset[0] = offset[1] = 0
    n_slots, n_splits = 1, np.int64(0)
    innermost, inner, table0, kind = 0, 1, 0, REAL
    if k > 0:
        innermost = digits[0]
        inner, table0, kind = parts[members[innermost]], table[members[innermost]], kinds[members[innermost]]
    for base in range(0, boxes, inner):
        outer_need, down_first, down_second = outer_parts(lattice, shapes, part)
        last = base + inner - 1  # the whole row of boxes together
        if down_first and box_rows[last - down_first] + box_rows[last - down_second] == 0:
            next_part(digits, members, parts, part)
            continue
        add_row(base, inner, table0, down_first, down_second, halves, box_rows, support)
        missing = np.uint64(0) if ordered else outer_need & ~support[last]
        if missing or box_rows[last] == 0:
            if box_rows[last] > 0:
                same = base - down[lowest_bit(missing)]
                for p in range(inner):
                    slot[base + p] = slot[same + p]
            next_part(digits, members, parts, part)
            continue
        begin = n_slots
        for p in range(inner):
            one, other = halves[np.uint64(table0 + p), 0], halves[np.uint64(table0 + p), 1]
            if one < 0 and not down_first:  # a finest cell
                if slot[base + p] < 0:
                    first[n_slots], second[n_slots] = -1 - slot[base + p], -1
                    rows[n_slots] = box_rows[base + p]
                    made[n_slots - begin] = p
                    slot[base + p] = n_slots
                    n_slots += 1
                continue
            i = np.uint64(base + p)
            a, b = base + one, base + other
            if one < 0:
                a, b = base + p - down_first, base + p - down_second
            n = box_rows[i]
            absent = (outer_need | need[np.uint64(table0 + p)]) & ~support[i]
            # Whether a box is new cannot be foretold: what a new one would be is written down anyway.
            next_slot = np.uint64(n_slots)
            first[next_slot], second[next_slot] = slot[np.uint64(a)], slot[np.uint64(b)]
            rows[next_slot] = n
            made[next_slot - np.uint64(begin)] = p
            if ordered:
                same = smallest(base + p, p, lattice, shapes, part, support) if absent and n > 0 else base + p
            else:  # a box without rows may have none below
                same = base + p - down[lowest_bit(absent) if n > 0 else NO_BIT]
            new = n > 0 and not absent
            slot[i] = n_slots if new else slot[np.uint64(same)]
            n_slots += new

        before = list_sides(0, innermost, members, part, kinds, parts, stride, left_below, right_below, 0)
        after = list_sides(innermost + 1, k, members, part, kinds, parts, stride, left_below, right_below, before)
        for s in range(begin, n_slots):
            offset[s] = n_splits
            if second[s] >= 0 and rows[s] > leaf_rows:
                p = made[s - begin]
                n_splits = copy_splits(base + p, 0, before, left_below, right_below, slot, left, right, n_splits)
                if k > 0:
                    n_splits = member_splits(base + p, p, kind, inner, 1, slot, left, right, n_splits)
                n_splits = copy_splits(base + p, before, after, left_below, right_below, slot, left, right, n_splits)
        offset[n_slots] = n_splits
        next_part(digits, members, parts, part)
    return n_slots


@leaf
def outer_parts(lattice, shapes, part):
    """(levels that a row of boxes needs of all members but the innermost, how far below lie the two it is made of)."""
    members, digits, stride, shift, _ = lattice
    _, _, _, table, halves, need = shapes
    outer_need, down_first, down_second = np.uint64(0), 0, 0
    for digit in range(len(members) - 1, 0, -1):
        j = digits[digit]
        t = table[members[j]] + part[j]
        outer_need |= need[t] << shift[j]
        if halves[t, 0] >= 0:
            down_first = (part[j] - halves[t, 0]) * stride[j]
            down_second = (part[j] - halves[t, 1]) * stride[j]
    return outer_need, down_first, down_second


@inlined
def add_row(base, inner, table0, down_first, down_second, halves, box_rows, support):
    """Rows and levels of the boxes of a row that are made of others."""
    if down_first:
        for i in range(np.uint64(base), np.uint64(base + inner)):
            one, other = i - np.uint64(down_first), i - np.uint64(down_second)
            box_rows[i] = box_rows[one] + box_rows[other]
            support[i] = support[one] | support[other]
        return
    for p in range(inner):
        one, other = halves[table0 + p, 0], halves[table0 + p, 1]
        if one >= 0:
            box_rows[base + p] = box_rows[base + one] + box_rows[base + other]
            support[base + p] = support[base + one] | support[base + other]


@inlined
def next_part(digits, members, parts, part):
    """The parts of the next row of boxes."""
    for digit in range(1, len(digits)):
        j = digits[digit]
        part[j] += 1
        if part[j] < parts[members[j]]:
            break
        part[j] = 0


@leaf
def smallest(i, p, lattice, shapes, part, support):
    """The number of the smallest box that holds the rows of box i, given the levels they have; p its innermost part."""
    members, digits, stride, shift, _ = lattice
    kinds, sizes, _, _, _, _ = shapes
    found = support[i]
    for j in range(len(members)):
        v = members[j]
        if kinds[v] == REAL:
            continue
        at = p if j == digits[0] else part[j]
        levels = np.int64((found >> shift[j]) & ((np.uint64(1) << np.uint64(sizes[v])) - np.uint64(1)))
        if kinds[v] == CATEGORICAL:
            i += (levels - 1 - at) * stride[j]
        else:
            lo, hi = 0, sizes[v] - 1
            while not (levels >> lo) & 1:
                lo += 1
            while not (levels >> hi) & 1:
                hi -= 1
            i += (hi * (hi + 1) // 2 + hi - lo - at) * stride[j]
    return i
