"""The prior over tree structures: every leaf costs log C/gamma, and c(P) makes all trees over P sum to one.

    C   splits a root may choose from: 2^(k-1) - 1 for k unordered levels, k - 1 for ordered ones, 1 for a real range
    Z(box) = gamma/C + sum over splits of Z(left) Z(right),     log c(P) = -log Z(whole space)

Declared levels count, whether or not they occur. Z depends only on how many levels (or halvings) are left per
predictor, so boxes are multisets of those; a set of m levels splits into a and m - a, the part with the lowest level
having a, in binom(m-1, a-1) ways. gamma is at most 1/4 (the published one), so Z lies between gamma/C and 1: no under-
or overflow. Without a gamma there is no prior: leaves cost nothing, and nothing is normalised.
Source: Talvitie, Eggeling, Koivisto, "Learning Bayesian networks with local structure, mixed variables, and exact
algorithms", IJAR 2019. Twin: tests/naive/pcart.py sums over all trees.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.scores.kernels.kinds import CATEGORICAL, ORDINAL, REAL
from optbn.scores.kernels.prior import sum_of_trees
from optbn.scores.kernels.sets import binomials

Shape = tuple[tuple[int, int], ...]
"""Sorted (kind, levels declared or halvings allowed) of the predictors."""

Floats = NDArray[np.float64]

FEW_TERMS = 1 << 12
"""So short a sum takes a hundredth of a second as it stands, less than compiling it would."""


class Priors(NamedTuple):
    """Per set log C/gamma, log c(P), and how many rows a box never worth splitting may have."""

    leaf_cost: Floats
    constant: Floats
    leaf_rows: NDArray[np.int64]

    def of(self, some: NDArray[np.bool_]) -> Priors:
        return Priors(self.leaf_cost[some], self.constant[some], self.leaf_rows[some])


def root_splits(shape: Shape) -> int:
    """C, the number of splits of the whole space."""
    return sum(
        2 ** (size - 1) - 1 if kind == CATEGORICAL else size - 1 if kind == ORDINAL else 1 for kind, size in shape
    )


def leaf_cost(shape: Shape, gamma: float | None = 0.25) -> float:
    """log C/gamma, or 0 where there is nothing to split."""
    splits = root_splits(shape)
    return math.log(splits / gamma) if splits and gamma is not None else 0.0


@cache
def log_normaliser(shape: Shape, gamma: float | None = 0.25) -> float:
    """log c(P)."""
    splits = root_splits(shape)
    if not splits or gamma is None:
        return 0.0
    members: list[list[int]] = []
    stride = 1
    for (kind, size), alike in sorted(Counter(shape).items()):
        begin, values = len(members), _values(kind, size)
        members += [[kind, values, begin, begin + alike, stride]] * alike
        stride *= math.comb(values + alike - 1, alike)
    widest = max(values for _, values, *_ in members)
    part, other, total = np.zeros(len(shape), np.int64), np.zeros(widest, np.int64), np.empty(stride)
    choose = binomials(widest + len(shape), len(shape))
    run = sum_of_trees if work(shape) > FEW_TERMS else getattr(sum_of_trees, "py_func", sum_of_trees)
    levels = max((values for kind, values, *_ in members if kind == CATEGORICAL), default=1)
    run(np.array(members), choose, _pascal(levels), gamma / splits, part, other, total)
    return -math.log(total[-1])


@cache
def _pascal(rows: int) -> Floats:
    """Binomials as floating-point numbers, exact up to 2^53."""
    ways = np.zeros((rows, rows))
    ways[:, 0] = 1.0
    for x in range(1, rows):
        ways[x, 1:] = ways[x - 1, :-1] + ways[x - 1, 1:]
    return ways


def work(shape: Shape) -> int:
    """How many terms the sum has."""
    boxes = math.prod(math.comb(_values(*member) + m - 1, m) for member, m in Counter(shape).items())
    return boxes * sum(_values(*member) for member in shape)


def _values(kind: int, size: int) -> int:
    """How many values what is left of a predictor may have."""
    return size + 1 if kind == REAL else size
