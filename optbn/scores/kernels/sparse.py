"""The plan of a predictor set whose lattice is too large to lay out: only the boxes that hold rows, found from the top.

A box is found when a box it is a side of is split; it is named by its smallest form (levels no row of it has are left
out), so boxes with the same rows are one. The sites of a box are an intersection of bit sets, one per cell of each
predictor; the levels each cell's sites have give the names of all sides of all its splits by or-ing them up. Cost per
box: sites / 64 words per level, and one look-up in a hash table per side. Names are `part` per predictor as in
`lattice`, compared as tuples: nothing has to fit into 64 bits but the levels of one column.

Boxes come out in the order they are found; `pcart` sorts them bottom-up. Twin: `lattice`, and tests/naive/pcart.py.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from optbn.scores.kernels.kinds import CATEGORICAL, ORDINAL
from optbn.scores.kernels.lattice import interval_end

EMPTY = -2


@njit(cache=True, nogil=True)
def sparse_plan(kinds, sizes, parts, coordinates, site_rows, leaf_rows, most_boxes, most_splits):
    """(names int64[boxes, k], rows, site int64[boxes], offset int64[boxes + 1], left, right uint32[splits]).

    kinds, sizes, parts   int64[k], of the members; coordinates int32[n_sites, k], site_rows int32[n_sites], not empty
    site      the box's site where it has one only, else -1
    left, right   numbers of boxes plus 1; 0 is the box without rows. A box of at most leaf_rows rows lists one split,
                  to add its contents up from.
    Too many boxes or splits: names is empty and rows holds how many there were when it stopped.
    """
    n_sites, k = coordinates.shape
    words = (n_sites + 63) // 64
    base = np.zeros(k + 1, np.int64)
    for j in range(k):
        base[j + 1] = base[j] + sizes[j]
    member = np.zeros((base[k], words), np.uint64)
    for s in range(n_sites):
        for j in range(k):
            member[base[j] + coordinates[s, j], s >> 6] |= np.uint64(1) << np.uint64(s & 63)

    capacity = 1024
    names = np.empty((capacity, k), np.int64)
    rows = np.zeros(capacity, np.int64)
    site = np.full(capacity, -1, np.int64)
    offset = np.zeros(capacity + 1, np.int64)
    heads = np.full(4 * capacity, -1, np.int64)
    left = np.empty(4 * capacity, np.uint32)
    right = np.empty(4 * capacity, np.uint32)
    n_splits = 0

    everything = np.empty((1, 2, k), np.int64)
    none_yet(everything[0], kinds)
    for s in range(n_sites):
        widen(everything[0], kinds, coordinates[s])
    name = np.empty(k, np.int64)
    for j in range(k):
        name[j] = parts[j] - 1
    name_side(everything[0], kinds, name, names[0])
    n_boxes = 1
    insert(heads, names, 0, k)

    inside = np.empty(words, np.uint64)
    any_of = np.empty(words, np.uint64)
    here = np.empty(n_sites, np.int64)
    widest = 1
    for j in range(k):
        widest = max(widest, sizes[j])
    seen = np.empty((widest, 2, k), np.int64)
    cells = np.empty(widest, np.int64)
    number = np.empty(widest, np.int64)
    one_side = np.empty((2, k), np.int64)
    other_side = np.empty((2, k), np.int64)
    unions = np.empty((1, 2, k), np.int64)
    current = 0
    while current < n_boxes:
        box = names[current].copy()
        for w in range(words):
            inside[w] = ~np.uint64(0)
        for j in range(k):
            for w in range(words):
                any_of[w] = 0
            for c in range(sizes[j]):
                if part_holds(kinds[j], parts[j], box[j], c):
                    for w in range(words):
                        any_of[w] |= member[base[j] + c, w]
            for w in range(words):
                inside[w] &= any_of[w]
        n_here = 0
        for w in range(words):
            bits = inside[w]
            s = w << 6
            while bits:
                if bits & np.uint64(1):
                    here[n_here] = s
                    rows[current] += site_rows[s]
                    n_here += 1
                bits >>= np.uint64(1)
                s += 1
        site[current] = -1
        finest = True
        for j in range(k):
            finest = finest and not splittable(kinds[j], parts[j], box[j])
        if finest:
            site[current] = here[0]

        whole = rows[current] <= leaf_rows
        for j in range(k):
            if finest or (whole and n_splits > offset[current]) or not splittable(kinds[j], parts[j], box[j]):
                continue
            if kinds[j] == CATEGORICAL or kinds[j] == ORDINAL:
                n_cells = 0
                for c in range(sizes[j]):
                    number[c] = -1
                    if part_holds(kinds[j], parts[j], box[j], c):
                        number[c] = n_cells
                        cells[n_cells] = c
                        none_yet(seen[n_cells], kinds)
                        n_cells += 1
                for i in range(n_here):
                    widen(seen[number[coordinates[here[i], j]]], kinds, coordinates[here[i]])
            if kinds[j] == CATEGORICAL:
                subsets = 1 << n_cells
                if subsets > len(unions):
                    unions = np.empty((subsets, 2, k), np.int64)
                for a in range(1, subsets):
                    low = 0
                    while not (a >> low) & 1:
                        low += 1
                    unions[a] = seen[low]
                    if a & (a - 1):
                        join(unions[a], unions[a & (a - 1)], kinds)
                ways = subsets // 2 - 1
            elif kinds[j] == ORDINAL:
                ways = n_cells - 1
            else:
                ways = 1
            if whole:
                ways = 1
            for way in range(ways):
                # the side `one` stays with the lowest level; `keep` and `leave` name the sides within predictor j
                keep, leave = box[j], box[j]
                if kinds[j] == CATEGORICAL:
                    away = subsets - 2 - 2 * way
                    one_side[:] = unions[subsets - 1 - away]
                    other_side[:] = unions[away]
                elif kinds[j] == ORDINAL:
                    none_yet(one_side, kinds)
                    none_yet(other_side, kinds)
                    for c in range(n_cells):
                        join(one_side if c <= way else other_side, seen[c], kinds)
                else:
                    keep, leave = 2 * box[j] - parts[j] - 1, 2 * box[j] - parts[j]
                    none_yet(one_side, kinds)
                    none_yet(other_side, kinds)
                    for i in range(n_here):
                        if part_holds(kinds[j], parts[j], keep, coordinates[here[i], j]):
                            widen(one_side, kinds, coordinates[here[i]])
                        else:
                            widen(other_side, kinds, coordinates[here[i]])
                if n_splits == len(left):
                    left, right = longer(left), longer(right)
                for side in range(2):
                    if n_boxes == capacity:
                        capacity *= 2
                        grown = np.empty((capacity, k), np.int64)
                        grown[:n_boxes] = names
                        names = grown
                        rows, site, offset = longer(rows), longer(site), longer(offset)
                        rows[n_boxes:] = 0
                        heads = np.full(4 * capacity, -1, np.int64)
                        for b in range(n_boxes):
                            insert(heads, names, b, k)
                    support = one_side if side == 0 else other_side
                    if support[0, 0] == EMPTY:
                        found = 0
                    else:
                        name[:] = box
                        name[j] = keep if side == 0 else leave
                        name_side(support, kinds, name, names[n_boxes])
                        found = find(heads, names, n_boxes, k) + 1
                        if found == 0:
                            insert(heads, names, n_boxes, k)
                            n_boxes += 1
                            found = n_boxes
                    if side == 0:
                        left[n_splits] = found
                    else:
                        right[n_splits] = found
                n_splits += 1
                if n_boxes > most_boxes or n_splits > most_splits:
                    return names[:0], np.array([n_boxes]), site[:0], offset[:1], left[:0], right[:0]
        current += 1
        offset[current] = n_splits
    return names[:n_boxes], rows[:n_boxes], site[:n_boxes], offset[: n_boxes + 1], left[:n_splits], right[:n_splits]


@njit(cache=True, nogil=True)
def none_yet(support, kinds):
    """The levels that no rows have: support[0, j] a bit mask (categorical) or the least, support[1, j] the largest."""
    for j in range(len(kinds)):
        support[0, j] = EMPTY
        support[1, j] = EMPTY


@njit(cache=True, nogil=True)
def widen(support, kinds, at):
    """Let a support hold one more site."""
    for j in range(len(kinds)):
        c = at[j]
        if kinds[j] == CATEGORICAL:
            seen = np.int64(0) if support[0, j] == EMPTY else support[0, j]
            support[0, j] = seen | (np.int64(1) << c)
            support[1, j] = support[0, j]
        else:
            support[0, j] = c if support[0, j] == EMPTY else min(support[0, j], c)
            support[1, j] = max(support[1, j], c)


@njit(cache=True, nogil=True)
def join(support, other, kinds):
    """Let a support hold all of another."""
    if other[0, 0] == EMPTY:
        return
    if support[0, 0] == EMPTY:
        support[:] = other
        return
    for j in range(len(kinds)):
        if kinds[j] == CATEGORICAL:
            support[0, j] |= other[0, j]
            support[1, j] = support[0, j]
        else:
            support[0, j] = min(support[0, j], other[0, j])
            support[1, j] = max(support[1, j], other[1, j])


@njit(cache=True, nogil=True)
def name_side(support, kinds, box, out):
    """The smallest box with these rows: real parts as in `box`, the others as the rows have them."""
    for j in range(len(kinds)):
        if kinds[j] == CATEGORICAL:
            out[j] = support[0, j] - 1
        elif kinds[j] == ORDINAL:
            lo, hi = support[0, j], support[1, j]
            out[j] = hi * (hi + 1) // 2 + hi - lo
        else:
            out[j] = box[j]


@njit(cache=True, nogil=True)
def part_holds(kind, parts, part, cell):
    """Whether a finest cell lies in a part."""
    if kind == CATEGORICAL:
        return ((part + 1) >> cell) & 1 == 1
    if kind == ORDINAL:
        hi = interval_end(part)
        return hi - (part - hi * (hi + 1) // 2) <= cell <= hi
    up = cell
    while up < part:  # from a part to the one it is a half of
        up = (up + parts + 1) // 2
    return up == part


@njit(cache=True, nogil=True)
def splittable(kind, parts, part):
    """Whether a part is more than one finest cell."""
    if kind == CATEGORICAL:
        return (part + 1) & part != 0
    if kind == ORDINAL:
        hi = interval_end(part)
        return part != hi * (hi + 1) // 2
    return 2 * part - parts >= 0


@njit(cache=True, nogil=True)
def slot_of(name, k, slots):
    """Where the search for a name begins (FNV-like mixing)."""
    h = np.uint64(14695981039346656037)
    for j in range(k):
        h = (h ^ np.uint64(name[j])) * np.uint64(1099511628211)
        h ^= h >> np.uint64(29)
    return np.int64(h & np.uint64(slots - 1))


@njit(cache=True, nogil=True)
def find(heads, names, candidate, k):
    """The number of the box with the name in row `candidate`, or -1."""
    at = slot_of(names[candidate], k, len(heads))
    while heads[at] >= 0:
        same = True
        for j in range(k):
            same = same and names[heads[at], j] == names[candidate, j]
        if same:
            return heads[at]
        at = (at + 1) & (len(heads) - 1)
    return -1


@njit(cache=True, nogil=True)
def insert(heads, names, box, k):
    at = slot_of(names[box], k, len(heads))
    while heads[at] >= 0:
        at = (at + 1) & (len(heads) - 1)
    heads[at] = box


@njit(cache=True, nogil=True)
def longer(array):
    """Twice the room, the same beginning."""
    out = np.empty(2 * len(array), array.dtype)
    out[: len(array)] = array
    return out
