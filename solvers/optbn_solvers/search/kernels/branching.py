"""The branch of a node: candidates among overpaid clusters, chosen by looking ahead at the bounds of their children."""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel
from optbn_solvers.search.kernels.families import ONE, ZERO, restrict
from optbn_solvers.search.kernels.multipliers import ascend, draw, list_all_zeros
from optbn_solvers.search.kernels.path import DEPTH, TOP, UPPER


@kernel
def look_ahead(child, cluster, disjoint, levels, pool, state, room, fresh, words):
    """How much the bound would rise in one child, by filtering and a short ascent; at most upper - lower."""
    depth = state[DEPTH]
    lower, upper, top = levels.lower[depth], state[UPPER], state[TOP]
    offsets = levels.offsets[depth + 1]
    gain = restrict(
        levels.offsets[depth],
        offsets,
        levels.masks,
        levels.reduced,
        levels.origin,
        upper - lower - 1,
        child,
        cluster,
        disjoint,
        words,
    )
    if gain >= upper - lower:
        return upper - lower
    list_all_zeros(offsets, levels.masks, levels.reduced, room, words)
    mass, free = room.mass[0], pool.free_count[0]
    y = levels.y[depth + 1]  # scratch
    reached, _ = ascend(offsets, levels.masks, levels.reduced, y, lower + gain, upper, pool, top, fresh, room, words)
    room.mass[0] = mass
    for i in range(pool.free_count[0], free):
        pool.size[pool.free[i]] = 0
        y[pool.free[i]] = 0
    pool.free_count[0] = free  # the new clusters are forgotten
    return min(reached, upper) - lower


@kernel
def _overpaid(slot, levels, pool, room, chosen, words):
    """(members of the cluster whose choice pays for it, in room.a; by how many they are more than the row allows)."""
    cluster, subset = pool.clusters[slot], pool.subset[slot]
    paying, used = 0, 0
    for j in range(pool.size[slot]):
        v = pool.members[slot, j]
        if subset >= 0:
            used += pool.coefficients[subset, levels.origin[room.zero_at[chosen[v]]]]
        common = ZERO
        for w in range(len(words)):
            common |= room.zero[w, chosen[v]] & cluster[w]
        if common == ZERO:
            room.a[paying] = v
            paying += 1
    return paying, paying - 1 if subset < 0 else pool.rhs[slot] - used


@kernel
def _both_sides(v, cluster, offsets, masks, room, words):
    """Whether some family of v has a parent in the cluster (it is sure that some has none)."""
    for f in range(offsets[v], offsets[v + 1]):
        room.effort[0] -= 1
        common = ZERO
        for w in range(len(words)):
            common |= masks[w, f] & cluster[w]
        if common != ZERO:
            return True
    return False


@kernel
def _keep(count, weight, v, slot, score, who, where):
    """Put a candidate where it belongs among the best so far, the heaviest first; how many there are then."""
    if count < len(score):
        at = count
        count += 1
    elif weight > score[count - 1]:
        at = count - 1
    else:
        return count
    while at > 0 and score[at - 1] < weight:
        score[at], who[at], where[at] = score[at - 1], who[at - 1], where[at - 1]
        at -= 1
    score[at], who[at], where[at] = weight, v, slot
    return count


@kernel
def _candidates(levels, pool, state, room, chosen, score, who, where, words):
    """The heaviest pairs (paying member, overpaid cluster) that split the member's families; how many."""
    depth = state[DEPTH]
    offsets, y = levels.offsets[depth], levels.y[depth]
    count = 0
    for slot in range(state[TOP]):
        if y[slot] <= 0:
            continue
        if count and room.effort[0] < 0:
            break
        paying, slack = _overpaid(slot, levels, pool, room, chosen, words)
        if slack < 1:
            continue
        for j in range(paying):
            v = room.a[j]
            if _both_sides(v, pool.clusters[slot], offsets, levels.masks, room, words):
                weight = float(y[slot]) * slack * (1.0 + 0.01 * draw(room.random, 1000) / 1000.0)
                count = _keep(count, weight, v, slot, score, who, where)
    return count


@kernel
def _by_parent(levels, depth, words):
    """Split the families of the child with most of them by a parent that some have; False if each child has one."""
    offsets, masks = levels.offsets[depth], levels.masks
    best = 0
    for v in range(1, len(offsets) - 1):
        if offsets[v + 1] - offsets[v] > offsets[best + 1] - offsets[best]:
            best = v
    if offsets[best + 1] - offsets[best] < 2:
        return False
    levels.child[depth] = best
    levels.first[depth] = 1
    for w in range(len(words)):
        every, some = ~ZERO, ZERO
        for f in range(offsets[best], offsets[best + 1]):
            every &= masks[w, f]
            some |= masks[w, f]
        varies = some & ~every
        levels.cluster[depth, w] = varies & (~varies + ONE)
        if varies:
            for rest in range(w + 1, len(words)):
                levels.cluster[depth, rest] = ZERO
            break
    return True


@kernel
def choose(levels, pool, state, room, chosen, candidates, score, who, where, fresh, words):
    """Write the branch of the current level; False if there is none (every child has one live family).

    Candidates are pairs (overpaid cluster, paying member) with weight y_C (c - 1); the best few are looked at ahead
    and the largest product of gains wins. Without an overpaid cluster that can be split, a child with most families
    splits on a parent that some of them have.
    """
    depth = state[DEPTH]
    room.effort[0] = room.effort[1]
    count = _candidates(levels, pool, state, room, chosen, score, who, where, words)
    if count == 0:
        return _by_parent(levels, depth, words)
    short = state[UPPER] - levels.lower[depth]
    best, best_value = 0, -1.0
    best_with, best_without = np.int64(0), np.int64(0)
    if count > 1:
        for i in range(min(count, candidates)):
            cluster = pool.clusters[where[i]]
            gain_with, gain_without = np.int64(0), np.int64(0)
            for disjoint in (False, True):  # a variable: constants would compile it twice
                gain = look_ahead(who[i], cluster, disjoint, levels, pool, state, room, fresh, words)
                gain_with, gain_without = gain, gain_with
            value = (gain_with + 1.0) * (gain_without + 1.0)
            if gain_with >= short or gain_without >= short:
                value *= 10.0  # one child is gone at once
            if value > best_value:
                best, best_value = i, value
                best_with, best_without = gain_with, gain_without
            if (gain_with >= short and gain_without >= short) or room.effort[0] < 0:
                break
    levels.child[depth] = who[best]
    levels.first[depth] = 1 if best_with <= best_without else 0
    for w in range(len(words)):
        levels.cluster[depth, w] = pool.clusters[where[best], w]
    return True
