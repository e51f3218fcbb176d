"""Violated clusters of a fractional point: seeds from cycles, pairs and stuck orders, improved by a tabu climb.

The point is its support: families with `children`, parent lists (`starts`, `parents`) and values x > 0 (families
without parents left out). A set C is bool[n]; its violation is  sum of x(v in C, P meets C) - (|C| - 1).
Twins: tests/naive/ilp.py.
"""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.compiled import kernel


@kernel
def arc_weights(n, children, starts, parents, x):
    """float64[n, n]: how much u is a parent of v in the point, at [u, v]."""
    weight = np.zeros((n, n))
    for f in range(len(children)):
        for k in range(starts[f], starts[f + 1]):
            weight[parents[k], children[f]] += x[f]
    return weight


@kernel
def cycle_seeds(weight, seeds):
    """Shortest cycles through each variable under arc lengths max(0, 1 - weight); fills bool rows, returns how many.

    A cycle of length below 1 is a violated cycle inequality; its variables are a good place to start. O(n^3).
    """
    n = len(weight)
    distance, before, done = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.bool_)
    count = 0
    for source in range(n):
        distance[:] = 2.0
        done[:] = False
        distance[source] = 0.0
        before[source] = -1
        while count < len(seeds):
            u = -1
            for v in range(n):
                if not done[v] and distance[v] < 1.0 and (u < 0 or distance[v] < distance[u]):
                    u = v
            if u < 0:
                break
            done[u] = True
            for v in range(n):
                if weight[u, v] > 1e-7:
                    length = distance[u] + max(0.0, 1.0 - weight[u, v])
                    if v == source:
                        if length < 1.0:
                            seeds[count] = False
                            t = u
                            while t >= 0:
                                seeds[count, t] = True
                                t = before[t]
                            count += 1
                            if count == len(seeds):
                                break
                    elif length < distance[v]:
                        distance[v] = length
                        before[v] = u
    return count


@kernel
def grow_set(weight, noise, chosen):
    """Add to the set `chosen` (bool[n], in place), for each row of `noise`, the variable most tied to it in both
    directions, a little moved by the noise; ends where none is tied to it. weight[u, v]: how much u is a parent of v.
    """
    n = len(chosen)
    into, out = np.zeros(n), np.zeros(n)
    for u in range(n):
        if chosen[u]:
            for v in range(n):
                into[v] += weight[u, v]
                out[v] += weight[v, u]
    for turn in range(len(noise)):
        node, most = -1, 1e-9
        for v in range(n):
            if not chosen[v]:
                tie = (min(into[v], out[v]) + 0.05 * (into[v] + out[v])) * (1.0 + 0.5 * noise[turn, v])
                if tie > most:
                    node, most = v, tie
        if node < 0:
            break
        chosen[node] = True
        for v in range(n):
            into[v] += weight[node, v]
            out[v] += weight[v, node]


@kernel
def largest_part(weight, least, chosen):
    """Of the set `chosen` (bool[n], in place; 62 members at most) leave the first largest part that arcs of more than
    `least` connect in both directions."""
    members = np.flatnonzero(chosen)
    m = len(members)
    reach = np.zeros(m, dtype=np.int64)
    for i in range(m):
        reach[i] = np.int64(1) << i
        for j in range(m):
            if weight[members[i], members[j]] > least:
                reach[i] |= np.int64(1) << j
    for k in range(m):
        for i in range(m):
            if (reach[i] >> k) & 1:
                reach[i] |= reach[k]
    first, most = 0, 0
    for i in range(m):
        size = 0
        for j in range(m):
            size += (reach[i] >> j) & (reach[j] >> i) & 1
        if size > most:
            first, most = i, size
    for j in range(m):
        chosen[members[j]] = (reach[first] >> j) & (reach[j] >> first) & 1 == 1


@kernel
def families_by_variable(n, children, starts, parents):
    """(first int64[n + 1], touching int64[...]): touching[first[v]:first[v + 1]] are the families of v, as the child
    or as a parent."""
    first = np.zeros(n + 1, dtype=np.int64)
    for f in range(len(children)):
        first[children[f] + 1] += 1
        for k in range(starts[f], starts[f + 1]):
            first[parents[k] + 1] += 1
    for v in range(n):
        first[v + 1] += first[v]
    end = first[:-1].copy()
    touching = np.empty(first[n], dtype=np.int64)
    for f in range(len(children)):
        touching[end[children[f]]] = f
        end[children[f]] += 1
        for k in range(starts[f], starts[f + 1]):
            touching[end[parents[k]]] = f
            end[parents[k]] += 1
    return first, touching


@kernel
def count_family(f, sign, inside, children, starts, parents, x, common, sole, meeting, turning):
    """Add (`sign` 1) or take back (-1) what family f means for the flips of a set.

    common[f] parents are inside, with the sum of numbers sole[f] (their number, if it is one). meeting[v] is the value
    of v's families that meet the set, turning[u] that of members' families that begin or cease to meet it when u flips.
    """
    child = children[f]
    if common[f] > 0:
        meeting[child] += sign * x[f]
    if inside[child]:
        if common[f] == 1:
            turning[sole[f]] += sign * x[f]
        elif common[f] == 0:
            for k in range(starts[f], starts[f + 1]):
                turning[parents[k]] += sign * x[f]


