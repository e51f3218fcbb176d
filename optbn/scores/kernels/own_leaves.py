"""Best trees whose leaves are no sums of look-ups by count: each leaf is computed, one response after another.

    BDEU    sum over levels of log [a]_n - log [r a]_n,   a = ess / r x the share of the parents' configurations in it
    RUNS    the best way to cut the ordered levels into runs of equal probability, by dynamic programming over where a
            run ends

([x]_n = x (x + 1) .. (x + n - 1); see trees/leaves.py.) Otherwise as kernels/climb.py. Under BDEU boxes with the same
rows may differ in their share, so the plan must have been made with no two boxes taken for one: `need` is zero
everywhere. Twin: tests/naive/pcart.py.
"""

from __future__ import annotations

import math

import numpy as np

from optbn.scores.kernels.kinds import CATEGORICAL
from optbn.scores.kernels.lattice import dense_plan
from optbn.scores.kernels.parts import interval_end
from optbn.scores.kernels.simd import WIDTH, raise_to_best_sum
from optbn.scores.kernels.sites import refine, tabulate
from optbn_solvers.base.compiled import kernel, part

BDEU, RUNS = 0, 1
FEW = 6


@part
def log_rising(x, n):
    """log [x]_n for a number of rows that may be a fraction."""
    if n == 0:
        return 0.0
    if n <= FEW and n == np.floor(n) and 1e-40 < x < 1e40:
        product = x
        for i in range(1, int(n)):
            product *= x + i
        return math.log(product)
    return math.lgamma(x + n) - math.lgamma(x)


@kernel
def bdeu_leaf(counts, rows, weight, unit):
    """counts of the r levels; weight: ess times the share."""
    total = -log_rising(weight, rows * unit)
    for c in counts:
        total += log_rising(weight / len(counts), c * unit)
    return total


@kernel
def runs_leaf(counts, rows, alpha, unit, best):
    """counts of the r levels; best float64[> r], scratch: of the levels below."""
    r = len(counts)
    best[0] = 0.0
    for end in range(1, r + 1):
        best[end] = -np.inf
        inside = 0
        for begin in range(end - 1, -1, -1):
            inside += counts[begin]
            length, n = end - begin, inside * unit
            best[end] = max(best[end], best[begin] + log_rising(length * alpha, n) - n * math.log(length))
    return best[r] - log_rising(r * alpha, rows * unit) - (r - 1) * math.log(2.0)


