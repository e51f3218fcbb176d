"""The parent sets of one child, depth first, as long as a bound lets a larger one be worth its score; see descent.py.

A node is a set P with the members that may still be added. Rows that differ in a column are told apart; those with
equal columns are one with a weight. A *block* is the rows of one configuration of P, a *cell* those of a block with one
value of the child. Rows that are alone in their block leave the lists: they are a cell whatever is added.

data     codes uint16[k, N], of the members; own uint16[N], of the child; weight int64[N]; sizes int64[k], levels
known    masks uint64[s] and scores float64[s] of scored sets of the child, best first
tables   log n!, 1 + 1/2 + .. + 1/n, and n log n, float64[total weight + 1]
limits   levels of the child; size up to which all sets are scored; size of the largest sets that may be
stack    by depth: rows int32[D, N] that are left, their block and cell int32[D, N]; count int64[D, 6] (see below); path
         uint64[D], P's mask; strength float64[D], rows of prior in an urn; members int64[D, k]; ready bool[D, k],
         whether member i leads to a node
scratch  see `Descent`

Twin: tests/naive/descent.py.
"""

from __future__ import annotations

import math

import numpy as np

from optbn_solvers.base.compiled import leaf

MARGIN = 1e-9  # relative; what sums of logarithms may be wrong by, with room to spare
LEFT, BLOCKS, CELLS, ALONE, OPEN, NEXT = range(6)  # rows left, their blocks, their cells, rows alone; members, the next


@leaf
def occupied(part, parts, rows, left, codes, levels, mark):
    """How many pairs of a part and a code occur."""
    mark[: parts * levels] = 0
    found = 0
    for p in range(left):
        key = part[p] * levels + codes[rows[p]]
        found += 1 - mark[key]
        mark[key] = 1
    return found


@leaf
def split(part, parts, rows, left, codes, levels, own, scratch):
    """Split parts by a column, in place, and keep those with several values of the child: (rows left, parts)."""
    at, new, first, mixed = scratch[1], scratch[2], scratch[3], scratch[4]
    at[: parts * levels] = -1
    found = 0
    for p in range(left):
        key, value = part[p] * levels + codes[rows[p]], own[rows[p]]
        to = at[key]
        if to < 0:
            to = found
            at[key], first[to], mixed[to] = to, value, -1
            found += 1
        elif first[to] != value:
            mixed[to] = 0
        new[p] = to
    kept, fresh = 0, 0
    for to in range(found):
        if mixed[to] == 0:
            mixed[to] = fresh
            fresh += 1
    for p in range(left):
        to = mixed[new[p]]
        if to >= 0:
            part[kept], rows[kept] = to, rows[p]
            kept += 1
    return kept, fresh


@leaf
def weigh(part, parts, rows, left, data, tables, r, scratch):
    """Of each part a row, its entropy, and what it takes as the first of its urn (but for a strength)."""
    own, weight, (log_factorial, harmonic, n_log_n) = data[1], data[2], tables
    count, row_of, entropy, alone, over = scratch[5], scratch[7], scratch[8], scratch[9], scratch[10]
    count[: parts * r] = 0
    for p in range(left):
        row_of[part[p]] = rows[p]
        count[part[p] * r + own[rows[p]]] += weight[rows[p]]
    for g in range(parts):
        total = 0
        entropy[g], alone[g], over[g] = 0.0, 0.0, 0.0
        for k in range(g * r, g * r + r):
            if count[k] > 0:
                total += count[k]
                entropy[g] -= n_log_n[count[k]]
                alone[g] -= log_factorial[count[k] - 1]
                over[g] += harmonic[count[k] - 1]
        entropy[g] += n_log_n[total]
        alone[g] += log_factorial[total - 1]


@leaf
def mixed_cost(parts, blocks, codes, levels, strength, r, scratch):
    """What parts with several values of the child cost beside log r per cell, in urns of at most that strength."""
    if strength >= 1.0:
        return 0.0
    at, block_of, least = scratch[1], scratch[6], scratch[11]
    row_of, entropy, alone, over = scratch[7], scratch[8], scratch[9], scratch[10]
    at[: blocks * levels] = -1
    price, cost, found = -math.log(strength), 0.0, 0
    for g in range(parts):
        key = block_of[row_of[g]] * levels + codes[row_of[g]]
        beside = min(price, entropy[g])
        spared = beside - max(0.0, alone[g] - strength / r * over[g])
        cost += beside
        if at[key] < 0:
            at[key] = found
            least[found] = spared
            cost += price
            found += 1
        else:
            least[at[key]] = min(least[at[key]], spared)
    for b in range(found):
        cost -= least[b]
    return cost


