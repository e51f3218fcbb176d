"""Slow obvious twins of the smoothers: dictionaries, recursion, enumeration, other algorithms for the same numbers."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np
from scipy.special import digamma, gammaln


def count_tree(rows, child, n_levels, order):
    """{context path: counts} for every prefix of every row's conditioning values, in the given order."""
    tree = defaultdict(lambda: np.zeros(n_levels))
    for row, x in zip(rows, child, strict=True):
        path = tuple(int(row[i]) for i in order)
        for d in range(len(path) + 1):
            tree[path[:d]][x] += 1
    return dict(tree)


def paths(tree):
    """The path of every node of a CountTree."""
    out = [()]
    for u in range(1, len(tree.parent)):
        out.append((*out[tree.parent[u]], int(tree.branch[u])))
    return out


def information(rows, child, column, given=()):
    """Mutual information of a column and the child given other columns, times N, by definition."""
    n = len(child)
    total = 0.0
    for g in set(map(tuple, rows[:, given])):
        inside = np.all(rows[:, given] == g, axis=1)
        for v, x in itertools.product(set(rows[inside, column]), set(child[inside])):
            both = np.sum(inside & (rows[:, column] == v) & (child == x))
            if both:
                a = np.sum(inside & (rows[:, column] == v))
                b = np.sum(inside & (child == x))
                total += both / n * math.log(both * inside.sum() / (a * b))
    return total * n


def table_distribution(n, a):
    """P(t tables of n customers) in a Chinese restaurant of strength a, t = 0..n, one customer at a time."""
    p = np.zeros(n + 1)
    p[min(n, 1)] = 1.0
    for i in range(1, n):
        p[1:] = p[1:] * i / (a + i) + p[:-1] * a / (a + i)
    return p


def stirling(n):
    """log of the unsigned Stirling numbers of the first kind |s(m, t)|, m, t <= n."""
    s = [[0] * (n + 1) for _ in range(n + 1)]
    s[0][0] = 1
    for m in range(1, n + 1):
        for t in range(1, m + 1):
            s[m][t] = s[m - 1][t - 1] + (m - 1) * s[m - 1][t]
    return [[math.log(v) if v else -math.inf for v in row] for row in s]


def hdp_collapsed(tree, tying, sweeps, seed, alpha0=2.0, shape=2.0, rate=1.0, burn_in=200):
    """Posterior means by the textbook sampler: all phi integrated out, one table count at a time.

    p(t | alpha) is a product over nodes of Gamma(alpha)/Gamma(alpha + N) alpha^t |s(n, t)| per level, and at the root
    of prod Gamma(n_k + alpha0/K) / Gamma(N + alpha0). Concentrations by the auxiliary Beta variates.
    """
    generator = np.random.default_rng(seed)
    m, K = tree.counts.shape
    data = tree.counts.astype(int)
    parent = tree.parent
    children = [[c for c in range(m) if parent[c] == u] for u in range(m)]
    log_s = stirling(int(data.max()) + 1)
    t = np.where(data > 0, 1, 0)
    key = {
        "level": lambda u: tree.depth[u], "single": lambda u: 0,
        "same_parent": lambda u: parent[u], "none": lambda u: u,
    }[tying]  # fmt: skip
    groups = defaultdict(list)
    for u in range(1, m):
        groups[key(u)].append(u)
    alpha = {g: 1.0 for g in groups}
    mean = np.zeros((m, K))

    def n_of(u):
        return data[u] if not children[u] else sum(t[c] for c in children[u])

    def log_node(u, k, n_u):
        """The terms of node u's level k that depend on n_uk (and on N_u)."""
        N = sum(n_u)
        if u == 0:
            return gammaln(n_u[k] + alpha0 / K) - gammaln(N + alpha0)
        return log_s[n_u[k]][t[u, k]] - gammaln(alpha[key(u)] + N)

    kept = 0
    for sweep in range(burn_in + sweeps):
        for u in range(m - 1, 0, -1):
            for k in range(K):
                n_uk = n_of(u)[k]
                if n_uk <= 1:
                    t[u, k] = n_uk
                    continue
                weights = []
                for value in range(1, n_uk + 1):
                    t[u, k] = value
                    above = n_of(parent[u])
                    if parent[u] and above[k] < t[parent[u], k]:
                        weights.append(-math.inf)
                        continue
                    own = value * math.log(alpha[key(u)]) + log_s[n_uk][value]
                    weights.append(own + log_node(parent[u], k, above))
                p = np.exp(np.array(weights) - max(weights))
                t[u, k] = 1 + generator.choice(n_uk, p=p / p.sum())
        for g, nodes in groups.items():
            tables = sum(int(t[u].sum()) for u in nodes)
            spent = sum(-math.log(generator.beta(alpha[g], n_of(u).sum())) for u in nodes)
            alpha[g] = generator.gamma(shape + tables) / (rate + spent)
        if sweep < burn_in:
            continue
        kept += 1
        p = np.zeros((m, K))
        for u in range(m):
            n_u = n_of(u)
            a, prior = (alpha0, np.full(K, 1 / K)) if u == 0 else (alpha[key(u)], p[parent[u]])
            p[u] = (n_u + a * prior) / (n_u.sum() + a)
        mean += p
    return mean / kept


