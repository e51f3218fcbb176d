"""Sums over all orders, or all acyclic graphs, of exp(score): see optbn_solvers.front.posterior for the mathematics.

Scores differ by thousands of nats, so sums are kept as logarithms. A child's sums over the families inside each subset
come from a subset-sum (zeta) transform of exp(weight - largest weight): only positive numbers are added, so precision
is full wherever the sum is above FLOOR; the subsets below it (none of whose families is near the best) are summed anew
one by one. Twins: tests/naive/solvers.py (all graphs).
"""

from __future__ import annotations

import math

import numpy as np

from optbn_solvers.base.compiled import kernel

FLOOR = 1e-280
NEGLIGIBLE = 1e-30


@kernel
def log_sums(bits, masks, weights, linear, logs):
    """logs[W] = log sum of exp(weights[i]) over the masks[i] within W, for the 2^bits sets W; returns the scale.

    weights descending; -inf for no family. linear[W] is the same sum times exp(-scale), 0 where that is below FLOOR.
    """
    size = 1 << bits
    linear[:size] = 0.0
    if len(weights) == 0:
        logs[:size] = -np.inf
        return 0.0
    scale = weights[0]
    for i in range(len(masks)):
        linear[masks[i]] += math.exp(weights[i] - scale)
    for bit in range(bits):
        step = 1 << bit
        for start in range(0, size, 2 * step):
            for j in range(start, start + step):
                linear[j + step] += linear[j]
    for inside in range(size):
        if linear[inside] > FLOOR:
            logs[inside] = math.log(linear[inside]) + scale
        else:
            linear[inside] = 0.0
            logs[inside] = _one_log_sum(masks, weights, inside)
    return scale


@kernel
def _one_log_sum(masks, weights, inside):
    largest, total = -np.inf, 0.0
    for i in range(len(masks)):
        if masks[i] & ~inside == 0:
            if largest == -np.inf:
                largest = weights[i]
            total += math.exp(weights[i] - largest)
    return math.log(total) + largest if total > 0 else -np.inf


@kernel
def spread_back(bits, masks, weights, linear, logs, scale, shares, room, posterior):
    """posterior[i] += sum over W that contain masks[i] of shares[W] exp(weights[i] - logs[W]).

    shares[W] is what the family's child having all its parents in W counts; its families share it by their weight.
    """
    size = 1 << bits
    if len(weights) == 0:
        return
    for inside in range(size):
        room[inside] = 0.0
        if linear[inside] > 0.0:
            room[inside] = shares[inside] / linear[inside]
        elif abs(shares[inside]) > NEGLIGIBLE:
            for i in range(len(masks)):
                if masks[i] & ~inside == 0:
                    posterior[i] += shares[inside] * math.exp(weights[i] - logs[inside])
    for bit in range(bits):
        step = 1 << bit
        for start in range(0, size, 2 * step):
            for j in range(start, start + step):
                room[j] += room[j + step]
    for i in range(len(masks)):
        posterior[i] += room[masks[i]] * math.exp(weights[i] - scale)


@kernel
def fitting(families, child, high, lists):
    """Rows of a child with their high part within `high`, best first: how many, into rows, masks and chosen.

    families  (offsets, low_masks, high_masks, weights); lists (rows, masks, chosen)
    """
    offsets, low_masks, high_masks, weights = families
    rows, masks, chosen = lists
    count = 0
    for row in range(offsets[child], offsets[child + 1]):
        if high_masks[row] & ~high == 0:
            rows[count], masks[count], chosen[count] = row, low_masks[row], weights[row]
            count += 1
    return count


@kernel
def orders_forward(high, low, n, families, f, terms, linear, lists):
    """One block of f(U) = log sum over v in U of exp(f(U - v) + a_v(U - v)), a_v as in log_sums; f(empty) = 0.

    The block is the subsets with high part `high`; terms float64[n, 2^low] and the rest are scratch; families
    and lists: see `fitting`.
    """
    _, masks, chosen = lists
    size = 1 << low
    block = f[high << low : (high + 1) << low]
    for v in range(n):
        terms[v] = -np.inf
        before = high
        if v >= low:
            if not high >> (v - low) & 1:
                continue
            before = high ^ (1 << (v - low))
        count = fitting(families, v, before, lists)
        log_sums(low, masks[:count], chosen[:count], linear, terms[v])
        if v >= low:
            terms[v] += f[before << low : (before + 1) << low]
    for inside in range(size):
        largest = -np.inf
        for v in range(n):
            if v >= low or inside >> v & 1:
                largest = max(largest, _entry(terms, block, v, inside, low))
        total = 0.0
        if largest > -np.inf:
            for v in range(n):
                if v >= low or inside >> v & 1:
                    total += math.exp(_entry(terms, block, v, inside, low) - largest)
        block[inside] = math.log(total) + largest if total > 0 else -np.inf
        if high == 0 and inside == 0:
            block[0] = 0.0


@kernel
def _entry(terms, block, v, inside, low):
    """The term of v in f(inside): ready for high v, from the block itself for low ones."""
    if v >= low:
        return terms[v, inside]
    before = inside ^ (1 << v)
    return terms[v, before] + block[before]


