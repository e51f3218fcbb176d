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
from optbn_solvers.base.compiled import kernel
from optbn_solvers.base.compiled import part as inlined


@kernel
def interval_end(part):
    """The hi of an ordinal part."""
    hi = int((np.sqrt(8.0 * part + 1.0) - 1.0) * 0.5)
    while hi * (hi + 1) // 2 > part:
        hi -= 1
    while (hi + 1) * (hi + 2) // 2 <= part:
        hi += 1
    return hi


@kernel
def finest_part(kind, cell):
    """The part that is one finest cell."""
    if kind == CATEGORICAL:
        return (1 << cell) - 1
    if kind == ORDINAL:
        return cell * (cell + 1) // 2
    return cell


@kernel
def place_sites(members, digits, coordinates, site_rows, n_sites, kinds, sizes, parts, box):
    """Put the rows into the finest boxes; returns (stride, shift and levels of the members, number of boxes).

    shift uint64[k]: where a member's bits of `support` begin; levels uint64[k]: as many ones as it has of them
    """
    box_rows, support, slot = box
    k = len(members)
    stride = np.empty(k, np.int64)
    shift, levels = np.zeros(k, np.uint64), np.zeros(k, np.uint64)
    boxes, bits = 1, 0
    for j in digits:
        v = members[j]
        stride[j] = boxes
        boxes *= parts[v]
        shift[j] = bits
        if kinds[v] != REAL:
            bits += sizes[v]
            levels[j] = (np.uint64(1) << np.uint64(sizes[v])) - np.uint64(1)
    for i in range(boxes):
        box_rows[i] = 0
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
        slot[i] = s
    return stride, shift, levels, boxes


@kernel
def dense_plan(
    members, digits, coordinates, site_rows, n_sites, leaf_rows, kinds, sizes, parts, table, halves, need, box, plan
):
    """Fill the plan of one predictor set; returns the number of slots.

    members      int32[k]; coordinates int32[n_sites, k] and site_rows int32[n_sites] say where the rows are
    digits       int64[k], the positions of the members in the order of a box's digits, innermost first
    kinds, sizes, parts   int64[n] per variable: kind, finest cells, parts
    table        int64[n], where the variable's rows of `halves` int32[., 2] (two parts it is made of, or -1) and of
                 `need` uint64[.] (levels that must occur, or the box is the same as a smaller one) begin
    box          scratch (rows int32, support uint64, slot int32), one entry per box
    plan         (first int32, second int32, rows int32, offset int64, left int32, right int32)
    """
    box_rows, support, slot = box
    first, second, rows, offset, left, right = plan
    k = len(members)
    stride, shift, levels, boxes = place_sites(
        members, digits, coordinates, site_rows, n_sites, kinds, sizes, parts, box
    )
    ordered = False
    for v in members:
        ordered |= kinds[v] == ORDINAL
    first[0] = second[0] = 0
    rows[0] = 0
    offset[0] = offset[1] = 0
    n_slots, n_splits = 1, np.int64(0)
    part = np.zeros(k, np.int64)
    innermost, inner, table0 = 0, 1, 0
    if k > 0:
        innermost = digits[0]
        inner, table0 = parts[members[innermost]], table[members[innermost]]
    for base in range(0, boxes, inner):
        outer_need = np.uint64(0)
        outer_first, outer_second, outer = 0, 0, False
        for j in digits[:0:-1]:
            v = members[j]
            t = table[v] + part[j]
            outer_need |= need[t] << shift[j]
            if halves[t, 0] >= 0:
                outer = True
                outer_first = (halves[t, 0] - part[j]) * stride[j]
                outer_second = (halves[t, 1] - part[j]) * stride[j]
        for p in range(inner):
            i = base + p
            a, b = i, i
            if halves[table0 + p, 0] >= 0:
                a, b = base + halves[table0 + p, 0], base + halves[table0 + p, 1]
            elif outer:
                a, b = i + outer_first, i + outer_second
            if a == b:  # a finest cell
                if box_rows[i] == 0:
                    slot[i] = 0
                    support[i] = 0
                    continue
                first[n_slots], second[n_slots] = slot[i], -1
                rows[n_slots] = box_rows[i]
                slot[i] = n_slots
                n_slots += 1
                offset[n_slots] = n_splits
                continue
            box_rows[i] = box_rows[a] + box_rows[b]
            support[i] = support[a] | support[b]
            if box_rows[i] == 0:
                slot[i] = 0
                continue
            absent = (outer_need | need[table0 + p]) & ~support[i]
            if absent:
                if ordered:
                    part[innermost] = p
                    slot[i] = slot[smallest(i, members, part, support[i], kinds, sizes, stride, shift)]
                else:
                    slot[i] = slot[np.uint64(without(i, absent, stride, shift, levels))]
                continue
            first[n_slots], second[n_slots] = slot[a], slot[b]
            rows[n_slots] = box_rows[i]
            if box_rows[i] > leaf_rows:
                part[innermost] = p
                n_splits = splits(i, members, part, kinds, parts, stride, slot, left, right, n_splits)
            slot[i] = n_slots
            n_slots += 1
            offset[n_slots] = n_splits
        for j in digits[1:]:
            part[j] += 1
            if part[j] < parts[members[j]]:
                break
            part[j] = 0
    return n_slots


@inlined
def without(i, absent, stride, shift, levels):
    """The number of box i without those levels of its unordered members."""
    for j in range(len(stride)):
        j = np.uint64(j)
        i -= np.int64((absent >> shift[j]) & levels[j]) * stride[j]
    return i


@kernel
def smallest(i, members, part, support, kinds, sizes, stride, shift):
    """The number of the smallest box that holds the rows of box i, given the levels they have."""
    for j in range(len(members)):
        v = members[j]
        if kinds[v] == REAL:
            continue
        levels = np.int64((support >> shift[j]) & ((np.uint64(1) << np.uint64(sizes[v])) - np.uint64(1)))
        if kinds[v] == CATEGORICAL:
            i += (levels - 1 - part[j]) * stride[j]
        else:
            lo, hi = 0, sizes[v] - 1
            while not (levels >> lo) & 1:
                lo += 1
            while not (levels >> hi) & 1:
                hi -= 1
            i += (hi * (hi + 1) // 2 + hi - lo - part[j]) * stride[j]
    return i


@inlined  # once per box: a call with eight arrays would take as long
def splits(i, members, part, kinds, parts, stride, slot, left, right, n):
    """Append the pairs of slots that box i can be split into; returns the new length of left and right."""
    for at in range(len(members)):
        j = np.uint64(at)
        v, p, st = np.uint64(members[j]), part[j], stride[j]  # what is known not to be negative is found sooner
        if kinds[v] == CATEGORICAL:
            mask = p + 1
            rest = mask & (mask - 1)
            away = rest
            while away:  # the lowest level stays left: every partition in two once
                left[np.uint64(n)] = slot[np.uint64(i - away * st)]
                right[np.uint64(n)] = slot[np.uint64(i + (away - mask) * st)]
                n += 1
                away = (away - 1) & rest
        elif kinds[v] == ORDINAL:
            hi = interval_end(p)
            lo = hi - (p - hi * (hi + 1) // 2)
            for cut in range(lo, hi):
                left[n] = slot[i + (cut * (cut + 1) // 2 + cut - lo - p) * st]
                right[n] = slot[i + (hi * (hi + 1) // 2 + hi - cut - 1 - p) * st]
                n += 1
        else:
            half = 2 * p - parts[v]
            if half >= 0:
                left[n] = slot[i + (half - 1 - p) * st]
                right[n] = slot[i + (half - p) * st]
                n += 1
    return n
