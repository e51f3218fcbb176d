"""Gibbs moves over orders, of a variable and of a window, and the arcs of an order: see optbn_solvers.front.sampled.

A child's families are listed by falling weight, so a sum over those among its predecessors ends where the rest no
longer counts.
"""

from __future__ import annotations

import math

import numpy as np

from optbn_solvers.base.compiled import kernel

NEGLIGIBLE = 40.0  # nats below the largest term


@kernel
def among(masks, row, before):
    """Whether a family lies within a set of variables."""
    outside = np.uint64(0)
    for word in range(masks.shape[1]):
        outside |= masks[row, word] & ~before[word]
    return outside == 0


@kernel
def log_sum(v, before, offsets, masks, weights):
    """log of the sum of exp(weight) over the families of v within `before`."""
    largest, total = -np.inf, 0.0
    for row in range(offsets[v], offsets[v + 1]):
        if weights[row] < largest - NEGLIGIBLE:
            break
        if among(masks, row, before):
            if largest == -np.inf:
                largest = weights[row]
            total += math.exp(weights[row] - largest)
    return largest + math.log(total) if total > 0.0 else -np.inf


@kernel
def sweep(order, scores, turns, uniforms, offsets, masks, weights):
    """Move every variable, in the order `turns`, to a place drawn from its conditional distribution given the order of
    the others; updates order int64[n] and scores float64[n], the log sums of the variables."""
    n, words = len(order), masks.shape[1]
    gain = np.empty(n)
    moved_v, moved_w = np.empty(n), np.empty(n)
    before = np.zeros(words, np.uint64)
    one = np.uint64(1)
    for turn in range(n):
        v = turns[turn]
        at = 0
        while order[at] != v:
            at += 1
        gain[at] = 0.0
        for step in (-1, 1):
            before[:] = 0
            for i in range(at):
                before[order[i] >> 6] |= one << np.uint64(order[i] & 63)
            total, score_v, i = 0.0, scores[v], at + step
            while 0 <= i < n:
                w = order[i]
                bit_v, bit_w = one << np.uint64(v & 63), one << np.uint64(w & 63)
                if step < 0:  # w goes behind v
                    before[w >> 6] &= ~bit_w
                    now_v = log_sum(v, before, offsets, masks, weights)
                    before[v >> 6] |= bit_v
                    now_w = log_sum(w, before, offsets, masks, weights)
                    before[v >> 6] &= ~bit_v
                else:  # w goes before v
                    now_w = log_sum(w, before, offsets, masks, weights)
                    before[w >> 6] |= bit_w
                    now_v = log_sum(v, before, offsets, masks, weights)
                total += now_v + now_w - score_v - scores[w]
                score_v = now_v
                gain[i], moved_v[i], moved_w[i] = total, now_v, now_w
                i += step
        top = gain.max()
        mass = 0.0
        for i in range(n):
            mass += math.exp(gain[i] - top)
        left, to = uniforms[turn] * mass, 0
        while to < n - 1 and left >= math.exp(gain[to] - top):
            left -= math.exp(gain[to] - top)
            to += 1
        step = 1 if to > at else -1
        if to != at:
            scores[v] = moved_v[to]
        while at != to:
            w = order[at + step]
            scores[w] = moved_w[at + step]
            order[at], order[at + step] = w, v
            at += step


@kernel
def add_logs(a, b):
    """log(exp(a) + exp(b))."""
    high, low = max(a, b), min(a, b)
    return high + math.log1p(math.exp(low - high)) if high - low < NEGLIGIBLE else high


@kernel
def window_sums(j, window, before, offsets, masks, weights, out):
    """out[S]: the log sum of the families of window[j] within `before` and the members S of the window, j not in S."""
    k, v = len(window), window[j]
    inside = before.copy()
    for member in window:
        inside[member >> 6] |= np.uint64(1) << np.uint64(member & 63)
    out[:] = -np.inf
    for row in range(offsets[v], offsets[v + 1]):
        if weights[row] < out[0] - NEGLIGIBLE:
            break
        if among(masks, row, inside):
            of = 0
            for i in range(k):
                u = window[i]
                if masks[row, u >> 6] >> np.uint64(u & 63) & np.uint64(1):
                    of |= 1 << i
            out[of] = add_logs(out[of], weights[row]) if out[of] > -np.inf else weights[row]
    for i in range(k):
        if i == j:
            continue
        for members in range(1 << k):
            if members >> i & 1 and not members >> j & 1:
                fewer = out[members ^ 1 << i]
                if fewer > -np.inf:
                    out[members] = add_logs(out[members], fewer) if out[members] > -np.inf else fewer


@kernel
def reorder(order, scores, first, size, uniforms, offsets, masks, weights):
    """Draw the order of the `size` variables from place `first` on anew, from its exact distribution given the others'
    places, by the recurrence over their subsets; updates order and scores, returns the log of the sum over orders."""
    window = order[first : first + size].copy()
    before = np.zeros(masks.shape[1], np.uint64)
    for i in range(first):
        before[order[i] >> 6] |= np.uint64(1) << np.uint64(order[i] & 63)
    full = (1 << size) - 1
    sums, total = np.empty((size, full + 1)), np.full(full + 1, -np.inf)
    for j in range(size):
        window_sums(j, window, before, offsets, masks, weights, sums[j])
    total[0] = 0.0
    for members in range(1, full + 1):
        for j in range(size):
            if members >> j & 1:
                way = total[members ^ 1 << j] + sums[j, members ^ 1 << j]
                if way > -np.inf:
                    total[members] = add_logs(total[members], way) if total[members] > -np.inf else way
    if total[full] == -np.inf:
        return total[full]
    members = full
    for place in range(first + size - 1, first - 1, -1):
        left, last = uniforms[place - first], -1
        for j in range(size):
            if members >> j & 1 and total[members ^ 1 << j] + sums[j, members ^ 1 << j] > -np.inf:
                last = j
                left -= math.exp(total[members ^ 1 << j] + sums[j, members ^ 1 << j] - total[members])
                if left < 0.0:
                    break
        members ^= 1 << last
        order[place] = window[last]
        scores[window[last]] = sums[last, members]
    return total[full]


@kernel
def arcs_of(order, scores, offsets, masks, weights, out):
    """out float64[n, n]: the probability of u -> v given the order; updates the log sums of all variables."""
    n = len(order)
    before = np.zeros(masks.shape[1], np.uint64)
    out[:] = 0.0
    for i in range(n):
        v = order[i]
        scores[v] = log_sum(v, before, offsets, masks, weights)
        for row in range(offsets[v], offsets[v + 1]):
            if weights[row] < scores[v] - NEGLIGIBLE:
                break
            if among(masks, row, before):
                share = math.exp(weights[row] - scores[v])
                for j in range(i):
                    u = order[j]
                    if masks[row, u >> 6] >> np.uint64(u & 63) & np.uint64(1):
                        out[u, v] += share
        before[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
