"""Is a projected point a convex combination of DAGs on a few nodes? If not, a facet that says so.

Nodes are 0..m-1, N = 2^m. X[i, T] >= 0 is the weight with which node i has the parents T (T = 0 left out). Solve
    min 1'lambda,  Y lambda >= x,  lambda >= 0        one column of Y per DAG, one row per pattern (i, T) with X > 0
by the primal simplex method. The duals a price a DAG: it enters when a'y > 1, and the best one is found by the
subset DP. A minimum above 1 means that X is outside, and the optimal duals give the inequality a'y <= 1 it violates.
The rows are tiny in number (tens), so the basis inverse is a dense matrix, updated by pivots.
The coefficients of a cut are small whole numbers, so its proof by the DP is exact in floats too.
Twins: tests/naive/ilp.py.
"""

from __future__ import annotations

import math

import numpy as np

from optbn_solvers.base.compiled import kernel
from optbn_solvers.relaxation.kernels.subsets import close_upwards, max_dag, max_dag_around

INSIDE, CUT, STUCK = 0, 1, 2
MOST_MULTIPLE = 60
EPSILON = 1e-9


@kernel
def project(members, n, children, starts, parents, x, weight):
    """weight[j, T] += x of the families whose child is members[j] and whose parents among members are T != 0."""
    place = np.full(n, -1, dtype=np.int64)
    for j in range(len(members)):
        place[members[j]] = j
    for f in range(len(children)):
        j = place[children[f]]
        if j >= 0:
            pattern = np.int64(0)
            for k in range(starts[f], starts[f + 1]):
                if place[parents[k]] >= 0:
                    pattern |= np.int64(1) << place[parents[k]]
            if pattern:
                weight[j, pattern] += x[f]


@kernel
def outside(weight, least_weight, least_violation, most_rows, most_pivots, table):
    """(state, rhs, violation): CUT when `weight` violates  sum of table[i, T] X[i, T] <= rhs, a row true of all DAGs.

    INSIDE: the point is a combination of DAGs up to `least_violation`. STUCK: too many patterns or pivots, or duals
    that no multiple up to MOST_MULTIPLE makes whole. `table` int64[m, N] is filled for the patterns above
    `least_weight` only. The inequality is re-proved in integers by the DP before it is returned.
    """
    m, size = weight.shape
    node, pattern, x = np.empty(most_rows, np.int64), np.empty(most_rows, np.int64), np.empty(most_rows)
    r = 0
    for i in range(m):
        for among in range(1, size):
            if weight[i, among] > least_weight:
                if r == most_rows:
                    return STUCK, 0, 0.0
                node[r], pattern[r] = i, among
                # a small, fixed perturbation, different for every row, against degenerate pivots
                x[r] = weight[i, among] + 1e-6 * ((r * 7919 + 13 * r * r) % 101)
                r += 1
    if r < 3:
        return INSIDE, 0, 0.0
    node, pattern = node[:r], pattern[:r]

    # the first basis: every pattern alone is a DAG
    inverse, basic, cost = np.zeros((r, r)), x[:r].copy(), np.ones(r)
    for j in range(r):
        inverse[j, j] = 1.0
    best, value, last = np.zeros((m, size)), np.zeros(size), np.zeros(size, dtype=np.int64)
    column, step = np.zeros(r), np.zeros(r)

    # then DAGs of a greedy decomposition enter, each at the pattern it uses up
    rest, spent = x[:r].copy(), np.zeros(r, dtype=np.bool_)
    for _ in range(r):
        _best_graph(node, pattern, rest, best, value, last, column)
        leaving = np.int64(-1)
        for j in range(r):
            if column[j] > 0 and (leaving < 0 or rest[j] < rest[leaving]):
                leaving = j
        if leaving < 0 or rest[leaving] <= 1e-12:
            break
        share = rest[leaving]
        for j in range(r):
            if column[j] > 0:
                rest[j] = max(0.0, rest[j] - share)
        rest[leaving] = 0.0
        if spent[leaving]:
            break
        spent[leaving] = True
        _direction(inverse, column, step)
        if abs(step[leaving]) < 1e-7:
            break
        _pivot(inverse, basic, step, leaving)
        cost[leaving] = 1.0

    dual = np.zeros(r)
    proved = False
    for _ in range(most_pivots):
        total = 0.0
        dual[:] = 0.0
        for k in range(r):
            if cost[k] != 0.0:
                total += basic[k]
                for j in range(r):
                    dual[j] += inverse[k, j]
        if total <= 1.0 + least_violation:
            return INSIDE, 0, total - 1.0
        entering = 1.0
        lowest = 0
        for j in range(r):
            if dual[j] < dual[lowest]:
                lowest = j
        if dual[lowest] < -EPSILON:  # the surplus of a row
            column[:] = 0.0
            column[lowest] = -1.0
            entering = 0.0
        elif _best_graph(node, pattern, dual, best, value, last, column) <= 1.0 + 1e-7:
            proved = True
            break
        _direction(inverse, column, step)
        leaving = np.int64(-1)
        for k in range(r):
            if step[k] > EPSILON:
                if leaving < 0:
                    leaving = k
                else:
                    ratio, least = basic[k] / step[k], basic[leaving] / step[leaving]
                    if ratio < least - 1e-13 or (ratio < least + 1e-13 and step[k] > step[leaving]):
                        leaving = k
        if leaving < 0:
            return STUCK, 0, 0.0
        _pivot(inverse, basic, step, leaving)
        cost[leaving] = entering
    if not proved:
        return STUCK, 0, 0.0

    rhs = 0
    for multiple in range(1, MOST_MULTIPLE + 1):
        whole = True
        for j in range(r):
            scaled = dual[j] * multiple
            if abs(scaled - math.floor(scaled + 0.5)) > 1e-5:
                whole = False
                break
        if whole:
            rhs = multiple
            break
    if rhs == 0:
        return STUCK, 0, total - 1.0
    table[:] = 0
    for j in range(r):
        table[node[j], pattern[j]] = max(0, math.floor(dual[j] * rhs + 0.5))
    for i in range(m):
        for among in range(size):
            best[i, among] = table[i, among]
    close_upwards(best)
    if max_dag(best, value, last) > rhs:
        return STUCK, 0, total - 1.0
    return CUT, rhs, total - 1.0


