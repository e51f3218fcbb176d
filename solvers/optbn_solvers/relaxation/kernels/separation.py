"""Violated clusters of a fractional point: seeds from cycles and pairs, improved by a tabu climb.

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
def violations_of_flips(inside, children, starts, parents, x, out):
    """out[v] = violation of C with v flipped, for all v in one pass over the support; returns C's own violation."""
    n = len(inside)
    size = 0
    for v in range(n):
        out[v] = 0.0
        size += inside[v]
    met = 0.0
    for f in range(len(children)):
        v = children[f]
        common, last = 0, -1
        for k in range(starts[f], starts[f + 1]):
            if inside[parents[k]]:
                common += 1
                last = parents[k]
        if inside[v]:
            if common:
                met += x[f]
                out[v] -= x[f]
                if common == 1:
                    out[last] -= x[f]
            else:
                for k in range(starts[f], starts[f + 1]):
                    out[parents[k]] += x[f]
        elif common:
            out[v] += x[f]
    for v in range(n):
        out[v] += met - (size - 2 if inside[v] else size)
    return met - (size - 1)


@kernel
def climb_clusters(seeds, children, starts, parents, x, least, steps, violation):
    """Improve each seed (bool[k, n], in place) to a set of larger violation; violation[k] is what it ends with.

    From each set the best flip is taken even when it is worse, a flipped variable rests for four steps, and the climb
    gives up after seven steps without a new best. Seeds that end below `least` get violation -1.
    """
    n = seeds.shape[1]
    out, rests = np.empty(n), np.empty(n, dtype=np.int64)
    inside = np.empty(n, dtype=np.bool_)
    for s in range(len(seeds)):
        size = 0
        for v in range(n):
            inside[v] = seeds[s, v]
            size += inside[v]
        best = violations_of_flips(inside, children, starts, parents, x, out)
        rests[:] = -1
        worse = 0
        for step in range(steps):
            flip = -1
            for v in range(n):
                if rests[v] < step and (not inside[v] or size > 2) and (flip < 0 or out[v] > out[flip] + 1e-9):
                    flip = v
            if flip < 0:
                break
            size += -1 if inside[flip] else 1
            inside[flip] = not inside[flip]
            rests[flip] = step + 4
            value = violations_of_flips(inside, children, starts, parents, x, out)
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
