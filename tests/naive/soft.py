"""Soft networks as they are defined: dictionaries of scores, one row at a time; nothing is shared with the kernels."""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Shares = list[tuple[Any, float]]


def shares(rank: float, knots: Sequence[float]) -> Shares:
    """The cells of a number, by hat functions: 1 at its knot, 0 at all others, linear between; missing is a cell."""
    if math.isnan(rank):
        return [("missing", 1.0)]
    if rank <= knots[0]:
        return [(0, 1.0)]
    if rank >= knots[-1]:
        return [(len(knots) - 1, 1.0)]
    after = bisect.bisect_right(knots, rank)
    part = (rank - knots[after - 1]) / (knots[after] - knots[after - 1])
    return [(after - 1, 1.0 - part), (after, part)]


def score(
    row: Sequence[float], knots: Sequence[Sequence[float]], parents: Mapping[int, Sequence[int]], s: Mapping[Any, float]
) -> float:
    """s[()] + main effects s[i, cell] + pairs s[i, cell, p, cell]; an attribute without knots is its own cell."""
    cells = [shares(v, k) if len(k) else [(int(v), 1.0)] for v, k in zip(row, knots, strict=True)]
    total = s[()]
    for i, own in enumerate(cells):
        total += sum(part * s[i, cell] for cell, part in own)
    for i, chosen in parents.items():
        for p in chosen:
            total += sum(a * b * s[i, c, p, d] for c, a in cells[i] for d, b in cells[p])
    return total


def loss(z: np.ndarray, classes: Sequence[int], weights: Sequence[float]) -> float:
    """The negative log-likelihood of scores[row, class]; with one column the logit of the second class."""
    total = 0.0
    for row, y, w in zip(z, classes, weights, strict=True):
        full = [0.0, row[0]] if len(row) == 1 else list(row)
        top = max(full)
        total -= w * (full[y] - top - math.log(sum(math.exp(v - top) for v in full)))
    return total
