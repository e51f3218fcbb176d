"""Sweeps of the blocked Gibbs sampler for hierarchical Dirichlet smoothing; `optbn.smoothing.hdp` argues it.

All arrays are laid out by `optbn.smoothing.hdp.plan`. Nodes are in breadth-first order; cell (u, k) is u * K + k.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from optbn.smoothing.kernels.variates import gamma, minus_log_beta, tables

SHARED = 32
"""In a large group the first factors of the rising factorials are drawn once for all nodes; see `concentrations`."""


@njit(cache=True, nogil=True)
def upward(n, base, alpha, group, phi, cells, cell_parent, cell_node, fixed, seated, state):
    """Draw the table counts t | n, phi from the deepest cells to the root; n of an inner node is its children's sum.

    n        int64[m K], counts of customers; the leaves' stay, the inner nodes' are made here
    base     int64[inner K], what children with one customer always send up
    cells    int64[c], the cells that may have two customers or more, deepest first; their parents' cells and nodes
    fixed    float64[G], tables of single customers per group;  seated  float64[G], out: all tables per group
    """
    n[: len(base)] = base
    seated[:] = fixed
    for j in range(len(cells)):
        customers = n[cells[j]]
        g = group[cell_node[j]]
        t = tables(customers, alpha[g] * phi[cell_parent[j]], state)
        n[cell_parent[j]] += t
        seated[g] += t


@njit(cache=True, nogil=True)
def concentrations(alpha, total, group_start, group_nodes, seated, shape, rate, histogram, rounds, state):
    """alpha | tables, by the auxiliary q_j ~ Beta(alpha, N_j): alpha ~ Gamma(shape + sum t, rate + sum log 1/q_j).

    -log q_j is distributed as sum_{i < N_j} Exp(alpha + i), so many nodes together need, per i, one gamma variate of
    shape #(N_j > i) for i < SHARED, and single beta variates Beta(alpha + SHARED, N_j - SHARED) only for large nodes.
    `rounds` repeats the pair of draws: they are cheap beside a sweep and each forgets the old alpha a little more.
    """
    for g in range(len(alpha)):
        first, last = group_start[g], group_start[g + 1]
        share = last - first > SHARED
        if share:
            histogram[:] = 0
            for j in range(first, last):
                histogram[min(SHARED, int(total[group_nodes[j]])) - 1] += 1
        for _ in range(rounds):
            spent = 0.0
            if share:
                above = last - first
                for i in range(SHARED):
                    if above == 0:
                        break
                    spent += gamma(np.float64(above), state) / (alpha[g] + i)
                    above -= histogram[i]
            for j in range(first, last):
                customers = total[group_nodes[j]]
                if not share:
                    spent += minus_log_beta(alpha[g], customers, state)
                elif customers > SHARED:
                    spent += minus_log_beta(alpha[g] + SHARED, customers - SHARED, state)
            alpha[g] = max(gamma(shape + seated[g], state) / (rate + spent), 1e-300)


@njit(cache=True, nogil=True)
def downward(n, total, alpha, group, parent, phi, nodes, start, levels, alpha0, root_mean, state):
    """Draw phi | n, phi of the parent, from the root down, where some child may have two customers of a level.

    nodes  int32[r], inner nodes breadth first;  levels[start[i]:start[i+1]]  the levels needed at nodes[i].
    The levels that are not needed are one lump: a Dirichlet's sums are Dirichlet. They stay unwritten in phi.
    root_mean is 1/K, or 0 for the published code's root, prod_k Gamma(n_k) / Gamma(n_. + alpha_0): all of the prior's
    weight lies on a level that never occurs.
    """
    K = len(n) // len(total)
    for i in range(len(nodes)):
        u = nodes[i]
        a = alpha0 if u == 0 else alpha[group[u]]
        rest_mass, rest_count, whole = 1.0, total[u], 0.0
        for j in range(start[i], start[i + 1]):
            k = levels[j]
            mean = root_mean if u == 0 else phi[parent[u] * K + k]
            count = n[u * K + k]
            rest_mass -= mean
            rest_count -= count
            draw = gamma(count + a * mean, state)
            phi[u * K + k] = draw
            whole += draw
        if start[i + 1] - start[i] < K or (u == 0 and root_mean == 0.0):
            whole += gamma(rest_count + a * max(rest_mass, 0.0), state)
        for j in range(start[i], start[i + 1]):
            phi[u * K + levels[j]] /= whole


@njit(cache=True, nogil=True)
def estimate(n, total, alpha, group, parent, alpha0, mean, sums, squares, moments, second):
    """Add E[theta | n, alpha] at every node to `sums`, its square to `squares`, and E[theta^2 | n, alpha] to `moments`.

    mean is scratch, float64[m K]; moments and second have length 0 when the posterior's spread is not asked for.
    """
    m = len(total)
    K = len(n) // m
    spread = len(moments) > 0
    for u in range(m):
        a = alpha0 if u == 0 else alpha[group[u]]
        scale = 1.0 / (total[u] + a)
        above = parent[u] * K
        for k in range(K):
            prior = 1.0 / K if u == 0 else mean[above + k]
            count = n[u * K + k]
            p = (count + a * prior) * scale
            mean[u * K + k] = p
            sums[u * K + k] += p
            squares[u * K + k] += p * p
            if spread:
                prior2 = prior * prior if u == 0 else second[above + k]
                p2 = (count * (count + 1.0) + (2.0 * count + 1.0) * a * prior + a * a * prior2) * scale
                p2 /= total[u] + a + 1.0
                second[u * K + k] = p2
                moments[u * K + k] += p2


@njit(cache=True, nogil=True)
def run(
    sweeps, every, rounds, keep, state, alpha, phi, n, total, parent, group, inner, base, cells, cell_parent, cell_node,
    fixed, group_start, group_nodes, nodes, start, levels, shape, rate, alpha0, root_mean, mean, sums, squares,
    moments, second, traced,
):  # fmt: skip
    """`sweeps` sweeps from the state (alpha, phi); with `keep` their estimates are added up. Returns nothing.

    inner   the number of nodes up to the last inner one, whose totals change
    traced  float64[G], out: the sum of alpha over the sweeps
    Twin: tests.naive.smoothing.hdp_collapsed, another sampler of the same posterior.
    """
    K = len(n) // len(total)
    seated = np.empty(len(alpha))
    histogram = np.zeros(SHARED, dtype=np.int64)
    for sweep in range(sweeps):
        upward(n, base, alpha, group, phi, cells, cell_parent, cell_node, fixed, seated, state)
        for u in range(inner):
            together = 0
            for k in range(K):
                together += n[u * K + k]
            total[u] = together
        if sweep % every == every - 1:
            concentrations(alpha, total, group_start, group_nodes, seated, shape, rate, histogram, rounds, state)
        downward(n, total, alpha, group, parent, phi, nodes, start, levels, alpha0, root_mean, state)
        if keep:
            traced += alpha
            estimate(n, total, alpha, group, parent, alpha0, mean, sums, squares, moments, second)
