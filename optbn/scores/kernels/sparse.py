"""The plan of a predictor set whose lattice is too large to lay out: only the boxes that hold rows, found from the top.

A box is found when a box it is a side of is split; it is named by its smallest form (levels no row of it has are left
out), so boxes with the same rows are one. The sites of a box are an intersection of bit sets, one per cell of each
predictor; the names of its sides are joins of the names of its sites, built up over subsets of levels. Cost per box:
sites / 64 words per level; per split two joins and two look-ups in a hash table.

A name has a word per predictor (`words`); names are compared word by word. Boxes come out in the order they are found,
with their parts as in `lattice`; trees/large.py sorts them bottom-up. Twin: `lattice`.
"""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.kinds import CATEGORICAL, ORDINAL, REAL
from optbn.scores.kernels.words import bits_below, first_cell, holds, joined, name_of_site
from optbn_solvers.base.compiled import kernel, part


@kernel
def sparse_plan(kinds, sizes, parts, coordinates, site_rows, leaf_rows, most_boxes, most_splits):
    """(parts int64[boxes, k], rows, site int64[boxes], offset int64[boxes + 1], left, right uint32[splits]).

    kinds, sizes, parts   int64[k], of the members; coordinates int32[n_sites, k], site_rows int32[n_sites], not empty
    site      the box's site where it has one only, else -1
    left, right   numbers of boxes plus 1; 0 is the box without rows. A box of at most leaf_rows rows lists one split,
                  to add its contents up from.
    Too many boxes or splits: everything is empty.
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
    widest = sizes.max()

    capacity = 1024
    names = np.empty((capacity, k), np.int64)
    rows = np.empty(capacity, np.int64)
    site = np.empty(capacity, np.int64)
    offset = np.zeros(capacity + 1, np.int64)
    heads = np.full(4 * capacity, -1, np.int32)
    left = np.empty(4 * capacity, np.uint32)
    right = np.empty(4 * capacity, np.uint32)
    n_boxes, n_splits = 1, 0
    name_all(kinds, parts, coordinates, names[0])
    insert(heads, names, 0)

    inside, any_of = np.empty(words, np.uint64), np.empty(words, np.uint64)
    here = np.empty(n_sites, np.int64)
    seen = np.empty((widest + 1, k), np.int64)
    occurs = np.empty(widest + 1, np.bool_)
    current = 0
    while current < n_boxes:
        finest = intersect(kinds, sizes, names[current], base, member, any_of, inside)
        n_here, rows[current] = list_sites(inside, site_rows, here)
        site[current] = here[0] if finest else -1
        whole = rows[current] <= leaf_rows
        for j in range(k):
            if finest or (whole and n_splits > offset[current]):
                break
            half = 2 * names[current, j] - parts[j]
            if kinds[j] == REAL and half < 0:
                continue
            n_cells = tell_apart(j, kinds, sizes, names[current], half, coordinates, here[:n_here], seen, occurs)
            if n_cells < 2:
                continue
            unions = unite(kinds[j], n_cells, kinds, seen, occurs)
            ways = (1 << (n_cells - 1)) - 1 if kinds[j] == CATEGORICAL else n_cells - 1
            for way in range(1 if whole else ways):
                one, other = sides(kinds[j], n_cells, way)
                if n_splits == len(left):
                    left, right = longer(left), longer(right)
                if n_boxes + 2 > capacity:
                    capacity *= 2
                    names, heads = rehashed(names, n_boxes, capacity)
                    rows, site, offset = longer(rows), longer(site), longer(offset)
                left[n_splits] = right[n_splits] = 0
                if kinds[j] != REAL or occurs[0]:
                    n_boxes = found(heads, names, n_boxes, unions, one, left, n_splits)
                if kinds[j] != REAL or occurs[1]:
                    n_boxes = found(heads, names, n_boxes, unions, other, right, n_splits)
                n_splits += 1
            if n_boxes > most_boxes or n_splits > most_splits:
                return names[:0], rows[:0], site[:0], offset[:1], left[:0], right[:0]
        current += 1
        offset[current] = n_splits
    number_parts(kinds, names, n_boxes)
    return names[:n_boxes], rows[:n_boxes], site[:n_boxes], offset[: n_boxes + 1], left[:n_splits], right[:n_splits]


@part
def name_all(kinds, parts, coordinates, name):
    """The name of the box that holds all sites."""
    for j in range(len(kinds)):
        name[j] = parts[j] - 1 if kinds[j] == REAL else name_of_site(kinds[j], coordinates[0, j], 0)
    for s in range(1, len(coordinates)):
        for j in range(len(kinds)):
            name[j] = joined(kinds[j], name[j], name_of_site(kinds[j], coordinates[s, j], name[j]))


@part
def intersect(kinds, sizes, name, base, member, any_of, inside):
    """Fill `inside` with the sites of a box, as bits; returns whether the box is a finest one."""
    words, finest = len(inside), True
    for w in range(words):
        inside[w] = ~np.uint64(0)
    for j in range(len(kinds)):
        lowest, highest = first_cell(kinds[j], sizes[j], name[j]), 0
        for w in range(words):
            any_of[w] = 0
        for c in range(lowest, sizes[j]):
            if holds(kinds[j], sizes[j], name[j], c):
                highest = c
                for w in range(words):
                    any_of[w] |= member[base[j] + c, w]
        for w in range(words):
            inside[w] &= any_of[w]
        finest = finest and lowest == highest
    return finest


@part
def list_sites(inside, site_rows, here):
    """(how many sites are inside, how many rows they have); their numbers go to `here`."""
    n_here, rows = 0, 0
    for w in range(len(inside)):
        bits = inside[w]
        s = w << 6
        while bits:
            if bits & np.uint64(1):
                here[n_here] = s
                rows += site_rows[s]
                n_here += 1
            bits >>= np.uint64(1)
            s += 1
    return n_here, rows


@part
def tell_apart(j, kinds, sizes, name, half, coordinates, here, seen, occurs):
    """How many cells of a box its splits in predictor j tell apart; the joint names of their sites go to `seen`."""
    k, n_cells = len(kinds), 0
    lowest = first_cell(kinds[j], sizes[j], name[j])
    for c in range(len(occurs)):
        occurs[c] = False
    for s in here:
        c = coordinates[s, j]
        if kinds[j] == CATEGORICAL:
            c = bits_below(name[j], c)
        elif kinds[j] == ORDINAL:
            c -= lowest
        else:
            c = 1 if holds(REAL, sizes[j], half, c) else 0
        for t in range(k):
            word = name_of_site(kinds[t], coordinates[s, t], name[t])
            seen[c, t] = joined(kinds[t], seen[c, t], word) if occurs[c] else word
        occurs[c] = True
        n_cells = max(n_cells, c + 1)
    if kinds[j] != REAL:
        return n_cells
    for side in range(2):
        seen[side, j] = half - 1 + side
    return 2


@kernel
def unite(kind, n_cells, kinds, seen, occurs):
    """The names of all unions of cells that may be a side: of sets of levels by mask; of the lowest c + 1 cells at c,
    and those from cell c on at n_cells + c, of an ordered predictor; of the halves of a real one."""
    k = len(kinds)
    if kind == CATEGORICAL:
        unions = np.empty((1 << n_cells, k), np.int64)
        for a in range(1, 1 << n_cells):
            low = 0
            while not (a >> low) & 1:
                low += 1
            rest = a & (a - 1)
            for t in range(k):
                unions[a, t] = joined(kinds[t], seen[low, t], unions[rest, t]) if rest else seen[low, t]
        return unions
    if kind == REAL:
        return seen
    unions = np.empty((2 * n_cells, k), np.int64)
    for t in range(k):
        unions[0, t] = seen[0, t]
        unions[2 * n_cells - 1, t] = seen[n_cells - 1, t]
        for c in range(1, n_cells):
            u, d = unions[c - 1, t], n_cells - 1 - c
            unions[c, t] = joined(kinds[t], u, seen[c, t]) if occurs[c] else u
            u = unions[n_cells + d + 1, t]
            unions[n_cells + d, t] = joined(kinds[t], u, seen[d, t]) if occurs[d] else u
    return unions


@part
def sides(kind, n_cells, way):
    """Which unions are the two sides of a split; the lowest level stays left."""
    if kind == CATEGORICAL:
        other = (1 << n_cells) - 2 - 2 * way
        return (1 << n_cells) - 1 - other, other
    if kind == ORDINAL:
        return way, n_cells + way + 1
    return 0, 1


@part
def rehashed(names, n_boxes, capacity):
    """The names with more room, and the heads of their hash table."""
    grown = np.empty((capacity, names.shape[1]), np.int64)
    for b in range(n_boxes):
        for c in range(names.shape[1]):
            grown[b, c] = names[b, c]
    heads = np.full(4 * capacity, -1, np.int32)
    for b in range(n_boxes):
        insert(heads, grown, b)
    return grown, heads


@part
def number_parts(kinds, names, n_boxes):
    """Words become parts as `lattice` numbers them."""
    for b in range(n_boxes):
        for j in range(len(kinds)):
            if kinds[j] == CATEGORICAL:
                names[b, j] -= 1
            elif kinds[j] == ORDINAL:
                lo, hi = names[b, j] >> 32, names[b, j] & 0xFFFFFFFF
                names[b, j] = hi * (hi + 1) // 2 + hi - lo


@kernel
def found(heads, names, n_boxes, unions, side, numbers, at):
    """Number (plus 1) the box named unions[side] in numbers[at], a new one if need be; returns how many there are."""
    k = names.shape[1]
    last = np.uint64(len(heads) - 1)
    h = start(unions[side]) & last
    while heads[h] >= 0:
        b = heads[h]
        same = True
        for j in range(k):
            same = same and names[b, j] == unions[side, j]
        if same:
            numbers[at] = b + 1
            return n_boxes
        h = (h + np.uint64(1)) & last
    heads[h] = n_boxes
    for j in range(k):
        names[n_boxes, j] = unions[side, j]
    numbers[at] = n_boxes + 1
    return n_boxes + 1


@kernel
def insert(heads, names, box):
    """Enter a box that is not there yet."""
    last = np.uint64(len(heads) - 1)
    h = start(names[box]) & last
    while heads[h] >= 0:
        h = (h + np.uint64(1)) & last
    heads[h] = box


@kernel
def start(name):
    """Where the search for a name begins: its words multiplied up (FNV's way) and folded."""
    h = np.uint64(14695981039346656037)
    for word in name:
        h = (h ^ np.uint64(word)) * np.uint64(1099511628211)
    return h ^ (h >> np.uint64(32))


@kernel
def longer(array):
    """Twice the room, the same beginning."""
    out = np.empty(2 * len(array), array.dtype)
    for i in range(len(array)):
        out[i] = array[i]
    return out
