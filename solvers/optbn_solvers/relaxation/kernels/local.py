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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.compiled import kernel
from optbn_solvers.relaxation.kernels.graphs import Rows, Work, best_graph, greedy_graph
from optbn_solvers.relaxation.kernels.subsets import close_upwards, max_dag

INSIDE, CUT, STUCK = 0, 1, 2
MOST_MULTIPLE = 60
EPSILON, ENOUGH = 1e-9, 1e-7


class Basis(NamedTuple):
    """Of the simplex method: its inverse, the values of basic variables, and their costs (0 for a row's surplus)."""

    inverse: NDArray[np.float64]
    basic: NDArray[np.float64]
    cost: NDArray[np.float64]


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
    r = _patterns(weight, least_weight, node, pattern, x)
    if r < 0:
        return STUCK, 0, 0.0
    if r < 3:
        return INSIDE, 0, 0.0
    rows = Rows(node[:r], pattern[:r])
    basis = Basis(np.eye(r), x[:r].copy(), np.ones(r))  # the first one: every pattern alone is a DAG
    work = Work(np.zeros((size, m)), np.zeros(size), np.zeros(m, dtype=np.int64), np.zeros(r), np.zeros(r))
    _begin(rows, basis, x[:r], work)
    state, total, dual = _optimum(rows, basis, least_violation, most_pivots, work)
    if state != CUT:
        return state, 0, total - 1.0 if state == INSIDE else 0.0
    rhs = _whole_multiple(dual)
    if rhs == 0:
        return STUCK, 0, total - 1.0
    table[:] = 0
    for j in range(r):
        table[node[j], pattern[j]] = max(0, math.floor(dual[j] * rhs + 0.5))
    best = work.best
    for i in range(m):
        for among in range(size):
            best[among, i] = table[i, among]
    close_upwards(best)
    if max_dag(best, work.value) > rhs:
        return STUCK, 0, total - 1.0
    return CUT, rhs, total - 1.0


@kernel
def _patterns(weight, least_weight, node, pattern, x):
    """Fill in the patterns with weight; returns their number, or -1 when there is no room for all."""
    r = 0
    for i in range(weight.shape[0]):
        for among in range(1, weight.shape[1]):
            if weight[i, among] > least_weight:
                if r == len(x):
                    return -1
                node[r], pattern[r] = i, among
                # a small, fixed perturbation, different for every row, against degenerate pivots
                x[r] = weight[i, among] + 1e-6 * ((r * 7919 + 13 * r * r) % 101)
                r += 1
    return r


@kernel
def _begin(rows, basis, x, work):
    """DAGs of a greedy decomposition of x enter, each at the pattern it uses up."""
    r = len(x)
    column, step = work.column, work.step
    rest, spent = x.copy(), np.zeros(r, dtype=np.bool_)
    for _ in range(r):
        leaving = greedy_graph(rows, rest, work)
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
        _direction(basis.inverse, column, step)
        if abs(step[leaving]) < 1e-7:
            break
        _pivot(basis.inverse, basis.basic, step, leaving)
        basis.cost[leaving] = 1.0


@kernel
def _optimum(rows, basis, least_violation, most_pivots, work):
    """(INSIDE, CUT or STUCK, the minimum so far, its duals): CUT when it is above 1 and no DAG has a price above 1."""
    column, step = work.column, work.step
    dual = np.zeros(len(basis.basic))
    for _ in range(most_pivots):
        total = _price(basis, dual)
        if total <= 1.0 + least_violation:
            return INSIDE, total, dual
        entering = 1.0
        lowest = np.argmin(dual)
        if dual[lowest] < -EPSILON:  # the surplus of a row
            column[:] = 0.0
            column[lowest] = -1.0
            entering = 0.0
        elif best_graph(rows, dual, work) <= 1.0 + ENOUGH:
            return CUT, total, dual
        _direction(basis.inverse, column, step)
        leaving = _leaving(basis.basic, step)
        if leaving < 0:
            return STUCK, total, dual
        _pivot(basis.inverse, basis.basic, step, leaving)
        basis.cost[leaving] = entering
    return STUCK, 0.0, dual


@kernel
def _price(basis, dual):
    """The objective of a basis; fills in its duals."""
    total = 0.0
    dual[:] = 0.0
    for k in range(len(dual)):
        if basis.cost[k] != 0.0:
            total += basis.basic[k]
            for j in range(len(dual)):
                dual[j] += basis.inverse[k, j]
    return total


@kernel
def _leaving(basic, step):
    """The first basic variable to reach 0, of nearly equal ones that with the largest step; -1 if none does."""
    leaving = np.int64(-1)
    for k in range(len(step)):
        if step[k] > EPSILON:
            if leaving < 0:
                leaving = k
            else:
                ratio, least = basic[k] / step[k], basic[leaving] / step[leaving]
                if ratio < least - 1e-13 or (ratio < least + 1e-13 and step[k] > step[leaving]):
                    leaving = k
    return leaving


@kernel
def _whole_multiple(dual):
    """The least multiple of the duals that is whole, or 0."""
    for multiple in range(1, MOST_MULTIPLE + 1):
        whole = True
        for j in range(len(dual)):
            scaled = dual[j] * multiple
            if abs(scaled - math.floor(scaled + 0.5)) > 1e-5:
                whole = False
                break
        if whole:
            return multiple
    return 0


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
