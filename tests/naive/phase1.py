"""Slow twins of Phase I: tables as dictionaries, formulas written out, all subsets enumerated."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from optbn.data.arrays import code_dtype
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.scores.bdeu import BDeu


def random_categorical(rng: np.random.Generator, n: int, rows: int, levels: int = 4, skew: bool = True) -> Dataset:
    """Columns that depend on earlier ones; some levels may not occur."""
    columns: list[Any] = []
    domains = []
    for v in range(n):
        k = int(rng.integers(1 if v == n - 1 else 2, levels + 1))
        p = rng.dirichlet(np.full(k, 0.4 if skew else 5.0))
        column = rng.choice(k, size=rows, p=p)
        if v and rng.random() < 0.7:
            source = columns[int(rng.integers(v))]
            copied = rng.random(rows) < 0.7
            column = np.where(copied, source % k, column)
        columns.append(column.astype(code_dtype(k)))
        domains.append(Categorical(tuple(f"l{i}" for i in range(k))))
    return Dataset(tuple(f"v{v}" for v in range(n)), tuple(domains), tuple(columns))


def random_real(rng: np.random.Generator, n: int, rows: int) -> Dataset:
    """Correlated columns of different means and scales."""
    x = rng.normal(size=(rows, n)) @ rng.normal(size=(n, n)) * rng.uniform(0.1, 10, n) + rng.normal(size=n) * 5
    domains = tuple(Real(float(column.min()), float(column.max())) for column in x.T)
    return Dataset(tuple(f"x{v}" for v in range(n)), domains, tuple(np.ascontiguousarray(column) for column in x.T))


def families(n: int, largest: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Every (child, parents) with at most that many parents."""
    for child in range(n):
        others = [u for u in range(n) if u != child]
        for size in range(largest + 1):
            for parents in itertools.combinations(others, size):
                yield child, parents


def counts(data: Dataset, child: int, parents: tuple[int, ...]) -> tuple[Counter[Any], Counter[Any], int, int]:
    """(counts of (parents' levels, child's level), counts of parents' levels, q, r), counted row by row."""
    joint: Counter[Any] = Counter()
    own: Counter[Any] = Counter()
    for i in range(data.n_rows):
        j = tuple(int(data.columns[u][i]) for u in parents)
        joint[j, int(data.columns[child][i])] += 1
        own[j] += 1
    q = math.prod(data.cardinalities[u] for u in parents)
    return joint, own, q, data.cardinalities[child]


def bdeu_gammas(data: Dataset, child: int, parents: tuple[int, ...], ess: float) -> float:
    """BDeu by its textbook formula over all configurations, observed or not."""
    joint, own, q, r = counts(data, child, parents)
    total = 0.0
    for j in itertools.product(*(range(data.cardinalities[u]) for u in parents)):
        total += math.lgamma(ess / q) - math.lgamma(ess / q + own[j])
        for k in range(r):
            total += math.lgamma(ess / (q * r) + joint[j, k]) - math.lgamma(ess / (q * r))
    return total


def sequential(data: Dataset, child: int, parents: tuple[int, ...], cell: float) -> float:
    """A Dirichlet marginal likelihood as the product of one-step predictions; `cell` is each cell's pseudo-count."""
    r = data.cardinalities[child]
    joint: Counter[Any] = Counter()
    own: Counter[Any] = Counter()
    total = 0.0
    for i in range(data.n_rows):
        j = tuple(int(data.columns[u][i]) for u in parents)
        k = int(data.columns[child][i])
        total += math.log((joint[j, k] + cell) / (own[j] + r * cell))
        joint[j, k] += 1
        own[j] += 1
    return total


def bdeu(data: Dataset, child: int, parents: tuple[int, ...], ess: float = 1.0) -> float:
    _, _, q, r = counts(data, child, parents)
    return sequential(data, child, parents, ess / (q * r))


def bds(data: Dataset, child: int, parents: tuple[int, ...], ess: float = 1.0) -> float:
    _, own, _, r = counts(data, child, parents)
    return sequential(data, child, parents, ess / (len(own) * r))


