"""The plan of a predictor set whose lattice is too large to lay out: only the boxes that hold rows, found from the top.

A box is found when a box it is a side of is split; it is named by its smallest form (levels no row of it has are left
out), so boxes with the same rows are one. The sites of a box are an intersection of bit sets, one per cell of each
predictor; the names of its sides are joins of the names of its sites, built up over subsets of levels. Cost per box:
sites / 64 words per level; per split two joins and two look-ups in a hash table.

A name has a word per predictor: the mask of levels (categorical), lowest and highest level (ordinal), the part (real).
Words are compared one by one: nothing has to fit into 64 bits but the levels of one unordered column. Boxes come out in
the order they are found, with their parts as in `lattice`; trees/large.py sorts them bottom-up. Twin: `lattice`.
"""

from __future__ import annotations

import numpy as np

from optbn.scores.kernels.kinds import CATEGORICAL, ORDINAL, REAL
from optbn_solvers.base.compiled import kernel


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
    for j in range(k):
        names[0, j] = parts[j] - 1 if kinds[j] == REAL else name_of_site(kinds[j], coordinates[0, j], 0)
    for s in range(1, n_sites):
        for j in range(k):
            names[0, j] = joined(kinds[j], names[0, j], name_of_site(kinds[j], coordinates[s, j], names[0, j]))
    insert(heads, names, 0)

    inside = np.empty(words, np.uint64)
    any_of = np.empty(words, np.uint64)
    here = np.empty(n_sites, np.int64)
    seen = np.empty((widest + 1, k), np.int64)
    occurs = np.empty(widest + 1, np.bool_)
    current = 0
    while current < n_boxes:
        for w in range(words):
            inside[w] = ~np.uint64(0)
        finest = True
        for j in range(k):
            lowest, highest = first_cell(kinds[j], sizes[j], names[current, j]), 0
            for w in range(words):
                any_of[w] = 0
            for c in range(lowest, sizes[j]):
                if holds(kinds[j], sizes[j], names[current, j], c):
                    highest = c
                    for w in range(words):
                        any_of[w] |= member[base[j] + c, w]
            for w in range(words):
                inside[w] &= any_of[w]
            finest = finest and lowest == highest
        n_here = 0
        rows[current] = 0
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
        site[current] = here[0] if finest else -1
        whole = rows[current] <= leaf_rows

        for j in range(k):
            if finest or (whole and n_splits > offset[current]):
                break
            # the cells of the box in predictor j that are told apart, numbered; their joint names are `seen`
            lowest = first_cell(kinds[j], sizes[j], names[current, j])
            half = 2 * names[current, j] - parts[j]
            if kinds[j] == REAL and half < 0:
                continue
            for c in range(widest + 1):
                occurs[c] = False
            for i in range(n_here):
                c = coordinates[here[i], j]
                if kinds[j] == CATEGORICAL:
                    c = bits_below(names[current, j], c)
                elif kinds[j] == ORDINAL:
                    c -= lowest
                else:
                    c = 1 if holds(REAL, sizes[j], half, c) else 0
                for t in range(k):
                    name = name_of_site(kinds[t], coordinates[here[i], t], names[current, t])
                    seen[c, t] = joined(kinds[t], seen[c, t], name) if occurs[c] else name
                occurs[c] = True
            n_cells = 0
            for c in range(widest + 1):
                if occurs[c]:
                    n_cells = c + 1
            if kinds[j] == REAL:
                n_cells = 2
                for side in range(2):
                    seen[side, j] = half - 1 + side
            if n_cells < 2:
                continue
            ways = n_cells - 1
            unions = seen
            if kinds[j] == CATEGORICAL:
                ways = (1 << (n_cells - 1)) - 1
                unions = np.empty((1 << n_cells, k), np.int64)
                for a in range(1, 1 << n_cells):
                    low = 0
                    while not (a >> low) & 1:
                        low += 1
                    rest = a & (a - 1)
                    for t in range(k):
                        unions[a, t] = joined(kinds[t], seen[low, t], unions[rest, t]) if rest else seen[low, t]
            elif kinds[j] == ORDINAL:
                unions = np.empty((2 * n_cells, k), np.int64)  # of the lowest c + 1 cells; from cell c on
                for t in range(k):
                    unions[0, t] = seen[0, t]
                    unions[2 * n_cells - 1, t] = seen[n_cells - 1, t]
                    for c in range(1, n_cells):
                        u, d = unions[c - 1, t], n_cells - 1 - c
                        unions[c, t] = joined(kinds[t], u, seen[c, t]) if occurs[c] else u
                        u = unions[n_cells + d + 1, t]
                        unions[n_cells + d, t] = joined(kinds[t], u, seen[d, t]) if occurs[d] else u
            if whole:
                ways = 1
            for way in range(ways):
                one, other = 0, 1
                if kinds[j] == CATEGORICAL:  # the lowest level stays left
                    other = (1 << n_cells) - 2 - 2 * way
                    one = (1 << n_cells) - 1 - other
                elif kinds[j] == ORDINAL:
                    one, other = way, n_cells + way + 1
                if n_splits == len(left):
                    left, right = longer(left), longer(right)
                if n_boxes + 2 > capacity:
                    capacity *= 2
                    grown = np.empty((capacity, k), np.int64)
                    for b in range(n_boxes):
                        for c in range(k):
                            grown[b, c] = names[b, c]
                    names = grown
                    rows, site, offset = longer(rows), longer(site), longer(offset)
                    heads = np.full(4 * capacity, -1, np.int32)
                    for b in range(n_boxes):
                        insert(heads, names, b)
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
    for b in range(n_boxes):
        for j in range(k):
            if kinds[j] == CATEGORICAL:
                names[b, j] -= 1
            elif kinds[j] == ORDINAL:
                lo, hi = names[b, j] >> 32, names[b, j] & 0xFFFFFFFF
                names[b, j] = hi * (hi + 1) // 2 + hi - lo
    return names[:n_boxes], rows[:n_boxes], site[:n_boxes], offset[: n_boxes + 1], left[:n_splits], right[:n_splits]


@kernel
def name_of_site(kind, cell, part):
    """A predictor's word in the name of one site; a real part stays what it is in the box."""
    if kind == CATEGORICAL:
        return np.int64(1) << np.int64(cell)
    if kind == ORDINAL:
        return (np.int64(cell) << 32) | np.int64(cell)
    return np.int64(part)


@kernel
def joined(kind, a, b):
    """A predictor's word in the name of the smallest box that holds two others."""
    if kind == CATEGORICAL:
        return a | b
    if kind == ORDINAL:
        return (min(a >> 32, b >> 32) << 32) | max(a & 0xFFFFFFFF, b & 0xFFFFFFFF)
    return a


@kernel
def first_cell(kind, size, word):
    """The lowest cell of a part."""
    if kind == CATEGORICAL:
        c = 0
        while not (word >> c) & 1:
            c += 1
        return c
    if kind == ORDINAL:
        return word >> 32
    while word >= size:
        word = 2 * word - 2 * size
    return word


@kernel
def holds(kind, size, word, cell):
    """Whether a finest cell lies in a part."""
    if kind == CATEGORICAL:
        return (word >> cell) & 1 == 1
    if kind == ORDINAL:
        return word >> 32 <= cell <= word & 0xFFFFFFFF
    up = np.int64(cell)
    while up < word:  # from a part to the one it is a half of
        up = size + up // 2
    return up == word


@kernel
def bits_below(word, cell):
    """How many levels of a mask lie below one."""
    n = 0
    for c in range(cell):
        n += (word >> c) & 1
    return n


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
