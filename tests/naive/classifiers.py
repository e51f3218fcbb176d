"""Slow, obvious versions of what the classifiers' kernels do; nothing here is shared with them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

Parents = Mapping[int, Sequence[int]]


def entropy(classes: Sequence[int]) -> float:
    n = len(classes)
    return -sum(p * math.log2(p) for p in (list(classes).count(c) / n for c in set(classes))) if n else 0.0


def mdlp_cuts(values: Sequence[float], classes: Sequence[int], by_rows: bool) -> list[float]:
    """Fayyad and Irani's recursion, with every entropy made anew from lists."""
    points = sorted(set(values))
    if len(points) < 2 or len(set(classes)) < 2:
        return []
    best = None
    for a, b in itertools.pairwise(points):
        left = [c for v, c in zip(values, classes, strict=True) if v <= a]
        right = [c for v, c in zip(values, classes, strict=True) if v > a]
        rest = (len(left) * entropy(left) + len(right) * entropy(right)) / len(values)
        gain = entropy(classes) - rest
        if best is None or gain > best[0] + 1e-12:
            best = (gain, a, b, left, right)
    assert best is not None
    gain, a, b, left, right = best
    places = len(values) - 1 if by_rows else len(points) - 1
    k, k1, k2 = (len(set(part)) for part in (classes, left, right))
    delta = math.log2(3**k - 2) - (k * entropy(classes) - k1 * entropy(left) - k2 * entropy(right))
    if gain <= (math.log2(places) + delta) / len(values):
        return []
    below = [(v, c) for v, c in zip(values, classes, strict=True) if v <= a]
    above = [(v, c) for v, c in zip(values, classes, strict=True) if v > a]
    parts = [mdlp_cuts([v for v, _ in part], [c for _, c in part], by_rows) for part in (below, above)]
    return [*parts[0], (a + b) / 2, *parts[1]]


def pair_counts(
    codes: np.ndarray, y: np.ndarray, weights: np.ndarray, sizes: Sequence[int], C: int, i: int, j: int
) -> np.ndarray:
    """float64[|X_i|, |X_j|, C]: the weight of the rows with each pair of levels in each class."""
    table = np.zeros((sizes[i], sizes[j], C))
    for row, c, weight in zip(codes, y, weights, strict=True):
        if row[i] >= 0 and row[j] >= 0:
            table[row[i], row[j], c] += weight
    return table


def conditional_information(codes: np.ndarray, y: np.ndarray, i: int, j: int) -> float:
    """I(X_i; X_j | Y) of the empirical distribution."""
    n, total = len(y), 0.0
    for a, b, c in set(zip(codes[:, i], codes[:, j], y, strict=True)):
        abc = ((codes[:, i] == a) & (codes[:, j] == b) & (y == c)).sum()
        ac, bc = ((codes[:, i] == a) & (y == c)).sum(), ((codes[:, j] == b) & (y == c)).sum()
        total += abc / n * math.log(abc * (y == c).sum() / (ac * bc))
    return total


def information(codes: np.ndarray, y: np.ndarray, i: int) -> float:
    """I(X_i; Y)."""
    n, total = len(y), 0.0
    for a, c in set(zip(codes[:, i], y, strict=True)):
        ac = ((codes[:, i] == a) & (y == c)).sum()
        total += ac / n * math.log(ac * n / ((codes[:, i] == a).sum() * (y == c).sum()))
    return total


def kdb_parents(codes: np.ndarray, y: np.ndarray, k: int) -> dict[int, list[int]]:
    """KDB's rule."""
    order = sorted(range(codes.shape[1]), key=lambda i: -information(codes, y, i))
    return {
        i: sorted(order[:place], key=lambda j: -conditional_information(codes, y, i, j))[:k]
        for place, i in enumerate(order)
    }


def kdf_member(conditional: Sequence[Sequence[float]], root: int, k: int) -> list[tuple[int, list[int]]]:
    """Algorithms 6 and 7 on a table of I(X_i; X_j | Y): (attribute, its parents) in the order they are taken up."""
    made: list[tuple[int, list[int]]] = [(root, [])]

    def above(i: int) -> set[int]:
        parents = dict(made)[i]
        return set(parents).union(*(above(p) for p in parents)) if parents else set()

    while len(made) < len(conditional):
        chosen = [i for i, _ in made]
        rest = [i for i in range(len(conditional)) if i not in chosen]
        i = max(rest, key=lambda i: sum(conditional[i][j] for j in chosen))
        parents: list[int] = []
        if k:
            parents.append(max(chosen, key=lambda j: conditional[i][j]))
            parents += sorted(above(parents[0]), key=lambda j: -conditional[i][j])[: k - 1]
        made.append((i, parents))
    return made


