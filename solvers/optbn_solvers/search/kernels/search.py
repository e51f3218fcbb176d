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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.compiled import kernel
from optbn_solvers.search.kernels.acyclicity import keep_supported, unsupported
from optbn_solvers.search.kernels.families import INFINITE, ONE, ZERO, contains, insert, normalise, restrict
from optbn_solvers.search.kernels.multipliers import UNNAMED, ascend, draw, list_all_zeros, relax
from optbn_solvers.search.kernels.subsets import weight_of

# Why `search` came back.
DONE, SLICE, MORE_LEVELS, MORE_FAMILIES, MORE_CLUSTERS, MORE_RECORDS, GRAPH = range(7)

# state int64[...]: what the search remembers between slices.
DEPTH, FRESH, UPPER, TOP, NODES, LIMIT, FOUND, NAMES, WRITTEN, EVICTIONS, DEEPEST, DROPPED, RECORDS = range(13)
EVERY, STATE = 13, 14

# Records of a proof (solvers/optbn_solvers/proofs/README.md).
CLUSTER, LEAF, BRANCH = 0, 2, 4


class Levels(NamedTuple):
    """One row per level of the current path; the families of all levels lie one after the other in one arena.

    Level 0 stands for what was known before: multipliers of the first rows, no families, no children to come. The tree
    begins at level 1.
    """

    offsets: NDArray[np.int64]  # [D, n + 1], positions in the arena
    lower: NDArray[np.int64]  # [D], the bound of the node
    y: NDArray[np.int64]  # [D, K]
    stage: NDArray[np.int64]  # [D], children begun: 0, 1, 2
    child: NDArray[np.int64]  # [D], the variable that was branched on
    cluster: NDArray[np.uint64]  # [D, W], and the set
    first: NDArray[np.int64]  # [D], 1 if the "disjoint" side is explored first
    name: NDArray[np.int64]  # [D], scratch of the proof: the number of the set
    masks: NDArray[np.uint64]  # [W, A] the arena
    reduced: NDArray[np.int64]  # [A]
    origin: NDArray[np.int32]  # [A]


class Costs(NamedTuple):
    """The instance: cost int64[F] ascending per child, masks uint64[W, F], offsets int64[n + 1]."""

    offsets: NDArray[np.int64]
    masks: NDArray[np.uint64]
    cost: NDArray[np.int64]


@kernel
def evict(levels, pool, state, keep_at_most):
    """Free the slots of clusters that no level of the path uses, least useful first; returns how many are in use.

    A cluster is kept if a level gives it a positive multiplier, or if it was useful enough lately.
    """
    depth, top = state[DEPTH], state[TOP]
    needed = np.zeros(top, dtype=np.bool_)
    count = np.int64(0)
    for slot in range(top):
        if pool.size[slot]:
            if pool.subset[slot] >= 0:
                needed[slot] = True
                count += 1
                continue
            for e in range(depth + 1):
                if levels.y[e, slot] > 0:
                    needed[slot] = True
                    count += 1
                    break
    bar = np.int64(1)
    while True:
        kept = count
        for slot in range(top):
            if pool.size[slot] and not needed[slot] and pool.useful[slot] >= bar:
                kept += 1
        if kept <= max(keep_at_most, count):
            break
        bar *= 2
    for slot in range(top):
        if pool.size[slot]:
            if needed[slot] or pool.useful[slot] >= bar:
                pool.useful[slot] //= 2
            else:
                pool.size[slot] = 0
                pool.free[pool.free_count[0]] = slot
                pool.free_count[0] += 1
                levels.y[:, slot] = 0  # whoever gets the slot finds no multiplier on any level
    state[EVICTIONS] += 1
    return kept


@kernel
def write(value, records, state):
    records[state[WRITTEN]] = value
    state[WRITTEN] += 1


@kernel
def most_records(clusters, n):
    """More numbers than one step can write: every cluster defined and changed, a branch, two closed children."""
    return (clusters + 1) * (n + 4) + 16


@kernel
def write_cluster(cluster, n, records, state):
    """A CLUSTER record: the set gets the next number, which is returned."""
    write(CLUSTER, records, state)
    at = state[WRITTEN]
    write(0, records, state)
    for v in range(n):
        if contains(cluster, v):
            write(v, records, state)
            records[at] += 1
    state[NAMES] += 1
    return state[NAMES] - 1


@kernel
def write_node(kind, depth, levels, pool, records, state, words):
    """A BRANCH or LEAF record: the multipliers that differ from those of the parent, and the branch."""
    n = levels.offsets.shape[1] - 1
    changes = 0
    for slot in range(state[TOP]):
        if levels.y[depth, slot] != levels.y[depth - 1, slot]:
            changes += 1
            if pool.name[slot] == UNNAMED:
                pool.name[slot] = write_cluster(pool.clusters[slot], n, records, state)
    if kind == BRANCH:
        levels.name[depth] = -1
        for slot in range(state[TOP]):
            if levels.y[depth, slot] > 0:
                same = True
                for w in range(len(words)):
                    same &= pool.clusters[slot, w] == levels.cluster[depth, w]
                if same:
                    if pool.name[slot] == UNNAMED:
                        pool.name[slot] = write_cluster(pool.clusters[slot], n, records, state)
                    levels.name[depth] = pool.name[slot]
        if levels.name[depth] < 0:
            levels.name[depth] = write_cluster(levels.cluster[depth], n, records, state)
    state[RECORDS] += 1
    write(kind, records, state)
    write(changes, records, state)
    for slot in range(state[TOP]):
        before = levels.y[depth - 1, slot]
        if levels.y[depth, slot] != before:
            write(pool.name[slot], records, state)
            write(levels.y[depth, slot] - before, records, state)
    if kind == BRANCH:
        write(levels.child[depth], records, state)
        write(levels.name[depth], records, state)
        write(levels.first[depth], records, state)


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
        stage, lower = levels.stage[depth], levels.lower[depth]
        if stage == 2:
            state[DEPTH] -= 1
            continue
        levels.stage[depth] += 1
        gain = restrict(
            here,
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
            if proving:  # a leaf without changes
                state[RECORDS] += 1
                write(LEAF, records, state)
                write(0, records, state)
            continue
        levels.lower[depth + 1] = lower + gain
        for slot in range(state[TOP]):
            levels.y[depth + 1, slot] = levels.y[depth, slot]
        state[DEPTH] += 1
        state[FRESH] = 1
    return DONE
