"""Sweeps of the blocked Gibbs sampler for hierarchical Dirichlet smoothing; `optbn.smoothing.hdp` argues it.

All arrays are laid out by `optbn.smoothing.hdp.plan`. Nodes are in breadth-first order; cell (u, k) is u * K + k.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from optbn.base.variates import gamma, minus_log_beta, normal, tables, uniform
from optbn.smoothing.kernels.rising import SHORT, log_rising_ratio
from optbn_solvers.base.compiled import leaf, part

SHARED = 32
"""Nodes of a group are counted by size up to this; larger ones are dealt with one by one."""

ROUNDS = 3
"""Draws of the one concentration per sweep when it is drawn given the tables."""

EVERY = 4
"""Sweeps from one look at what theta varies by within a draw to the next: it differs little between draws."""


class Chain(NamedTuple):
    """The state: alpha and the steps of their walks float64[G], phi float64[m K], n int64[m K], total float64[m]."""

    alpha: NDArray[np.float64]
    step: NDArray[np.float64]
    phi: NDArray[np.float64]
    n: NDArray[np.int64]
    total: NDArray[np.float64]


class Kept(NamedTuple):
    """What is added up: sums, squares and within (or nothing), float64[m K], traced (alpha) float64[G]; and scratch."""

    sums: NDArray[np.float64]
    squares: NDArray[np.float64]
    within: NDArray[np.float64]
    traced: NDArray[np.float64]
    mean: NDArray[np.float64]
    second: NDArray[np.float64]


@leaf
def log_ratio(to, g, layout, chain, histogram, shape, rate):
    """log p(log to | n, phi) - log p(log alpha_g | n, phi): counts are Dirichlet-multinomial given phi.

    A cell contributes rising(a phi, n), whose first factor is a up to a constant, a node 1 / rising(a, N).
    """
    a, first, last = chain.alpha[g], layout.cell_start[g], layout.cell_start[g + 1]
    result = (shape + layout.fixed[g] + last - first) * math.log(to / a) - rate * (to - a)
    above, below, above2, below2 = 1.0, 1.0, 1.0, 1.0  # two products each: a multiplication need not wait for the last
    for j in range(first, last):
        p, customers = chain.phi[layout.cell_parent[j]], chain.n[layout.cells[j]]
        x, y = to * p + 1.0, a * p + 1.0
        if customers > SHORT:
            result += log_rising_ratio(x, y, customers - 1)
            continue
        for i in range(0, customers - 2, 2):
            above *= x + i
            below *= y + i
            above2 *= x + i + 1.0
            below2 *= y + i + 1.0
        if customers % 2 == 0:
            above *= x + customers - 2
            below *= y + customers - 2
        if max(above, below) > 1e60 or max(above2, below2) > 1e60:
            result += math.log(above / below) + math.log(above2 / below2)
            above, below, above2, below2 = 1.0, 1.0, 1.0, 1.0
    result += math.log(above / below) + math.log(above2 / below2)
    nodes, row = layout.group_start[g + 1] - layout.group_start[g], layout.row[g]
    if row < 0:
        for j in range(layout.group_start[g], layout.group_start[g + 1]):
            result -= log_rising_ratio(to, a, int(chain.total[j]))
        return result
    for i in range(SHARED):
        if nodes == 0:
            return result
        result -= nodes * math.log((to + i) / (a + i))
        nodes -= histogram[row, i]
    for j in range(layout.group_start[g], layout.group_start[g + 1]):
        customers = int(chain.total[j])
        if customers > SHARED:
            result -= log_rising_ratio(to + SHARED, a + SHARED, customers - SHARED)
    return result


@leaf
def count_sizes(g, layout, total, histogram):
    """histogram[row, min(N, SHARED) - 1]: how many nodes of the group have N customers."""
    row = layout.row[g]
    for i in range(SHARED):
        histogram[row, i] = 0
    for j in range(layout.group_start[g], layout.group_start[g + 1]):
        histogram[row, min(SHARED, int(total[j])) - 1] += 1


@part
def given_phi(g, adapt, layout, chain, histogram, shape, rate, state):
    """alpha_g | n, phi with the tables of the group integrated out: one step of a random walk on log alpha.

    `adapt` tunes its step toward accepting .44 of the moves; only during burn-in, so what follows is a Markov chain.
    """
    to = chain.alpha[g] * math.exp(chain.step[g] * normal(state))
    accepted = math.log(uniform(state)) < log_ratio(to, g, layout, chain, histogram, shape, rate)
    if accepted:
        chain.alpha[g] = to
    if adapt:
        chain.step[g] *= math.exp(0.1 * ((1.0 if accepted else 0.0) - 0.44))


@part
def given_tables(layout, chain, seated, shape, rate, histogram, state):
    """alpha | tables for one group: alpha ~ Gamma(shape + sum t, rate + sum -log q_j), q_j ~ Beta(alpha, N_j).

    -log q_j is distributed as sum_{i < N_j} Exp(alpha + i), many nodes together need, per i, one gamma variate of
    shape #(N_j > i) for i < SHARED, and single beta variates Beta(alpha + SHARED, N_j - SHARED) only for large nodes.
    """
    count_sizes(np.int64(0), layout, chain.total, histogram)
    for _ in range(ROUNDS):
        spent = 0.0
        above = layout.group_start[1] - layout.group_start[0]
        for i in range(SHARED):
            if above == 0:
                break
            spent += gamma(np.float64(above), state) / (chain.alpha[0] + i)
            above -= histogram[0, i]
        for j in range(layout.group_start[0], layout.group_start[1]):
            customers = chain.total[j]
            if customers > SHARED:
                spent += minus_log_beta(chain.alpha[0] + SHARED, customers - SHARED, state)
        chain.alpha[0] = gamma(shape + seated, state) / (rate + spent)


@part
def add_up(first, last, inner, n, total):
    """total of the inner nodes among first .. last - 1 from their customers; the leaves' never change."""
    K = len(n) // len(total)
    for u in range(first, min(last, inner)):
        together = 0
        for k in range(K):
            together += n[u * K + k]
        total[u] = together