@leaf
def own_cost(x, d, room, data, tables, r, stack, scratch):
    """What P and member x cost beside log r per cell, at least; less exact where that is above `room`."""
    codes, _, weight, sizes = data
    rows, block, cell, count, _, strength, _, _ = stack
    log_factorial, harmonic, _ = tables
    at, total, cells = scratch[1], scratch[5], scratch[12]
    left, levels, prior = count[d, LEFT], sizes[x], strength[d] / sizes[x]
    listed, price = cells[x] - count[d, ALONE], -math.log(prior)
    blocks = occupied(block[d], count[d, BLOCKS], rows[d], left, codes[x], levels, scratch[0])
    cost = price * (listed - blocks)
    if cost - listed * prior / r * harmonic[-1] > room:
        return cost - listed * prior / r * harmonic[-1]
    for what, parts, sign in ((cell, count[d, CELLS], -1.0), (block, count[d, BLOCKS], 1.0)):
        at[: parts * levels] = -1
        found = 0
        for p in range(left):
            key = what[d, p] * levels + codes[x, rows[d, p]]
            if at[key] < 0:
                at[key] = found
                total[found] = 0
                found += 1
            total[at[key]] += weight[rows[d, p]]
        for c in range(found):
            cost += sign * log_factorial[total[c] - 1]
            if sign < 0:
                cost -= prior / r * harmonic[total[c] - 1]
    return max(cost, 0.0)


@leaf
def best_within(mask, known):
    """The best known score of a subset."""
    masks, scores = known
    for s in range(len(scores)):
        if masks[s] & ~mask == 0:
            return scores[s]
    return -np.inf


@leaf
def enter(d, data, known, tables, limits, stack, scratch, found):
    """Keep the members whose cells alone do not close the node with them, in order of the cost left up to the floor,
    the least first; sets that may themselves be needed go to `found`. Then see which of them lead on."""
    codes, _, _, sizes = data
    rows, _, cell, count, path, _, members, _ = stack
    r = limits[0]
    cells, bars, slack = scratch[12], scratch[13], scratch[14]
    kept = 0
    for i in range(count[d, OPEN]):
        x = members[d, i]
        mask = path[d] | (np.uint64(1) << np.uint64(x))
        floor = best_within(mask, known)
        bar = -floor + MARGIN * (1.0 - floor)
        there = occupied(cell[d], count[d, CELLS], rows[d], count[d, LEFT], codes[x], sizes[x], scratch[0])
        there += count[d, ALONE]
        if there * math.log(r) > bar:
            continue
        cells[x], bars[x], slack[x] = there, bar, bar - there * math.log(r)
        j = kept
        while j > 0 and slack[members[d, j - 1]] > slack[x]:
            members[d, j] = members[d, j - 1]
            j -= 1
        members[d, j] = x
        kept += 1
    count[d, OPEN], count[d, NEXT] = kept, 0
    look_ahead(d, data, tables, limits, stack, scratch, found)


@leaf
def look_ahead(d, data, tables, limits, stack, scratch, found):
    """ready[d, i]: whether some of the members after member i may be added to P and it. Where P and member i may
    itself be needed, it goes to `found`."""
    codes, own, _, sizes = data
    rows, block, _, count, path, strength, members, ready = stack
    r, done, most = limits
    cells, bars, block_of, part, some = scratch[12], scratch[13], scratch[6], scratch[15], scratch[16]
    left, parts, blocks, fewest = count[d, LEFT], count[d, BLOCKS], count[d, BLOCKS], 0
    for p in range(left):
        part[p], some[p] = block[d, p], rows[d, p]
        block_of[rows[d, p]] = block[d, p]
    for i in range(count[d, OPEN] - 1, -1, -1):
        x = members[d, i]
        size, prior = sizes[x], strength[d] / sizes[x]
        left, parts = split(part, parts, some, left, codes[x], size, own, scratch)
        weigh(part, parts, some, left, data, tables, r, scratch)
        room = bars[x] - cells[x] * math.log(r)
        ready[d, i] = False
        if mixed_cost(parts, blocks, codes[x], size, prior, r, scratch) <= room:
            if d + 1 > done and own_cost(x, d, room, data, tables, r, stack, scratch) <= room:
                found[0][found[1][0]] = path[d] | (np.uint64(1) << np.uint64(x))
                found[1][0] += 1
            if fewest > 0 and d + 1 < most:
                ready[d, i] = mixed_cost(parts, blocks, codes[x], size, prior / fewest, r, scratch) <= room
        fewest = size if fewest == 0 else min(fewest, size)


