"""The variational bound of the hierarchical multinomial-Dirichlet model and its Newton ascent, and polynomials in logs.

`optbn.smoothing.hierarchical` derives the bound; `optbn.smoothing.polynomial` says what the polynomials are for.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from optbn_solvers.base.compiled import kernel

smooth = functools.partial(kernel, error_model="numpy")  # a division by zero is an infinity, which no step leads to


@kernel
def polygammas(x):
    """psi(x), psi'(x), psi''(x) for x > 0: recurrence up to 12, then the asymptotic series."""
    first, second, third = 0.0, 0.0, 0.0
    while x < 12.0:
        r = 1.0 / x
        first -= r
        second += r * r
        third -= 2.0 * r * r * r
        x += 1.0
    r = 1.0 / x
    q = r * r
    first += math.log(x) - 0.5 * r - q * (1 / 12 - q * (1 / 120 - q * (1 / 252 - q * (1 / 240 - q * (1 / 132)))))
    series = 1 / 6 - q * (1 / 30 - q * (1 / 42 - q * (1 / 30 - q * (5 / 66 - q * (691 / 2730)))))
    second += r + 0.5 * q + q * r * series
    slope = 0.5 - q * (1 / 6 - q * (1 / 6 - q * (3 / 10 - q * (5 / 6 - q * (691 / 210)))))
    third -= q + q * r + q * q * slope
    return first, second, third


@smooth
def bound(kappa, tau, contexts, start, value, times, s, alpha0):
    """The lower bound, up to what does not depend on (kappa, tau).

    start   int64[K + 1]: level x was seen value[j] times in times[j] contexts, j = start[x] .. start[x + 1] - 1
    alpha0  float64[K]
    """
    K = len(kappa)
    psi_tau, _, _ = polygammas(tau)
    psi_next = psi_tau + 1.0 / tau
    result = -math.lgamma(tau)
    for x in range(K):
        p, a = s * kappa[x], tau * kappa[x]
        psi, _, _ = polygammas(a)
        log_gamma = math.lgamma(1.0 + p) - p * math.log(kappa[x]) + p * (psi + 1.0 / a - psi_next) - psi + psi_tau
        result += math.lgamma(a) + (alpha0[x] - a) * (psi - psi_tau) - contexts * (log_gamma - math.log(s))
        for j in range(start[x], start[x + 1]):
            result += times[j] * math.lgamma(value[j] + p)
    return result


@smooth
def derivatives(kappa, tau, contexts, start, value, times, s, alpha0, slope, curve, cross):
    """d/dkappa_x, d2/dkappa_x2 and d2/(dkappa_x dlog tau) into slope, curve, cross; returns d and d2 by log tau."""
    K = len(kappa)
    psi_tau, psi1_tau, psi2_tau = polygammas(tau)
    psi_next, psi1_next = psi_tau + 1.0 / tau, psi1_tau - 1.0 / (tau * tau)
    psi2_next = psi2_tau + 2.0 / (tau * tau * tau)
    prior = alpha0.sum()
    d_tau, dd_tau = -(prior - tau) * psi1_tau, -(prior - tau) * psi2_tau + psi1_tau
    for x in range(K):
        k = kappa[x]
        p, a = s * k, tau * k
        psi, psi1, psi2 = polygammas(a)
        next0, next1, next2 = psi + 1.0 / a, psi1 - 1.0 / (a * a), psi2 + 2.0 / (a * a * a)
        own0, own1, _ = polygammas(1.0 + p)
        b = s * (own0 - math.log(k) - 1.0 + next0 - psi_next) + p * tau * next1 - tau * psi1
        bb = s * s * own1 - s / k + 2.0 * s * tau * next1 + p * tau * tau * next2 - tau * tau * psi2
        bt = s * (2.0 * k * next1 - psi1_next) + p * a * next2 - psi1 - a * psi2
        slope[x] = tau * ((alpha0[x] - a) * psi1 + psi_tau) - contexts * b
        curve[x] = tau * tau * ((alpha0[x] - a) * psi2 - psi1) - contexts * bb
        own = (alpha0[x] - a) * psi1 + psi_tau + tau * (k * (alpha0[x] - a) * psi2 - k * psi1 + psi1_tau)
        cross[x] = tau * (own - contexts * bt)
        d_tau += (alpha0[x] - a) * k * psi1 - contexts * (p * (k * next1 - psi1_next) - k * psi1 + psi1_tau)
        dd_tau += (alpha0[x] - a) * k * k * psi2 - k * k * psi1
        dd_tau -= contexts * (p * (k * k * next2 - psi2_next) - k * k * psi2 + psi2_tau)
        for j in range(start[x], start[x + 1]):
            cell0, cell1, _ = polygammas(value[j] + p)
            slope[x] += s * times[j] * cell0
            curve[x] += s * s * times[j] * cell1
    return tau * d_tau, tau * tau * dd_tau + tau * d_tau


