"""Each standard score against its slow definition, and what every registered score must obey."""

import itertools
import math

import numpy as np
import pytest

import optbn
from optbn.base.errors import DataError, OptbnError, UnknownNameError, UnsupportedError
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.scores import SCORES, load_score
from optbn.scores.families import Families
from optbn.scores.listed import score_families
from optbn_solvers.base.files import Rows, read_rows
from tests.naive import phase1 as naive
from tests.paths import shared_data

CATEGORICAL = {
    "bdeu": (naive.bdeu, {}),
    "bdeu ess 7": (lambda *a: naive.bdeu_gammas(*a, 7.0), {"ess": 7.0}),
    "bds": (naive.bds, {}),
    "bds ess 3": (lambda *a: naive.bds(*a, 3.0), {"ess": 3.0}),
    "k2": (naive.k2, {}),
    "bic": (naive.bic, {}),
    "aic": (naive.aic, {}),
    "fnml": (naive.fnml, {}),
    "qnml": (naive.qnml, {}),
}


def block(bound, data, sets, wanted=None, floor=None):
    """A block over predictor sets given as tuples, all responses outside the set wanted."""
    sets = np.array(sets, dtype=np.int32).reshape(len(sets), -1)
    if wanted is None:
        wanted = np.ones((len(sets), data.n_variables), dtype=np.bool_)
        np.put_along_axis(wanted, sets.astype(np.int64), False, axis=1)
    return bound.block(sets, wanted, floor), wanted


@pytest.mark.parametrize("name", CATEGORICAL)
@pytest.mark.parametrize("seed", range(4))
def test_categorical_scores(name, seed):
    slow, settings = CATEGORICAL[name]
    rng = np.random.default_rng(seed)
    rows = 14 if "nml" in name else int(rng.integers(1, 60))
    data = naive.random_categorical(rng, 5, rows, levels=3 if "nml" in name else 4)
    bound = load_score(name.split()[0], **settings).bind(data)
    for size in range(3):
        sets = list(itertools.combinations(range(5), size))
        found, wanted = block(bound, data, sets)
        assert (found[~wanted] == -np.inf).all()
        for i, v in np.argwhere(wanted):
            assert found[i, v] == pytest.approx(slow(data, v, sets[i]), rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_two_formulas_of_bdeu_agree(seed):
    data = naive.random_categorical(np.random.default_rng(seed), 4, 30)
    for child, parents in naive.families(4, 2):
        value = naive.bdeu(data, child, parents, 2.5)
        assert naive.bdeu_gammas(data, child, parents, 2.5) == pytest.approx(value, rel=1e-10, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "settings", "slow"),
    [
        ("bge", {}, naive.bge),
        ("bge", {"real_prior": "paper"}, lambda *a: naive.bge(*a, real_prior="paper")),
        ("bge", {"alpha_mu": 2.0, "alpha_w": 9.5, "mean": 0.3}, lambda *a: naive.bge(*a, am=2.0, aw=9.5, mean=0.3)),
        ("bic", {}, lambda d, v, p: naive.gaussian_information(d, v, p, 0.5 * math.log(d.n_rows))),
        ("aic", {}, lambda d, v, p: naive.gaussian_information(d, v, p, 1.0)),
    ],
)
def test_gaussian_scores(name, settings, slow):
    data = naive.random_real(np.random.default_rng(4), 5, 60)
    bound = load_score(name, **settings).bind(data)
    for size in range(4):
        sets = list(itertools.combinations(range(5), size))
        found, wanted = block(bound, data, sets)
        for i, v in np.argwhere(wanted):
            assert found[i, v] == pytest.approx(slow(data, v, sets[i]), rel=1e-9)


@pytest.mark.parametrize("name", ["bge", "bic"])
def test_gaussian_scores_do_not_depend_on_where_zero_is(name):
    rng = np.random.default_rng(7)
    x = rng.integers(-8, 9, (101, 3)).astype(np.float64)
    x[:, 2] = 2 * x[:, 0] - x[:, 1] + rng.integers(0, 2, 101)
    wide = (Real(-(2.0**60), 2.0**60),) * 3
    near = load_score(name).bind(Dataset(tuple("abc"), wide, tuple(np.ascontiguousarray(c) for c in x.T)))
    far = load_score(name).bind(Dataset(tuple("abc"), wide, tuple(np.ascontiguousarray(c) for c in x.T + 2.0**52)))
    every = np.array([[False, False, True]])
    for parents in ((), (0,), (0, 1)):
        sets = np.array([parents], np.int32).reshape(1, -1)
        assert far.block(sets, every)[0, 2] == pytest.approx(near.block(sets, every)[0, 2], rel=1e-9)


