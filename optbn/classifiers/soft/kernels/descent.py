"""Minimising the penalised conditional likelihood of soft cells: L-BFGS with the diagonal of the Hessian to start from.

The problem is convex and smooth. Cells differ in how many rows they see, so plain gradients are badly scaled; divided
by the second derivative where it starts, they need a third of the passes. It is compiled because a fit is hundreds of
short minimisations, each of a few passes over few rows, and because threads must not wait for each other.
"""

from __future__ import annotations

import numpy as np

from optbn.classifiers.soft.kernels.scores import loss_and_slopes
from optbn_solvers.base.compiled import kernel

CORRECTIONS = 8
ARMIJO = 1e-4
SHORTEST = 1e-6
"""Steps below this are not tried: rounding is all that is left."""


@kernel
def _objective(rows, design, C, classes, weights, x, penalty, gradient):
    """The loss plus the sum of penalty / 2 times x squared, and its gradient."""
    value = loss_and_slopes(rows, design, C, classes, weights, x, False, gradient)
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
def minimise(rows, design, C, classes, weights, x, penalty, iterations, tolerance):
    """Moves the scores x to the minimum; ends when an iteration gains less than `tolerance`, in nats.

    penalty  float64[cells] > 0
    Returns (objective, evaluations). Twin: scipy's L-BFGS, in tests/classifiers/test_soft.
    """
    N = x.size
    g, fresh, tried = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    steps, changes = np.empty((CORRECTIONS, N)), np.empty((CORRECTIONS, N))
    products, d = np.empty(CORRECTIONS), np.empty(N)
    loss_and_slopes(rows, design, C, classes, weights, x, True, tried)
    for j in range(x.shape[1]):
        tried[:, j] += penalty[j]
    curvature = tried.ravel().copy()
    value = _objective(rows, design, C, classes, weights, x, penalty, g)
    evaluations, held, newest = 2, 0, -1
    for _ in range(iterations):
        _direction(g.ravel(), curvature, steps, changes, products, held, newest, d)
        slope = _dot(g.ravel(), d)
        if not slope < 0.0:  # rounding: begin again from the gradient
            if held == 0:
                break
            held = 0
            continue
        step, better = 1.0, np.inf
        while step > SHORTEST:
            tried[:] = x + step * d.reshape(x.shape)
            better = _objective(rows, design, C, classes, weights, tried, penalty, fresh)
            evaluations += 1
            if better <= value + ARMIJO * step * slope:
                break
            bend = better - value - step * slope  # the parabola through both values and the slope
            step *= max(0.1, min(0.5, -step * slope / (2.0 * bend)))
        if step <= SHORTEST:
            break
        newest = (newest + 1) % CORRECTIONS
        steps[newest] = (tried - x).ravel()
        changes[newest] = (fresh - g).ravel()
        products[newest] = _dot(steps[newest], changes[newest])
        gained = value - better
        x[:], g[:], value = tried, fresh, better
        if gained < tolerance:
            break
        held = min(held + 1, CORRECTIONS) if products[newest] > 0.0 else 0
    return value, evaluations
