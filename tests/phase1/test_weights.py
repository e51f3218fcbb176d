"""Rows with weights: a weight of 2 is two rows, a weight of 0 is none, and copies of half a row are the row."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import optbn
from optbn.base.errors import DataError, UnsupportedError
from optbn.cli import main
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.data.weights import weights_of
from optbn.scores import SCORES, load_score
from optbn.scores.families import Families
from optbn.scores.listed import score_families
from optbn.scores.parent_sets import ParentSets

COUNTING = ("bdeu", "bds", "k2", "bic", "aic", "fnml", "qnml", "ft", "ftp", "pcart", "pcartp")
REAL = ("bge", "bic", "aic")
MIXED = ("pcart", "pcartp", "ft", "pcart-avg")


def categorical(rng: np.random.Generator, rows: int = 60) -> Dataset:
    levels = (2, 3, 4, 2)
    columns = [rng.integers(0, r, rows).astype(np.uint8) for r in levels]
    columns[3] = ((columns[0] + (rng.random(rows) < 0.2)) % 2).astype(np.uint8)
    return Dataset(tuple("abcd"), tuple(Categorical(tuple(map(str, range(r)))) for r in levels), tuple(columns))


def real(rng: np.random.Generator, rows: int = 60) -> Dataset:
    x = rng.normal(size=(4, rows)).round(1)
    x[2] += x[0]
    return Dataset(tuple("wxyz"), (Real(-20, 20),) * 4, tuple(x))


def mixed(rng: np.random.Generator) -> Dataset:
    one, two = categorical(rng), real(rng)
    two.columns[3].flags.writeable = False
    absent = two.columns[3].copy()
    absent[rng.random(60) < 0.2] = np.nan
    domains = (*one.domains[:3], two.domains[0], Real(-20, 20, absent=True))
    return Dataset(("a", "b", "c", "w", "z"), domains, (*one.columns[:3], two.columns[0], absent))


def scores(data: Dataset, score: str, max_parents: int = 3) -> np.ndarray:
    """Of all families, unpruned."""
    families = Families.allowed(data.names, ParentSets.of(data.names, max_parents, None), 1 << 30)
    return score_families(data, families, score).scores


def table(data: Dataset, score: str) -> dict:
    """The kept scores by child and parents."""
    found = optbn.score_table(data, score, 3, jobs=1)
    return {
        (data.names[v], frozenset(data.names[u] for u in found.parents(row))): float(found.scores[row])
        for v in range(found.n)
        for row in range(found.offsets[v], found.offsets[v + 1])
    }


def repeated(data: Dataset, weights: np.ndarray) -> Dataset:
    return data.take(np.repeat(np.arange(data.n_rows), weights))


@pytest.mark.parametrize("score", COUNTING)
def test_a_weight_of_two_is_two_rows_to_the_bit(score):
    rng = np.random.default_rng(3)
    data = categorical(rng)
    weights = rng.integers(0, 4, data.n_rows)
    weighted, twice = data.weighted(weights), repeated(data, weights)
    assert weighted.n_rows == np.count_nonzero(weights) and weighted.total_weight == weights.sum()
    assert (scores(weighted, score) == scores(twice, score)).all()
    assert table(weighted, score) == table(twice, score)


@pytest.mark.parametrize(("make", "score"), [*((real, score) for score in REAL), *((mixed, score) for score in MIXED)])
def test_a_weight_of_two_is_two_rows_of_numbers(make, score):
    rng = np.random.default_rng(5)
    data = make(rng)
    weights = rng.integers(0, 4, data.n_rows)
    np.testing.assert_allclose(
        scores(data.weighted(weights), score), scores(repeated(data, weights), score), rtol=1e-11, atol=1e-9
    )


@pytest.mark.parametrize("make", [categorical, real, mixed])
def test_copies_of_a_share_of_a_row_are_the_row(make):
    """Five copies of weight 1/5, and of unequal shares that sum to one."""
    rng = np.random.default_rng(7)
    data = make(rng)
    five = repeated(data, np.full(data.n_rows, 5))
    kinds = {categorical: ("bdeu", "bic", "k2", "bds", "ft", "pcartp"), real: REAL, mixed: MIXED}[make]
    shares = rng.dirichlet(np.ones(5), data.n_rows).reshape(-1)
    for score in kinds:
        plain = scores(data, score)
        fifths = scores(five.weighted(np.full(five.n_rows, 0.2)), score)
        np.testing.assert_allclose(fifths, plain, rtol=1e-9, atol=1e-8)
        if make is mixed:  # by rank, rounded shares may move the ends of bins
            if score == "ft":
                continue
            score = load_score(score, cuts="range")
            plain = scores(data, score)
        np.testing.assert_allclose(scores(five.weighted(shares), score), plain, rtol=2e-5, atol=1e-3)


def test_bounds_hold_for_small_weights():
    """Tables leave out only what a subset matches, by the scores themselves, where rows count for less than one."""
    rng = np.random.default_rng(11)
    for score in ("bdeu", "k2", "bds", "bic", "pcart"):
        data = categorical(rng, 40).weighted(rng.random(40).round(2) * 0.3 + 0.01)
        families = Families.allowed(data.names, ParentSets.of(data.names, 3, None), 1 << 30)
        found = score_families(data, families, score)
        every = {
            (data.names[families.children[i]], frozenset(data.names[u] for u in found.parents(i))): value
            for i, value in enumerate(found.scores)
        }
        kept = table(data, score)
        for (child, parents), value in every.items():
            best = max(s for (c, p), s in every.items() if c == child and p < parents) if parents else -np.inf
            if value > best + 1e-9:
                assert kept[child, parents] == pytest.approx(value, abs=1e-9)  # on the grid
            elif value < best - 1e-9:
                assert (child, parents) not in kept


def test_local_structures_are_of_weighted_rows():
    rng = np.random.default_rng(13)
    data = mixed(rng)
    weights = rng.integers(0, 4, data.n_rows)
    for name in ("pcart", "ft"):
        method = load_score(name)
        one = method.bind(data.weighted(weights)).fitted(3, (0, 1, 4))
        two = method.bind(repeated(data, weights)).fitted(3, (0, 1, 4))
        assert one.score == pytest.approx(two.score)
        assert (one.content.rows == two.content.rows).all()
        np.testing.assert_allclose(one.content.mean, two.content.mean, atol=1e-12)


def test_weights_travel_with_rows():
    rng = np.random.default_rng(17)
    data = categorical(rng).weighted(np.arange(60) / 4)
    assert data.n_rows == 59 and data.weights.unit == 0.25
    assert data.take(slice(0, 3)).weights.values.tolist() == [0.25, 0.5, 0.75]
    assert data.take(np.array([5, 5])).select(["b"]).weights.values.tolist() == [1.5, 1.5]
    assert data.digest != categorical(np.random.default_rng(17)).take(slice(1, None)).digest
    again = pickle.loads(pickle.dumps(data))
    assert again == data and (again.weights.units == data.weights.units).all()
    assert data.weighted(np.full(59, 2.0)).total_weight == 2 * data.total_weight


def test_weights_are_kept_as_they_are_or_to_a_billionth():
    for values in ([3, 1, 2], [0.2] * 5, [0.25, 1.5], [1.37, 0.02], [1 / 7, 3 / 7]):
        weights, _ = weights_of(values, len(values))
        np.testing.assert_allclose(weights.values, values, rtol=1e-12)
    values = np.random.default_rng(0).dirichlet(np.ones(500)) * 500
    weights, rows = weights_of(values, 500)
    assert len(rows) == 500 and abs(weights.values - values).max() < 1e-6
    assert weights.total == pytest.approx(500, abs=1e-4)


def test_what_is_no_weight_is_refused_by_row():
    data = categorical(np.random.default_rng(1), 3)
    for values, message in (
        ([1, -1, 1], "row 2: the weight -1"),
        ([1, 1, np.nan], "row 3: the weight nan"),
        ([np.inf, 1, 1], "row 1: the weight inf"),
        ([0, 0, 0], "all weights are 0"),
        ([1, 1], "there are 3 rows"),
        ([1e308, 1e308, 1e308], "divide them"),
    ):
        with pytest.raises(DataError, match=message):
            data.weighted(values)
    with pytest.raises(DataError, match="column 'a'"):
        Dataset(("a",), (Categorical(("x", "y")),), (np.array([0, 1], np.uint8),)).weighted("a")
    with pytest.raises(UnsupportedError, match="HMD scores rows that count alike"):
        optbn.score_table(data.weighted([0.5, 1, 1]), "hmd", 1)
    assert {*COUNTING, *REAL, *MIXED, "hmd"} == set(SCORES)  # a new score says here what it does with weights
    for score in ("fnml", "qnml"):
        with pytest.raises(UnsupportedError, match="not whole"):
            optbn.score_table(data.weighted([0.5, 1, 1]), score, 1)


def test_fitting_and_learning_count_weights(tmp_path):
    rng = np.random.default_rng(19)
    data = mixed(rng)
    weights = rng.integers(0, 4, data.n_rows)
    one = optbn.learn(data.weighted(weights), max_parents=2, smoother="bdeu", jobs=1)
    two = optbn.learn(repeated(data, weights), max_parents=2, smoother="bdeu", jobs=1)
    assert one.solution.score == pytest.approx(two.solution.score, abs=1e-8)
    rows = data.take(np.arange(5))
    assert one.network.log_likelihood(rows) == pytest.approx(two.network.log_likelihood(rows), abs=1e-8)
    assert one.network.log_likelihood(data.weighted(weights)) == pytest.approx(
        two.network.log_likelihood(repeated(data, weights))
    )
    assert any(f"{np.count_nonzero(weights)} rows count" in note for note in one.report.notes)


def test_smoothers_of_whole_counts_are_refused_before_the_search():
    data = categorical(np.random.default_rng(1)).weighted(np.linspace(0.5, 1.5, 60))
    for smoother in ("hdp", "gradient"):
        with pytest.raises(UnsupportedError, match="counts whole rows"):
            optbn.learn(data, score="bdeu", smoother=smoother)
    learned = optbn.learn(data, score="bdeu", max_parents=1, jobs=1)
    assert any("estimated by hierarchical" in note for note in learned.report.notes)


def test_a_column_of_weights_is_no_variable(tmp_path, capsys):
    rng = np.random.default_rng(23)
    data = categorical(rng)
    frame = data.to_frame()
    frame["w"] = rng.integers(0, 3, data.n_rows)
    path, twice = tmp_path / "data.csv", tmp_path / "twice.csv"
    frame.to_csv(path, index=False)
    frame.loc[np.repeat(np.arange(len(frame)), frame["w"])].drop(columns="w").to_csv(twice, index=False)

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        return end.value.code or 0, *capsys.readouterr()

    answers = []
    for arguments in (["edges", str(path), "--weights", "w"], ["edges", str(twice)]):
        code, out, _ = run(*arguments, "--score", "bdeu", "--json", "-j", "1")
        assert code == 0
        answers.append(json.loads(out))
    assert answers[0] == answers[1]
    for verb, more in (("learn", ["-D", "1", "--json"]), ("score", []), ("bootstrap", ["-B", "2", "--json"])):
        assert run(verb, str(path), "--score", "bdeu", "--weights", "w", "-j", "1", *more)[0] == 0
    frame["w"] = -frame["w"]
    frame.to_csv(path, index=False)
    code, _, error = run("learn", str(path), "--weights", "w")
    assert code == 2 and "the weight -" in error and "column 'w'" in error
    code, _, error = run("learn", str(path), "--weights", "v")
    assert code == 2 and "'v'" in error
