"""The leave-one-out loss of hierarchical gradient smoothing; `optbn.smoothing.gradient` states it."""

from __future__ import annotations

import math

import numpy as np

from optbn_solvers.base.compiled import kernel


@kernel
def leave_one_out(strength, node, level, counts, totals, parent, place, gradient, own):
    """The loss of all rows, each predicted without itself; its gradient by log strength is added to `gradient`.

    strength  float64[p], that of the uniform distribution last
    node, level  int64[c], the leaves' cells with rows
    place     int64[m], which strength a node has as an ancestor
    own       float64[c, deepest + 2] or of no rows: per cell the derivative of one row's loss by the log strengths of
              its ancestors from the nearest up, and of the uniform last
    """
    K = counts.shape[1]
    last = len(strength) - 1
    loss = 0.0
    for j in range(len(node)):
        leaf, k = node[j], level[j]
        n = counts[leaf, k]
        above = n - 1.0 + strength[last] / K
        below = totals[leaf] - 1.0 + strength[last]
        p = parent[leaf]
        while p >= 0:
            if totals[p] > 1.0:  # without its only row a context is unknown, and says nothing
                a = strength[place[p]]
                above += a * (counts[p, k] - 1.0) / (totals[p] - 1.0)
                below += a
            p = parent[p]
        loss -= n * math.log(above / below)
        p = parent[leaf]
        d = 0
        while p >= 0:
            if totals[p] > 1.0:
                a = strength[place[p]]
                slope = a * (1.0 / below - (counts[p, k] - 1.0) / (totals[p] - 1.0) / above)
                gradient[place[p]] += n * slope
                if len(own):
                    own[j, d] = slope
            p = parent[p]
            d += 1
        slope = strength[last] * (1.0 / below - 1.0 / K / above)
        gradient[last] += n * slope
        if len(own):
            own[j, -1] = slope
    return loss


@kernel
def inverse_trace(own, counts, node, parent, place, penalty):
    """trace((G + penalty I)^{-1}), G = sum over cells of counts times own own', by strength; O(cells depth^2).

    A strength meets only those of its ancestors and the uniform's, and these meet each other, so elimination from the
    deepest up adds nothing to that pattern (row s: itself, its ancestors from the nearest up, the uniform's last). The
    inverse is needed at its places alone, and they follow from the top down (Takahashi, Fagan and Chen 1973).
    """
    width = own.shape[1]
    size = 1
    for u in range(len(place)):
        size += place[u] >= 0
    up = np.full(size, -1, dtype=np.int64)
    for u in range(len(place)):
        if place[u] >= 0 and parent[u] >= 0:
            up[place[u]] = place[parent[u]]
    matrix, inverse = np.zeros((size, width)), np.zeros((size, width))
    last, far = size - 1, width - 1
    for s in range(size):
        matrix[s, 0] = penalty
    for j in range(len(node)):
        s = place[parent[node[j]]] if parent[node[j]] >= 0 else -1
        d = 0
        while s >= 0:
            slope = counts[j] * own[j, d]
            a, i = s, 0
            while a >= 0:
                matrix[s, i] += slope * own[j, d + i]
                a, i = up[a], i + 1
            matrix[s, far] += slope * own[j, far]
            s, d = up[s], d + 1
        matrix[last, 0] += counts[j] * own[j, far] * own[j, far]
    for s in range(last):
        a, i = up[s], 1
        while a >= 0:
            share = matrix[s, i] / matrix[s, 0]
            b, k = a, i
            while b >= 0:
                matrix[a, k - i] -= share * matrix[s, k]
                b, k = up[b], k + 1
            matrix[a, far] -= share * matrix[s, far]
            a, i = up[a], i + 1
        matrix[last, 0] -= matrix[s, far] * matrix[s, far] / matrix[s, 0]
    trace = 1.0 / matrix[last, 0]
    inverse[last, 0] = trace
    for s in range(last - 1, -1, -1):
        total, whole = matrix[s, far] * inverse[last, 0], 1.0
        a, i = up[s], 1
        while a >= 0:
            total += matrix[s, i] * inverse[a, far]
            one = matrix[s, far] * inverse[a, far]
            b, k = up[s], 1
            while b >= 0:
                one += matrix[s, k] * (inverse[b, i - k] if k < i else inverse[a, k - i])
                b, k = up[b], k + 1
            inverse[s, i] = -one / matrix[s, 0]
            whole -= matrix[s, i] * inverse[s, i]
            a, i = up[a], i + 1
        inverse[s, far] = -total / matrix[s, 0]
        whole -= matrix[s, far] * inverse[s, far]
        inverse[s, 0] = whole / matrix[s, 0]
        trace += inverse[s, 0]
    return trace


@kernel
def combine(strength, counts, totals, parent, place, probabilities, unseen):
    """probabilities[u] = (n_u + sum over ancestors a_p f_p + a_0/K) / (N_u + sum a_p + a_0), f the frequencies.

    unseen[u] is the same for an empty child of u. Nodes breadth first, so the sums are carried down.
    """
    m, K = counts.shape
    mass = np.empty((m, K))
    weight = np.empty(m)
    uniform = strength[len(strength) - 1]
    for u in range(m):
        p = parent[u]
        for k in range(K):
            if p < 0:
                mass[u, k] = uniform / K
            else:
                mass[u, k] = mass[p, k] + strength[place[p]] * counts[p, k] / totals[p]
        weight[u] = uniform if p < 0 else weight[p] + strength[place[p]]
        own = strength[place[u]] if place[u] >= 0 else 0.0
        for k in range(K):
            f = counts[u, k] / totals[u] if totals[u] > 0.0 else 1.0 / K
            whole = totals[u] + weight[u]
            probabilities[u, k] = (counts[u, k] + mass[u, k]) / whole if whole > 0.0 else 1.0 / K
            unseen[u, k] = (mass[u, k] + own * f) / (weight[u] + own) if own > 0.0 else probabilities[u, k]