@kernel
def lift(table, rhs, present):
    """Raise the coefficients of other patterns as far as the row stays true, small patterns first, in place.

    `present` bool[m, N] marks the patterns some family has; only they are worth the effort. A pattern's coefficient
    is the rhs less the most the other nodes can earn beside it, and at least that of any subset. In the end every
    pattern has the largest coefficient of its subsets. Cost: one DP per pattern.
    """
    m, size = table.shape
    best, value = np.zeros((m, size)), np.zeros(size)
    for i in range(m):
        for among in range(size):
            best[i, among] = table[i, among]
    close_upwards(best)
    for members in range(1, m):
        for among in range(1, size):
            count = 0
            for b in range(m):
                count += (among >> b) & 1
            if count != members:
                continue
            for i in range(m):
                if (among >> i) & 1 or not present[i, among] or table[i, among] > 0:
                    continue
                lifted = rhs - max_dag_around(best, value, i, among)
                if lifted > best[i, among]:
                    free = (size - 1) & ~among & ~(1 << i)
                    more = free
                    while True:
                        if best[i, among | more] < lifted:
                            best[i, among | more] = lifted
                        if more == 0:
                            break
                        more = (more - 1) & free
    for i in range(m):
        for among in range(size):
            table[i, among] = 0 if (among >> i) & 1 else np.int64(best[i, among])


@kernel
def _best_graph(node, pattern, gain, best, value, last, column):
    """Fill `column` with the patterns (gains > 0) a best DAG uses; returns its gain."""
    size = best.shape[1]
    best[:] = 0.0
    for j in range(len(node)):
        if gain[j] > best[node[j], pattern[j]]:
            best[node[j], pattern[j]] = gain[j]
    close_upwards(best)
    most = max_dag(best, value, last)
    column[:] = 0.0
    among = size - 1
    while among:
        i = last[among]
        among ^= 1 << i
        chosen = -1
        for j in range(len(node)):
            if node[j] == i and pattern[j] & ~among == 0 and gain[j] > (gain[chosen] if chosen >= 0 else 1e-12):
                chosen = j
        if chosen >= 0:
            column[chosen] = 1.0
    return most


@kernel
def _direction(inverse, column, step):
    """step = inverse @ column, for a column of a few entries."""
    step[:] = 0.0
    for j in range(len(column)):
        if column[j] != 0.0:
            for k in range(len(step)):
                step[k] += inverse[k, j] * column[j]


@kernel
def _pivot(inverse, basic, step, leaving):
    """Let the column with `step` = inverse @ column replace basic variable `leaving`."""
    r = len(basic)
    pivot = step[leaving]
    for j in range(r):
        inverse[leaving, j] /= pivot
    amount = basic[leaving] / pivot
    basic[leaving] = amount
    for k in range(r):
        if k != leaving and step[k] != 0.0:
            basic[k] = max(0.0, basic[k] - step[k] * amount)
            for j in range(r):
                inverse[k, j] -= step[k] * inverse[leaving, j]
