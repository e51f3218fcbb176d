"""How the predictions of an ensemble's members become one: weights, and a power that calibrates.

Both are chosen on what members predict for training rows that they left out. With p_e(y), the prediction of member e,

    P(y)  proportional to  ( sum_e w_e p_e(y) )^power

The weights, if they are not uniform, make the mixture give the rows' own classes as much probability as possible (by
EM: the problem is convex), with a prior worth one row for each member, so that a few rows do not silence most of them.
Averages of overconfident members are as often too timid as too bold: with many classes an average of ten networks
gives .6 to what is right nine times out of ten. The power corrects that. It has the least Brier score on the left out
rows, plus PRIOR (log power)^2, and is searched for on a geometric grid, so that it does not depend on rounding.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

ROWS = 4096
"""Training rows that are left out for this, at most: two numbers for each of few members need no more."""

PRIOR = 3.0
STEP = 1.0 / 16.0
"""Between powers of the grid, as a power of two."""

FURTHEST = 48
"""Steps: powers from 1/8 to 8."""


def stacked(own: NDArray[np.float64], weights: NDArray[np.float64], sweeps: int = 200) -> NDArray[np.float64]:
    """Weights of the members from own[row, member], the probability that each gives to the row's class (NaN: none).

    Raises sum over rows of log( sum_e w_e p_e / sum_e w_e ), e over those with a prediction, plus sum_e log w_e, in
    every sweep (the sum below is bounded by its logarithm's tangent, the one above by Jensen's inequality).
    """
    seen = ~np.isnan(own)
    p = np.where(seen, own + 1e-300, 0.0)
    some = seen.any(axis=1)
    p, seen, weights = p[some], seen[some].astype(np.float64), weights[some]
    members = p.shape[1]
    w = np.full(members, 1.0 / members)
    for _ in range(sweeps):
        shares = p * w
        shares *= (weights / shares.sum(axis=1))[:, None]
        fresh = (shares.sum(axis=0) + 1.0) / (seen.T @ (weights / (seen @ w)) + members)
        fresh /= fresh.sum()
        done = np.abs(fresh - w).max() < 1e-8
        w = fresh
        if done:
            break
    return w


def raised(p: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """Rows of probabilities to a power, normalised."""
    if power == 1.0:
        return p
    planes = np.array(p.T, order="C")
    planes /= planes.max(axis=0)
    return rows_of(planes**power)


def rows_of(planes: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[n, C], rows that sum to 1, of numbers class after class: numpy is slow where the last axis is short."""
    return np.ascontiguousarray((planes / np.ascontiguousarray(planes.T).sum(axis=1)).T)


def best_power(p: NDArray[np.float64], classes: NDArray[np.int64], weights: NDArray[np.float64]) -> float:
    """The power of the grid with the least penalised Brier score of p[row, class]."""
    rows = np.arange(len(p))
    with np.errstate(divide="ignore"):
        logs = np.log(p / p.max(axis=1, keepdims=True))

    def loss(step: int) -> float:
        q = np.exp(logs * math.exp2(step * STEP))
        total = q.sum(axis=1)
        brier = (q * q).sum(axis=1) / total**2 - 2.0 * q[rows, classes] / total
        return float((weights * brier).sum()) + PRIOR * (step * STEP * math.log(2.0)) ** 2

    best, stride = 0, FURTHEST
    known = {0: loss(0)}
    while stride:
        for step in (best - stride, best + stride):
            if abs(step) <= FURTHEST and step not in known:
                known[step] = loss(step)
        nearest = min(known, key=lambda step: (known[step], abs(step)))
        stride = stride // 2 if nearest == best else stride
        best = nearest
    return math.exp2(best * STEP)


def logit_intervals(
    p: NDArray[np.float64], variance: NDArray[np.float64], interval: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ends of intervals for rows of probabilities whose logarithms, before normalising, have independent errors.

    logit p_y = l_y - log sum over k != y of exp l_k: its variance is V_y + sum over k != y of (p_k / (1 - p_y))^2 V_k.
    """
    rest = np.maximum(1.0 - p, 1e-300)
    weighed = np.where(p > 0, p * p * variance, 0.0)
    others = np.maximum(weighed.sum(axis=1, keepdims=True) - weighed, 0.0) / rest**2
    reach = ndtri(0.5 + 0.5 * interval) * np.sqrt(variance + others)
    with np.errstate(divide="ignore"):
        logit = np.log(p) - np.log(rest)
    return expit(logit - reach), expit(logit + reach)
