"""Cutting a grown tree back: a subtree becomes a leaf where the leaf is expected to make no more errors.

pessimistic   C4.5's error-based pruning: the errors of a leaf with N rows and e errors among them are N times the upper
              end of a one-sided confidence interval for e / N; a leaf may be worse by a tenth of an error. Subtrees are
              replaced by leaves, not raised.
reduced       errors on rows that growing has not seen
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.trees.tree import Tree

SLACK = 0.1


def pessimistic(tree: Tree, confidence: float) -> NDArray[np.bool_]:
    """Which nodes become leaves."""
    own = expected_errors(tree.counts, confidence)
    return _where_leaves_win(tree, own, SLACK)


def reduced(tree: Tree, held_out: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which nodes become leaves, given the counts of other rows at every node; ties are for the leaf."""
    predicted = tree.counts.argmax(axis=1)
    own = held_out.sum(axis=1) - held_out[np.arange(tree.size), predicted]
    return _where_leaves_win(tree, own, 0.0)


def _where_leaves_win(tree: Tree, own: NDArray[np.float64], slack: float) -> NDArray[np.bool_]:
    """Bottom up: a node's errors are those of its children, or its own as a leaf if these are no more."""
    errors = own.copy()
    leaves = tree.children == 0
    for d in range(int(tree.depth[-1]) - 1, -1, -1):
        level = np.flatnonzero((tree.depth == d) & (tree.children > 0))
        below = np.add.reduceat(errors, _edges(tree, level))[::2] if len(level) else np.zeros(0)
        win = own[level] <= below + slack
        leaves[level] = win
        errors[level] = np.where(win, own[level], below)
    return np.asarray(leaves)


def _edges(tree: Tree, level: NDArray[np.int64]) -> NDArray[np.int64]:
    """Begin and end of each node's children, for sums over every other run; the last end may be the end of all."""
    edges = np.stack([tree.first[level], tree.first[level] + tree.children[level]], axis=1).ravel().astype(np.int64)
    return edges[:-1] if edges[-1] == tree.size else edges


def expected_errors(counts: NDArray[np.float64], confidence: float) -> NDArray[np.float64]:
    """float64[m]: N times the upper confidence limit of the error rate of leaves with these counts.

    No errors: 1 - confidence^(1/N), exactly. One or more: the normal approximation with a half added for continuity;
    between, a line.
    """
    from scipy.stats import norm

    N = counts.sum(axis=1)
    errors = N - counts.max(axis=1, initial=0.0)
    safe = np.maximum(N, 1e-9)
    none = safe * (1.0 - confidence ** (1.0 / safe))
    z = float(norm.isf(confidence))

    def normal(e: NDArray[np.float64]) -> NDArray[np.float64]:
        f = np.minimum((e + 0.5) / safe, 1.0)
        middle = f + z * z / (2 * safe)
        radius = z * np.sqrt(np.maximum(f / safe - f * f / safe + z * z / (4 * safe * safe), 0.0))
        limit = np.where(e + 0.5 >= safe, safe, safe * (middle + radius) / (1 + z * z / safe))
        return np.asarray(np.maximum(limit, e))

    line = none + errors * (normal(np.ones_like(N)) - none)
    limit = np.where(errors < 1e-9, none, np.where(errors < 1.0, line, normal(errors)))
    return np.asarray(np.where(N > 0, np.maximum(limit, errors), 0.0))
