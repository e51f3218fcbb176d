"""Sweeps of the blocked Gibbs sampler for hierarchical Dirichlet smoothing; `optbn.smoothing.hdp` argues it.

All arrays are laid out by `optbn.smoothing.hdp.plan`. Nodes are in breadth-first order; cell (u, k) is u * K + k.
"""

from __future__ import annotations

import math

import numpy as np

from optbn.base.variates import gamma, minus_log_beta, normal, tables, uniform
from optbn_solvers.base.compiled import kernel, leaf, part

SHARED = 32
"""Nodes of a group are counted by size up to this; larger ones are dealt with one by one."""

SHORT = 24
"""Factors that are multiplied; log-gamma functions take as long as that many. Factors may reach 10^10."""

ROUNDS = 3
"""Draws of the one concentration per sweep when it is drawn given the tables."""


@leaf
def log_rising_ratio(x, y, n):
    """log of the rising factorials x (x + 1) ... (x + n - 1) over y (y + 1) ... (y + n - 1)."""
    if n > SHORT:
        return math.lgamma(x + n) - math.lgamma(x) - math.lgamma(y + n) + math.lgamma(y)
    above, below = 1.0, 1.0
    for i in range(n):
        above *= x + i
        below *= y + i
    return math.log(above / below)


@leaf
def log_ratio(to, a, g, n, total, phi, cells, cell_parent, cell_start, fixed, group_start, histogram,
              shape, rate):  # fmt: skip
    """log p(log to | n, phi) - log p(log a | n, phi): the group's counts are Dirichlet-multinomial given parents' phi.

    A cell contributes rising(a phi, n), whose first factor is a up to a constant, a node 1 / rising(a, N).
    """
    result = (shape + fixed[g] + cell_start[g + 1] - cell_start[g]) * math.log(to / a) - rate * (to - a)
    above, below = 1.0, 1.0
    for j in range(cell_start[g], cell_start[g + 1]):
        p, customers = phi[cell_parent[j]], n[cells[j]]
        x, y = to * p + 1.0, a * p + 1.0
        if customers > SHORT:
            result += log_rising_ratio(x, y, customers - 1)
            continue
        for i in range(customers - 1):
            above *= x + i
            below *= y + i
        if max(above, below) > 1e60:
            result += math.log(above / below)
            above, below = 1.0, 1.0
    result += math.log(above / below)
    nodes = group_start[g + 1] - group_start[g]
    if nodes <= SHARED:
        for j in range(group_start[g], group_start[g + 1]):
            result -= log_rising_ratio(to, a, int(total[j]))
        return result
    for i in range(SHARED):
        if nodes == 0:
            return result
        result -= nodes * math.log((to + i) / (a + i))
        nodes -= histogram[i]
    for j in range(group_start[g], group_start[g + 1]):
        customers = int(total[j])
        if customers > SHARED:
            result -= log_rising_ratio(to + SHARED, a + SHARED, customers - SHARED)
    return result


@leaf
def count_sizes(g, total, group_start, histogram):
    """histogram[min(N, SHARED) - 1]: how many nodes of the group have N customers."""
    histogram[:] = 0
    for j in range(group_start[g], group_start[g + 1]):
        histogram[min(SHARED, int(total[j])) - 1] += 1


@part
def given_phi(g, alpha, step, adapt, n, total, phi, cells, cell_parent, cell_start, fixed, group_start, histogram,
              shape, rate, state):  # fmt: skip
    """alpha_g | n, phi with the tables of the group integrated out: one step of a random walk on log alpha.

    `adapt` tunes its step toward accepting .44 of the moves; only during burn-in, so what follows is a Markov chain.
    """
    if group_start[g + 1] - group_start[g] > SHARED:
        count_sizes(g, total, group_start, histogram)
    to = alpha[g] * math.exp(step[g] * normal(state))
    gain = log_ratio(to, alpha[g], g, n, total, phi, cells, cell_parent, cell_start, fixed, group_start,
                     histogram, shape, rate)  # fmt: skip
    accepted = math.log(uniform(state)) < gain
    if accepted:
        alpha[g] = to
    if adapt:
        step[g] *= math.exp(0.1 * ((1.0 if accepted else 0.0) - 0.44))