def gains(values: Sequence[float], classes: Sequence[int]) -> dict[float, float]:
    """The information gain of the cut after each value but the last."""
    found = {}
    for a in sorted(set(values))[:-1]:
        left = [c for v, c in zip(values, classes, strict=True) if v <= a]
        right = [c for v, c in zip(values, classes, strict=True) if v > a]
        found[a] = entropy(classes) - (len(left) * entropy(left) + len(right) * entropy(right)) / len(values)
    return found


def best_tree_weight(weight: np.ndarray) -> float:
    """The greatest sum of weights over all spanning trees, by trying every set of n - 1 edges."""
    n = len(weight)
    best = -math.inf
    for edges in itertools.combinations(itertools.combinations(range(n), 2), n - 1):
        group = list(range(n))
        for a, b in edges:
            group = [group[a] if g == group[b] else g for g in group]
        if len(set(group)) == 1:
            best = max(best, sum(weight[a, b] for a, b in edges))
    return best


def m_estimate(
    codes: np.ndarray, y: np.ndarray, size: int, i: int, x: int, given: list[tuple[int, int]], c: int
) -> float:
    """P(x_i = x | y = c, given) with m = 1; a context without rows drops its last condition, at last the class."""
    for depth in range(len(given), -2, -1):
        rows = np.ones(len(y), dtype=bool) if depth < 0 else y == c
        for j, value in given[: max(depth, 0)]:
            rows &= codes[:, j] == value
        if rows.any():
            return ((codes[rows, i] == x).sum() + 1 / size) / (rows.sum() + 1)
    return 1 / size


def log_joint(
    codes: np.ndarray, y: np.ndarray, sizes: Sequence[int], C: int, parents: Parents, row: np.ndarray
) -> np.ndarray:
    """log P(c, row) of the network fitted to (codes, y), for all c."""
    out = np.array([math.log(((y == c).sum() + 1 / C) / (len(y) + 1)) for c in range(C)])
    for i, asked in parents.items():
        for c in range(C):
            given = [(j, int(row[j])) for j in asked]
            out[c] += math.log(m_estimate(codes, y, sizes[i], i, int(row[i]), given, c))
    return out


def posterior(logs: np.ndarray) -> np.ndarray:
    p = np.exp(logs - logs.max())
    return p / p.sum()


def leave_one_out_losses(
    codes: np.ndarray, y: np.ndarray, sizes: Sequence[int], C: int, parents: Parents, k: int,
    loss: Callable[[np.ndarray, int], float] = lambda p, c: (1 - p[c]) ** 2,
) -> np.ndarray:  # fmt: skip
    """losses[k', n] by fitting every KDB(k', n) anew without each row."""
    losses = np.zeros((k + 1, len(parents) + 1))
    for r in range(len(y)):
        rest = np.arange(len(y)) != r
        for depth in range(k + 1):
            for n in range(len(parents) + 1):
                some = {i: list(p)[:depth] for i, p in list(parents.items())[:n]}
                p = posterior(log_joint(codes[rest], y[rest], sizes, C, some, codes[r]))
                losses[depth, n] += loss(p, y[r])
    return losses


def aode(codes: np.ndarray, y: np.ndarray, sizes: Sequence[int], C: int, row: np.ndarray) -> np.ndarray:
    """By definition: the joint averaged over the attributes whose value was seen."""
    a = codes.shape[1]
    total = np.zeros(C)
    for p in range(a):
        if (codes[:, p] == row[p]).any():
            parents = {p: [], **{j: [p] for j in range(a) if j != p}}
            total += np.exp(log_joint(codes, y, sizes, C, parents, row))
    return total / total.sum()


def a2de(codes: np.ndarray, y: np.ndarray, sizes: Sequence[int], C: int, row: np.ndarray, enough: int) -> np.ndarray:
    """By definition: weighted by I(X_p, X_q; Y), and without values that another one implies in `enough` rows."""
    row = row.copy()
    a = codes.shape[1]
    gone = set()
    for i, j in itertools.permutations(range(a), 2):
        with_j = codes[:, j] == row[j]
        with_i = codes[:, i] == row[i]
        implied = with_j.sum() >= enough and with_i[with_j].all()
        reverse = with_j[with_i].all()
        if implied and not (reverse and i < j):
            gone.add(i)
    left = [i for i in range(a) if i not in gone]
    total = np.zeros(C)
    for p, q in itertools.combinations(left, 2):
        if not ((codes[:, p] == row[p]) & (codes[:, q] == row[q])).any():
            continue
        both = codes[:, p] * sizes[q] + codes[:, q]
        weight = information(both[:, None], y, 0)
        parents = {p: [], q: [p], **{j: [p, q] for j in left if j not in (p, q)}}
        total += weight * np.exp(log_joint(codes, y, sizes, C, parents, row))
    if not total.any():
        logs = []
        for p in left:
            if (codes[:, p] == row[p]).any():
                logs.append(log_joint(codes, y, sizes, C, {p: [], **{j: [p] for j in left if j != p}}, row))
        total = np.exp(logs).sum(axis=0) if logs else np.exp(log_joint(codes, y, sizes, C, {j: [] for j in left}, row))
    return total / total.sum()


