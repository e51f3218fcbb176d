"""The kernels of Phase I against their twins."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from optbn.scores.bdeu import BDeu
from optbn.scores.counting import CountScore, _commonest_first
from optbn.scores.kernels import counts as counting
from optbn.scores.kernels import sets as kernels
from optbn.scores.kernels.gaussian import residuals
from optbn.scores.kernels.terms import LOG_GAMMA, N_LOG_N, N_LOG_REGRET, log_regret, tabulate, term
from tests.naive import phase1 as naive

pytestmark = pytest.mark.twin


def test_binomials_and_their_overflow():
    choose = kernels.binomials(70, 40)
    for a, b in itertools.product(range(71), range(41)):
        assert choose[a, b] == (math.comb(a, b) if math.comb(a, b) < 1 << 62 else -1)


@pytest.mark.parametrize(("n", "k"), [(5, 0), (5, 1), (6, 3), (7, 7), (9, 4)])
def test_sets_in_lexicographic_order_and_their_ranks(n, k):
    choose = kernels.binomials(n, k)
    everything = list(itertools.combinations(range(n), k))
    found = kernels.sets_between(n, k, 0, len(everything), choose)
    assert list(map(tuple, found.tolist())) == everything
    for first, last in [(0, 1), (len(everything) // 2, len(everything))]:
        assert (kernels.sets_between(n, k, first, last, choose) == found[first:last]).all()
    ranks = {s: i for i, s in enumerate(everything)}
    below = {s: i for i, s in enumerate(itertools.combinations(range(n), max(0, k - 1)))}
    for s, members in zip(everything, found, strict=True):
        assert kernels.rank_without(members, -1, n, choose) == ranks[s]
        for j in range(k):
            assert kernels.rank_without(members, j, n, choose) == below[s[:j] + s[j + 1 :]]


def test_best_of_subsets():
    rng = np.random.default_rng(1)
    n, k = 6, 3
    choose = kernels.binomials(n, k)
    below = list(itertools.combinations(range(n), k - 1))
    best = rng.normal(size=(len(below), 4))
    best[rng.random(best.shape) < 0.3] = -np.inf
    sets = kernels.sets_between(n, k, 3, 15, choose)
    found = kernels.best_of_subsets(sets, best, n, choose)
    for s, row in zip(sets.tolist(), found, strict=True):
        rows = [below.index(tuple(u for u in s if u != gone)) for gone in s]
        assert (row == best[rows].max(axis=0)).all()


def test_join_lists_each_union_once():
    rng = np.random.default_rng(2)
    n, k = 7, 2
    sets = np.array(list(itertools.combinations(range(n), k)), dtype=np.int32)
    wanted = rng.random((len(sets), n)) < 0.6
    for s, row in zip(sets, wanted, strict=True):
        row[s] = False
    joined, where = kernels.join(sets, wanted)
    assert len({tuple(s) for s in joined.tolist()}) == len(joined)
    for i, v in np.ndindex(wanted.shape):
        if wanted[i, v]:
            assert joined[where[i, v]].tolist() == sorted([*sets[i].tolist(), v])
        else:
            assert where[i, v] == -1
    every = np.ones_like(wanted)
    for s, row in zip(sets, every, strict=True):
        row[s] = False
    assert kernels.join(sets, every)[0].tolist() == [list(s) for s in itertools.combinations(range(n), k + 1)]


@pytest.mark.parametrize("seed", range(12))
def test_all_ways_of_counting_give_the_same_sums(seed):
    """Rare rows with lower tables, all rows, and groups of rows; against a Counter."""
    rng = np.random.default_rng(seed)
    n, rows, k = 6, int(rng.integers(1, 80)), int(rng.integers(1, 5))
    data = naive.random_categorical(rng, n, rows, levels=5)
    levels = np.array(data.cardinalities, dtype=np.int64)
    units = np.empty(0, np.int32) if seed % 2 else rng.integers(1, 4, rows, dtype=np.int32)
    times = units if len(units) else 1
    codes = np.array([_commonest_first(c, r, units) for c, r in zip(data.columns, data.cardinalities, strict=True)])
    rare, starts = counting.rare_rows(codes)
    assert all((codes[v, rare[starts[v] : starts[v + 1]]] != 0).all() for v in range(n))
    sets = np.array(list(itertools.combinations(range(n), k)), dtype=np.int32)
    choose = kernels.binomials(n, k)
    none = np.empty(0, np.int32), np.empty(0, np.int64)
    score = CountScore(BDeu(), data if seed % 2 else data.weighted(units))
    for size in range(1, k):
        lower = score._tables(size, len(sets) * 100)
    lower = lower if k > 1 else none
    terms = [(LOG_GAMMA, 0.3), (N_LOG_N, 0.0)]
    tables = np.array([tabulate(*terms[0], 3, 1.0)])  # short, so that larger counts are computed
    kinds, parameters = np.array([t[0] for t in terms]), np.array([t[1] for t in terms])
    columns, book = (codes, levels, rare, starts, units), (tables, kinds, parameters, 1.0)
    wanted = np.tile(np.array([0, 1, -1], dtype=np.int32), (len(sets), 1))
    expected = []
    for s in sets.tolist():
        seen = [np.repeat(data.columns[u].tolist(), times).tolist() for u in s]
        cells = Counter(zip(*seen, strict=True)).values()
        expected.append([*(sum(term(*t, c) for c in cells) for t in terms), 0.0, len(cells)])
    for tables_below, dense in ((lower, 10_000), (none, 10_000), (none, 0), (lower, 8)):
        sums, observed = counting.cell_sums(sets, columns, (*tables_below, choose), dense, wanted, book)
        np.testing.assert_allclose(np.column_stack([sums, observed]), expected, rtol=1e-13, atol=1e-13)
    dense_sums = [
        counting.cell_sums(sets, columns, (*below, choose), 10_000, wanted, book)[0] for below in (lower, none)
    ]
    assert (dense_sums[0] == dense_sums[1]).all()


def test_regret():
    for levels, n in itertools.product(range(1, 5), range(8)):
        expected = math.log(naive.regret(levels, n)) if n else 0.0
        assert log_regret(levels, n) == pytest.approx(expected, abs=1e-13)
        if n:
            assert naive.regret_by_convolution(levels, n) == pytest.approx(expected, abs=1e-12)
    # C(2, n) for large n against its sum in exact binomial terms
    n = 3000
    k = np.arange(1, n)
    logs = [math.lgamma(n + 1) - math.lgamma(a + 1) - math.lgamma(n - a + 1) for a in k]
    total = 2 + np.exp(logs + k * np.log(k / n) + (n - k) * np.log((n - k) / n)).sum()
    assert log_regret(2, n) == pytest.approx(math.log(total), rel=1e-11)
    assert math.isfinite(log_regret(10**6, 50))


def test_terms():
    for kind, parameter in ((N_LOG_N, 0.0), (LOG_GAMMA, 0.125), (N_LOG_REGRET, 3.0)):
        values = tabulate(kind, parameter, 12, 1.0)
        assert values[0] == 0.0
        assert [term(kind, parameter, n) for n in range(12)] == values.tolist()


def test_residuals():
    rng = np.random.default_rng(3)
    data = naive.random_real(rng, 5, 40)
    x = np.column_stack(data.columns)
    matrix = np.cov(x.T) * 39
    sets = np.array(list(itertools.combinations(range(5), 3)), dtype=np.int32)
    log_det, found, bad = residuals(sets, matrix, np.zeros(5))
    assert bad == -1
    for s, value, row in zip(sets, log_det, found, strict=True):
        assert value == pytest.approx(np.linalg.slogdet(matrix[np.ix_(s, s)])[1])
        for v in set(range(5)) - set(s.tolist()):
            whole = [*s, v]
            assert np.log(row[v]) == pytest.approx(np.linalg.slogdet(matrix[np.ix_(whole, whole)])[1] - value)
    matrix[:, 2] = matrix[:, 1]
    matrix[2, :] = matrix[1, :]
    assert residuals(sets, matrix, 1e-9 * np.diag(matrix))[2] == 0