def test_large_tables_and_many_levels():
    """More cells than rows by far: groups of rows instead of a table."""
    rng = np.random.default_rng(5)
    levels = [70, 300, 2, 90, 40]
    columns = tuple(rng.integers(0, k, 200).astype(np.uint8 if k <= 256 else np.uint16) for k in levels)
    data = Dataset(tuple("abcde"), tuple(Categorical(tuple(map(str, range(k)))) for k in levels), columns)
    for name, slow in (("bdeu", naive.bdeu), ("bds", naive.bds), ("bic", naive.bic), ("k2", naive.k2)):
        found, wanted = block(load_score(name).bind(data), data, [(0, 1, 3), (0, 2, 4), (1, 3, 4)])
        for (i, v), s in zip(np.argwhere(wanted), [(0, 1, 3)] * 2 + [(0, 2, 4)] * 2 + [(1, 3, 4)] * 2, strict=True):
            assert found[i, v] == pytest.approx(slow(data, v, s), rel=1e-11)


@pytest.mark.parametrize("name", ["bdeu", "qnml", "bge", "bic"])
def test_equivalent_graphs_score_the_same(name):
    """Chains in all three directions; for BIC of real data too."""
    rng = np.random.default_rng(6)
    data = naive.random_real(rng, 3, 40) if name == "bge" else naive.random_categorical(rng, 3, 40)
    graphs = [[(0, ()), (1, (0,)), (2, (1,))], [(2, ()), (1, (2,)), (0, (1,))], [(1, ()), (0, (1,)), (2, (1,))]]
    names = data.names
    totals = [
        sum(optbn.score(data, names[v], [names[u] for u in parents], name) for v, parents in graph) for graph in graphs
    ]
    assert totals == pytest.approx([totals[0]] * 3, rel=1e-12)


def test_golden_asia():
    """BDeu(1) of all parent sets up to 3, as published with its data (scores have eight decimals)."""
    rows = read_rows(shared_data("localscores", "asia_10000.dat.3.jkl"))
    data = optbn.read(shared_data("datasets", "gobnilp-asia-10000.parquet"))
    found = score_families(data, Families.of(rows, data.names), "bdeu", ess=1.0)
    np.testing.assert_allclose(found.scores, rows.scores, rtol=0, atol=6e-9)


def test_golden_bic():
    """BIC, pruned: every listed family and nothing else. Level 2 of "Eight" is declared and never observed."""
    rows = read_rows(shared_data("localscores", "alarm_100_pygobnilp.jaa"))
    data = optbn.read(shared_data("datasets", "gobnilp-alarm-100.parquet"), {"Eight": ["0", "1", "2", "3"]})
    families = Families.of(rows, data.names)
    found = score_families(data, families, "bic")
    np.testing.assert_allclose(found.scores, rows.scores, rtol=1e-12)
    table = optbn.score_table(data, "bic", 3)
    listed = {(int(c), int(m)) for c, m in zip(families.children, families.masks[:, 0], strict=True)}
    assert {(int(c), int(m)) for c, m in zip(table.children, table.masks[:, 0], strict=True)} == listed