@smooth
def ascend(kappa, tau, contexts, start, value, times, s, alpha0, tolerance, trace):
    """Newton ascent of the bound in (kappa, log tau), sum kappa = 1; kappa is changed in place. Returns tau, steps.

    The Hessian is a diagonal bordered by log tau and by the constraint, so a step costs O(K). Where it is not negative
    definite, or its step does not ascend or is no number, the signs of the diagonal are forced and the border dropped.
    Every step is halved until the bound rises; `trace` gets the bound, first of the start, then after every step.
    """
    K = len(kappa)
    slope, curve, cross, step, trial = np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    here = bound(kappa, tau, contexts, start, value, times, s, alpha0)
    trace[0] = here
    for iteration in range(1, len(trace)):
        d_tau, dd_tau = derivatives(kappa, tau, contexts, start, value, times, s, alpha0, slope, curve, cross)
        rise = -1.0
        for bordered in (True, False):
            s00, s01, s0g, s11, s1g = 0.0, 0.0, 0.0, 0.0, 0.0
            for x in range(K):
                if not bordered:
                    curve[x] = -max(abs(curve[x]), 1e-9)
                    cross[x] = 0.0
                elif curve[x] >= 0.0:
                    s00 = np.nan  # not concave: take the plain step
                inverse = 1.0 / curve[x]
                s00 += inverse
                s01 += inverse * cross[x]
                s0g += inverse * slope[x]
                s11 += inverse * cross[x] * cross[x]
                s1g += inverse * cross[x] * slope[x]
            # step = -(slope + cross t + mu) / curve with sum(step) = 0 and cross . step + dd_tau t = -d_tau
            determinant = dd_tau * s00 - s11 * s00 + s01 * s01
            if bordered:
                t = (s1g * s00 - s0g * s01 - d_tau * s00) / determinant
            else:
                t = d_tau / max(abs(dd_tau), 1e-9)
            mu = -(s0g + s01 * t) / s00
            rise = d_tau * t
            for x in range(K):
                step[x] = -(slope[x] + cross[x] * t + mu) / curve[x]
                rise += slope[x] * step[x]
            if rise > 0.0:
                break
        if not rise > 0.0:
            return tau, iteration - 1
        length = min(1.0, 2.0 / max(abs(t), 1e-12))
        for x in range(K):
            if step[x] < 0.0:
                length = min(length, -0.9 * kappa[x] / step[x])
        there = -np.inf
        for _ in range(60):
            total = 0.0
            for x in range(K):
                trial[x] = kappa[x] + length * step[x]
                total += trial[x]
            trial /= total
            there = bound(trial, tau * math.exp(length * t), contexts, start, value, times, s, alpha0)
            if there > here:
                break
            length *= 0.5
        if not there > here:
            return tau, iteration - 1
        moved = abs(length * t)
        for x in range(K):
            moved = max(moved, abs(trial[x] - kappa[x]) / kappa[x])
        for x in range(K):
            kappa[x] = trial[x]
        tau *= math.exp(length * t)
        here = there
        trace[iteration] = here
        if moved < tolerance:
            return tau, iteration
    return tau, len(trace) - 1


