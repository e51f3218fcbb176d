"""Rows down trees: predictions with unknown values, counts of new rows; `trees.tree` has the arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from optbn_solvers.base.compiled import kernel, leaf


@kernel
def depths(parent):
    """int64[m]: how far each node is from the root; parents come before children."""
    found = np.zeros(len(parent), dtype=np.int64)
    for u in range(1, len(parent)):
        found[u] = found[parent[u]] + 1
    return found


@leaf
def child(node, value, kind, cut, first, children, branch):
    """The child that a known or unknown (NaN) value leads to: -1 where there is none, -2 to follow all of them."""
    low, high = first[node], first[node] + children[node]
    if kind > 0:
        if np.isnan(value):
            if branch[high - 1] == 2:
                return high - 1
            return -1 if kind == 2 else -2
        wanted = 0 if value <= cut[node] else 1
    elif np.isnan(value):
        return -2
    else:
        wanted = np.int32(value)
    there = low + wanted  # mostly no branch is missing
    if low <= there < high and branch[there] == wanted:
        return there
    while low < high:
        middle = (low + high) >> 1
        if branch[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < first[node] + children[node] and branch[low] == wanted else -1


class Nodes(NamedTuple):
    """kind int64[A]; per node as in `trees.tree`: attribute, cut, first, children, branch, and totals, in proportion to
    which an unknown value goes down every branch."""

    kind: Any
    attribute: Any
    cut: Any
    first: Any
    children: Any
    branch: Any
    totals: Any


@kernel
def spread(values, rows, nodes, weights, classes, answers, out):
    """Every row's weight down the tree: out[r] += weight * answers[node] where it ends, or out[node, class] += weight.

    values   float64[A, n], levels as numbers, NaN for unknown;  rows  those to walk
    answers  float64[m, C] to predict (out float64[n, C]), or of no rows to count (out float64[m, C], all nodes passed)
    Twin: tests.naive.trees.posterior.
    """
    kind, attribute, cut, first, children, branch, totals = nodes
    waiting, share = np.empty(64, dtype=np.int64), np.empty(64)
    for r in rows:
        waiting[0], share[0] = 0, weights[r]
        depth = 1
        while depth > 0:
            depth -= 1
            node, w = waiting[depth], share[depth]
            if len(answers) == 0:
                out[node, classes[r]] += w
            follow = -1
            while children[node] > 0:
                a = attribute[node]
                follow = child(node, values[a, r], kind[a], cut, first, children, branch)
                if follow < 0:
                    break
                node = follow
                if len(answers) == 0:
                    out[node, classes[r]] += w
            if children[node] > 0 and follow == -2:
                if depth + children[node] > len(waiting):
                    more = 2 * (depth + children[node])
                    longer, shares = np.empty(more, dtype=np.int64), np.empty(more)
                    longer[:depth], shares[:depth] = waiting[:depth], share[:depth]
                    waiting, share = longer, shares
                whole = 0.0
                for k in range(first[node], first[node] + children[node]):
                    whole += totals[k]
                for k in range(first[node], first[node] + children[node]):
                    waiting[depth], share[depth] = k, w * totals[k] / whole
                    depth += 1
            elif len(answers):
                for c in range(out.shape[1]):
                    out[r, c] += w * answers[node, c]
