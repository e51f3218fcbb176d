"""The evidence of contexts that share an unknown mean with unknown strength, by Laplace's method; see scores/hmd.py.

In u_x = log alpha_x with alpha = s beta nothing is constrained; the map from (beta, log s) has determinant prod beta_x.
With s = sum alpha_x the integrand is, up to a constant,

    sum_x alpha0 (u_x - log s) - (log s - log K)^2 / (2 spread^2) + sum_y log Gamma(s) / Gamma(s + N_y)
        + sum_x sum_y log Gamma(n_xy + alpha_x) / Gamma(alpha_x)

so its Hessian is a diagonal plus a multiple of alpha alpha': a Newton step and the determinant cost O(K), besides the
sums over distinct counts. At the maximum the diagonal is -(alpha0 + something positive); written so it is negative
elsewhere too, and steps lead uphill from anywhere.

Where few rows tell about a level, u_x is skew, like the logarithm of a Gamma(a) variate, whose diagonal is a. Laplace's
method is off there by log Gamma(a) less Stirling's formula, which is added for every level.

Twins: tests/naive/phase1.py, by a general optimiser and finite differences, and by exact integration.
"""

from __future__ import annotations

import math

import numpy as np

from optbn_solvers.base.compiled import kernel

STEPS = 100
CLOSE = 1e-7
"""Of u, where the steps end: the value is off by the square of that."""


@kernel
def polygammas(x):
    """psi(x) and psi'(x) for x > 0: recurrence up to 12, then the asymptotic series."""
    first, second = 0.0, 0.0
    while x < 12.0:
        r = 1.0 / x
        first -= r
        second += r * r
        x += 1.0
    r = 1.0 / x
    q = r * r
    first += math.log(x) - 0.5 * r - q * (1 / 12 - q * (1 / 120 - q * (1 / 252 - q * (1 / 240 - q * (1 / 132)))))
    return first, second + r + 0.5 * q + q * r * (1 / 6 - q * (1 / 30 - q * (1 / 42 - q * (1 / 30 - q * (5 / 66)))))


@kernel
def integrand(u, start, value, times, alpha0, spread):
    """The logarithm of the integrand at u, without its constants.

    start   int64[K + 2]: level x was seen value[j] times in times[j] contexts, j = start[x] .. start[x + 1] - 1; the
            last run holds the contexts' rows
    """
    K = len(u)
    s = np.exp(u).sum()
    away = (math.log(s) - math.log(K)) / spread
    total = -K * alpha0 * math.log(s) - 0.5 * away * away
    for x in range(K):
        alpha = math.exp(u[x])
        base = math.lgamma(alpha)
        total += alpha0 * u[x]
        for j in range(start[x], start[x + 1]):
            total += times[j] * (math.lgamma(value[j] + alpha) - base)
    base = math.lgamma(s)
    for j in range(start[K], start[K + 1]):
        total += times[j] * (base - math.lgamma(value[j] + s))
    return total


@kernel
def slopes(u, start, value, times, alpha0, spread, slope, diagonal):
    """The gradient into slope, minus the Hessian's diagonal into diagonal; returns the factor of alpha alpha'."""
    K = len(u)
    s = np.exp(u).sum()
    away = (math.log(s) - math.log(K)) / (spread * spread)
    first = -(K * alpha0 + away) / s
    second = (K * alpha0 + away - 1.0 / (spread * spread)) / (s * s)
    psi, psi1 = polygammas(s)
    for j in range(start[K], start[K + 1]):
        there, there1 = polygammas(value[j] + s)
        first += times[j] * (psi - there)
        second += times[j] * (psi1 - there1)
    for x in range(K):
        alpha = math.exp(u[x])
        psi, psi1 = polygammas(alpha)
        one, two = 0.0, 0.0
        for j in range(start[x], start[x + 1]):
            there, there1 = polygammas(value[j] + alpha)
            one += times[j] * (there - psi)
            two += times[j] * (psi1 - there1)
        slope[x] = alpha0 + alpha * (one + first)
        diagonal[x] = alpha0 + alpha * alpha * two
    return second


