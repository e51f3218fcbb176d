"""Discriminative training as it is defined: dictionaries of scores, one row at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def loss(cells: Any, classes: Any, weights: Any, scores: Any) -> tuple[float, np.ndarray]:
    """The negative conditional log-likelihood of rows of cells and its gradient by scores[class][cell]."""
    total, gradient = 0.0, np.zeros_like(scores)
    for row, y, w in zip(cells, classes, weights, strict=True):
        logits = [sum(scores[c][k] for k in row) for c in range(len(scores))]
        top = max(logits)
        log_sum = top + math.log(sum(math.exp(z - top) for z in logits))
        total -= w * (logits[y] - log_sum)
        for c, z in enumerate(logits):
            for k in row:
                gradient[c][k] += w * (math.exp(z - log_sum) - (c == y))
    return total, gradient


def adaptive_pass(cells: Any, classes: Any, weights: Any, order: Any, scale: Any, target: Any, pull: Any,
                  parameters: Any, squares: Any, frozen: int, rate: float) -> float:  # fmt: skip
    """AdaGrad, changing parameters and squares; a row touches each of its cells in turn."""
    total = 0.0
    for r in order:
        part, gradient = loss(cells[r : r + 1], classes[r : r + 1], weights[r : r + 1], scale * parameters)
        total += part
        for k in set(cells[r].tolist()):
            for c in range(len(scale)):
                if k < frozen:
                    g = gradient[c, k] * scale[c, k] + weights[r] * pull[k] * (parameters[c, k] - target[c, k])
                    squares[c, k] += g * g
                    if g:
                        parameters[c, k] -= rate * g / math.sqrt(squares[c, k])
    return total


def conditional_nll(
    codes: Any, classes: Any, families: Sequence[tuple[int, tuple[int, ...]]], prior: Any, score: dict[Any, float]
) -> float:
    """From scores by (attribute, class, parents' values, value)."""
    total = 0.0
    for row, y in zip(codes, classes, strict=True):
        logits = [
            prior[c] + sum(score[i, c, tuple(int(row[p]) for p in parents), int(row[i])] for i, parents in families)
            for c in range(len(prior))
        ]
        top = max(logits)
        total -= logits[y] - top - math.log(sum(math.exp(z - top) for z in logits))
    return total


def frequencies(
    codes: Any, classes: Any, families: Sequence[tuple[int, tuple[int, ...]]], sizes: Sequence[int], C: int
) -> dict[Any, float]:
    """log of (n + 1/K) / (N + 1) for every (attribute, class, parents' values that occur in the class, value)."""
    found: dict[Any, float] = {}
    for i, parents in families:
        rows: dict[Any, list[int]] = {}
        for row, y in zip(codes, classes, strict=True):
            rows.setdefault((int(y), tuple(int(row[p]) for p in parents)), []).append(int(row[i]))
        for (y, context), values in rows.items():
            for x in range(sizes[i]):
                found[i, y, context, x] = math.log((values.count(x) + 1 / sizes[i]) / (len(values) + 1))
    return found


def backed_off(
    codes: Any, attribute: int, parents: tuple[int, ...], context: tuple[int, ...], x: int, trained: dict[Any, float]
) -> float | None:
    """The mean of trained[parents' values, x] over the rows that agree with the longest possible start of `context`."""
    for asked in range(len(context), -1, -1):
        rows = [r for r in codes if r[attribute] == x and all(r[p] == v for p, v in zip(parents[:asked], context))]  # noqa: B905
        if rows:
            return float(np.mean([trained[tuple(int(r[p]) for p in parents), x] for r in rows]))
    return None