@kernel
def score_own_leaves(sets, digits, wanted, floor, priors, predictors, responses, leaves, scratch, out):
    """out[i, v] = score of v given sets[i] where wanted, all of them categorical; -inf elsewhere, and where the maximum
    likelihood of the sites less k + 1 leaves is not above floor[i, v] (see trees/bounds.py; no leaf beats its own).

    floor     float64[m, n], or float64[0, 0] for none
    digits, predictors, responses   see kernels/trees.py, but declared levels have cells
    priors    (leaf_cost, log_c float64[m]; xlogx float64[N + 1])
    leaves    (kind; weight float64[n], ess or alpha; unit)
    scratch   (box, room, plan: see kernels/lattice.py; work: counts uint32[slots, W], _, _, value float64[slots, L])
    """
    leaf_cost, log_c, xlogx = priors
    cells, _, _, _, kinds, sizes, parts, table, halves, need = predictors
    order, onehot, start, levels, _, values, _, _, _ = responses
    if leaves[0] == BDEU:
        need = np.zeros_like(need)
    box, room, plan, work = scratch
    m, k = sets.shape
    n_rows = cells.shape[1]
    site = np.zeros((k + 1, n_rows), np.int32)
    coordinates = np.zeros((k + 1, max(n_rows, 1), k), np.int32)
    largest = 1
    for v in sets.reshape(-1):
        largest = max(largest, sizes[v])
    lookup = np.empty(n_rows * largest, np.int32)
    site_rows = np.empty(n_rows, np.int32)
    counts = np.empty((n_rows, onehot.shape[1]), np.uint32)
    mean, spread = np.empty((n_rows, 0)), np.empty((n_rows, 0))
    has_number = np.empty(0, np.int64)
    lane = np.empty(len(order), np.int64)
    share = np.empty(len(plan[0]))
    for i in range(m):
        out[i] = -np.inf
        if not wanted[i].any():
            continue
        u = min(n_rows, 1)
        for j in range(k):
            v = sets[i, j]
            u = refine(cells[v], sizes[v], site[j], u, coordinates[j], j, site[j + 1], lookup, coordinates[j + 1])
        tabulate(site[k], u, onehot, values[:, :0], has_number, site_rows, counts, mean, spread)
        n_lanes = 0
        for v in order:
            if not wanted[i, v]:
                continue
            if len(floor) > 0 and floor[i, v] > -np.inf:
                top = log_c[i] - (k + 1) * leaf_cost[i]
                for s in range(u):
                    top -= xlogx[site_rows[s]]
                    for w in range(start[v], start[v] + levels[v]):
                        top += xlogx[counts[s, w]]
                if top <= floor[i, v] - 1e-9 * (1.0 + abs(floor[i, v])):
                    continue
            lane[n_lanes] = v
            n_lanes += 1
        if n_lanes == 0:
            continue
        shapes = kinds, sizes, parts, table, halves, need
        n_slots = dense_plan(sets[i], digits[i], coordinates[k], site_rows, u, 1, shapes, box, room, plan)
        share_of_slots(sets[i], digits[i], kinds, sizes, parts, box[2], share)
        climb(plan, n_slots, leaf_cost[i], counts, lane[:n_lanes], responses, leaves, share, work)
        for q in range(n_lanes):
            out[i, lane[q]] = work[3][n_slots - 1, q] + log_c[i]


@kernel
def share_of_slots(members, digits, kinds, sizes, parts, slot, share):
    """share[s]: of the parents' configurations in the box that slot s is; real parents are not looked at."""
    k = len(members)
    at = np.zeros(k, np.int64)
    boxes, cells = 1, 1.0
    for v in members:
        boxes *= parts[v]
        cells *= sizes[v]
    for i in range(boxes):
        inside = 1.0
        for j in range(k):
            p = at[j]
            if kinds[members[j]] == CATEGORICAL:
                mask, levels = p + 1, 0
                while mask:
                    mask &= mask - 1
                    levels += 1
                inside *= levels
            else:
                hi = interval_end(p)
                inside *= 1 + p - hi * (hi + 1) // 2
        share[slot[i]] = inside / cells
        for j in digits:
            at[j] += 1
            if at[j] < parts[members[j]]:
                break
            at[j] = 0


@kernel
def climb(plan, n_slots, leaf_cost, site_counts, lane, responses, leaves, share, work):
    """Fill counts and value of every slot; the last is the root."""
    first, second, rows, offset, left, right = plan
    start, levels = responses[2], responses[3]
    kind, weight, unit = leaves
    counts, value = work[0], work[3]
    n_lanes = len(lane)
    base = np.zeros(n_lanes + 1, np.int64)
    for q in range(n_lanes):
        base[q + 1] = base[q] + levels[lane[q]]
    best = np.empty(levels.max() + 1)
    vectors = (n_lanes + WIDTH - 1) // WIDTH
    counts[0, : base[n_lanes]] = 0
    value[0, :n_lanes] = -leaf_cost
    for s in range(1, n_slots):
        a, b = first[s], second[s]
        for q in range(n_lanes):
            v = lane[q]
            for x in range(levels[v]):
                w = base[q] + x
                counts[s, w] = site_counts[a, start[v] + x] if b < 0 else counts[a, w] + counts[b, w]
            inside = counts[s, base[q] : base[q + 1]]
            if kind == BDEU:
                value[s, q] = bdeu_leaf(inside, rows[s], weight[v] * share[s], unit) - leaf_cost
            else:
                value[s, q] = runs_leaf(inside, rows[s], weight[v], unit, best) - leaf_cost
        raise_to_best_sum(value, s, vectors, left, right, offset[s], offset[s + 1])