@kernel
def orders_backward(high, low, n, families, f, b, scratch, lists, posterior):
    """One block of b(U) = log sum over v not in U of exp(a_v(U) + b(U + v)), b(all) = 0, and the families' shares:
    v follows exactly U with probability exp(f(U) + a_v(U) + b(U + v) - f(all)).

    scratch  (logs, linear, shares float64[n, 2^low]; room float64[2^low])
    """
    logs, linear, shares, room = scratch
    rows, masks, chosen = lists
    size = 1 << low
    block = b[high << low : (high + 1) << low]
    start = f[high << low : (high + 1) << low]
    whole = f[-1]
    scales = np.zeros(n)
    for v in range(n):
        if v >= low and high >> (v - low) & 1:
            continue
        count = fitting(families, v, high, lists)
        scales[v] = log_sums(low, masks[:count], chosen[:count], linear[v], logs[v])
    for inside in range(size - 1, -1, -1):
        largest = -np.inf
        for v in range(n):
            shares[v, inside] = -np.inf
            if v >= low:
                if not high >> (v - low) & 1:
                    after = (high | 1 << (v - low)) << low | inside
                    shares[v, inside] = logs[v, inside] + b[after]
            elif not inside >> v & 1:
                shares[v, inside] = logs[v, inside] + block[inside | 1 << v]
            largest = max(largest, shares[v, inside])
        total = 0.0
        if largest > -np.inf:
            for v in range(n):
                total += math.exp(shares[v, inside] - largest)
        block[inside] = math.log(total) + largest if total > 0 else -np.inf
        if (high + 1) << low == len(b) and inside == size - 1:
            block[inside] = 0.0
        for v in range(n):
            shares[v, inside] = math.exp(shares[v, inside] + start[inside] - whole)
    for v in range(n):
        if v >= low and high >> (v - low) & 1:
            continue
        count = fitting(families, v, high, lists)
        part = np.zeros(count)
        spread_back(low, masks[:count], chosen[:count], linear[v], logs[v], scales[v], shares[v], room, part)
        for i in range(count):
            posterior[rows[i]] += part[i]


@kernel
def graphs_forward(first, last, n, logs, sums, scales, sign_sums, together):
    """Let the subsets U in first..last-1 act on all larger ones in
        r(S) = sum over nonempty T within S of (-1)^(|T|+1) r(S - T) prod_{j in T} A_j(S - T),
    the sum over acyclic graphs on S (every graph has sinks; inclusion and exclusion over the set T of some of them).

    r(S) = sign_sums[S] exp(scales[S]) while it grows, sums[S] = log r(S) when S's turn comes; logs[j, U] = log A_j(U).
    together float64[2^n] is scratch: log prod_{j in T} A_j(U). No term is larger than r(S) itself (it counts the
    graphs whose sinks include T), so little is lost by cancellation. Cost 3^n.
    """
    everything = (1 << n) - 1
    for before in range(first, last):
        if before:
            sums[before] = -np.inf
            if sign_sums[before] > 0:
                sums[before] = math.log(sign_sums[before]) + scales[before]
        if sums[before] == -np.inf:
            continue
        rest = everything & ~before
        together[0] = 0.0
        new = 0
        while new != rest:
            new = (new - rest) & rest  # the next subset of rest, ascending
            low = new & -new
            together[new] = together[new ^ low] + logs[_position(low), before]
            term = sums[before] + together[new]
            if term == -np.inf:
                continue
            after = before | new
            sign = 1.0 if _odd(new) else -1.0
            if term > scales[after]:
                sign_sums[after] = sign_sums[after] * math.exp(scales[after] - term) + sign
                scales[after] = term
            else:
                sign_sums[after] += sign * math.exp(term - scales[after])


@kernel
def graphs_backward(first, last, n, logs, sums, adjoint, shares, together):
    """The derivatives of r(all), for the subsets U from last - 1 down to `first`:
    adjoint[U] = d log r(all) / d log r(U),   shares[j, U] = d log r(all) / d log A_j(U)."""
    everything = (1 << n) - 1
    for before in range(last - 1, first - 1, -1):
        if before == everything:
            adjoint[before] = 1.0
            continue
        if sums[before] == -np.inf:
            continue
        rest = everything & ~before
        together[0] = 0.0
        new = 0
        while new != rest:
            new = (new - rest) & rest
            low = new & -new
            together[new] = together[new ^ low] + logs[_position(low), before]
            after = before | new
            if together[new] == -np.inf or sums[after] == -np.inf:
                continue
            effect = adjoint[after] * math.exp(sums[before] + together[new] - sums[after])
            if not _odd(new):
                effect = -effect
            adjoint[before] += effect
            left = new
            while left:
                bit = left & -left
                shares[_position(bit), before] += effect
                left ^= bit


@kernel
def _position(bit):
    place = 0
    while bit > 1:
        bit >>= 1
        place += 1
    return place


@kernel
def _odd(members):
    odd = False
    while members:
        members &= members - 1
        odd = not odd
    return odd
