"""The prior over tree structures: every leaf costs log 4C, and c(P) makes all trees over P sum to one.

    C   splits a root may choose from: 2^(k-1) - 1 for k unordered levels, k - 1 for ordered ones, 1 for a real range
    Z(box) = 1/4C + sum over splits of Z(left) Z(right),     log c(P) = -log Z(whole space)

Declared levels count, whether or not they occur. Z depends only on how many levels (or halvings) are left per
predictor, so boxes are multisets of those; a set of m levels splits into a and m - a, the part with the lowest level
having a, in binom(m-1, a-1) ways. Z lies between 1/4C and 1: no under- or overflow.
Source: Talvitie, Eggeling, Koivisto, "Learning Bayesian networks with local structure, mixed variables, and exact
algorithms", IJAR 2019. Twin: tests/naive/pcart.py sums over all trees.
"""

from __future__ import annotations

import math
from functools import cache

from optbn.scores.kernels.kinds import CATEGORICAL, ORDINAL, REAL

Shape = tuple[tuple[int, int], ...]
"""Sorted (kind, levels declared or halvings allowed) of the predictors."""


def root_splits(shape: Shape) -> int:
    """C, the number of splits of the whole space."""
    return sum(
        2 ** (size - 1) - 1 if kind == CATEGORICAL else size - 1 if kind == ORDINAL else 1 for kind, size in shape
    )


def leaf_cost(shape: Shape) -> float:
    """log 4C, or 0 where there is nothing to split."""
    splits = root_splits(shape)
    return math.log(4 * splits) if splits else 0.0


@cache
def log_normaliser(shape: Shape) -> float:
    """log c(P)."""
    splits = root_splits(shape)
    if not splits:
        return 0.0
    leaf = 1.0 / (4 * splits)
    known: dict[Shape, float] = {}

    def total(box: Shape) -> float:
        if box in known:
            return known[box]
        terms = [leaf]
        for i, (kind, size) in enumerate(box):
            if i and box[i - 1] == box[i]:
                continue  # counted with its equal below
            times = box.count(box[i])
            others = box[:i] + box[i + 1 :]
            if kind == REAL:
                if size:
                    terms.append(times * total(_with(others, kind, size - 1)) ** 2)
                continue
            for left in range(1, size):
                ways = math.comb(size - 1, left - 1) if kind == CATEGORICAL else 1
                terms.append(times * ways * total(_with(others, kind, left)) * total(_with(others, kind, size - left)))
        known[box] = math.fsum(terms)
        return known[box]

    return -math.log(total(tuple(sorted(shape))))


def _with(box: Shape, kind: int, size: int) -> Shape:
    return tuple(sorted((*box, (kind, size))))