@part
def given_tables(alpha, total, group_start, seated, shape, rate, histogram, state):
    """alpha | tables for one group: alpha ~ Gamma(shape + sum t, rate + sum -log q_j), q_j ~ Beta(alpha, N_j).

    -log q_j is distributed as sum_{i < N_j} Exp(alpha + i), many nodes together need, per i, one gamma variate of
    shape #(N_j > i) for i < SHARED, and single beta variates Beta(alpha + SHARED, N_j - SHARED) only for large nodes.
    """
    count_sizes(np.int64(0), total, group_start, histogram)
    for _ in range(ROUNDS):
        spent = 0.0
        above = group_start[1] - group_start[0]
        for i in range(SHARED):
            if above == 0:
                break
            spent += gamma(np.float64(above), state) / (alpha[0] + i)
            above -= histogram[i]
        for j in range(group_start[0], group_start[1]):
            customers = total[j]
            if customers > SHARED:
                spent += minus_log_beta(alpha[0] + SHARED, customers - SHARED, state)
        alpha[0] = gamma(shape + seated, state) / (rate + spent)


@leaf
def add_up(first, last, inner, n, total):
    """total of the inner nodes among first .. last - 1 from their customers; the leaves' never change."""
    K = len(n) // len(total)
    for u in range(first, min(last, inner)):
        together = 0
        for k in range(K):
            together += n[u * K + k]
        total[u] = together


@part
def upward(n, base, alpha, step, adapt, across, total, phi, cells, cell_parent, cell_start, fixed, group_start, shape,
           rate, histogram, state):  # fmt: skip
    """Draw alpha and the table counts t | n, phi from the deepest level up, adding up n of the inner nodes.

    n           int64[m K], customers; the leaves' stay, the inner nodes' are made here, and so are their totals
    base        int64[inner K], what children with one customer always send up, leaves' counts
    cells       int64[c], the cells that may have two customers or more, deepest first, and their parents' cells;
                those of group g are cell_start[g] .. cell_start[g + 1] - 1
    group_start int64[G + 1], group g are the nodes group_start[g] .. group_start[g + 1] - 1
    fixed       float64[G], single customers per group
    across      whether the one group spans levels; its concentration then needs all tables, and is drawn last
    """
    for i in range(len(base)):  # a slice assignment compiles numba's error messages along
        n[i] = base[i]
    inner = len(base) * len(total) // len(n)
    seated = 0
    for g in range(len(alpha) - 1, -1, -1):
        if not across:
            add_up(group_start[g], group_start[g + 1], inner, n, total)
            given_phi(g, alpha, step, adapt, n, total, phi, cells, cell_parent, cell_start, fixed, group_start,
                      histogram, shape, rate, state)  # fmt: skip
        for j in range(cell_start[g], cell_start[g + 1]):
            t = tables(n[cells[j]], alpha[g] * phi[cell_parent[j]], state)
            n[cell_parent[j]] += t
            seated += t
    add_up(np.int64(0), len(total) if across else 1, inner, n, total)
    if across:
        given_tables(alpha, total, group_start, fixed[0] + seated, shape, rate, histogram, state)


@part
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


@part
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


@kernel
def run(
    sweeps, keep, state, alpha, step, phi, n, total, parent, group, across, base, cells, cell_parent, cell_start, fixed,
    group_start, nodes, start, levels, shape, rate, alpha0, root_mean, mean, sums, squares, moments, second, traced,
):  # fmt: skip
    """`sweeps` sweeps from the state (alpha, phi); with `keep` their estimates are added up, without steps are tuned.

    traced  float64[G], out: the sum of alpha over the sweeps
    Twin: tests.naive.smoothing.hdp_collapsed, another sampler of the same posterior.
    """
    histogram = np.zeros(SHARED, dtype=np.int64)
    for _ in range(sweeps):
        upward(n, base, alpha, step, not keep, across, total, phi, cells, cell_parent, cell_start, fixed, group_start,
               shape, rate, histogram, state)  # fmt: skip
        downward(n, total, alpha, group, parent, phi, nodes, start, levels, alpha0, root_mean, state)
        if keep:
            traced += alpha
            estimate(n, total, alpha, group, parent, alpha0, mean, sums, squares, moments, second)