@kernel
def log_evidence(start, value, times, alpha0, spread):
    """log of the integral of beta ~ Dir(alpha0, ..), log s ~ N(log K, spread^2) times the contexts' likelihood."""
    K = len(start) - 2
    u, trial, slope, diagonal = np.zeros(K), np.empty(K), np.empty(K), np.empty(K)
    here = integrand(u, start, value, times, alpha0, spread)
    shrink = 1.0
    for _ in range(STEPS):
        factor = slopes(u, start, value, times, alpha0, spread, slope, diagonal)
        whole, along = 0.0, 0.0
        for x in range(K):
            alpha = math.exp(u[x])
            whole += alpha * alpha / diagonal[x]
            along += alpha * slope[x] / diagonal[x]
        shrink = 1.0 - factor * whole
        push = factor * along / shrink if shrink > 1e-3 else 0.0  # else not concave: the diagonal alone leads uphill
        length, rise = 0.0, 0.0
        for x in range(K):
            trial[x] = (slope[x] + push * math.exp(u[x])) / diagonal[x]
            length = max(length, abs(trial[x]))
            rise += trial[x] * slope[x]
        if length < CLOSE:
            break
        part = min(1.0, 3.0 / length)
        step = trial.copy()
        there = -np.inf
        for _ in range(40):
            for x in range(K):
                trial[x] = u[x] + part * step[x]
            there = integrand(trial, start, value, times, alpha0, spread)
            if there > here + 1e-4 * part * rise:
                break
            part *= 0.5
        if not there > here:
            break
        u[:] = trial
        here = there
    total = here + math.lgamma(K * alpha0) - K * math.lgamma(alpha0) - math.log(spread) - 0.5 * math.log(2.0 * math.pi)
    total -= 0.5 * math.log(max(shrink, 1e-3))
    for x in range(K):  # Stirling's 0.5 log(2 pi / a) and its error together
        total += math.lgamma(diagonal[x]) - diagonal[x] * (math.log(diagonal[x]) - 1.0)
    return total


@kernel
def one_context(counts, alpha0):
    """log of the Dirichlet-multinomial evidence of counts, int64[K]."""
    K = len(counts)
    total = math.lgamma(K * alpha0) - math.lgamma(K * alpha0 + counts.sum())
    for x in range(K):
        total += math.lgamma(counts[x] + alpha0) - math.lgamma(alpha0)
    return total


@kernel
def split(group, n_groups, column, levels, out):
    """out[r]: the group of row r by (group, column), numbered by first rows; returns how many there are."""
    number = np.full(n_groups * levels, -1, np.int32)
    found = 0
    for r in range(len(column)):
        key = group[r] * levels + column[r]
        if number[key] < 0:
            number[key] = found
            found += 1
        out[r] = number[key]
    return found


@kernel
def tally(counts, seen, value, times, at):
    """Append the distinct numbers of counts and how often each occurs, by first occurrence; returns the end.

    seen    int32, zeros, longer than any count; zeros again afterwards
    """
    begin = at
    for n in counts:
        if seen[n] == 0:
            value[at] = n
            at += 1
        seen[n] += 1
    for j in range(begin, at):
        times[j] = seen[np.int64(value[j])]
        seen[np.int64(value[j])] = 0
    return at


@kernel
def family(group, q, column, order, alpha0, spread, floor, seen):
    """The score of one response given its contexts, -inf where it is provably not above floor.

    group   int32[N], the context of each row, q in all;  order  int64[K], levels by rising frequency
    """
    K, N = len(order), len(column)
    counts = np.zeros((K + 1, q), np.int64)  # the last row holds the contexts' rows
    for r in range(N):
        counts[column[r], group[r]] += 1
        counts[K, group[r]] += 1
    if q == 1:
        return one_context(counts[:K, 0], alpha0)
    first = np.zeros(K, np.int64)
    for y in range(q):
        for x in order:
            if counts[x, y]:
                first[x] += 1
                break
    most = one_context(first, alpha0)
    if most <= floor:
        return -np.inf
    start = np.zeros(K + 2, np.int64)
    value, times = np.empty((K + 1) * q), np.empty((K + 1) * q)
    for x in range(K + 1):
        start[x + 1] = tally(counts[x], seen, value, times, start[x])
    return min(most, log_evidence(start, value, times, alpha0, spread))


@kernel
def score_sets(sets, wanted, codes, levels, orders, alpha0, spread, floor, out):
    """out[i, v]: the score of v given sets[i] where wanted.

    codes   uint16[n, N];  orders  int64[n, most levels], the levels of each variable by rising frequency
    floor   float64[m, n], -inf where nothing is known
    """
    m, k = sets.shape
    n, N = codes.shape
    group = np.zeros((k + 1, N), np.int32)
    q = np.ones(k + 1, np.int64)
    seen = np.zeros(N + 1, np.int32)
    for i in range(m):
        same = 0
        while i > 0 and same < k and sets[i, same] == sets[i - 1, same]:
            same += 1
        for j in range(same, k):
            q[j + 1] = split(group[j], q[j], codes[sets[i, j]], levels[sets[i, j]], group[j + 1])
        for v in range(n):
            if wanted[i, v]:
                order = orders[v, : levels[v]]
                out[i, v] = family(group[k], q[k], codes[v], order, alpha0, spread, floor[i, v], seen)
