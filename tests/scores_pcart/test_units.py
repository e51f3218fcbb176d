"""Real columns: units, zeros and increasing changes that must not matter, ties, and columns at the ends of floats."""

from __future__ import annotations

import math

import numpy as np
import pytest

import optbn
from optbn.base.errors import DataError, OptbnError, UnsupportedError
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.scores.full_table import FT
from optbn.scores.pcart import PCART
from optbn.scores.trees.cuts import halves, midpoints, quantiles
from optbn.scores.units import standardised
from tests.naive import pcart as naive
from tests.scores_pcart.columns import random_data, score


def real(*columns: np.ndarray) -> Dataset:
    """Real columns with their own ranges."""
    names = tuple(f"x{i}" for i in range(len(columns)))
    return Dataset(names, tuple(Real(c.min(), c.max()) for c in columns), columns)


@pytest.mark.parametrize("factor", [2.0**-990, 2.0**-20, 1.0, 2.0**20, 2.0**990])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_standardised_columns(factor, offset):
    rng = np.random.default_rng(0)
    column = (np.round(rng.normal(size=200) * 64) / 64 + offset) * factor
    made = standardised(column)
    mean, deviation = naive.unit(column / factor)
    np.testing.assert_allclose(made.values, (column / factor - mean) / deviation, rtol=1e-6, atol=1e-6)
    assert made.log_scale == pytest.approx(math.log(deviation) + math.log(factor), rel=1e-12)
    constant = standardised(np.full(5, 3.0))
    assert (constant.values == 0).all() and constant.log_scale == 0


@pytest.mark.parametrize("method", ["pcartp", "ftp", "bge", "bic"])
def test_the_graph_does_not_depend_on_units(method):
    rng = np.random.default_rng(3)
    kelvin = 300 + 5 * rng.normal(size=400)
    year = np.round(2000 + 3 * (kelvin - 300) / 5 + 4 * rng.normal(size=400))
    hectopascal = 1000 - 8 * (year - 2000) + 20 * rng.normal(size=400)
    length = rng.integers(0, 9, 400) * 1e-3 + 1e-4 * (hectopascal > 1000)
    plain = real(kelvin, year, hectopascal, length)
    moved = real(kelvin * 1e6 - 273e6, year + 1e9, hectopascal * 1e-6, length * 39.37)
    graphs = [optbn.learn(data, score=method, max_parents=2).network.structure for data in (plain, moved)]
    assert graphs[0].parent_sets == graphs[1].parent_sets
    assert len(graphs[0].arcs) > 1


def test_values_on_a_midpoint_stay_on_their_side():
    """0 .. 8 have all midpoints of three halvings among them; 0.1 to 0.8 have not, in binary."""
    codes = np.arange(9.0)
    for factor in (1.0, 0.1, 1e-6, 1 / 3, 1e6, 1e300, 5e-310):
        column = codes * factor
        cuts = midpoints(Real(column[0], column[-1]), column, 3)
        assert np.searchsorted(cuts, column, side="right").tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 7]
        assert (np.diff(cuts) >= 0).all()


def test_cuts_are_by_definition():
    rng = np.random.default_rng(1)
    for _ in range(200):
        values = rng.choice([1.0, 7.0]) * np.round(rng.normal(size=rng.integers(1, 40)), int(rng.integers(0, 3)))
        domain = Real(values.min(), values.max() + rng.integers(2))
        data = Dataset(("x",), (domain,), (values,))
        for splits in range(4):
            for rule, cuts in (("range", midpoints(domain, values, splits)), ("rank", halves(values, splits))):
                found = np.searchsorted(cuts, values, side="right") if domain.low < domain.high else 0 * values
                assert found.tolist() == [c for (c,) in naive.cells(data, (0,), splits, rule)] or rule == "rank"
                if rule == "rank":  # empty cells may be counted otherwise
                    parts = [c for (c,) in naive.cells(data, (0,), splits, rule)]
                    assert (
                        np.unique(found, return_inverse=True)[1].tolist()
                        == np.unique(parts, return_inverse=True)[1].tolist()
                    )
        for bins in (2, 3, 7):
            cuts = quantiles(values, bins)
            assert (np.diff(cuts) > 0).all()
            slow = [sum(x >= c for c in naive.quantile_cuts(values, bins)) for x in values.tolist()]
            assert (
                np.searchsorted(cuts, values, side="right").tolist() == np.unique(slow, return_inverse=True)[1].tolist()
            )