def published_losses(
    codes: np.ndarray, y: np.ndarray, sizes: Mapping[int, int], C: int, parents: Parents, k: int
) -> np.ndarray:
    """The leave-one-out pass of the published SKDB, which is not what fitting without the row gives:

    a context is gone down into if two rows there, of whatever class, have the same value as the one left out; a class
    that has none of them is then estimated from nothing (uniformly) and does not back off. Where it is not gone down
    into, the estimate of the context above counts once more, at the next depth, and that product overwrites those of
    all greater depths instead of being multiplied into them.
    """
    n = len(y)
    rows, own = np.arange(n), np.eye(C)[y]
    prior = (own.sum(axis=0) - own + 1 / C) / n
    product = np.repeat((prior / prior.sum(axis=1, keepdims=True))[:, None], k + 1, axis=1)
    losses = np.zeros((k + 1, len(parents) + 1))
    losses[:, 0] = ((1 - product[rows, 0, y]) ** 2).sum()
    for t, (i, asked) in enumerate(parents.items()):
        p, stopped = np.zeros((n, C)), np.zeros(n, dtype=bool)
        for depth in range(k + 1):
            overwritten = stopped.copy() if depth <= len(asked) else np.ones(n, dtype=bool)
            if depth <= len(asked):
                context = np.zeros(n, dtype=np.int64)
                if depth:
                    context = np.unique(codes[:, list(asked[:depth])], axis=0, return_inverse=True)[1].ravel()
                counts = np.zeros((context.max() + 1, sizes[i], C))
                np.add.at(counts, (context, codes[:, i], y), 1)
                same = counts[context, codes[:, i]]
                stopped |= (same.sum(axis=1) < 2) & (depth > 0)
                estimate = (same - own + 1 / sizes[i]) / (counts[context].sum(axis=1) - own + 1)
                p = np.where(stopped[:, None], p, estimate)
            product[:, depth] = np.where(overwritten[:, None], product[:, depth - 1], product[:, depth] * p)
            product[:, depth] /= product[:, depth].sum(axis=1, keepdims=True)
            losses[depth, t + 1] += ((1 - product[rows, depth, y]) ** 2).sum()
    return losses


def published_aode(codes: np.ndarray, y: np.ndarray, sizes: Sequence[int], C: int, new: np.ndarray) -> np.ndarray:
    """Posteriors by the published AODE: everything is estimated with Laplace's 1 instead of m / |X|, the joint
    (n(x_i, y) + 1) / (N + C |X_i|) included; contexts without rows are uniform; a parent's value has to be seen."""
    total, used = np.zeros((len(new), C)), np.zeros(len(new))
    for i in range(codes.shape[1]):
        alone = np.zeros((sizes[i], C))
        np.add.at(alone, (codes[:, i], y), 1)
        seen = alone[new[:, i]]
        joint = (seen + 1) / (len(y) + C * sizes[i])
        for j in set(range(codes.shape[1])) - {i}:
            both = np.zeros((sizes[i], sizes[j], C))
            np.add.at(both, (codes[:, i], codes[:, j], y), 1)
            joint *= (both[new[:, i], new[:, j]] + 1) / (seen + sizes[j])
        frequent = seen.sum(axis=1) >= 1
        total += np.where(frequent[:, None], joint, 0)
        used += frequent
    assert used.all()  # otherwise naive Bayes; it does not happen in the published comparison
    return total / total.sum(axis=1, keepdims=True)


def bias_variance(predictions: np.ndarray, y: np.ndarray, C: int, expectation: Callable[[list[float]], float]) -> tuple:
    """Kohavi and Wolpert's terms, row by row."""
    rounds = len(predictions)
    bias, variance = [], []
    for r in range(len(y)):
        share = [(predictions[:, r] == c).mean() for c in range(C)]
        bias.append(0.5 * sum(((c == y[r]) - f) ** 2 - f * (1 - f) / (rounds - 1) for c, f in enumerate(share)))
        variance.append(0.5 * (1 - sum(f * f for f in share)) * rounds / (rounds - 1))
    return expectation(bias), expectation(variance)