@part
def send_up(g, layout, chain, state):
    """Draw the tables of a group's cells: they are customers of their parents' cells. Returns how many."""
    a, seated = chain.alpha[g], 0
    for j in range(layout.cell_start[g], layout.cell_start[g + 1]):
        above = layout.cell_parent[j]
        t = tables(chain.n[layout.cells[j]], a * chain.phi[above], state)
        chain.n[above] += t
        seated += t
    return seated


@part
def upward(adapt, layout, chain, shape, rate, histogram, state):
    """Draw alpha and the table counts t | n, phi from the deepest level up, adding up n of the inner nodes.

    chain.n      int64[m K], customers; the leaves' stay, the inner nodes' are made here, and so are their totals
    layout.base  int64[inner K], what children with one customer always send up, leaves' counts
    cells        int64[c], the cells that may have two customers or more, deepest first, and their parents' cells;
                 those of group g are cell_start[g] .. cell_start[g + 1] - 1
    group_start  int64[G + 1], group g are the nodes group_start[g] .. group_start[g + 1] - 1
    fixed        float64[G], single customers per group
    across       whether the one group spans levels; its concentration then needs all tables, and is drawn last
    row          int64[G], of a group of more than SHARED nodes its row of the histogram (the one across: row 0), or -1
    histogram    int64[rows, SHARED], sizes of nodes; leaves' never change, so a group of leaves keeps its own
    """
    n, total = chain.n, chain.total
    for i in range(len(layout.base)):  # a slice assignment compiles numba's error messages along
        n[i] = layout.base[i]
    inner = len(layout.base) * len(total) // len(n)
    seated = 0
    for g in range(len(chain.alpha) - 1, -1, -1):
        if not layout.across:
            add_up(layout.group_start[g], layout.group_start[g + 1], inner, n, total)
            if layout.row[g] >= 0 and layout.group_start[g] < inner:
                count_sizes(g, layout, total, histogram)
            given_phi(g, adapt, layout, chain, histogram, shape, rate, state)
        seated += send_up(g, layout, chain, state)
    add_up(np.int64(0), len(total) if layout.across else 1, inner, n, total)
    if layout.across:
        given_tables(layout, chain, layout.fixed[0] + seated, shape, rate, histogram, state)


