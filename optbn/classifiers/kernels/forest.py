"""Walking rows down class-first count trees: predictions, and the leave-one-out losses of every SKDB at once.

A forest is the trees of some attributes end to end: the children of node u are children[u, 0] .. children[u, 1] - 1,
ascending by branch; tree t starts at node_at[t], and its values (one row of sizes[t] per node) at value_at[t]. Its
first question is the class, the next ones are the attributes asked[t, 0], asked[t, 1], ... (-1: no more). A branch that
is not there, or a code of -1, ends the walk: the deepest context that was seen answers.
"""

from __future__ import annotations

import math

import numpy as np

from optbn_solvers.base.compiled import kernel


@kernel
def _child(u, value, children, branch):
    """The child of u on the branch `value`, or -1.

    Branches ascend, so it is not further on than its value says, and there exactly when none below it is missing. (The
    conditions are nested and not joined by `and`, which numba compiles to code four times slower.)
    """
    low, high = np.int64(children[u, 0]), np.int64(children[u, 1])
    if low == high:
        return np.int64(-1)
    at = low + min(np.int64(value), high - low - 1)
    if branch[at] == value:
        return at
    high = at
    while low < high:
        middle = (low + high) >> 1
        if branch[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if branch[low] == value else np.int64(-1)


@kernel
def add_logs(codes, attribute, questions, sizes, node_at, value_at, children, branch, logs, out):
    """out[r, y] += sum over trees of log P(x | y, parents), for rows of int32[n, a]; unknown x say nothing.

    Twin: tests.naive.classifiers.log_joint.
    """
    n, C = out.shape
    top, start = np.empty(C, dtype=np.int64), np.empty(C, dtype=np.int64)  # of the class all rows ask alike
    node, found = np.empty(C, dtype=np.int64), np.empty(C, dtype=np.int64)
    for t in range(len(attribute)):
        size, root, attr = sizes[t], node_at[t], attribute[t]
        first = value_at[t] - root * size  # the values of node u begin at first + u size
        for y in range(C):
            top[y] = _child(root, y, children, branch)
            start[y] = first + (top[y] if top[y] >= 0 else root) * size
        deepest = 0
        while deepest < questions.shape[1] and questions[t, deepest] >= 0:
            deepest += 1
        for r in range(n):
            x = codes[r, attr]
            if x < 0:
                continue
            if deepest == 0:
                for y in range(C):
                    out[r, y] += logs[start[y] + x]
                continue
            for y in range(C):
                node[y], found[y] = top[y], start[y]
            alive, d = C, 0
            while alive > 0 and d < deepest and codes[r, questions[t, d]] >= 0:
                value = codes[r, questions[t, d]]
                alive = 0
                for y in range(C):
                    if node[y] >= 0:
                        node[y] = _child(node[y], value, children, branch)
                        if node[y] >= 0:
                            found[y] = first + node[y] * size
                            alive += 1
                d += 1
            for y in range(C):
                out[r, y] += logs[found[y] + x]


LARGE, SMALL = 2.0**900, 2.0**300


@kernel
def _by_path(codes, attribute, questions, order, other, tally):
    """The rows by the value of the attribute, then of what is asked first, second, ...; from the last key to the first.

    order, other  int64[n], the first holds rows in any order; returns (order, the other one)
    """
    n = len(order)
    for d in range(len(questions) - 1, -2, -1):
        a = attribute if d < 0 else questions[d]
        if a < 0:
            continue
        for v in range(len(tally)):
            tally[v] = 0
        for r in range(n):
            tally[codes[r, a] + 2] += 1
        for v in range(1, len(tally)):
            tally[v] += tally[v - 1]
        for i in range(n):
            v = codes[order[i], a] + 1
            other[tally[v]] = order[i]
            tally[v] += 1
        order, other = other, order
    return order, other


@kernel
def _loss(product, own, whole, kind):
    """See `leave_one_out`; of equally probable classes the first is said."""
    p = product[own] / whole
    if kind == 0:
        return (1.0 - p) * (1.0 - p)
    if kind == 2:
        return -math.log(max(p, 1e-300))
    for y in range(len(product)):
        if product[y] > product[own] or (product[y] == product[own] and y < own):
            return 1.0
    return 0.0


@kernel
def leave_one_out(
    codes, classes, weights, prior, attribute, questions, sizes, node_at, value_at, children, branch, counts,
    totals, m, kind, choice, losses, picked
):  # fmt: skip
    """Add the loss of each row, left out of all counts, for every depth k and number of attributes.

    prior    float64[C], class counts;  counts, totals  of all nodes, for m-estimates
    losses   float64[k + 1, T + 1]: with the first 0 .. k parents and the first 0 .. T trees
    kind     0: (1 - P(y | x))^2, 1: whether another class is more probable, 2: -log P(y | x)
    choice   (k, trees) at which P(. | x) is written to picked, float64[n or 0, C]
    A row of weight w stands for w equal rows, of which one (or all of w < 1) is left out. Products are kept between
    SMALL and LARGE by exact powers of two, so a class counts until it is e^-900 times less likely than the others.
    Rows are taken in the order of their paths down the tree, so that each walks only where it leaves the last one's;
    what a class other than its own says is the same for all rows of a path.
    Twin: tests.naive.classifiers.leave_one_out_losses, by fitting without the row.
    """
    n, C, T, K = len(codes), len(prior), len(attribute), losses.shape[0]
    product = np.empty((n, K, C))
    node, p = np.empty((K, C), dtype=np.int64), np.empty((K, C))  # at every depth of the path
    order, other = np.arange(n), np.empty(n, dtype=np.int64)
    tally = np.empty(codes.max() + 3 if codes.size else 0, dtype=np.int64)
    rows = prior.sum()
    for r in range(n):
        own, w = classes[r], min(weights[r], 1.0)
        for y in range(C):
            count = prior[y] - (w if y == own else 0.0)
            for k in range(K):
                product[r, k, y] = LARGE * (count + 1.0 / C) / (rows - w + 1.0)
    for t in range(T + 1):
        size, root, first, attr = 0, 0, 0, 0
        if t > 0:
            size, root, attr = sizes[t - 1], node_at[t - 1], attribute[t - 1]
            order, other = _by_path(codes, attr, questions[t - 1, : K - 1], order, other, tally)
        last, known = 0, -1  # the row before, and to what depth its path is known
        for i in range(n):
            r = order[i]
            own, w = classes[r], min(weights[r], 1.0)
            x = codes[r, attr] if t > 0 else -1
            own_p, own_on = 1.0, False
            if x >= 0:
                first = value_at[t - 1] - root * size + x  # where node u has the number of x, less u size
                own_p = 1.0 / size
                if totals[root] > w:
                    own_p = (counts[first + root * size] - w + m / size) / (totals[root] - w + m)
                own_on = True
                if known >= 0 and (codes[last, attr] != x or min(weights[last], 1.0) != w):
                    known = -1
                if known < 0:
                    for y in range(C):
                        node[0, y] = _child(root, y, children, branch)
                        u = node[0, y]
                        p[0, y] = (counts[first + u * size] + m / size) / (totals[u] + m) if u >= 0 else own_p
                    known = 0
                else:
                    for d in range(known):
                        if codes[last, questions[t - 1, d]] != codes[r, questions[t - 1, d]]:
                            known = d
                            break
                while known < K - 1 and questions[t - 1, known] >= 0 and codes[r, questions[t - 1, known]] >= 0:
                    value = codes[r, questions[t - 1, known]]
                    for y in range(C):
                        u = node[known, y]
                        if u >= 0:
                            u = _child(u, value, children, branch)
                        node[known + 1, y] = u
                        p[known + 1, y] = p[known, y]
                        if u >= 0:
                            p[known + 1, y] = (counts[first + u * size] + m / size) / (totals[u] + m)
                    known += 1
                last = r
            for k in range(K):
                whole = 0.0
                if x >= 0:
                    if k <= known and own_on:
                        u = node[k, own]
                        own_on = u >= 0 and totals[u] > w * (1.0 + 1e-12)
                        if own_on:
                            own_p = (counts[first + u * size] - w + m / size) / (totals[u] - w + m)
                    d = min(k, known)
                    others, p[d, own] = p[d, own], own_p
                    for y in range(C):
                        product[r, k, y] *= p[d, y]
                        whole += product[r, k, y]
                    p[d, own] = others
                else:
                    for y in range(C):
                        whole += product[r, k, y]
                losses[k, t] += weights[r] * _loss(product[r, k], own, whole, kind)
                if k == choice[0] and t == choice[1] and len(picked) > 0:
                    for y in range(C):
                        picked[r, y] = product[r, k, y] / whole
                if whole < SMALL:
                    for y in range(C):
                        product[r, k, y] *= LARGE / SMALL
