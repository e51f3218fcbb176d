"""FT against every table (tests/naive/pcart.py) and against published numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import config

from optbn.base.errors import DataError, LimitError, UnsupportedError
from optbn.data.dataset import Categorical
from optbn.scores.full_table import FT, FTP
from optbn.scores.kernels.by_site import regroup, tabulate_by_site
from optbn.scores.kernels.rows import add_counts, clear_row, copy_counts, subtract_counts
from optbn.scores.kernels.sites import refine, tabulate
from optbn_solvers.base.compiled import kernel
from tests.naive import pcart as naive
from tests.scores_pcart.columns import all_sets, check_blocks, golden, random_data, score


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(20))
def test_equals_the_best_of_all_tables(seed):
    rng = np.random.default_rng(seed)
    kinds = [("c2", "c3", "o4", "r", "r")[i] for i in rng.integers(0, 5, 3)]
    data = random_data(rng, kinds, int(rng.integers(1, 60)))
    bound = FT(max_bins=4).bind(data)
    for child, parents in [(0, (1, 2)), (1, (0,)), (2, ())]:
        expected = naive.full_table(data, child, parents, 4)
        assert score(bound, 3, child, parents) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert bound.fitted(child, parents).score == score(bound, 3, child, parents)


def paper_leaf(data, child, rows):
    return naive.leaf(data, child, rows, real_prior="paper")


def published_leaf(data, child, rows):
    """The published program's leaf: for real responses it uses (n-1)/n of the sum of squares (the paper, all of it)."""
    if isinstance(data.domains[child], Categorical) or not rows:
        return paper_leaf(data, child, rows)
    x = data.columns[child][rows]
    n, average = len(x), x.mean()
    scale = 1.0 + (n - 1) / n * ((x - average) ** 2).sum() + n / (1 + n) * average**2
    return (
        -n / 2 * math.log(math.pi)
        + 0.5 * math.log(1 / (1 + n))
        + math.lgamma((1 + n) / 2)
        - math.lgamma(0.5)
        - (1 + n) / 2 * math.log(scale)
    )


@pytest.mark.parametrize("name", ["asia_400", "child_400", "alarm_400", "insurance_1600", "mixed12_400_s3", "wine_s3"])
def test_published_scores(name):
    """Real responses go by way of the twin, which meets the published values with the published leaf."""
    facts, data = golden(name)
    bound = FT(real_prior="paper").bind(data)
    checked = 0
    for pair in facts["pairs"]:
        parents = tuple(sorted(pair["P"]))
        ours = score(bound, data.n_variables, pair["v"], parents)
        if isinstance(data.domains[pair["v"]], Categorical):
            assert ours == pytest.approx(pair["ft_total"], rel=1e-9)
        elif len(parents) < 2:
            twin = naive.full_table(data, pair["v"], parents, leaf=published_leaf)
            if twin != pytest.approx(pair["ft_total"], rel=1e-9):
                # where values are tied an ulp decides on which side of a cut they fall
                assert any(len(np.unique(data.columns[u])) < data.n_rows for u in parents)
            assert ours == pytest.approx(naive.full_table(data, pair["v"], parents, leaf=paper_leaf), rel=1e-9)
        checked += 1
    assert checked == len(facts["pairs"])


def test_mixed_data_and_categorical_data_agree():
    """The categorical families of mixed data go another way than those of categorical data."""
    data = random_data(np.random.default_rng(1), ["c3", "c2", "o4", "r", "c5"], 200)
    categorical = data.select(["v0", "v1", "v2", "v4"])
    for k in (0, 1, 2, 3):
        sets, wanted = all_sets(4, k)
        at = np.array([0, 1, 2, 4])
        mixed_wanted = np.zeros((len(sets), 5), dtype=bool)
        mixed_wanted[:, at] = wanted
        mixed = FT().bind(data).block(at[sets].astype(np.int32), mixed_wanted)
        plain = FT().bind(categorical).block(sets, wanted)
        np.testing.assert_allclose(mixed[:, at][wanted], plain[wanted], rtol=1e-12)


@pytest.mark.parametrize("kinds", [["c3", "r", "o4", "r", "c2"], ["c3", "c4", "o4", "c2", "c2"]])
def test_a_batch_gives_the_bits_of_single_families(kinds):
    data = random_data(np.random.default_rng(3), kinds, 120)
    for bound in (FT(max_bins=3).bind(data), FTP(max_bins=3).bind(data)):
        for k in (0, 1, 3):
            check_blocks(bound, 5, k)