@part
def downward(layout, chain, alpha0, root_mean, state):
    """Draw phi | n, phi of the parent, from the root down, where some child may have two customers of a level.

    nodes  int64[r], inner nodes breadth first;  levels[start[i]:start[i+1]]  the levels needed at nodes[i].
    The levels that are not needed are one lump: a Dirichlet's sums are Dirichlet. They stay unwritten in phi.
    root_mean is 1/K, or 0 for the published code's root, prod_k Gamma(n_k) / Gamma(n_. + alpha_0): all of the prior's
    weight lies on a level that never occurs.
    """
    n, phi, levels = chain.n, chain.phi, layout.levels
    K = len(n) // len(chain.total)
    for i in range(len(layout.nodes)):
        u = layout.nodes[i]
        first, last = layout.start[i], layout.start[i + 1]
        a = alpha0 if u == 0 else chain.alpha[layout.group[u]]
        rest_mass, rest_count, whole = 1.0, chain.total[u], 0.0
        for j in range(first, last):
            k = levels[j]
            mean = root_mean if u == 0 else phi[layout.parent[u] * K + k]
            count = n[u * K + k]
            rest_mass -= mean
            rest_count -= count
            draw = gamma(count + a * mean, state)
            phi[u * K + k] = draw
            whole += draw
        if last - first < K or (u == 0 and root_mean == 0.0):
            whole += gamma(rest_count + a * max(rest_mass, 0.0), state)
        scale = 1.0 / whole
        for j in range(first, last):
            phi[u * K + levels[j]] *= scale


@part
def estimate(layout, chain, alpha0, kept):
    """Add E[theta | n, alpha] at every node to `sums` and its square to `squares`."""
    n, mean = chain.n, kept.mean
    m = len(chain.total)
    K = len(n) // m
    for u in range(m):
        a = alpha0 if u == 0 else chain.alpha[layout.group[u]]
        scale = 1.0 / (chain.total[u] + a)
        above = layout.parent[u] * K
        for k in range(K):
            prior = 1.0 / K if u == 0 else mean[above + k]
            c = u * K + k
            p = (n[c] + a * prior) * scale
            mean[c] = p
            kept.sums[c] += p
            kept.squares[c] += p * p


@part
def spread(layout, chain, alpha0, kept):
    """Add Var[theta | n, alpha] at every node to `within`; the means are those that `estimate` has just left.

    E theta^2 goes down the tree beside E theta: n + a phi and n + 1 + a phi are the weights of two more rows.
    """
    n, mean, second = chain.n, kept.mean, kept.second
    m = len(chain.total)
    K = len(n) // m
    for u in range(m):
        a = alpha0 if u == 0 else chain.alpha[layout.group[u]]
        scale = 1.0 / ((chain.total[u] + a) * (chain.total[u] + a + 1.0))
        above = layout.parent[u] * K
        for k in range(K):
            prior = 1.0 / K if u == 0 else mean[above + k]
            prior2 = prior * prior if u == 0 else second[above + k]
            c = u * K + k
            count = np.float64(n[c])
            square = (count * (count + 1.0) + (2.0 * count + 1.0) * a * prior + a * a * prior2) * scale
            second[c] = square
            kept.within[c] += square - mean[c] * mean[c]


@leaf
def run(sweeps, keep, layout, chain, prior, kept, histogram, state):
    """`sweeps` sweeps from the state (alpha, phi); with `keep` their estimates are added up, without steps are tuned.

    prior   shape, rate, alpha0, root_mean (see `downward`)
    kept    `Kept`: sums, squares and, every EVERY sweeps, what theta varies by within a draw
    histogram   scratch int64[rows, SHARED], see `upward`
    Twin: tests.naive.smoothing.hdp_collapsed, another sampler of the same posterior.
    """
    shape, rate, alpha0, root_mean = prior
    groups = len(chain.alpha)
    for g in range(groups):
        if layout.row[g] >= 0:
            count_sizes(g, layout, chain.total, histogram)
    for sweep in range(sweeps):
        upward(not keep, layout, chain, shape, rate, histogram, state)
        downward(layout, chain, alpha0, root_mean, state)
        if keep:
            for g in range(groups):
                kept.traced[g] += chain.alpha[g]
            estimate(layout, chain, alpha0, kept)
            if len(kept.within) > 0 and sweep % EVERY == 0:
                spread(layout, chain, alpha0, kept)
