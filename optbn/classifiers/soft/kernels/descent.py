"""Minimising the penalised conditional likelihood of soft cells: L-BFGS with the diagonal of the Hessian to start from.

The problem is convex and smooth. Cells differ in how many rows they see, so plain gradients are badly scaled; divided
by the second derivative where it starts, they need a third of the passes. It is compiled because a fit is hundreds of
short minimisations, each of a few passes over few rows, and because threads must not wait for each other.

`advance` takes an evaluation and says where the next one is wanted, so that rows may be in memory (`minimise`) or come
from a file, for many members in one pass (`optbn.classifiers.soft.passes`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.soft.kernels.scores import loss_and_slopes
from optbn_solvers.base.compiled import kernel

CORRECTIONS = 8
ARMIJO = 1e-4
SHORTEST = 1e-6
"""Steps below this are not tried: rounding is all that is left."""


class Descent(NamedTuple):
    """x, g              where it is, and the gradient there
    tried, fresh      where it wants to know the objective, and the gradient there, which whoever evaluates it fills in
    curvature         the diagonal of the Hessian, flat
    steps, changes, products, direction  of L-BFGS
    at                float64[3]: the objective at x, its slope in the direction, the length of the step tried
    many              int64[4]: evaluations, iterations, corrections held, the newest of them
    """

    x: NDArray[np.float64]
    g: NDArray[np.float64]
    tried: NDArray[np.float64]
    fresh: NDArray[np.float64]
    curvature: NDArray[np.float64]
    steps: NDArray[np.float64]
    changes: NDArray[np.float64]
    products: NDArray[np.float64]
    direction: NDArray[np.float64]
    at: NDArray[np.float64]
    many: NDArray[np.int64]


@kernel
def begun(x, diagonal, penalty):
    """A descent from x, which it moves; `diagonal` is that of the loss's Hessian, in the shape of x."""
    for j in range(x.shape[1]):
        diagonal[:, j] += penalty[j]
    N = x.size
    return Descent(
        x, np.empty_like(x), x.copy(), np.empty_like(x), diagonal.ravel(), np.empty((CORRECTIONS, N)),
        np.empty((CORRECTIONS, N)), np.empty(CORRECTIONS), np.empty(N), np.zeros(3), np.zeros(4, np.int64),
    )  # fmt: skip


@kernel
def penalised(value, x, penalty, gradient):
    """The loss plus the sum of penalty / 2 times x squared; its gradient likewise."""
    for g in range(len(x)):
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                value += 0.5 * penalty[j] * x[g, j, k] * x[g, j, k]
                gradient[g, j, k] += penalty[j] * x[g, j, k]
    return value


@kernel
def _dot(a, b):
    """Their product, in an order that does not depend on the machine's BLAS; four sums, which go at once."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    n = len(a) // 4 * 4
    for i in range(0, n, 4):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    for i in range(n, len(a)):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


@kernel
def _direction(g, curvature, steps, changes, products, held, newest, out):
    """out = minus the inverse Hessian, as the last `held` steps and changes of gradients make it, times g."""
    alphas = np.empty(CORRECTIONS)
    out[:] = -g
    for back in range(held):
        m = (newest - back) % CORRECTIONS
        alphas[m] = _dot(steps[m], out) / products[m]
        out -= alphas[m] * changes[m]
    scale = 1.0
    if held > 0:
        scale = products[newest] / _dot(changes[newest], changes[newest] / curvature)
    out *= scale / curvature
    for back in range(held - 1, -1, -1):
        m = (newest - back) % CORRECTIONS
        out += (alphas[m] - _dot(changes[m], out) / products[m]) * steps[m]


@kernel
def advance(s, better, iterations, tolerance):
    """Take `better`, the objective at `tried`, whose gradient is in `fresh`; False: x is the minimum."""
    x, at, many = s.x, s.at, s.many
    many[0] += 1
    if many[0] == 1:
        at[0] = better
        s.g[:] = s.fresh
    elif not better <= at[0] + ARMIJO * at[2] * at[1]:
        bend = better - at[0] - at[2] * at[1]  # the parabola through both values and the slope
        at[2] *= max(0.1, min(0.5, -at[2] * at[1] / (2.0 * bend)))
        s.tried[:] = x + at[2] * s.direction.reshape(x.shape)
        return at[2] > SHORTEST
    else:
        newest = (many[3] + 1) % CORRECTIONS
        s.steps[newest] = (s.tried - x).ravel()
        s.changes[newest] = (s.fresh - s.g).ravel()
        s.products[newest] = _dot(s.steps[newest], s.changes[newest])
        gained = at[0] - better
        x[:], s.g[:], at[0], many[3] = s.tried, s.fresh, better, newest
        if gained < tolerance:
            return False
        many[2] = min(many[2] + 1, CORRECTIONS) if s.products[newest] > 0.0 else 0
    while many[1] < iterations:
        many[1] += 1
        _direction(s.g.ravel(), s.curvature, s.steps, s.changes, s.products, many[2], many[3], s.direction)
        at[1], at[2] = _dot(s.g.ravel(), s.direction), 1.0
        if at[1] < 0.0:
            s.tried[:] = x + s.direction.reshape(x.shape)
            return True
        if many[2] == 0:  # rounding: there is no way down
            return False
        many[2] = 0  # once more from the gradient
    return False


@kernel
def minimise(rows, design, C, classes, weights, x, penalty, iterations, tolerance):
    """Moves the scores x to the minimum; ends when an iteration gains less than `tolerance`, in nats.

    penalty  float64[cells] > 0
    Returns (objective, evaluations). Twin: scipy's L-BFGS, in tests/classifiers/test_soft.
    """
    diagonal = np.empty_like(x)
    loss_and_slopes(rows, design, C, classes, weights, x, True, diagonal)
    s = begun(x, diagonal, penalty)
    wanted = True
    while wanted:
        loss = loss_and_slopes(rows, design, C, classes, weights, s.tried, False, s.fresh)
        wanted = advance(s, penalised(loss, s.tried, penalty, s.fresh), iterations, tolerance)
    return s.at[0], s.many[0] + 1
