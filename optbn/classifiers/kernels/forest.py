"""Walking rows down class-first count trees: predictions, and the leave-one-out losses of every SKDB at once.

A forest is the trees of some attributes end to end: the children of node u are children[u, 0] .. children[u, 1] - 1,
ascending by branch; tree t starts at node_at[t], and its values (one row of sizes[t] per node) at value_at[t]. Its
first question is the class, the next ones are the attributes asked[t, 0], asked[t, 1], ... (-1: no more). A branch that
is not there, or a code of -1, ends the walk: the deepest context that was seen answers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from optbn_solvers.base.compiled import kernel, leaf, part


@leaf
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
    """out[r, y] += sum over trees of log P(x | y, parents), for rows of int32[n, a]; unknown x add nothing.

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


class Rows(NamedTuple):
    """codes int32[n, a], classes int64[n], weights float64[n]."""

    codes: Any
    classes: Any
    weights: Any


class CountedTrees(NamedTuple):
    """A forest whose values are counts, and the totals of all nodes."""

    attribute: Any
    questions: Any
    sizes: Any
    node_at: Any
    value_at: Any
    children: Any
    branch: Any
    counts: Any
    totals: Any


LARGE, SMALL = 2.0**900, 2.0**300


@kernel
def _by_path(codes, attribute, questions, order, other, tally):
    """The rows by the value of the attribute, then of its first question, its second ...; the last key first.

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


@part
def _loss(product, r, k, own, whole, kind):
    """Of row r at depth k, see `leave_one_out`; of classes that are equally probable the first is the answer."""
    q = product[r, k, own] / whole
    if kind == 0:
        return (1.0 - q) * (1.0 - q)
    if kind == 2:
        return -math.log(max(q, 1e-300))
    for y in range(product.shape[2]):
        if product[r, k, y] > product[r, k, own] or (product[r, k, y] == product[r, k, own] and y < own):
            return 1.0
    return 0.0


@leaf
def _estimate(count, total, m, size):
    """The m-estimate."""
    return (count + m / size) / (total + m)


@leaf
def _still_known(codes, questions, last, r, known):
    """To what depth the path of row r is that of the row before it."""
    for d in range(known):
        if codes[last, questions[d]] != codes[r, questions[d]]:
            return d
    return known


@leaf
def _walk(trees, codes, questions, r, first, size, m, known, node, p):
    """Go on with the path of row r: at each depth the node and the estimate of every class; returns the last depth.

    first   where the node 0 of the tree would have the number of the row's value
    """
    counts, totals, children, branch = trees.counts, trees.totals, trees.children, trees.branch
    while known < len(p) - 1 and questions[known] >= 0 and codes[r, questions[known]] >= 0:
        value = codes[r, questions[known]]
        for y in range(p.shape[1]):
            u = node[known, y]
            if u >= 0:
                u = _child(u, value, children, branch)
            node[known + 1, y] = u
            p[known + 1, y] = p[known, y]
            if u >= 0:
                p[known + 1, y] = _estimate(counts[first + u * size], totals[u], m, size)
        known += 1
    return known


@kernel
def _before_trees(rows, prior, product, whole):
    """LARGE times the prior without the row, at every depth; the sums over the classes go to `whole`, float64[n, K]."""
    C = len(prior)
    total = prior.sum()
    for r in range(len(product)):
        own, w = rows.classes[r], min(rows.weights[r], 1.0)
        for y in range(C):
            count = prior[y] - (w if y == own else 0.0)
            for k in range(product.shape[1]):
                product[r, k, y] = LARGE * (count + 1.0 / C) / (total - w + 1.0)
        for k in range(product.shape[1]):
            whole[r, k] = product[r, k].sum()


@leaf
def _add_tree(t, trees, rows, m, order, node, p, product, whole):
    """Multiply the products of all rows, at every depth, by the estimates of tree t without them."""
    codes, classes, weights = rows
    counts, totals, children, branch = trees.counts, trees.totals, trees.children, trees.branch
    size, root, attribute, questions = trees.sizes[t], trees.node_at[t], trees.attribute[t], trees.questions[t]
    K, C = p.shape
    last, known = 0, -1  # the row before, and to what depth its path is known
    for i in range(len(order)):
        r = order[i]
        x, own, w = codes[r, attribute], classes[r], min(weights[r], 1.0)
        if x < 0:
            continue
        first = trees.value_at[t] - root * size + x
        own_p, own_on = 1.0 / size, True
        if totals[root] > w:
            own_p = _estimate(counts[first + root * size] - w, totals[root] - w, m, size)
        if known >= 0 and codes[last, attribute] == x and min(weights[last], 1.0) == w:
            known = _still_known(codes, questions, last, r, known)
        else:
            known = 0
            for y in range(C):
                u = _child(root, y, children, branch)
                node[0, y] = u
                p[0, y] = _estimate(counts[first + u * size], totals[u], m, size) if u >= 0 else own_p
        known = _walk(trees, codes, questions, r, first, size, m, known, node, p)
        last = r
        for k in range(K):
            if k <= known and own_on:
                u = node[k, own]
                own_on = u >= 0 and totals[u] > w * (1.0 + 1e-12)
                if own_on:
                    own_p = _estimate(counts[first + u * size] - w, totals[u] - w, m, size)
            d = min(k, known)
            others, p[d, own] = p[d, own], own_p
            total = 0.0
            for y in range(C):
                product[r, k, y] *= p[d, y]
                total += product[r, k, y]
            p[d, own] = others
            whole[r, k] = total


@kernel
def _add_losses(rows, kind, product, whole, losses, t):
    """The losses of all rows with the products as they are, at every depth; products that become small are scaled."""
    for r in range(len(product)):
        own, weight = rows.classes[r], rows.weights[r]
        for k in range(product.shape[1]):
            losses[k, t] += weight * _loss(product, r, k, own, whole[r, k], kind)
            if whole[r, k] < SMALL:
                product[r, k] *= LARGE / SMALL
                whole[r, k] *= LARGE / SMALL


@kernel
def leave_one_out(rows, prior, trees, m, kind, losses, watched, after, kept):
    """Add the loss of each row, left out of all counts, for every depth k and number of attributes.

    rows     Rows;  prior  float64[C], class counts;  trees  CountedTrees, for m-estimates
    losses   float64[k + 1, T + 1]: with the first 0 .. k parents and the first 0 .. T trees
    kind     0: (1 - P(y | x))^2, 1: whether another class is more probable, 2: -log P(y | x)
    watched  int64[w], rows whose P(. | x) with the first `after` trees is written to kept, float64[w, k + 1, C]
    A row of weight w stands for w equal rows, of which one (or all of w < 1) is left out. Products are kept between
    SMALL and LARGE by exact powers of two, so a class counts until it is e^-900 times less likely than the others.
    Rows are taken in the order of their paths down the tree, so that each walks only where it leaves the last one's;
    the estimates of classes other than its own are the same for all rows of a path.
    Twin: tests.naive.classifiers.leave_one_out_losses, by fitting without the row.
    """
    codes = rows.codes
    n, C, K, T = len(codes), len(prior), losses.shape[0], losses.shape[1] - 1
    product, whole = np.empty((n, K, C)), np.empty((n, K))
    node, p = np.empty((K, C), dtype=np.int64), np.empty((K, C))  # at every depth of the path
    order, other = np.arange(n), np.empty(n, dtype=np.int64)
    tally = np.empty(codes.max() + 3 if codes.size else 0, dtype=np.int64)
    _before_trees(rows, prior, product, whole)
    for t in range(T + 1):
        if t > 0:
            questions = trees.questions[t - 1, : K - 1]
            order, other = _by_path(codes, trees.attribute[t - 1], questions, order, other, tally)
            _add_tree(t - 1, trees, rows, m, order, node, p, product, whole)
        if t == after:
            for i in range(len(watched)):
                r = watched[i]
                for k in range(K):
                    kept[i, k] = product[r, k] / whole[r, k]
        _add_losses(rows, kind, product, whole, losses, t)