@pytest.mark.parametrize(
    ("file", "data", "schema"),
    [
        ("alarm_100.jaa", "gobnilp-alarm-100", {"Eight": ["0", "1", "2", "3"]}),
        ("alarm_1000.jaa", "bnsl-alarm1000", None),
        ("alarm_10000.jaa", "gobnilp-alarm-10000", None),
    ],
)
def test_golden_bdeu_tables(file, data, schema):
    """BDeu(1), at most three parents, pruned; the file numbers variables in an order of its own.

    Variables are recognised by the scores of their parent sets; the tables must then be the same, family by family.
    """
    rows = read_rows(shared_data("localscores", file))
    data = optbn.read(shared_data("datasets", f"{data}.parquet"), schema)
    table = optbn.score_table(data, "bdeu", 3)
    ours = [np.sort(table.scores[table.children == v]) for v in range(37)]
    theirs = [np.sort(rows.scores[rows.children == v]) for v in range(37)]
    place = [
        next(v for v in range(37) if len(ours[v]) == len(found) and np.abs(ours[v] - found).max() < 1e-6)
        for found in theirs
    ]
    assert sorted(place) == list(range(37))
    renamed = Rows(tuple(data.names[v] for v in place), rows.children, rows.masks, rows.scores)
    families = Families.of(renamed, data.names)
    found = score_families(data, families, "bdeu").scores
    np.testing.assert_allclose(found, rows.scores, rtol=0, atol=1e-7)
    ours = {(int(c), int(m)) for c, m in zip(table.children, table.masks[:, 0], strict=True)}
    theirs = {(int(c), int(m)) for c, m in zip(families.children, families.masks[:, 0], strict=True)}
    assert ours == theirs


def test_golden_asia_1000():
    """BIC of a data file in GOBNILP's form (names, numbers of levels, rows)."""
    names, levels, *lines = shared_data("localscores", "asia_1000.dat").read_text().splitlines()
    names, levels = names.split(), [int(k) for k in levels.split()]
    codes = np.array([line.split() for line in lines if line.strip()], dtype=np.uint8)
    domains = tuple(Categorical(tuple(map(str, range(k)))) for k in levels)
    data = Dataset(tuple(names), domains, tuple(np.ascontiguousarray(column) for column in codes.T))
    rows = read_rows(shared_data("localscores", "asia_1000.jaa"))
    found = score_families(data, Families.of(rows, data.names), "bic")
    np.testing.assert_allclose(found.scores, rows.scores, rtol=1e-12)


def test_published_bge():
    """Local scores printed in pygobnilp's manual for bnlearn's gaussian.test."""
    data = optbn.read(shared_data("datasets", "gobnilp-gaussian.parquet"))
    assert optbn.score(data, "A", [], "bge", real_prior="paper") == pytest.approx(-7124.782936593152, rel=1e-12)


@pytest.mark.parametrize(
    ("data", "score", "largest", "optimum"),
    [
        ("gobnilp-discrete", "bdeu", 1, -24933.77702265212),
        ("gobnilp-discrete", "bdeu", 3, -24028.0947783535),
        ("gobnilp-gaussian", "bge", 3, -54052.41081344564),
        ("gobnilp-gaussian", "bge", 6, -53258.94161814058),
    ],
)
def test_published_optima(data, score, largest, optimum):
    """The best network's score in pygobnilp's notebook."""
    settings = {"real_prior": "paper"} if score == "bge" else {}
    table = optbn.score_table(shared_data("datasets", f"{data}.parquet"), score, largest, **settings)
    assert naive.best_total(table) == pytest.approx(optimum, rel=1e-11)


# ---- what every registered score obeys

KINDS = {"categorical", "real", "mixed"}


def example(kind, rng, rows=40):
    """Five columns of a kind."""
    categorical, real = naive.random_categorical(rng, 5, rows, levels=3), naive.random_real(rng, 5, rows)
    if kind == "categorical":
        return categorical
    if kind == "real":
        return real
    names = (*categorical.names[:3], *real.names[:2])
    return Dataset(names, (*categorical.domains[:3], *real.domains[:2]), (*categorical.columns[:3], *real.columns[:2]))


