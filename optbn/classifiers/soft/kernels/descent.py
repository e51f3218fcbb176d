"""Minimising the penalised conditional likelihood of soft cells: L-BFGS with the diagonal of the Hessian to start from.

The problem is convex and smooth. Cells differ in how many rows they see, so plain gradients are badly scaled; divided
by the second derivative where it starts, they need a third of the passes. It is compiled because a fit is hundreds of
short minimisations, each of a few passes over few rows, and because threads must not wait for each other.

`advance` takes an evaluation and says where the next one is wanted, so that rows may be in memory (`minimise`) or come
from a file, for many members in one pass (`optbn.classifiers.soft.whole`).

A descent is kept when the penalty or the rows become others: of each correction the part that the loss has is known, so
with the new penalty it is as true as it was, and with some more rows nearly (`repenalised`). What is done once more
from near the optimum needs half of the evaluations then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.classifiers.soft.kernels.scores import loss_and_slopes
from optbn.classifiers.soft.kernels.vectors import vectorised
from optbn_solvers.base.compiled import kernel

CORRECTIONS = 5
ARMIJO = 1e-4
SHORTEST = 1e-6
"""Steps below this are not tried: rounding is all that is left."""


class Descent(NamedTuple):
    """x, g              where it is, and the gradient there
    tried, fresh      where it wants to know the objective, and the gradient there, which whoever evaluates it fills in
    curvature         the diagonal of the Hessian, flat
    steps, changes, products, direction  of L-BFGS
    penalty           float64[cells] > 0
    at                float64[3]: the objective at x, its slope in the direction, the length of the step tried
    many              int64[4]: evaluations (0: nothing is known at x), iterations, corrections held, the newest of them
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
    penalty: NDArray[np.float64]
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
        np.empty((CORRECTIONS, N)), np.empty(CORRECTIONS), np.empty(N), penalty.copy(), np.zeros(3),
        np.zeros(4, np.int64),
    )  # fmt: skip


@kernel
def repenalised(s, penalty, factor):
    """The same descent with another penalty, and a loss that is `factor` times as large; 1: it is the same loss."""
    cells, lanes = s.x.shape[1], s.x.shape[2]
    if factor != 1.0:
        s.many[0] = 0
    for j in range(s.x.size):
        cell = j // lanes % cells
        more = penalty[cell] - factor * s.penalty[cell]
        s.curvature[j] = factor * s.curvature[j] + more
        for back in range(s.many[2]):
            m = (s.many[3] - back) % CORRECTIONS
            s.changes[m, j] = factor * s.changes[m, j] + more * s.steps[m, j]
    for g in range(len(s.x)):
        for cell in range(cells):
            more = penalty[cell] - s.penalty[cell]
            for k in range(lanes):
                s.at[0] += 0.5 * more * s.x[g, cell, k] * s.x[g, cell, k]
                s.g[g, cell, k] += more * s.x[g, cell, k]
    s.penalty[:] = penalty
    for back in range(s.many[2]):
        m = (s.many[3] - back) % CORRECTIONS
        s.products[m] = _dot(s.steps[m], s.changes[m])
        if not s.products[m] > 0.0:  # rounding
            s.many[2] = back
            break


@kernel
def penalised(value, x, penalty, gradient):
    """The loss plus the sum of penalty / 2 times x squared; its gradient likewise."""
    for g in range(len(x)):
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                value += 0.5 * penalty[j] * x[g, j, k] * x[g, j, k]
                gradient[g, j, k] += penalty[j] * x[g, j, k]
    return value


@vectorised
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


@vectorised
def _add(out, factor, vector):
    """out += factor vector."""
    for i in range(len(out)):
        out[i] += factor * vector[i]


