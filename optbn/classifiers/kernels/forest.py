"""Walking rows down class-first count trees: predictions, and the leave-one-out losses of every SKDB at once.

A forest is the trees of some attributes end to end: the children of node u are children[u, 0] .. children[u, 1] - 1,
ascending by branch; tree t starts at node_at[t], and its values (one row of sizes[t] per node) at value_at[t]. Its
first question is the class, the next ones are the attributes asked[t, 0], asked[t, 1], ... (-1: no more). A branch that
is not there, or a code of -1, ends the walk: the deepest context that was seen answers.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, inline="always")
def _child(u, value, children, branch):
    """The child of u on the branch `value`, or -1; when all branches are there, it is where its number says."""
    low, high = children[u, 0], children[u, 1]
    if value < high - low and branch[low + value] == value:
        return low + value
    end = high
    while low < high:
        middle = (low + high) // 2
        if branch[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if low < end and branch[low] == value else -1


@njit(cache=True, nogil=True)
def add_logs(codes, attribute, asked, sizes, node_at, value_at, children, branch, logs, out):
    """out[r, y] += sum over trees of log P(x | y, parents), for rows of int32[n, a]; unknown x say nothing.

    Twin: tests.naive.classifiers.log_joint.
    """
    n, C = out.shape
    for t in range(len(attribute)):
        for r in range(n):
            x = codes[r, attribute[t]]
            if x < 0:
                continue
            for y in range(C):
                u = node_at[t]
                below = _child(u, y, children, branch)
                d = 0
                while below >= 0:
                    u = below
                    if d == asked.shape[1] or asked[t, d] < 0:
                        break
                    value = codes[r, asked[t, d]]
                    below = _child(u, value, children, branch) if value >= 0 else -1
                    d += 1
                out[r, y] += logs[value_at[t] + np.int64(u - node_at[t]) * sizes[t] + x]


LARGE, SMALL = 2.0**900, 2.0**300


@njit(cache=True, nogil=True)
def leave_one_out(
    codes, classes, weights, prior, attribute, asked, sizes, node_at, value_at, children, branch, smooth, counts,
    totals, m, choice, losses, picked
):  # fmt: skip
    """Add the loss (1 - P(y | x))^2 of each row, left out of all counts, for every depth k and number of attributes.

    prior    float64[C], class counts;  counts, totals  of all nodes, and the m-estimates `smooth` made of them
    losses   float64[k + 1, T + 1]: with the first 0 .. k parents and the first 0 .. T trees
    choice   (k, trees) at which P(. | x) is written to picked, float64[n or 0, C]
    A row of weight w stands for w equal rows, of which one (or all of w < 1) is left out. Products are kept between
    SMALL and LARGE by exact powers of two, so a class counts until it is e^-900 times less likely than the others.
    Twin: tests.naive.classifiers.leave_one_out_losses, by fitting without the row.
    """
    n, C, T, K = len(codes), len(prior), len(attribute), losses.shape[0]
    product = np.empty((n, C, K))
    whole, value = np.empty(K), np.empty(K, dtype=np.int32)
    rows = prior.sum()
    for r in range(n):
        own, w = classes[r], min(weights[r], 1.0)
        for y in range(C):
            count = prior[y] - (w if y == own else 0.0)
            product[r, y, :] = LARGE * (count + 1.0 / C) / (rows - w + 1.0)
    for t in range(T + 1):
        for r in range(n):
            own, w, mine = classes[r], min(weights[r], 1.0), product[r]
            x = codes[r, attribute[t - 1]] if t > 0 else -1
            whole[:] = 0.0
            if x < 0:
                for y in range(C):
                    for k in range(K):
                        whole[k] += mine[y, k]
            else:
                size, root = sizes[t - 1], node_at[t - 1]
                first = value_at[t - 1] - root * size + x  # where node u has the number of x, less u size
                deepest = 0
                while deepest + 1 < K and asked[t - 1, deepest] >= 0 and codes[r, asked[t - 1, deepest]] >= 0:
                    value[deepest] = codes[r, asked[t - 1, deepest]]
                    deepest += 1
                at_root = counts[first + root * size] - w + m / size
                at_root = at_root / (totals[root] - w + m) if totals[root] > w else 1.0 / size
                for y in range(C):
                    p, k = at_root, 0
                    u = np.int64(_child(root, y, children, branch))
                    if y == own:
                        while u >= 0 and totals[u] > w * (1.0 + 1e-12):
                            p = (counts[first + u * size] - w + m / size) / (totals[u] - w + m)
                            mine[y, k] *= p
                            whole[k] += mine[y, k]
                            u = np.int64(_child(u, value[k], children, branch)) if k < deepest else -1
                            k += 1
                    else:
                        while u >= 0:
                            p = smooth[first + u * size]
                            mine[y, k] *= p
                            whole[k] += mine[y, k]
                            u = np.int64(_child(u, value[k], children, branch)) if k < deepest else -1
                            k += 1
                    while k < K:
                        mine[y, k] *= p
                        whole[k] += mine[y, k]
                        k += 1
            for k in range(K):
                short = 1.0 - mine[own, k] / whole[k]
                losses[k, t] += weights[r] * short * short
                if k == choice[0] and t == choice[1] and len(picked) > 0:
                    for y in range(C):
                        picked[r, y] = mine[y, k] / whole[k]
                if whole[k] < SMALL:
                    for y in range(C):
                        mine[y, k] *= LARGE / SMALL