def supported(name, kind):
    """The bound score and its data, or skip when the score refuses this kind (by name, which is checked)."""
    data = example(kind, np.random.default_rng(sum(map(ord, name + kind))))
    try:
        return load_score(name).bind(data), data
    except UnsupportedError as error:
        assert any(repr(column) in str(error) for column in data.names)
        pytest.skip(f"{name} refuses {kind} data: {error}")


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("name", SCORES)
class TestEveryScore:
    def test_batch_is_single_to_the_bit(self, name, kind):
        bound, data = supported(name, kind)
        for size in range(4):
            sets = list(itertools.combinations(range(5), size))
            whole, wanted = block(bound, data, sets)
            assert np.isfinite(whole[wanted]).all()
            assert (whole[~wanted] == -np.inf).all()
            for i, v in np.argwhere(wanted):
                only = np.zeros((1, 5), dtype=np.bool_)
                only[0, v] = True
                alone, _ = block(bound, data, [sets[i]], only)
                assert alone[0, v] == whole[i, v]
                assert (np.delete(alone[0], v) == -np.inf).all()

    def test_blocks_do_not_matter(self, name, kind):
        bound, data = supported(name, kind)
        again = load_score(name).bind(data)
        sets = list(itertools.combinations(range(5), 2))
        whole, _ = block(bound, data, sets)
        parts = [block(again, data, sets[a:b])[0] for a, b in ((6, 10), (0, 1), (1, 6))]
        assert (np.concatenate([parts[1], parts[2], parts[0]]) == whole).all()

    def test_a_floor_discards_only_what_is_not_above_it(self, name, kind):
        bound, data = supported(name, kind)
        rng = np.random.default_rng(7)
        below = np.full((0, 5), -np.inf)
        for size in range(4):
            sets = list(itertools.combinations(range(5), size))
            whole, wanted = block(bound, data, sets)
            smaller = list(itertools.combinations(range(5), size - 1)) if size else []
            best = (
                [below[[smaller.index(t) for t in itertools.combinations(s, size - 1)]] for s in sets] if size else []
            )
            floor = np.array([rows.max(axis=0) for rows in best]) if size else np.full((1, 5), -np.inf)
            below = np.maximum(whole, floor)
            for raised in (floor, floor + rng.choice([0.0, 0.1, 3.0], size=floor.shape)):
                found, _ = block(bound, data, sets, wanted, raised)
                discarded = wanted & (found == -np.inf)
                assert (whole[discarded] <= raised[discarded]).all()
                assert (found[wanted & ~discarded] == whole[wanted & ~discarded]).all()

    def test_rows_may_be_permuted(self, name, kind):
        bound, data = supported(name, kind)
        order = np.random.default_rng(8).permutation(data.n_rows)
        shuffled = load_score(name).bind(data.take(order))
        sets = list(itertools.combinations(range(5), 2))
        first, wanted = block(bound, data, sets)
        second, _ = block(shuffled, data, sets)
        np.testing.assert_allclose(first[wanted], second[wanted], rtol=1e-10)

    @pytest.mark.parametrize(("factor", "offset"), [(1e-6, 0.0), (1e6, -3e7), (0.1, 0.0), (1.0, 1e9), (2.0**20, 1e9)])
    def test_units_do_not_matter(self, name, kind, factor, offset):
        """Every column by itself in another unit and with another zero: all scores move by a constant, no more."""
        data = rounded(supported(name, kind)[1])
        bound = load_score(name).bind(data)
        sets = [list(itertools.combinations(range(5), size)) for size in (0, 1, 3)]
        before = [block(bound, data, some) for some in sets]
        for moved_column in (v for v, domain in enumerate(data.domains) if isinstance(domain, Real)):
            moved = shifted(data, moved_column, factor, offset)
            again = load_score(name).bind(moved)
            for some, (first, wanted) in zip(sets, before, strict=True):
                expected = first.copy()
                expected[:, moved_column] -= data.n_rows * math.log(factor)
                np.testing.assert_allclose(expected[wanted], block(again, moved, some)[0][wanted], rtol=1e-9)
            for child in range(5):
                parents = tuple(u for u in range(5) if u != child)[:3]
                assert shape_of(bound.fitted(child, parents)) == shape_of(again.fitted(child, parents))


def rounded(data):
    """Real columns in steps of 1/1024, so that adding 10^9 loses nothing."""
    columns, domains = list(data.columns), list(data.domains)
    for v, domain in enumerate(domains):
        if isinstance(domain, Real):
            columns[v] = np.round(columns[v] * 1024) / 1024
            domains[v] = Real(columns[v].min(), columns[v].max())
    return Dataset(data.names, tuple(domains), tuple(columns))