def pitman_yor(tree, concentrations, discounts, alpha0=2.0):
    """Posterior means and the evidence at each pair of one concentration and one discount for all nodes, a sum over all
    numbers of tables.

    Returns {(alpha, d): (evidence, means)}; p(t) is a product over nodes of prod_{i < T} (alpha + i d) / rising(alpha,
    N) prod_k S_d(n_k, t_k), with S_d(n + 1, t) = S_d(n, t - 1) + (n - d t) S_d(n, t), and at the root of the
    Dirichlet-multinomial of the sequence.
    """
    m, K = tree.counts.shape
    parent = tree.parent.tolist()
    inner = set(parent)

    def rising(x, step, n):
        return math.prod(x + i * step for i in range(n))

    def table_numbers(d, largest):
        S = [[0.0] * (largest + 2) for _ in range(largest + 1)]
        S[0][0] = 1.0
        for n in range(largest):
            for t in range(1, n + 2):
                S[n + 1][t] = S[n][t - 1] + (n - d * t) * S[n][t]
        return S

    def below(u, n, t):
        """All ways to seat the nodes u, u - 1, .., 1; customers of inner nodes are complete once their turn comes."""
        if u == 0:
            yield n, t
            return
        for tables in itertools.product(*(range(1, n[u][k] + 1) if n[u][k] else (0,) for k in range(K))):
            above = [row[:] for row in n]
            above[parent[u]] = [a + b for a, b in zip(n[parent[u]], tables, strict=True)]
            yield from below(u - 1, above, {**t, u: tables})

    start = [[0] * K if u in inner else tree.counts[u].astype(int).tolist() for u in range(m)]
    seatings = list(below(m - 1, start, {}))
    found = {}
    for alpha, d in itertools.product(concentrations, discounts):
        S = table_numbers(d, int(tree.counts.sum()))
        evidence, means = 0.0, np.zeros((m, K))
        for n, t in seatings:
            w = math.prod(rising(alpha0 / K, 1, c) for c in n[0]) / rising(alpha0, 1, sum(n[0]))
            p = np.zeros((m, K))
            p[0] = (np.array(n[0]) + alpha0 / K) / (sum(n[0]) + alpha0)
            for u in range(1, m):
                T, N = sum(t[u]), sum(n[u])
                w *= (
                    rising(alpha, d, T)
                    / rising(alpha, 1, N)
                    * math.prod(S[a][b] for a, b in zip(n[u], t[u], strict=True))
                )
                p[u] = (np.array(n[u]) - d * np.array(t[u]) + (alpha + d * T) * p[parent[u]]) / (N + alpha)
            evidence += w
            means += w * p
        found[alpha, d] = evidence, means / evidence
    return found


def m_branch(tree, M):
    """Recursion over the definition."""
    m, K = tree.counts.shape
    children = [[c for c in range(m) if tree.parent[c] == u] for u in range(m)]

    def height(u):
        return 1 + max((height(c) for c in children[u]), default=0)

    out = np.zeros((m, K))
    for u in range(m):
        above = np.full(K, 1 / K) if u == 0 else out[tree.parent[u]]
        weight = M * (1 + (1 - 1 / height(u)) * math.sqrt(tree.counts[0].sum()))
        out[u] = (tree.counts[u] + weight * above) / (tree.counts[u].sum() + weight)
    return out