@kernel
def flip_member(w, inside, first, touching, children, starts, parents, x, common, sole, meeting, turning):
    """Flip w, and keep the books; cost: the parents of the families that w is in."""
    for i in range(first[w], first[w + 1]):
        count_family(touching[i], -1.0, inside, children, starts, parents, x, common, sole, meeting, turning)
    step = -1 if inside[w] else 1
    inside[w] = not inside[w]
    for i in range(first[w], first[w + 1]):
        f = touching[i]
        if children[f] != w:
            common[f] += step
            sole[f] += step * w
    for i in range(first[w], first[w + 1]):
        count_family(touching[i], 1.0, inside, children, starts, parents, x, common, sole, meeting, turning)


@kernel
def climb_clusters(seeds, held, children, starts, parents, x, least, steps, violation):
    """Improve each seed (bool[k, n], in place) to a set of larger violation; violation[k] is what it ends with.

    From each set the best flip is taken even when it is worse, a flipped variable rests for four steps, and the climb
    gives up after seven steps without a new best. Variable held[k] of seed k is never flipped (-1: there is none).
    Seeds that end below `least` get violation -1.
    """
    n, size_of = seeds.shape[1], len(children)
    first, touching = families_by_variable(n, children, starts, parents)
    common, sole = np.empty(size_of, dtype=np.int64), np.empty(size_of, dtype=np.int64)
    meeting, turning = np.empty(n), np.empty(n)
    rests = np.empty(n, dtype=np.int64)
    inside = np.empty(n, dtype=np.bool_)
    for s in range(len(seeds)):
        size = 0
        for v in range(n):
            inside[v] = seeds[s, v]
            size += inside[v]
        meeting[:] = 0.0
        turning[:] = 0.0
        for f in range(size_of):
            common[f] = 0
            sole[f] = 0
            for k in range(starts[f], starts[f + 1]):
                if inside[parents[k]]:
                    common[f] += 1
                    sole[f] += parents[k]
            count_family(f, 1.0, inside, children, starts, parents, x, common, sole, meeting, turning)
        value = 1.0 - size
        for v in range(n):
            if inside[v]:
                value += meeting[v]
        best = value
        rests[:] = -1
        if held[s] >= 0:
            rests[held[s]] = steps
        worse = 0
        for step in range(steps):
            flip = -1
            gain = 0.0
            for v in range(n):
                if rests[v] < step and (not inside[v] or size > 2):
                    change = meeting[v] + turning[v] - 1.0
                    if inside[v]:
                        change = -change
                    if flip < 0 or change > gain + 1e-9:
                        flip, gain = v, change
            if flip < 0:
                break
            value += gain
            size += -1 if inside[flip] else 1
            flip_member(flip, inside, first, touching, children, starts, parents, x, common, sole, meeting, turning)
            rests[flip] = step + 4
            if value > best + 1e-9:
                best = value
                for v in range(n):
                    seeds[s, v] = inside[v]
                worse = 0
            else:
                worse += 1
                if worse > 6:
                    break
        violation[s] = best if best > least else -1.0


@kernel
def stuck_sets(begin, noise, children, starts, parents, x, least, most, last):
    """Order the members of each set begin[k] (bool[k, n]): next comes the one with the largest value of families whose
    parents among the members are all placed, plus noise[k, v]. What is not placed yet is a cluster at every step:
    most[k] becomes the one with the largest violation, last[k] the smallest that is violated by `least` (both empty
    where none is violated). Cost: the support and n^2 / 2 for each set.
    """
    n = begin.shape[1]
    first, touching = families_by_variable(n, children, starts, parents)
    left = np.empty(len(children), dtype=np.int64)
    free = np.empty(n)  # 1 - the value of v's families with a parent that is not placed
    inside = np.empty(n, dtype=np.bool_)
    for s in range(len(begin)):
        size = 0
        for v in range(n):
            inside[v] = begin[s, v]
            size += inside[v]
            free[v] = 1.0
            most[s, v] = last[s, v] = False
        for f in range(len(children)):
            left[f] = 0
            for k in range(starts[f], starts[f + 1]):
                left[f] += inside[parents[k]]
            if left[f]:
                free[children[f]] -= x[f]
        total = 0.0
        for v in range(n):
            if inside[v]:
                total += free[v]
        largest = 0.0
        while size > 1:
            violation = 1.0 - total
            if violation > largest + 1e-9:
                largest = violation
                for v in range(n):
                    most[s, v] = inside[v]
            if violation > least:
                for v in range(n):
                    last[s, v] = inside[v]
            chosen = -1
            for v in range(n):
                if inside[v] and (chosen < 0 or free[v] + noise[s, v] > free[chosen] + noise[s, chosen]):
                    chosen = v
            inside[chosen] = False
            size -= 1
            total -= free[chosen]
            for i in range(first[chosen], first[chosen + 1]):
                f = touching[i]
                if children[f] != chosen:
                    left[f] -= 1
                    if left[f] == 0:
                        free[children[f]] += x[f]
                        if inside[children[f]]:
                            total += x[f]
