"""Depth-first search over the clusters that the multipliers overpay.

At a node the live families have reduced costs >= 0 and the multipliers y of the clusters give a bound. If the zero
families hold a DAG whose own cost is above the bound, some cluster C with y_C > 0 is paid by c >= 2 members of that DAG
(sum of their reduced costs is 0, so the difference is exactly sum_C y_C (c - 1)). Branch on such a C and a paying
member v: "the family of v is disjoint from C", or "it is not". In the first child the others need not pay any more,
in the second v cannot; both bounds rise. This takes 8 to 120 times fewer nodes than branching on arcs or orders.

A node, in this order: drop families with reduced cost > upper - lower - 1 (on creation), drop families without support
(acyclicity), ascend, relax and ascend again while that pays, close or read an incumbent from the zero families, choose
a branch by looking ahead at the bounds of the children of a few candidates.

With hundreds of variables and ten thousands of families the bounds of a node take seconds. So they end early once their
effort is used up; the search comes back, and goes on with them in the next slice as long as that pays.

The path lives in flat arrays (`Levels`), so the search runs in slices: `search` returns when it has done its share of
nodes or when an array must grow, and continues where it was. No node is ever dropped for lack of room.

With state[EVERY] the search does not look for the best graph but for all that cost less than `upper`: nothing lowers
it from inside, and each node with one family per child is a graph, with which `search` returns.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel
from optbn_solvers.search.kernels.acyclicity import keep_supported, unsupported
from optbn_solvers.search.kernels.branching import choose
from optbn_solvers.search.kernels.families import INFINITE, ZERO, insert, normalise, restrict
from optbn_solvers.search.kernels.multipliers import ascend, draw, list_all_zeros, relax
from optbn_solvers.search.kernels.path import (
    DEEPEST,
    DEPTH,
    DROPPED,
    EVERY,
    FOUND,
    FRESH,
    LIMIT,
    NODES,
    RECORDS,
    TOP,
    UPPER,
    WRITTEN,
    evict,
)  # fmt: skip
from optbn_solvers.search.kernels.records import BRANCH, LEAF, most_records, write, write_node
from optbn_solvers.search.kernels.subsets import weight_of

# Why `search` came back.
DONE, SLICE, MORE_LEVELS, MORE_FAMILIES, MORE_CLUSTERS, MORE_RECORDS, GRAPH = range(7)


@kernel
def read_incumbent(costs, incumbent, chosen, room, state, words):
    """A DAG from the zero families: place greedily, give everybody the best family of the whole table that fits.

    chosen[v] gets the zero family of v that this order uses (for a variable that stays stuck: its first one); returns
    whether all were placed. A cheaper DAG than any before becomes the incumbent (rows of the table) and the new upper,
    unless the caller wants every graph.
    """
    n = len(chosen)
    total = np.int64(0)
    for w in range(len(words)):
        room.placed[w] = ZERO
    for v in range(n):
        room.a[v] = room.order[v]
        chosen[v] = room.begin[v]
    left = n
    moved = True
    while moved and left:
        moved = False
        i = 0
        while i < left:
            v = room.a[i]
            at = np.int64(-1)
            for f in range(room.begin[v], room.begin[v] + room.zeros[v]):
                missing = ZERO
                for w in range(len(words)):
                    missing |= room.zero[w, f] & ~room.placed[w]
                if missing == ZERO:
                    at = f
                    break
            if at >= 0:
                chosen[v] = at
                for f in range(costs.offsets[v], costs.offsets[v + 1]):
                    missing = ZERO
                    for w in range(len(words)):
                        missing |= costs.masks[w, f] & ~room.placed[w]
                    if missing == ZERO:
                        total += costs.cost[f]
                        room.b[v] = f
                        break
                insert(room.placed, v)
                left -= 1
                room.a[i] = room.a[left]
                moved = True
            else:
                i += 1
    if left:
        return False
    if total < state[UPPER] and not state[EVERY]:
        state[UPPER] = total
        state[FOUND] += 1
        for v in range(n):
            incumbent[v] = room.b[v]
    return True


@kernel
def settle(levels, pool, state, room, passes, words):
    """Filter and bound the node at the current depth; True if it is closed."""
    depth = state[DEPTH]
    offsets, masks, reduced, y = levels.offsets[depth], levels.masks, levels.reduced, levels.y[depth]
    n = len(offsets) - 1
    upper, top = state[UPPER], state[TOP]
    lower = levels.lower[depth]
    room.effort[0] = room.effort[1]
    room.mass[0] = 0
    for slot in range(top):
        room.mass[0] += y[slot] * (weight_of(slot, pool, n) if pool.subset[slot] >= 0 else 1)
    for i in range(n - 1, 0, -1):
        j = draw(room.random, i + 1)
        room.order[i], room.order[j] = room.order[j], room.order[i]
    drop = unsupported(offsets, masks, words, room.a, room.b, room.c, room.placed, room.union, room.reach)
    if drop < 0:
        return True
    if drop > 0:
        state[DROPPED] += drop
        keep_supported(offsets, masks, reduced, levels.origin, words, room.reach)
        gain = normalise(offsets, reduced)
        if gain == INFINITE:
            return True
        lower += gain
    list_all_zeros(offsets, masks, reduced, room, words)
    everything = np.int64(1) << 40
    lower, top = ascend(offsets, masks, reduced, y, lower, upper, pool, top, everything, room, words)
    for _ in range(passes):
        if lower >= upper:
            break
        before = lower
        lower = relax(offsets, masks, reduced, levels.origin, y, lower, upper, pool, top, room, words)
        if lower < upper:
            list_all_zeros(offsets, masks, reduced, room, words)
            lower, top = ascend(offsets, masks, reduced, y, lower, upper, pool, top, everything, room, words)
        if lower - before < (upper - before) // 50:
            break
    levels.lower[depth] = lower
    state[TOP] = top
    return lower >= upper


@kernel
def search(costs, levels, pool, state, room, incumbent, records, candidates, passes, fresh, words):
    """Go on with the search; returns why it stopped (DONE, SLICE, or what must grow before it is called again).

    A proof is written to `records` unless that is empty. Without room for the worst case of the next step nothing is
    changed before returning. GRAPH: `incumbent` has the origins of one more graph that costs less than upper.
    """
    n = levels.offsets.shape[1] - 1
    capacity = len(pool.size)
    chosen = np.empty(n, dtype=np.int64)
    score = np.empty(64, dtype=np.float64)
    who = np.empty(64, dtype=np.int64)
    where = np.empty(64, dtype=np.int64)
    proving = len(records) > 0
    while state[DEPTH] > 0:
        depth = state[DEPTH]
        if depth + 2 >= len(levels.lower):
            return MORE_LEVELS
        here = levels.offsets[depth]
        if 2 * here[n] - here[0] > len(levels.reduced):
            return MORE_FAMILIES
        if proving and state[WRITTEN] + most_records(capacity, n) > len(records):
            return MORE_RECORDS
        if state[FRESH]:
            if state[NODES] >= state[LIMIT]:
                return SLICE
            if pool.free_count[0] < capacity // 8 and evict(levels, pool, state, capacity // 2) > 3 * capacity // 4:
                return MORE_CLUSTERS
            lower = levels.lower[depth]
            closed = settle(levels, pool, state, room, passes, words)
            early = room.effort[0] < 0
            if not closed and early and levels.lower[depth] - lower > (state[UPPER] - lower) // 1000:
                return SLICE
            if not closed:
                complete = read_incumbent(costs, incumbent, chosen, room, state, words)
                closed = levels.lower[depth] >= state[UPPER]
                if not closed and not choose(
                    levels, pool, state, room, chosen, candidates, score, who, where, fresh, words
                ):
                    if not complete:
                        return SLICE if early else MORE_CLUSTERS
                    if state[EVERY]:
                        for v in range(n):
                            incumbent[v] = levels.origin[here[v]]
                        state[NODES] += 1
                        state[FRESH] = 0
                        state[DEPTH] -= 1
                        return GRAPH
                    # One family each and acyclic: the incumbent costs no more. Without multipliers the bound is exact.
                    for slot in range(state[TOP]):
                        levels.y[depth, slot] = 0
                    closed = True
            state[NODES] += 1
            state[FRESH] = 0
            state[DEEPEST] = max(state[DEEPEST], depth)
            if proving:
                write_node(LEAF if closed else BRANCH, depth, levels, pool, records, state, words)
            if closed:
                for slot in range(state[TOP]):
                    if levels.y[depth, slot] > levels.y[depth - 1, slot]:
                        pool.useful[slot] += 1
                state[DEPTH] -= 1
                continue
            levels.stage[depth] = 0
        if levels.stage[depth] == 2:
            state[DEPTH] -= 1
        else:
            _next_child(depth, levels, records, state, words)
    return DONE


@kernel
def _next_child(depth, levels, records, state, words):
    """Go down to the next child of a node, unless its filter closes it at once."""
    stage, lower = levels.stage[depth], levels.lower[depth]
    levels.stage[depth] += 1
    gain = restrict(
        levels.offsets[depth],
        levels.offsets[depth + 1],
        levels.masks,
        levels.reduced,
        levels.origin,
        state[UPPER] - lower - 1,
        levels.child[depth],
        levels.cluster[depth],
        (levels.first[depth] == 1) == (stage == 0),
        words,
    )
    if gain == INFINITE or lower + gain >= state[UPPER]:
        if len(records) > 0:  # a leaf without changes
            state[RECORDS] += 1
            write(LEAF, records, state)
            write(0, records, state)
        return
    levels.lower[depth + 1] = lower + gain
    for slot in range(state[TOP]):
        levels.y[depth + 1, slot] = levels.y[depth, slot]
    state[DEPTH] += 1
    state[FRESH] = 1
