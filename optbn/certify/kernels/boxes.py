"""The best decision tree of every family, by a dynamic program over the boxes a tree can cut a table into.

A box is one part per parent: some of its levels. Parts are numbered so that what a part is cut into comes before it,
and boxes by the parts (mixed radix, the last parent's the fastest), so that increasing numbers are a bottom-up order.
If one half of a cut has no rows, the other half has the same trees: such a box shares its slot. What is left are slots
with rows, each with its pairs of slots, for all children of these parents.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel, leaf

ROUNDING = 8  # units: more than the two ends of a constant are apart


@kernel
def cut(cells, parts, splits, place, size, slot, begin, pairs):
    """The slots of one set of parents; returns how many there are. The last is that of all rows.

    cells   int64[k, rows], the finest part of each row per parent; parts int64[k], how many parts each has
    splits  int64[k, m, 3]: part, left, right, ordered by part; ended by a part of -1
    place   int64[rows], filled with the slot of each row's finest box
    size, slot   int64[boxes], scratch; begin int64[boxes + 1] and pairs uint32[., 2], filled: slot s is cut into
                 pairs[begin[s]:begin[s + 1]], and a finest one into none
    """
    k, rows = cells.shape
    strides = np.ones(k + 1, np.int64)
    for j in range(k - 1, -1, -1):
        strides[j] = strides[j + 1] * parts[j]
    boxes = strides[0]
    first = np.full((k, parts.max() if k else 1), -1, np.int64)
    for j in range(k):
        s = 0
        while splits[j, s, 0] >= 0:
            if first[j, splits[j, s, 0]] < 0:
                first[j, splits[j, s, 0]] = s
            s += 1
    size[:boxes], place[:] = 0, 0
    for row in range(rows):
        for j in range(k):
            place[row] += cells[j, row] * strides[j + 1]
        size[place[row]] += 1
    part = np.zeros(k, np.int64)
    slots, end = 0, 0
    begin[0] = 0
    for box in range(boxes):
        slot[box], finest = -1, True
        for j in range(k):
            s = first[j, part[j]]
            at = box - part[j] * strides[j + 1]
            while s >= 0 and splits[j, s, 0] == part[j] and slot[box] < 0:
                finest = False
                left, right = at + splits[j, s, 1] * strides[j + 1], at + splits[j, s, 2] * strides[j + 1]
                size[box] = size[left] + size[right]
                if size[left] == 0 or size[right] == 0:
                    slot[box] = slot[left] if size[right] == 0 else slot[right]
                    break
                pairs[end, 0], pairs[end, 1] = slot[left], slot[right]
                end += 1
                s += 1
            if not finest and (slot[box] >= 0 or size[box] == 0):
                break
        if size[box] and slot[box] < 0:
            slot[box] = slots
            slots += 1
            begin[slots] = end
        end = begin[slots]
        for j in range(k - 1, -1, -1):  # the next box
            part[j] += 1
            if part[j] < parts[j]:
                break
            part[j] = 0
    for row in range(rows):
        place[row] = slot[place[row]]
    return slots


@leaf
def climb(slots, plan, place, sizes, rare, common, r, worth, room, value):
    """The largest sum over the leaves of a tree of its value less `cost`, for one child.

    plan   (begin, pairs), see `cut`
    sizes  int64[slots], the rows of each finest slot
    rare   (int64[., 2], (row, code) of rows without the level `common`; first, end: those of this child)
    worth  (each int64[rows + 1], what a level's count adds; total int64[., rows + 1], of r levels what the rows take
           away; cost)
    room   int64[slots, levels + 1] and value int64[slots], scratch: counts and their sum; the best trees
    """
    begin, pairs = plan
    each, total, cost = worth
    apart, first, end = rare
    last = np.uint64(r)
    for s in range(slots):
        slot = np.uint64(s)
        if begin[slot] == begin[slot + np.uint64(1)]:
            for x in range(last):
                room[slot, x] = 0
            room[slot, common] = room[slot, last] = sizes[slot]
    for i in range(first, end):
        at = np.uint64(place[np.uint64(apart[i, 0])])
        room[at, np.uint64(apart[i, 1])] += 1
        room[at, common] -= 1
    never = 2 * (each[1] - total[r, 1] - cost) + ROUNDING * (r + 2)  # two leaves that hold rows are worth no more
    for s in range(slots):
        slot = np.uint64(s)
        here, there = np.uint64(begin[slot]), np.uint64(begin[slot + np.uint64(1)])
        if here < there:
            left, right = np.uint64(pairs[here, 0]), np.uint64(pairs[here, 1])
            for x in range(last + np.uint64(1)):
                room[slot, x] = room[left, x] + room[right, x]
        best = -cost - total[last, np.uint64(room[slot, last])]
        for x in range(last):
            best += each[np.uint64(room[slot, x])]
        if best < never:
            for i in range(here, there):
                best = max(best, value[np.uint64(pairs[i, 0])] + value[np.uint64(pairs[i, 1])])
        value[slot] = best
    return value[slots - 1]


@kernel
def best_trees(sets, wanted, predictors, shape, levels, rows_apart, leaves, out):
    """out[i, v], for the sets of parents of one shape and the wanted children: `climb` after `cut`.

    sets        int64[m, k]; wanted bool[m, n]; shape (parts, splits)
    predictors  int64[n, rows], the finest parts; levels int64[n], of the children
    rows_apart  (rare int64[., 2] of all children; first, those of v from first[v] on; common int64[n])
    leaves      (each; total int64[., rows + 1], by number of levels; cost)
    """
    parts, splits = shape
    rare, first, common = rows_apart
    m, k = sets.shape
    rows = predictors.shape[1]
    boxes, cuts = 1, 0
    for j in range(k):
        boxes *= parts[j]
    for j in range(k):
        cuts += (splits[j, :, 0] >= 0).sum() * (boxes // parts[j])
    place = np.empty(rows, np.int64)
    size, slot, begin = np.empty(boxes, np.int64), np.empty(boxes, np.int64), np.empty(boxes + 1, np.int64)
    pairs, sizes = np.empty((cuts + boxes, 2), np.uint32), np.empty(boxes, np.int64)
    room, value = np.empty((boxes, levels.max() + 1), np.int64), np.empty(boxes, np.int64)
    cells = np.empty((k, rows), np.int64)
    for i in range(m):
        for j in range(k):
            cells[j] = predictors[sets[i, j]]
        slots = cut(cells, parts, splits, place, size, slot, begin, pairs)
        sizes[:slots] = 0
        for row in range(rows):
            sizes[place[row]] += 1
        for v in range(len(levels)):
            if wanted[i, v]:
                own = rare, first[v], first[v + 1]
                at = np.uint64(common[v])
                out[i, v] = climb(slots, (begin, pairs), place, sizes, own, at, levels[v], leaves, room, value)