@leaf
def add(d, i, data, r, stack, scratch):
    """The node of P and member i, with the members after it."""
    codes, own, _, sizes = data
    rows, block, cell, count, path, strength, members, _ = stack
    at, new, fresh, total = scratch[1], scratch[2], scratch[3], scratch[5]
    x, e, found = members[d, i], d + 1, 0
    at[: count[d, BLOCKS] * sizes[x]] = -1
    for p in range(count[d, LEFT]):
        key = block[d, p] * sizes[x] + codes[x, rows[d, p]]
        if at[key] < 0:
            at[key] = found
            total[found] = 0
            found += 1
        new[p] = at[key]
        total[new[p]] += 1
    blocks, left, cells = 0, 0, 0
    for b in range(found):
        fresh[b] = blocks if total[b] > 1 else -1
        blocks += total[b] > 1
    at[: blocks * r] = -1
    for p in range(count[d, LEFT]):
        if fresh[new[p]] >= 0:
            rows[e, left], block[e, left] = rows[d, p], fresh[new[p]]
            key = block[e, left] * r + own[rows[d, p]]
            if at[key] < 0:
                at[key] = cells
                cells += 1
            cell[e, left] = at[key]
            left += 1
    count[e, LEFT], count[e, BLOCKS], count[e, CELLS] = left, blocks, cells
    count[e, ALONE], count[e, OPEN] = count[d, ALONE] + found - blocks, count[d, OPEN] - i - 1
    for j in range(count[e, OPEN]):
        members[e, j] = members[d, i + 1 + j]
    path[e] = path[d] | (np.uint64(1) << np.uint64(x))
    strength[e] = strength[d] / sizes[x]


@leaf
def descend(d, budget, data, known, tables, limits, stack, scratch, found):
    """Go on from depth `d` for at most `budget` nodes, while there is room in `found`: (depth, nodes); -1: the end."""
    count, ready, nodes = stack[3], stack[7], 0
    while d >= 0:
        i = count[d, NEXT]
        while i < count[d, OPEN] and not ready[d, i]:
            i += 1
        count[d, NEXT] = i
        if i == count[d, OPEN]:
            d -= 1
            continue
        if nodes == budget or found[1][0] + ready.shape[1] > len(found[0]):
            break
        count[d, NEXT] = i + 1
        add(d, i, data, limits[0], stack, scratch)
        d += 1
        nodes += 1
        enter(d, data, known, tables, limits, stack, scratch, found)
    return d, nodes


@leaf
def dive(uniform, data, known, tables, limits, stack, scratch, found):
    """(how many nodes there may be above the first, nodes visited): down a random branch, by Knuth's estimate. A branch
    with more members after it is taken more often. What is noted on the way is to be forgotten."""
    count, ready, d, nodes, share = stack[3], stack[7], 0, 0.0, 1.0
    while True:
        total = 0.0
        for i in range(count[d, OPEN]):
            total += ready[d, i] * (count[d, OPEN] - i)
        if total == 0.0:
            return nodes, d
        left, i = uniform[d] * total, 0
        while not ready[d, i] or left >= count[d, OPEN] - i:
            left -= ready[d, i] * (count[d, OPEN] - i)
            i += 1
        share *= (count[d, OPEN] - i) / total
        nodes += 1.0 / share
        add(d, i, data, limits[0], stack, scratch)
        d += 1
        found[1][0] = 0
        enter(d, data, known, tables, limits, stack, scratch, found)