def shifted(data, v, factor, offset):
    """One real column times a factor, plus an offset."""
    columns, domains = list(data.columns), list(data.domains)
    columns[v] = columns[v] * factor + offset
    domains[v] = Real(columns[v].min(), columns[v].max())
    return Dataset(data.names, tuple(domains), tuple(columns))


def shape_of(fitted):
    """A tree's splits and the rows of its leaves or a table's cells; nothing for a line."""
    if not hasattr(fitted, "content"):
        return None
    nodes = [n if isinstance(n, int) else (n.parent, n.left, n.right) for n in getattr(fitted, "nodes", ())]
    return nodes, fitted.content.rows.tolist()


@pytest.mark.parametrize("name", SCORES)
def test_every_score_refuses_no_rows(name):
    data = example("real" if name == "bge" else "categorical", np.random.default_rng(9)).take(slice(0, 0))
    with pytest.raises(DataError, match="no rows"):
        optbn.score_table(data, name)


def test_unknown_scores_and_settings():
    with pytest.raises(UnknownNameError, match=r"no score 'bdue' \(did you mean 'bdeu'\?\)"):
        load_score("bdue")
    with pytest.raises(UnknownNameError, match="has no setting 'alpha'; it has: ess"):
        load_score("bdeu", alpha=1)
    for ess in (0, -1, float("nan"), float("inf"), "1", True):
        with pytest.raises(UnsupportedError, match="ess is"):
            load_score("bdeu", ess=ess)


def test_real_columns_that_have_no_score():
    rng = np.random.default_rng(10)
    x = rng.normal(size=30)
    constant = Dataset(("a", "b"), (Real(-9, 9), Real(0, 2)), (x, np.ones(30)))
    for name in ("bge", "bic"):
        with pytest.raises(DataError, match="'b' has one distinct value"):
            load_score(name).bind(constant)
    twice = Dataset(tuple("abc"), (Real(-9, 9), Real(-99, 99), Real(-9, 9)), (x, 2 * x + 1, rng.normal(size=30)))
    with pytest.raises(DataError, match=r"'a', 'b'.* linearly dependent"):
        optbn.score_table(twice, "bic")
    for scale, total in ((1e-170, "0"), (1e160, "inf")):
        extreme = Dataset(("a", "b"), (Real(-9, 9), Real(-9 * scale, 9 * scale)), (x, x[::-1] * scale))
        with pytest.raises(DataError, match=rf"'b' has squares .*sum to {total}\): rescale it"):
            load_score("bge", real_prior="paper").bind(extreme)
        small = Dataset(("a", "b"), (Real(-9, 9), Real(-9, 9)), (x, x[::-1].copy()))
        moved = optbn.score(small, "b", ["a"], "bic") - 30 * math.log(scale)
        assert optbn.score(extreme, "b", ["a"], "bic") == pytest.approx(moved, rel=1e-9)
    one_row = twice.take(slice(0, 1))
    with pytest.raises(DataError, match="one distinct value"):
        optbn.score_table(one_row, "bic")


def test_one_row_of_categorical_data():
    data = naive.random_categorical(np.random.default_rng(11), 3, 1)
    table = optbn.score_table(data, "bdeu", 2)
    assert all(len(table.rows(v)) >= 1 for v in range(3))


def test_bge_needs_enough_degrees_of_freedom():
    data = naive.random_real(np.random.default_rng(12), 4, 20)
    with pytest.raises(OptbnError, match=r"alpha_w is 5.0, expected more than"):
        load_score("bge", alpha_w=5.0).bind(data)


def test_fitted_structures():
    rng = np.random.default_rng(13)
    data = naive.random_categorical(rng, 4, 50)
    found = load_score("bdeu").bind(data).fitted(3, (0, 2))
    joint, _, _, _ = naive.counts(data, 3, (0, 2))
    assert found.counts.sum() == 50
    assert all(found.counts[(*j, k)] == count for (j, k), count in joint.items())
    real = naive.random_real(rng, 4, 50)
    line = load_score("bge").bind(real).fitted(1, (0, 3))
    residual = (
        real.columns[1] - line.intercept - np.column_stack([real.columns[0], real.columns[3]]) @ line.coefficients
    )
    assert residual.mean() == pytest.approx(0, abs=1e-9)
    assert line.variance == pytest.approx(residual.var())