@smooth
def slope_by_strength(kappa, tau, levels, contexts, s):
    """d bound / d log s at (kappa, tau), the terms that are constant in (kappa, tau) included.

    levels     (start, value, times) as in `bound`
    contexts   (total, times): `times` contexts have `total` rows each
    """
    start, value, times = levels
    total, total_times = contexts
    n_contexts = total_times.sum()
    psi_next = polygammas(tau)[0] + 1.0 / tau
    result = n_contexts * polygammas(s)[0]
    for j in range(len(total)):
        result -= total_times[j] * polygammas(total[j] + s)[0]
    for x in range(len(kappa)):
        k, p, a = kappa[x], s * kappa[x], tau * kappa[x]
        own = polygammas(1.0 + p)[0] - math.log(k) + polygammas(a)[0] + 1.0 / a - psi_next
        result -= n_contexts * (k * own - 1.0 / s)
        for j in range(start[x], start[x + 1]):
            result += times[j] * k * polygammas(value[j] + p)[0]
    return s * result


FURTHEST = 14.0  # of log s from its centre: a factor of a million; beyond, estimates do not change


@smooth
def ascend_strength(kappa, tau, levels, contexts, centre, spread, alpha0, tolerance, trace):
    """The s at which the bound, maximised over (kappa, tau), plus log N(log s; log centre, spread^2) is highest.

    The secant method on log s: by the envelope theorem the slope of that maximum is the slope at the maximising
    (kappa, tau). Each ascent begins where the last one ended. A point never leaves the bracket (low, high) of a rising
    and a falling slope nor `FURTHEST` from the centre; steps are of length 3 at most. Returns tau, s and the
    steps of the last ascent, which alone is run to the full tolerance.
    """
    start, value, times = levels
    n_contexts = contexts[1].sum()
    low, high = -np.inf, np.inf
    middle = math.log(centre)
    at, bend, step = middle, 0.0, 0.0
    slope = 0.0
    for look in range(60):
        s = math.exp(at)
        rough = 1e-2 if look == 0 else 1e-3
        tau, _ = ascend(kappa, tau, n_contexts, start, value, times, s, alpha0, rough, trace)
        before = slope
        slope = slope_by_strength(kappa, tau, levels, contexts, s) - (at - middle) / (spread * spread)
        if look > 0:
            bend = (slope - before) / step
        if slope > 0.0:
            low = at
        else:
            high = at
        there = at - slope / bend if bend < 0.0 else at + math.copysign(3.0, slope)
        there = min(max(there, low, at - 3.0), high, at + 3.0)
        if there in (low, high) and high - low < np.inf:
            there = 0.5 * (low + high)
        there = min(max(there, middle - FURTHEST), middle + FURTHEST)
        step = there - at
        if abs(step) < 1e-4:
            break
        at = there
    s = math.exp(at)
    tau, steps = ascend(kappa, tau, n_contexts, start, value, times, s, alpha0, tolerance, trace)
    return tau, s, steps


@kernel
def log_sum(terms, n):
    """log(sum(exp(terms[:n]))), -inf for none."""
    top = -np.inf
    for i in range(n):
        top = max(top, terms[i])
    if top == -np.inf:
        return top
    total = 0.0
    for i in range(n):
        total += math.exp(terms[i] - top)
    return top + math.log(total)


@kernel
def log_product(a, b):
    """Logarithms of the coefficients of the product of two polynomials with coefficients exp(a), exp(b)."""
    out = np.empty(len(a) + len(b) - 1)
    terms = np.empty(min(len(a), len(b)))
    for m in range(len(out)):
        first = max(0, m - len(b) + 1)
        last = min(m, len(a) - 1)
        for k in range(first, last + 1):
            terms[k - first] = a[k] + b[m - k]
        out[m] = log_sum(terms, last - first + 1)
    return out


@kernel
def log_rising_product(value, times, s):
    """Logarithms of the coefficients of prod_j ((s b)(s b + 1) ... (s b + value_j - 1))^times_j in b."""
    degree = 0
    for j in range(len(value)):
        degree += value[j] * times[j]
    out = np.full(degree + 1, -np.inf)
    out[0] = 0.0
    used = 0
    log_s = math.log(s)
    for j in range(len(value)):
        for _ in range(times[j]):
            for i in range(value[j]):
                for k in range(used + 1, 0, -1):
                    up = out[k - 1] + log_s
                    stay = out[k] + math.log(i) if i > 0 else -np.inf
                    high, low = max(up, stay), min(up, stay)
                    out[k] = high if low == -np.inf else high + math.log1p(math.exp(low - high))
                out[0] = out[0] + math.log(i) if i > 0 else -np.inf
                used += 1
    return out