def k2(data: Dataset, child: int, parents: tuple[int, ...]) -> float:
    return sequential(data, child, parents, 1.0)


def log_likelihood(data: Dataset, child: int, parents: tuple[int, ...]) -> float:
    joint, own, _, _ = counts(data, child, parents)
    return sum(count * math.log(count / own[j]) for (j, _), count in joint.items())


def bic(data: Dataset, child: int, parents: tuple[int, ...]) -> float:
    _, _, q, r = counts(data, child, parents)
    return log_likelihood(data, child, parents) - 0.5 * math.log(data.n_rows) * q * (r - 1)


def aic(data: Dataset, child: int, parents: tuple[int, ...]) -> float:
    _, _, q, r = counts(data, child, parents)
    return log_likelihood(data, child, parents) - q * (r - 1)


def entropy(data: Dataset, child: int, parents: tuple[int, ...]) -> float:
    """N H(child | parents)."""
    return -log_likelihood(data, child, parents)


def worth_counting(data: Dataset, price: float, child: int, parents: tuple[int, ...], floor: float) -> bool:
    """Whether the entropies of pairs leave it open that a penalised likelihood is above its floor."""
    levels = data.cardinalities
    q = math.prod(levels[u] for u in parents)
    if -price * q * (levels[child] - 1) <= floor:
        return False
    for u in parents:
        others = [(t,) for t in parents if t != u] or [()]
        gain = min(entropy(data, x, t) for t in others for x in (child, u))
        if gain + 1e-7 <= price * (q - q // levels[u]) * (levels[child] - 1):
            return False
    return True


def regret(levels: int, n: int) -> float:
    """C(levels, n) by summing over every composition of n."""
    total = 0.0
    for cuts in itertools.combinations(range(n + levels - 1), levels - 1):
        parts = np.diff([-1, *cuts, n + levels - 1]) - 1
        ways = math.factorial(n)
        value = 1.0
        for part in parts.tolist():
            ways //= math.factorial(part)
            value *= (part / n) ** part if part else 1.0
        total += ways * value
    return total


def regret_by_convolution(levels: int, n: int) -> float:
    """log C(levels, n) by adding one level at a time: C(a + b, n) = sum_k binom(n, k) (k/n)^k ((n-k)/n)^(n-k) .."""
    table = [[1.0 if m == 0 or r else 0.0 for m in range(n + 1)] for r in range(2)]
    for _ in range(2, levels + 1):
        row = []
        for m in range(n + 1):
            row.append(
                sum(
                    math.comb(m, k) * (k / m) ** k * ((m - k) / m) ** (m - k) * table[-1][k] if m else 1.0
                    for k in range(m + 1 if m else 1)
                )
            )
        table.append(row)
    return math.log(table[levels][n])


def fnml(data: Dataset, child: int, parents: tuple[int, ...]) -> float:
    _, own, _, r = counts(data, child, parents)
    return log_likelihood(data, child, parents) - sum(regret_by_convolution(r, count) for count in own.values())


def qnml(data: Dataset, child: int, parents: tuple[int, ...]) -> float:
    _, _, q, r = counts(data, child, parents)
    value = log_likelihood(data, child, parents)
    return value - regret_by_convolution(q * r, data.n_rows) + regret_by_convolution(q, data.n_rows)


def gaussian_information(data: Dataset, child: int, parents: tuple[int, ...], weight: float) -> float:
    """Penalised likelihood by regression."""
    y = data.columns[child]
    x = np.column_stack([np.ones(len(y)), *(data.columns[u] for u in parents)])
    residual = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    variance = float(np.mean(residual**2))
    likelihood = float(np.sum(-0.5 * np.log(2 * math.pi * variance) - residual**2 / (2 * variance)))
    return likelihood - weight * (len(parents) + 2)


def bge(
    data: Dataset,
    child: int,
    parents: tuple[int, ...],
    am: float = 1.0,
    aw: float | None = None,
    mean: Any = None,
    real_prior: str = "unit-free",
) -> float:
    """log p(child and parents) - log p(parents), each a matrix-variate t (Kuipers et al. 2014, equation 4)."""
    from scipy.special import multigammaln

    x = np.column_stack(data.columns)
    rows, n = x.shape
    if real_prior == "unit-free":
        deviation = x.std(axis=0)
        x = (x - x.mean(axis=0)) / deviation
        data = Dataset(data.names, tuple(Real(c.min(), c.max()) for c in x.T), tuple(x.T.copy()))
        return bge(data, child, parents, am, aw, mean, "paper") - rows * math.log(deviation[child])
    aw = n + am + 1 if aw is None else aw
    t = am * (aw - n - 1) / (am + 1)
    shift = x.mean(axis=0) - (x.mean(axis=0) if mean is None else mean)
    r = t * np.eye(n) + np.cov(x.T, bias=True) * rows + rows * am / (rows + am) * np.outer(shift, shift)

    def log_p(members: tuple[int, ...]) -> float:
        size = len(members)
        if size == 0:
            return 0.0
        part = r[np.ix_(members, members)]
        return float(
            size / 2 * math.log(am / (rows + am))
            - size * rows / 2 * math.log(math.pi)
            + multigammaln((rows + aw - n + size) / 2, size)
            - multigammaln((aw - n + size) / 2, size)
            + (aw - n + size) / 2 * size * math.log(t)
            - (rows + aw - n + size) / 2 * np.linalg.slogdet(part)[1]
        )

    return log_p((*parents, child)) - log_p(parents)


def pruned(scores: dict[tuple[int, tuple[int, ...]], float]) -> dict[tuple[int, tuple[int, ...]], float]:
    """Families whose score is greater than that of each listed proper subset."""
    kept = {}
    for (child, parents), score in scores.items():
        subsets = (s for size in range(len(parents)) for s in itertools.combinations(parents, size))
        if all(score > scores.get((child, s), -math.inf) for s in subsets):
            kept[child, parents] = score
    return kept


def read_jkl(text: str) -> dict[tuple[str, tuple[str, ...]], float]:
    """{(child, parents in the file's order): score}, by splitting lines."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    rows, at = {}, 1
    for _ in range(int(lines[0][0])):
        name, count = lines[at][:2]  # a comment may follow
        for line in lines[at + 1 : at + 1 + int(count)]:
            assert len(line) == 2 + int(line[1])
            rows[name, tuple(line[2:])] = float(line[0])
        at += 1 + int(count)
    return rows


@dataclass(frozen=True)
class Slow:
    """BDeu that takes its time and counts the families it was asked for: for tests that interrupt it."""

    seconds: float = 0.02
    ess: float = 1.0

    def bind(self, data: Dataset) -> Any:
        return _SlowBound(BDeu(self.ess).bind(data), self.seconds)

    def __repr__(self) -> str:
        return f"Slow(ess={self.ess})"


class _SlowBound:
    asked = 0

    def __init__(self, bound: Any, seconds: float) -> None:
        self._bound, self._seconds = bound, seconds

    def block(self, sets: Any, wanted: Any, floor: Any = None) -> Any:
        _SlowBound.asked += int(wanted.sum())
        time.sleep(self._seconds)
        return self._bound.block(sets, wanted, floor)


def best_total(table: Any) -> float:
    """The score of the best acyclic graph, by dynamic programming over the sets that come first in an order."""
    best = {0: 0.0}
    for first in range(1, 1 << table.n):
        totals = []
        for v in range(table.n):
            if first >> v & 1:
                rest = first & ~(1 << v)
                own = (table.scores[row] for row in table.rows(v) if int(table.masks[row, 0]) & ~rest == 0)
                totals.append(best[rest] + next(own, -math.inf))
        best[first] = max(totals)
    return best[(1 << table.n) - 1]


def contexts(data: Dataset, child: int, parents: tuple[int, ...]) -> Any:
    """float64[contexts, K]: the child's levels in each configuration of the parents that occurs."""
    joint, own, _, r = counts(data, child, parents)
    return np.array([[joint[j, k] for k in range(r)] for j in own], dtype=float)


def hmd(data: Dataset, child: int, parents: tuple[int, ...], alpha0: float = 1.0, spread: float = 1.5) -> float:
    """HMD by a general optimiser in u = log alpha, and a Hessian by finite differences; cut to its bound."""
    from scipy.optimize import minimize
    from scipy.special import gammaln

    n = contexts(data, child, parents)
    K = n.shape[1]
    if len(n) == 1:
        return dirichlet_multinomial(n[0], alpha0)

    def loss(u: Any) -> float:
        alpha = np.exp(u)
        s = alpha.sum()
        prior = gammaln(K * alpha0) - K * gammaln(alpha0) + alpha0 * (u - np.log(s)).sum()
        prior -= 0.5 * ((np.log(s / K)) / spread) ** 2 + np.log(spread * np.sqrt(2 * np.pi))
        return -float(prior + (gammaln(s) - gammaln(s + n.sum(1))).sum() + (gammaln(n + alpha) - gammaln(alpha)).sum())

    u = minimize(loss, np.zeros(K), method="BFGS", options={"gtol": 1e-7}).x
    h, hessian = 1e-3, np.empty((K, K))
    for i, j in itertools.product(range(K), repeat=2):
        a, b = h * np.eye(K)[i], h * np.eye(K)[j]
        hessian[i, j] = (loss(u + a + b) - loss(u + a - b) - loss(u - a + b) + loss(u - a - b)) / (4 * h * h)
    value = -loss(u) + 0.5 * (K * math.log(2 * math.pi) - np.linalg.slogdet(hessian)[1])
    s = np.exp(u).sum()
    factor = second_derivative(lambda t: -K * alpha0 * math.log(t) - 0.5 * (math.log(t / K) / spread) ** 2
                               + float((gammaln(t) - gammaln(t + n.sum(1))).sum()), s)  # fmt: skip
    for a, shape in zip(np.exp(u), np.diag(hessian) + factor * np.exp(2 * u), strict=True):
        assert a > 0
        value += gammaln(shape) - ((shape - 0.5) * math.log(shape) - shape + 0.5 * math.log(2 * math.pi))
    return min(float(value), hmd_bound(data, child, parents, alpha0))


def hmd_bound(data: Dataset, child: int, parents: tuple[int, ...], alpha0: float = 1.0) -> float:
    """A row of the rarest level from each context, as draws from the common distribution."""
    n = contexts(data, child, parents)
    rare = np.argsort(np.bincount(data.columns[child], minlength=n.shape[1]), kind="stable")
    chosen = [next(int(x) for x in rare if row[x]) for row in n]
    return dirichlet_multinomial(np.bincount(chosen, minlength=n.shape[1]), alpha0)


def dirichlet_multinomial(c: Any, alpha0: float) -> float:
    """The logarithm of the probability of draws in order, with these counts."""
    from scipy.special import gammaln

    K = len(c)
    return float(gammaln(K * alpha0) - gammaln(K * alpha0 + c.sum()) + (gammaln(c + alpha0) - gammaln(alpha0)).sum())


def second_derivative(f: Any, at: float) -> float:
    h = 1e-3 * at
    return float((f(at + h) - 2 * f(at) + f(at - h)) / (h * h))


def hmd_exact(data: Dataset, child: int, parents: tuple[int, ...], alpha0: float = 1.0, spread: float = 1.5) -> float:
    """The evidence that HMD approximates: exact over the common distribution, by quadrature over log s."""
    from optbn.smoothing.polynomial import exact_moments

    n = contexts(data, child, parents).astype(np.int64)
    K = n.shape[1]
    grid = math.log(K) + spread * np.linspace(-5, 5, 81)
    logs = [
        exact_moments(n, math.exp(x), np.full(K, alpha0))[2] - 0.5 * ((x - math.log(K)) / spread) ** 2 for x in grid
    ]
    top = max(logs)
    area = np.trapezoid(np.exp(np.array(logs) - top), grid) / (spread * math.sqrt(2 * math.pi))
    return float(top + math.log(area))
