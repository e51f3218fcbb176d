"""Raising the bound of a node: clusters with integer multipliers that may go up and down.

For a cluster C let a_v be the least reduced cost of a family of v in C that is disjoint from C, b_v that of the others.
As a function of its own multiplier, the bound is  y' + sum_{v in C} min(a_v - (y' - y), b_v): concave, slope 1 up to
the smallest d_v = a_v + y - b_v, 0 up to the second smallest, negative after that.

    ascend      a cluster stuck on the families of reduced cost 0 has every a_v > 0 and b_v = 0, so its multiplier rises
                by min a_v; first the clusters of the pool, then new ones, until the zero families hold a DAG
    relax       every active multiplier goes to the middle of its optimal interval; multipliers that cannot come
                down get stuck far from the best bound, and the middle leaves the others room

If no member has a disjoint family left the cluster cannot be satisfied: its multiplier then takes all that the bound is
short of. All multipliers of a node together stay below 2^60 / n, so no sum overflows; a raise beyond that is not made.

Source: reduced-cost cluster detection from Troesser, de Givry, Katsirelos (IJCAI 2021); coordinate ascent on the dual
is folklore, the descent of single multipliers and the midpoint rule are this search's own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.compiled import kernel
from optbn_solvers.search.kernels.acyclicity import place, shrink
from optbn_solvers.search.kernels.families import HEAVIEST, INFINITE, ZERO, cheapest, insert, pay
from optbn_solvers.search.kernels.subsets import relax_subset

UNNAMED = np.int64(-1)


class Pool(NamedTuple):
    """Clusters in slots that are reused; slots up to state[TOP] were ever used.

    clusters uint64[K, W]; members int16[K, n] and size int64[K], 0 for an empty slot; useful int64[K] counts (with
    decay) the nodes that a cluster helped to close; name int64[K] is its number in the proof or UNNAMED;
    free int64[K] a stack of the empty slots, free_count int64[1].
    A slot may hold a subset row instead (search.kernels.subsets): subset int64[K] is its row in coefficients
    int16[R, families at the root], else -1; rhs int64[K]; largest int64[K], its largest coefficient. Such a slot is
    never freed.
    """

    clusters: NDArray[np.uint64]
    members: NDArray[np.int16]
    size: NDArray[np.int64]
    useful: NDArray[np.int64]
    name: NDArray[np.int64]
    free: NDArray[np.int64]
    free_count: NDArray[np.int64]
    subset: NDArray[np.int64]
    rhs: NDArray[np.int64]
    largest: NDArray[np.int64]
    coefficients: NDArray[np.int16]


class Room(NamedTuple):
    """Scratch of the kernels. The zero families of v are zero[:, begin[v]:begin[v] + zeros[v]]."""

    zero: NDArray[np.uint64]  # [W, F]
    zero_at: NDArray[np.int64]  # [F], where the zero family is in the arena
    begin: NDArray[np.int64]  # [n + 1]
    zeros: NDArray[np.int64]  # [n]
    order: NDArray[np.int64]  # [n], a random order
    a: NDArray[np.int64]  # four of [n]
    b: NDArray[np.int64]
    c: NDArray[np.int64]
    d: NDArray[np.int64]
    placed: NDArray[np.uint64]  # two of [W]
    union: NDArray[np.uint64]
    reach: NDArray[np.uint64]  # [n, W]
    classes: NDArray[np.int64]  # [n, CLASSES], for subset rows
    mass: NDArray[np.int64]  # [1], the sum of the multipliers of the node at hand
    effort: NDArray[np.int64]  # [2], look-ups of families: what the node's bounds may still take, and may take in all
    random: NDArray[np.uint64]  # [1], state of the generator


@kernel
def draw(random, below):
    """A pseudo-random integer in 0..below-1 (xorshift64*; quality is no concern here, only reproducibility)."""
    x = random[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    random[0] = x
    return np.int64((x * np.uint64(2685821657736338717)) >> np.uint64(33)) % below


@kernel
def list_zeros(v, offsets, masks, reduced, room, words):
    """List the families of v with reduced cost 0."""
    at = room.begin[v]
    for f in range(offsets[v], offsets[v + 1]):
        if reduced[f] == 0:
            for w in range(len(words)):
                room.zero[w, at] = masks[w, f]
            room.zero_at[at] = f
            at += 1
    room.zeros[v] = at - room.begin[v]


@kernel
def list_all_zeros(offsets, masks, reduced, room, words):
    for v in range(len(offsets) - 1):
        list_zeros(v, offsets, masks, reduced, room, words)


@kernel
def satisfied(cluster, members, size, room, words):
    """Does a member of the cluster have a zero family disjoint from it?"""
    for j in range(size):
        v = members[j]
        begin = room.begin[v]
        room.effort[0] -= room.zeros[v]
        for f in range(begin, begin + room.zeros[v]):
            common = room.zero[0, f] & cluster[0]
            for w in range(1, len(words)):
                common |= room.zero[w, f] & cluster[w]
            if common == ZERO:
                return True
    return False


@kernel
def lift(cluster, members, size, offsets, masks, reduced, short, room, words):
    """Raise the multiplier of a violated cluster as far as the bound gains, `short` at most; returns by how much."""
    least = INFINITE
    for j in range(size):
        v = members[j]
        room.effort[0] -= 2 * (offsets[v + 1] - offsets[v])
        disjoint, _ = cheapest(offsets[v], offsets[v + 1], masks, reduced, cluster, words)
        least = min(least, disjoint)
    if least == INFINITE:
        return short
    raised = min(least, HEAVIEST // len(room.zeros) - room.mass[0])
    if raised <= 0:
        return np.int64(0)
    room.mass[0] += raised
    for j in range(size):
        v = members[j]
        pay(offsets[v], offsets[v + 1], masks, reduced, cluster, words, raised, np.int64(0))
        list_zeros(v, offsets, masks, reduced, room, words)
    return raised


@kernel
def ascend(offsets, masks, reduced, y, lower, upper, pool, top, fresh, room, words):
    """Lift violated clusters of the pool, then at most `fresh` new ones; returns the bound and the top of the pool.

    Zero families must be listed. New clusters get the slots free in the pool; when there are none, a multiplier
    cannot rise or no effort is left, the ascent ends early with the valid bound it has.
    """
    for slot in range(top):
        if lower >= upper or room.effort[0] < 0:
            return lower, top
        size = pool.size[slot]
        if size and pool.subset[slot] < 0 and not satisfied(pool.clusters[slot], pool.members[slot], size, room, words):
            raised = lift(
                pool.clusters[slot], pool.members[slot], size, offsets, masks, reduced, upper - lower, room, words
            )
            y[slot] += raised
            lower += raised
    n = len(offsets) - 1
    while lower < upper and fresh > 0 and pool.free_count[0] > 0 and room.effort[0] >= 0:
        for v in range(n):
            room.a[v] = room.order[v]
        for w in range(len(words)):
            room.placed[w] = ZERO
        count = place(room.a, n, room.placed, room.begin, room.zeros, room.zero, words)
        if count == 0:
            break
        for j in range(count):
            room.effort[0] -= count * room.zeros[room.a[j]]
        count = shrink(room.a, count, room.begin, room.zeros, room.zero, words, room.b, room.placed)
        pool.free_count[0] -= 1
        slot = pool.free[pool.free_count[0]]
        top = max(top, slot + 1)
        for w in range(len(words)):
            pool.clusters[slot, w] = ZERO
        for j in range(count):
            insert(pool.clusters[slot], room.a[j])
            pool.members[slot, j] = room.a[j]
        pool.size[slot] = count
        pool.useful[slot] = 1
        pool.name[slot] = UNNAMED
        pool.subset[slot] = -1
        raised = lift(
            pool.clusters[slot], pool.members[slot], count, offsets, masks, reduced, upper - lower, room, words
        )
        y[slot] = raised
        lower += raised
        fresh -= 1
        if raised == 0:
            break
    return lower, top


@kernel
def relax(offsets, masks, reduced, origin, y, lower, upper, pool, top, room, words):
    """Move every active multiplier to the middle of its optimal interval, as far as the effort goes; returns the bound.

    Undoes listed zeros.
    """
    for slot in range(top):
        now = y[slot]
        if now == 0:
            continue
        if room.effort[0] < 0:
            break
        size = pool.size[slot]
        cluster = pool.clusters[slot]
        if pool.subset[slot] >= 0:
            lower += relax_subset(slot, offsets, reduced, origin, y, upper - lower, pool, room)
            if lower >= upper:
                break
            continue
        first, second = INFINITE, INFINITE
        for j in range(size):
            v = pool.members[slot, j]
            room.effort[0] -= 4 * (offsets[v + 1] - offsets[v])
            disjoint, other = cheapest(offsets[v], offsets[v + 1], masks, reduced, cluster, words)
            room.a[j] = disjoint
            room.b[j] = other
            if disjoint < INFINITE:
                tie = disjoint + now - other if other < INFINITE else -INFINITE
                if tie < first:
                    second = first
                    first = tie
                elif tie < second:
                    second = tie
        if first == INFINITE:
            y[slot] += upper - lower
            return upper
        low = max(first, np.int64(0))
        if second <= 0:
            target = np.int64(0)
        elif second == INFINITE:
            target = low
        else:
            target = low + (second - low) // 2
        step = target - now
        if step == 0 or room.mass[0] + step > HEAVIEST // len(room.zeros):
            continue
        room.mass[0] += step
        y[slot] = target
        lower += step
        for j in range(size):
            least = min(room.a[j] - step, room.b[j])
            v = pool.members[slot, j]
            pay(offsets[v], offsets[v + 1], masks, reduced, cluster, words, step, least)
            lower += least
        if lower >= upper:
            break
    return lower
