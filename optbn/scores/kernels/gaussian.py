"""Residuals of all variables on many predictor sets, from a matrix of cross products.

Gram-Schmidt on the matrix: with y_j[v] = (M[s_j, v] - sum_{a<j} y_a[s_j] y_a[v]) / sqrt(M[s_j, s_j] - sum y_a[s_j]^2),
the residual of v on s_0..s_j is M[v, v] - sum_a y_a[v]^2, and the determinant of M on the set is the product of the
members' residuals on the members before them. Sets that share a prefix share its y. Cost O(n k) per set.
Twin: numpy's determinants in the tests.
"""

from __future__ import annotations

import math

import numpy as np

from optbn_solvers.base.compiled import kernel


@kernel
def residuals(sets, matrix, smallest):
    """(log_det float64[m], residual float64[m, n], bad int64): per set the log determinant and all residuals.

    smallest  float64[n]: a member whose residual is not above its entry depends on the members before it; `bad` is
              then the row of the set (the answer is void), else -1
    """
    m, k = sets.shape
    n = len(matrix)
    log_det = np.zeros(m)
    out = np.empty((m, n))
    y = np.empty((k + 1, n))
    left = np.empty((k + 1, n))  # left[j]: the residuals on the first j members
    logs = np.zeros(k + 1)
    for v in range(n):
        left[0, v] = matrix[v, v]
    for i in range(m):
        same = 0
        if i > 0:
            while same < k and sets[i, same] == sets[i - 1, same]:
                same += 1
        for j in range(same, k):
            s = sets[i, j]
            pivot = left[j, s]
            if not pivot > smallest[s]:
                return log_det, out, i
            logs[j + 1] = logs[j] + math.log(pivot)
            scale = 1.0 / math.sqrt(pivot)
            for v in range(n):
                y[j, v] = matrix[s, v]
            for a in range(j):
                factor = y[a, s]
                for v in range(n):
                    y[j, v] -= factor * y[a, v]
            for v in range(n):
                y[j, v] *= scale
                left[j + 1, v] = left[j, v] - y[j, v] * y[j, v]
        log_det[i] = logs[k]
        for v in range(n):
            out[i, v] = left[k, v]
    return log_det, out, -1
