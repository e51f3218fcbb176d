"""Discretisers: their cuts against obvious versions, and what they share."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import check_estimator

from optbn.base.errors import DataError, UnknownNameError, UnsupportedError
from optbn.data.discretise import DISCRETIZERS, load_discretizer
from optbn.data.discretise.mdlp import MDLP, chosen_cuts
from optbn.data.discretise.random_cuts import RandomCuts
from optbn.data.discretise.random_mdlp import RandomMDLP
from tests.classifiers.examples import mixed
from tests.naive import classifiers as naive
from tests.naive.classifiers import mdlp_cuts


@pytest.mark.parametrize("name", DISCRETIZERS)
def test_scikit_learn_accepts_it(name: str) -> None:
    made = load_discretizer(name)
    if "random_state" in made.get_params():
        made.set_params(random_state=0)
    check_estimator(made)


@pytest.mark.twin
@pytest.mark.parametrize("encoding", ["rows", "values"])
def test_mdlp_is_the_recursion_of_the_paper(encoding: str) -> None:
    found = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        n = int(random.integers(2, 80))
        y = random.integers(0, 3, n)
        x = np.round(random.normal(y * random.integers(0, 4), 1.0), int(random.integers(0, 3)))
        cuts = MDLP(encoding).fit(x[:, None], y).columns_[0].cuts
        expected = mdlp_cuts(x.tolist(), y.tolist(), encoding == "rows")
        assert cuts == pytest.approx(expected)
        found += len(expected)
    assert found > 40


def test_paying_for_fewer_places_never_loses_the_first_cut() -> None:
    for seed in range(20):
        random = np.random.default_rng(seed)
        y = random.integers(0, 2, 60)
        x = random.integers(0, 5, 60) + 2 * y
        rows, values = (MDLP(e).fit(x[:, None], y).columns_[0].cuts for e in ("rows", "values"))
        assert set(rows) <= set(values)


def test_weights_are_repeated_rows() -> None:
    random = np.random.default_rng(0)
    x, y, w = random.normal(size=(60, 2)), random.integers(0, 3, 60), random.integers(0, 4, 60)
    x[:, 0] += y
    for name in DISCRETIZERS:
        made = [load_discretizer(name) for _ in range(2)]
        for each in made:
            if "random_state" in each.get_params():
                each.set_params(random_state=3)
        weighted = made[0].fit(x, y, sample_weight=w)
        repeated = made[1].fit(np.repeat(x, w, axis=0), np.repeat(y, w))
        for a, b in zip(weighted.columns_, repeated.columns_, strict=True):
            assert a.cuts == pytest.approx(b.cuts), name


def test_randomised_cuts_pass_the_test_and_differ_by_seed() -> None:
    random = np.random.default_rng(1)
    y = random.integers(0, 3, 400)
    x = random.normal(y * 1.5, 1.0)[:, None]
    drawn = [tuple(RandomMDLP(random_state=seed).fit(x, y).columns_[0].cuts) for seed in range(30)]
    assert len(set(drawn)) > 20
    assert all(drawn)
    assert drawn[4] == tuple(RandomMDLP(random_state=4).fit(x, y).columns_[0].cuts)


def test_blind_random_cuts_are_the_changes_of_value_nearest_to_places_drawn() -> None:
    for seed in range(40):
        x = np.round(np.random.default_rng(seed).normal(size=30), 1 if seed % 2 else 0)
        w = np.random.default_rng(seed).integers(1, 4, 30).astype(float)
        cuts = RandomCuts(6, informed=0.0).cut_points(x, None, 1, w, np.random.default_rng(seed))
        again = np.random.default_rng(seed)  # the same draws: the coin, how many, where
        again.random()
        drawn = again.random(int(again.integers(1, 6))) * w.sum()
        values = sorted(set(x))
        weight_upto = {v: w[x <= v].sum() for v in values[:-1]}
        nearest = {min(weight_upto, key=lambda v: abs(weight_upto[v] - place)) for place in drawn}
        assert {max(v for v in values if v <= cut) for cut in cuts} == nearest
    x, y = np.arange(300.0)[:, None], np.arange(300) // 100
    assert len(RandomCuts(6, informed=0.0).fit(np.ones((5, 1)), np.arange(5)).columns_[0].cuts) == 0
    many = [len(RandomCuts(6, informed=0.0, random_state=seed).fit(x, y).columns_[0].cuts) for seed in range(60)]
    assert set(many) == {1, 2, 3, 4, 5}


def test_informed_random_cuts_are_those_of_randomised_mdlp() -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 300)
    x = random.normal(y * 1.5, 1.0)
    for seed in range(5):
        cuts = RandomCuts(informed=1.0).cut_points(x, y, 3, np.ones(300), np.random.default_rng(seed))
        again = np.random.default_rng(seed)
        again.random()  # the coin
        assert np.array_equal(cuts, chosen_cuts(x, y, 3, np.ones(300), "values", again))
    with pytest.raises(UnsupportedError, match="informed=2"):
        RandomCuts(informed=2).fit(x[:, None], y)


@pytest.mark.twin
def test_where_nothing_passes_the_randomised_cut_is_drawn_by_its_gain() -> None:
    y = np.array([0, 1, 0, 0, 1, 1, 0, 1])
    x = np.arange(8.0)
    assert len(MDLP().fit(x[:, None], y).columns_[0].cuts) == 0
    gains = naive.gains(x.tolist(), y.tolist())
    random, draws = np.random.default_rng(0), 6000
    cuts = [chosen_cuts(x, y, 2, np.ones(8), "values", random) for _ in range(draws)]
    assert all(len(cut) == 1 for cut in cuts)
    for after, gain in gains.items():
        p = gain / sum(gains.values())
        seen = np.mean([cut[0] == after + 0.5 for cut in cuts])
        assert abs(seen - p) < 4.5 * np.sqrt(p * (1 - p) / draws) + 1e-12


def test_known_cuts() -> None:
    x = np.array([[1.0], [2], [3], [4], [10]])
    assert load_discretizer("equal_width", n_bins=3).fit(x).columns_[0].cuts == pytest.approx([4, 7])
    assert load_discretizer("equal_frequency", n_bins=2).fit(x).columns_[0].cuts == pytest.approx([2.5])
    assert load_discretizer("k_means", n_bins=2).fit(x).columns_[0].cuts == pytest.approx([6.25])
    assert load_discretizer("decision_tree", n_bins=2).fit(x, [0, 0, 1, 1, 1]).columns_[0].cuts == pytest.approx([2.5])


def test_a_value_on_a_cut_goes_left_and_missing_values_are_a_level() -> None:
    x = np.array([[0.0], [0], [2], [2], [np.nan]])
    made = load_discretizer("equal_width", n_bins=2).fit(x)
    assert made.transform([[1.0], [1.0000001], [np.nan], [-5]]).ravel().tolist() == [0, 1, 2, 0]
    assert made.columns_[0].labels == ("(-inf, 1]", "(1, inf)", "missing")
    complete = load_discretizer("equal_width", n_bins=2).fit(x[:4])
    assert complete.transform([[np.nan]]).ravel().tolist() == [-1]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_mixed_frames(library: str) -> None:
    import polars
    import pyarrow

    frame, y = mixed(0)
    other = {"pandas": frame, "polars": polars.from_pandas(frame), "pyarrow": pyarrow.Table.from_pandas(frame)}[library]
    assert labels(other, y) == labels(frame, y)
    assert MDLP().fit(frame, y).sizes[1] == 4  # three jobs and missing
    assert labels(frame, y)[0][1] == "missing"


def test_truth_values_are_the_same_in_every_spelling(tmp_path) -> None:
    frame = pd.DataFrame({"a": [True, False, True, True], "b": [True] * 4})
    frame.to_csv(tmp_path / "python.csv", index=False)
    written = pd.read_csv(tmp_path / "python.csv", dtype=str)
    assert written.a.tolist() == ["True", "False", "True", "True"]
    y = [1, 0, 1, 0]
    kinds = (frame, frame.astype(object), frame.to_numpy(), written, written.map(str.lower), written.map(str.upper))
    for fitted in kinds:
        made = load_discretizer("mdlp").fit(fitted, y)
        assert made.sizes[0] == 2
        for other in kinds:
            if isinstance(other, np.ndarray) == isinstance(fitted, np.ndarray):  # arrays name their columns otherwise
                np.testing.assert_array_equal(made.transform(other), made.transform(fitted))
    assert MDLP().fit(frame, y).sizes == MDLP().fit(frame.to_numpy(), y).sizes == (2, 2)  # the type has both
    texts = MDLP().fit(written[["a"]].replace("False", "maybe"), y)
    assert texts.transform(pd.DataFrame({"a": ["True", "true", "maybe"]})).tolist() == [[0], [-1], [1]]


def labels(frame: object, y: object) -> list[list[str]]:
    """The codes as texts: libraries differ in the order of their categories."""
    made = MDLP().fit(frame, y)
    codes = made.transform(frame)
    return [[c.labels[code] for c, code in zip(made.columns_, row, strict=True)] for row in codes]


def test_new_levels_and_new_columns() -> None:
    frame, y = mixed(0)
    made = MDLP().fit(frame, y)
    fresh = frame.assign(job="astronaut", size="xl")
    codes = made.transform(fresh)
    assert (codes[:, 1] == 3).all() and (codes[:, 2] == -1).all()
    with pytest.raises(DataError, match="column 'age', row 1: 'old' is not a number"):
        made.transform(frame.assign(age="old"))


def test_bad_settings_and_values() -> None:
    with pytest.raises(UnknownNameError, match=r"no discretizer 'mdl' .did you mean 'mdlp'"):
        load_discretizer("mdl")
    for name in ("equal_width", "equal_frequency", "k_means", "decision_tree"):
        assert len(load_discretizer(name, n_bins=1).fit([[1.0], [2], [3]], [0, 1, 1]).columns_[0].cuts) == 0
        with pytest.raises(UnsupportedError, match="n_bins=0: expected a whole number of intervals"):
            load_discretizer(name, n_bins=0).fit([[1.0], [2]], [0, 1])
    with pytest.raises(UnsupportedError, match="encoding='bits': expected one of rows, values"):
        MDLP("bits").fit([[1.0], [2]], [0, 1])
    with pytest.raises(DataError, match="column 'x', row 2: inf is not finite"):
        MDLP().fit(pd.DataFrame({"x": [1.0, np.inf]}), [0, 1])
    with pytest.raises(UnsupportedError, match="column 'when' is of type"):
        MDLP().fit(pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2021-01-01"])}), [0, 1])