@pytest.mark.twin
def test_tables_of_tied_values():
    """Three distinct values, in any unit: the search, the twin and the table that is built say the same."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        n = int(rng.integers(5, 40))
        levels = np.sort(rng.normal(size=3)) * rng.choice([1e-3, 1.0, 1e4])
        codes = rng.integers(0, 3, n)
        child = ((codes > rng.integers(0, 2)) ^ (rng.random(n) < 0.2)).astype(np.uint8)
        data = Dataset(
            ("x", "y"), (Real(levels[0], levels[-1]), Categorical(("a", "b"))), (levels[codes].copy(), child)
        )
        bound = FT().bind(data)
        assert score(bound, 2, 1, (0,)) == pytest.approx(naive.full_table(data, 1, (0,)), rel=1e-9)
        fitted = bound.fitted(1, (0,))
        assert fitted.score == score(bound, 2, 1, (0,))
        assert (np.diff(fitted.cuts[0]) > 0).all()
        for changed in (np.exp(codes.astype(float)), levels[codes] * 0.3, codes**3 - 1e9):
            other = Dataset(data.names, (Real(changed.min(), changed.max()), data.domains[1]), (changed * 1.0, child))
            assert score(FT().bind(other), 2, 1, (0,)) == score(bound, 2, 1, (0,))


def test_hyper_parameters_by_column():
    rng = np.random.default_rng(4)
    data = random_data(rng, ["c3", "r", "c3", "r", "c2"], 60)
    settings = {
        "alpha": {"v0": 2.0, "*": 0.7},
        "nu": {"v1": 3.0},
        "lambda_": {"v3": 0.2, "*": 1.5},
        "mean": {"v1": 0.4},
        "a": {"v3": 4.0},
    }
    for child, parents in [(0, (1, 2)), (1, (0,)), (2, (0, 4)), (3, (1, 4)), (4, (2,))]:
        own = {
            name: value.get(f"v{child}", value.get("*", {"alpha": 0.5, "mean": 0.0}.get(name, 1.0)))
            for name, value in settings.items()
        }
        for make in (PCART, FT):
            mixed, alone = make(**settings).bind(data), make(**own).bind(data)
            assert score(mixed, 5, child, parents) == score(alone, 5, child, parents)
            assert mixed.fitted(child, parents).score == score(mixed, 5, child, parents)
    with pytest.raises(OptbnError, match="no column 'w'"):
        PCART(alpha={"w": 1.0}).bind(data)
    with pytest.raises(UnsupportedError, match="alpha is"):
        PCART(alpha={"v0": 0.0})
    with pytest.raises(UnsupportedError, match="real_prior is 'z'"):
        PCART(real_prior="z")


def test_columns_at_the_ends_of_floating_point():
    rng = np.random.default_rng(5)
    x = np.round(rng.normal(size=60) * 64) / 64
    y = np.round((x + rng.normal(size=60)) * 64) / 64
    for method in (PCART(), FT()):
        usual = score(method.bind(real(x, y)), 2, 1, (0,))
        for factor in (2.0**1000, 2.0**-1060):
            scaled = real(x * factor, y * factor)
            assert score(method.bind(scaled), 2, 1, (0,)) == pytest.approx(usual - 60 * math.log(factor), rel=1e-9)
        wide = real(x * 2.0**1000)
        with pytest.raises(DataError, match=r"range .* too wide"):
            method.bind(Dataset(wide.names, (Real(-1.7e308, 1.7e308),), wide.columns))
    with pytest.raises(DataError, match="'x0' has values whose squares"):
        score(PCART(real_prior="paper").bind(real(x * 1e200, y)), 2, 0, ())


def test_parameters_do_not_depend_on_where_zero_is():
    rng = np.random.default_rng(6)
    x = np.round(rng.normal(size=300) * 64) / 64
    near, far = (optbn.fit(optbn.learn(data := real(c, x), max_parents=0).network, data) for c in (x, x + 1e9))
    assert far.cpd("x0").leaves.sd == pytest.approx(near.cpd("x0").leaves.sd, rel=1e-6)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_parameters_that_no_number_holds_are_refused_by_name(factor):
    """Scores of such columns are right; variances would be 0 or infinite."""
    data = real(np.random.default_rng(7).normal(size=50) * factor)
    with pytest.raises(DataError, match=r"'x0': its range is .* wide, and its variance no floating-point number"):
        optbn.learn(data, max_parents=0)


@pytest.mark.twin
def test_all_thresholds():
    """Trees that may cut between any two values, against every tree, also beside other parents."""
    rng = np.random.default_rng(8)
    for _ in range(40):
        n = int(rng.integers(4, 25))
        x = rng.choice([0.1, 7.0]) * rng.integers(0, rng.integers(1, 6), n)
        z = rng.integers(0, 2, n).astype(np.uint8)
        y = np.round((x > np.median(x)) * (1 + z) + 0.1 * rng.normal(size=n), 3)
        domains = (Real(x.min(), x.max()), Categorical(("a", "b")), Real(y.min(), y.max()))
        data = Dataset(("x", "z", "y"), domains, (x, z, y))
        bound = PCART(max_splits="all").bind(data)
        for child, parents in ((2, (0,)), (1, (0,)), (2, (0, 1)) if len(set(x)) < 5 else (2, (1,))):
            expected, leaves = naive.pcart(data, child, parents, "all")
            assert score(bound, 3, child, parents) == pytest.approx(expected, rel=1e-9, abs=1e-9)
            assert bound.fitted(child, parents).n_leaves == leaves
