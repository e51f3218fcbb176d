"""Recursive cuts by class entropy and description length; `optbn.data.discretise.mdlp` has the test."""

from __future__ import annotations

import math

import numpy as np

from optbn.base.variates import uniform
from optbn_solvers.base.compiled import kernel


@kernel
def _spread(counts):
    """(N times the entropy in nats, N, classes that occur)."""
    total, logs, present = 0.0, 0.0, 0
    for k in range(len(counts)):
        if counts[k] > 0.0:
            total += counts[k]
            logs += counts[k] * math.log(counts[k])
            present += 1
    return (total * math.log(total) - logs if present > 1 else 0.0), total, present


@kernel
def _pick(shares, begin, end, u):
    """The place in begin .. end - 1 in whose share u, between 0 and the sum of them, lies; no share of 0 is picked."""
    last = -1
    for i in range(begin, end):
        u -= shares[i]
        if shares[i] > 0.0:
            last = i
            if u <= 0.0:
                break
    return last


@kernel
def partition(groups, by_rows, drawn, state):
    """bool[g]: whether there is a cut after each of the g different values, in ascending order.

    groups   float64[g, C], the weight of each class at each value
    by_rows  whether all places between rows are paid for, or only those between different values
    drawn    whether cuts are drawn by their margin with the random bits of `state`, or the best ones are taken; where
             none passes for the whole, one is drawn by its gain
    Cost: O(g C) per accepted or refused part. Twin: tests.naive.classifiers.mdlp_cuts.
    """
    g, C = groups.shape
    chosen = np.zeros(g, dtype=np.bool_)
    parts = np.empty((g + 1, 2), dtype=np.int64)
    parts[0, 0], parts[0, 1] = 0, g
    waiting = 1
    whole, left, right = np.empty(C), np.empty(C), np.empty(C)
    margins, gains = np.empty(g if drawn else 0), np.empty(g if drawn else 0)
    while waiting > 0:
        waiting -= 1
        begin, end = parts[waiting]
        if end - begin < 2:
            continue
        whole[:] = 0.0
        for i in range(begin, end):
            for k in range(C):
                whole[k] += groups[i, k]
        entropy, rows, present = _spread(whole)
        if present < 2:
            continue
        places = rows - 1.0 if by_rows else float(end - begin - 1)
        price = (math.log(places) if places > 1.0 else 0.0) + present * math.log(3.0)
        price += math.log1p(-2.0 * 3.0 ** (-present))
        left[:] = 0.0
        best, best_gain, best_margin, passing, gained = -1, 0.0, 0.0, 0.0, 0.0
        for i in range(begin, end - 1):
            for k in range(C):
                left[k] += groups[i, k]
                right[k] = whole[k] - left[k]
            entropy_left, rows_left, present_left = _spread(left)
            entropy_right, rows_right, present_right = _spread(right)
            gain = entropy - entropy_left - entropy_right
            margin = gain - price + present * entropy / rows
            margin -= present_left * entropy_left / rows_left + present_right * entropy_right / rows_right
            if gain > best_gain + 1e-12 * rows:
                best, best_gain, best_margin = i, gain, margin
            if drawn:
                margins[i] = max(margin, 0.0)
                passing += margins[i]
                gains[i] = gain if gain > 1e-12 * rows else 0.0
                gained += gains[i]
        cut = -1
        if drawn:
            if passing > 0.0:
                cut = _pick(margins, begin, end - 1, uniform(state) * passing)
            elif gained > 0.0 and begin == 0 and end == g:
                cut = _pick(gains, begin, end - 1, uniform(state) * gained)
        elif best >= 0 and best_margin > 0.0:
            cut = best
        if cut < 0:
            continue
        chosen[cut] = True
        parts[waiting, 0], parts[waiting, 1] = cut + 1, end
        parts[waiting + 1, 0], parts[waiting + 1, 1] = begin, cut + 1
        waiting += 2
    return chosen