def leave_one_out(tree, strength):
    """The leave-one-out loss of hierarchical gradient smoothing, row by row; `strength` by node, uniform under -1."""
    m, K = tree.counts.shape
    has_children = set(tree.parent.tolist())
    loss = 0.0
    for leaf in range(m):
        if leaf in has_children:
            continue
        for k in range(K):
            for _ in range(int(tree.counts[leaf, k])):
                counts = tree.counts.copy()
                path = [leaf]
                while tree.parent[path[-1]] >= 0:
                    path.append(int(tree.parent[path[-1]]))
                counts[path, k] -= 1
                mass = counts[leaf] + strength[-1] / K
                for p in path[1:]:
                    if counts[p].sum() > 0:
                        mass = mass + strength[p] * counts[p] / counts[p].sum()
                loss -= math.log(mass[k] / mass.sum())
    return loss


def lower_bound(counts, kappa, tau, s, alpha0):
    """The variational lower bound of the hierarchical model, term by term, with nu = n + s kappa."""
    Y, K = counts.shape
    nu, a = counts + s * kappa, tau * kappa
    e_log_theta = digamma(nu) - digamma(nu.sum(axis=1, keepdims=True))
    e_log_beta = digamma(a) - digamma(tau)
    e_beta_log_beta = kappa * (digamma(a + 1) - digamma(tau + 1))
    mean = s * kappa
    e_log_gamma = (
        gammaln(1 + mean) - mean * np.log(mean)
        + s * e_beta_log_beta + mean * math.log(s) - e_log_beta - math.log(s)
    )  # fmt: skip
    total = float((counts * e_log_theta).sum())  # E log p(n | theta)
    total += Y * float(gammaln(s) - e_log_gamma.sum()) + float(((mean - 1) * e_log_theta).sum())
    total += float(gammaln(K * alpha0) - K * gammaln(alpha0) + (alpha0 - 1) * e_log_beta.sum())
    total -= float((gammaln(nu.sum(axis=1)) - gammaln(nu).sum(axis=1)).sum() + ((nu - 1) * e_log_theta).sum())
    return total - float(gammaln(tau) - gammaln(a).sum() + ((a - 1) * e_log_beta).sum())


def polynomial_moments(counts, s, alpha0):
    """E beta, E beta beta' and the log evidence of the hierarchical model: all powers, in exact fractions."""
    from fractions import Fraction

    Y, K = counts.shape
    s, alpha0 = Fraction(s), Fraction(alpha0)
    s0 = K * alpha0

    def rising(x, n):
        out = Fraction(1)
        for i in range(n):
            out *= x + i
        return out

    polynomials = []
    for x in range(K):
        p = [Fraction(1)]
        for y in range(Y):
            for i in range(int(counts[y, x])):
                p = [(p[k] * i if k < len(p) else 0) + (s * p[k - 1] if k else 0) for k in range(len(p) + 1)]
        polynomials.append(p)
    Z, first, second = Fraction(0), [Fraction(0)] * K, [[Fraction(0)] * K for _ in range(K)]
    for powers in itertools.product(*(range(len(p)) for p in polynomials)):
        c = math.prod((p[k] for p, k in zip(polynomials, powers, strict=True)), start=Fraction(1))
        if not c:
            continue
        total = sum(powers)
        w = c * math.prod((rising(alpha0, k) for k in powers), start=Fraction(1)) / rising(s0, total)
        Z += w
        for x in range(K):
            first[x] += w * (alpha0 + powers[x]) / (s0 + total)
            for z in range(K):
                pair = (alpha0 + powers[x]) * (alpha0 + powers[z] + (x == z))
                second[x][z] += w * pair / ((s0 + total) * (s0 + total + 1))
    mean = np.array([float(f / Z) for f in first])
    square = np.array([[float(f / Z) for f in row] for row in second])
    evidence = math.log(Z) - sum(math.log(rising(s, int(n))) for n in counts.sum(axis=1))
    return mean, square, evidence