def test_the_size_prior():
    data = random_data(np.random.default_rng(0), ["c2", "c3", "r", "c2"], 30)
    for one in (data, data.select(["v0", "v1", "v3"])):
        n = one.n_variables
        ratio = math.log(math.comb(n - 1, 1))
        assert score(FTP().bind(one), n, 0, (1,)) == pytest.approx(score(FT().bind(one), n, 0, (1,)) - ratio)


def test_fitted_tables_hold_their_rows():
    rng = np.random.default_rng(2)
    for _ in range(20):
        data = random_data(rng, ["r", "c3", "r", "c2"], int(rng.integers(1, 80)))
        for child, parents in [(1, (0, 2, 3)), (0, (1, 2))]:
            fitted = FT(max_bins=5).bind(data).fitted(child, parents)
            cells = 1
            for u, cuts in zip(fitted.parents, fitted.cuts, strict=True):
                assert (np.diff(cuts) > 0).all()
                cells *= data.cardinalities[u] or len(cuts) + 1
            assert fitted.content.leaves == cells
            assert fitted.content.rows.sum() == data.n_rows


def test_refusals():
    data = random_data(np.random.default_rng(0), ["r"] * 8 + ["c2"], 20)
    with pytest.raises(LimitError, match=r"'v0'.*--max-bins"):
        FT().bind(data).block(np.arange(8, dtype=np.int32)[None, :], np.arange(9)[None, :] == 8)
    with pytest.raises(DataError, match="no rows"):
        FT().bind(data.take(slice(0, 0)))
    with pytest.raises(UnsupportedError, match="max_bins is 1"):
        FT(max_bins=1)


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(4 if config.DISABLE_JIT else 40))
def test_rows_site_after_site_add_up_to_the_same_bits(seed):
    """Of one-hot codes in several widths, weights, gaps in real columns; values far apart."""
    rng = np.random.default_rng(seed)
    n_rows, reals, width = int(rng.integers(1, 60)), 8 * int(rng.integers(0, 4)), 32 * int(rng.integers(1, 4))
    onehot = rng.integers(0, 2, (n_rows, width)).astype((np.uint8, np.uint16, np.uint32)[seed % 3])
    onehot[:, -1] = rng.integers(1, 5, n_rows) if seed % 2 else 1
    there = np.where(rng.random(reals) < 0.3, rng.integers(0, width - 1, reals), -1)
    values = rng.normal(size=(n_rows, reals)) * 10.0 ** rng.integers(-3, 4, (n_rows, reals))
    before = rng.integers(0, 4, n_rows).astype(np.int32)
    cells, size = rng.integers(0, 5, n_rows).astype(np.int32), 5
    found = []
    for ways in (refine, regroup):
        site, lookup, none = np.empty(n_rows, np.int32), np.empty(20, np.int32), np.empty((n_rows, 0), np.int32)
        args = (cells, size, before, 4)
        more = (none, -1, site, lookup, none) if ways is refine else (site, lookup)
        found.append((ways(*args, *more), site))
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])
    n, site = found[0]
    results = []
    for order in ((), (np.empty(n_rows, np.int32),)):
        rows, counts = np.empty(n_rows, np.int32), np.empty((n_rows, width), np.uint32)
        mean, spread = np.full((2, n_rows, reals), np.nan)
        (tabulate_by_site if order else tabulate)(site, n, onehot, values, there, *order, rows, counts, mean, spread)
        results.append((rows[:n], counts[:n], mean[:n], spread[:n]))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.twin
def test_rows_are_cleared_copied_added_and_subtracted():
    @kernel
    def all_of(target, source):
        copy_counts(target, 0, source, 1)
        add_counts(target, 1, source, 2)
        subtract_counts(target, 2, target, 1)
        clear_row(target, 3)

    rng = np.random.default_rng(0)
    for kind, width, wider in ((np.uint8, 32, 64), (np.uint16, 64, 64), (np.uint32, 96, 128)):
        target = rng.integers(500, 900, (5, width)).astype(np.uint32)
        source = rng.integers(0, 200, (3, wider)).astype(kind)
        expected = target.copy()
        expected[0], expected[3] = source[1, :width], 0
        expected[1] += source[2, :width]
        expected[2] -= expected[1]
        all_of(target, source)
        np.testing.assert_array_equal(target, expected)