@kernel
def _direction(g, curvature, steps, changes, products, held, newest, out):
    """out = minus the inverse Hessian, as the last `held` steps and changes of gradients make it, times g."""
    alphas = np.empty(CORRECTIONS)
    for i in range(len(g)):
        out[i] = -g[i]
    for back in range(held):
        m = (newest - back) % CORRECTIONS
        alphas[m] = _dot(steps[m], out) / products[m]
        _add(out, -alphas[m], changes[m])
    scale = 1.0
    if held > 0:
        bend, change = 0.0, changes[newest]
        for i in range(len(change)):
            bend += change[i] * change[i] / curvature[i]
        scale = products[newest] / bend
    for i in range(len(out)):
        out[i] *= scale / curvature[i]
    for back in range(held - 1, -1, -1):
        m = (newest - back) % CORRECTIONS
        _add(out, alphas[m] - _dot(changes[m], out) / products[m], steps[m])


@kernel
def _try(s):
    """The place a step along the direction from x is where it wants to know more."""
    x, tried = s.x.ravel(), s.tried.ravel()
    for j in range(len(x)):
        tried[j] = x[j] + s.at[2] * s.direction[j]


@kernel
def _move(s):
    """Go to the place tried; the step and the change of the gradient are the newest correction."""
    x, g, tried, fresh = s.x.ravel(), s.g.ravel(), s.tried.ravel(), s.fresh.ravel()
    newest = (s.many[3] + 1) % CORRECTIONS
    step, change = s.steps[newest], s.changes[newest]
    for j in range(len(x)):
        step[j], change[j] = tried[j] - x[j], fresh[j] - g[j]
        x[j], g[j] = tried[j], fresh[j]
    s.products[newest] = _dot(step, change)
    s.many[2] = min(s.many[2] + 1, CORRECTIONS) if s.products[newest] > 0.0 else 0
    s.many[3] = newest


@kernel
def advance(s, better, iterations, tolerance):
    """Take `better`, the objective at `tried`, whose gradient is in `fresh`; False: x is the minimum."""
    at, many = s.at, s.many
    many[0] += 1
    if many[0] == 1:
        at[0] = better
        s.g[:] = s.fresh
    elif not better <= at[0] + ARMIJO * at[2] * at[1]:
        bend = better - at[0] - at[2] * at[1]  # the parabola through both values and the slope
        at[2] *= max(0.1, min(0.5, -at[2] * at[1] / (2.0 * bend)))
        _try(s)
        return at[2] > SHORTEST
    else:
        _move(s)
        gained, at[0] = at[0] - better, better
        if gained < tolerance:
            return False
    return onward(s, iterations)


@kernel
def onward(s, iterations):
    """Say where to try next, from x; False: there is no way down."""
    at, many = s.at, s.many
    while many[1] < iterations:
        many[1] += 1
        g = s.g.ravel()
        _direction(g, s.curvature, s.steps, s.changes, s.products, many[2], many[3], s.direction)
        at[1], at[2] = _dot(g, s.direction), 1.0
        if at[1] < 0.0:
            _try(s)
            return True
        if many[2] == 0:  # rounding: there is no way down
            return False
        many[2] = 0  # once more from the gradient
    return False


@kernel
def again(s, iterations):
    """Go on after `repenalised`: where to evaluate first; False: x is the minimum."""
    s.many[1] = 0
    if s.many[0] > 0:
        return onward(s, iterations)
    s.tried[:] = s.x
    return True


@kernel
def minimise(rows, design, C, classes, weights, s, iterations, tolerance):
    """Go on with a descent to the minimum; ends when an iteration gains less than `tolerance`, in nats.

    Returns (objective, evaluations). Twin: scipy's L-BFGS, in tests/classifiers/test_soft.
    """
    wanted, evaluations = again(s, iterations), 0
    while wanted:
        loss = loss_and_slopes(rows, design, C, classes, weights, s.tried, False, s.fresh)
        wanted = advance(s, penalised(loss, s.tried, s.penalty, s.fresh), iterations, tolerance)
        evaluations += 1
    return s.at[0], evaluations
