"""What a scikit-learn user may do with a classifier, and what happens with bad input."""

from __future__ import annotations

import json
import logging
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import check_estimator

from optbn.base.errors import DataError, LimitError, UnknownNameError, UnsupportedError
from optbn.classifiers import CLASSIFIERS, load_classifier
from optbn.classifiers.saved import from_json, read_classifier, save_classifier
from optbn.data.dataset import Dataset
from optbn.smoothing import SMOOTHERS
from tests.classifiers.examples import mixed

QUICK = [name for name in CLASSIFIERS if name != "optimal"]
OWN_PRIOR = ("optimal", "discriminative", "tree", "forest", "soft", "softeskdb", "blend")
"""Those that do not smooth the class frequencies by one row spread over the classes."""


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_scikit_learn_accepts_it(name: str) -> None:
    check_estimator(load_classifier(name))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_mixed_frames_and_json_and_pickles(name: str, tmp_path) -> None:
    X, y = mixed(0)
    fitted = load_classifier(name).fit(X, y)
    p = fitted.predict_proba(X)
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert fitted.score(X, y) > 0.7
    assert fitted.target_ == "income"
    assert list(fitted.feature_names_in_) == list(X.columns)
    save_classifier(fitted, tmp_path / "model.json")
    for again in (read_classifier(tmp_path / "model.json"), pickle.loads(pickle.dumps(fitted))):
        assert np.array_equal(again.predict_proba(X), p)
        assert list(again.predict(X)) == list(fitted.predict(X))
    assert np.array_equal(from_json(fitted.to_json()).predict_proba(X), p)


@pytest.mark.parametrize("smoother", SMOOTHERS)
def test_every_smoother(smoother: str) -> None:
    from optbn.smoothing.hdp import HDP

    X, y = mixed(1)
    chosen = HDP(sweeps=50) if smoother == "hdp" else smoother
    p = load_classifier("kdb", smoother=chosen).fit(X, y).predict_proba(X)
    assert np.isfinite(p).all() and p.sum(axis=1) == pytest.approx(1.0)


def test_polars_arrow_and_datasets_are_the_same_rows() -> None:
    import polars
    import pyarrow

    X, y = mixed(0)
    X["size"] = X["size"].astype(str)
    expected = load_classifier("skdb").fit(X, y).predict_proba(X)
    for other in (polars.from_pandas(X), pyarrow.Table.from_pandas(X)):
        assert load_classifier("skdb").fit(other, y).predict_proba(other) == pytest.approx(expected)
    complete = X.dropna()
    data = Dataset.from_frame(complete, {"hours": "real"})
    found = load_classifier("tan").fit(data, y[complete.index]).predict_proba(data)
    direct = load_classifier("tan").fit(complete, y[complete.index]).predict_proba(complete)
    assert found == pytest.approx(direct)


@pytest.mark.parametrize("name", ["nb", "aode"])
def test_partial_fit_is_fit(name: str) -> None:
    X, y = mixed(2)
    X = X[["job", "size"]]
    parts = load_classifier(name)
    for begin in range(0, 200, 40):
        rows = slice(begin, begin + 40)
        parts.partial_fit(X[rows], y[rows], classes=["no", "yes"])
    whole = load_classifier(name).fit(X, y)
    assert parts.predict_proba(X) == pytest.approx(whole.predict_proba(X), abs=1e-12)


@pytest.mark.parametrize("name", ["nb", "aode"])
def test_cuts_of_partial_fit_become_those_of_fit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from optbn.classifiers import streamed

    random = np.random.default_rng(0)
    y = random.integers(0, 3, 900)
    X = np.stack([random.normal(y, 1.0), random.normal(0, 1, 900), np.where(y == 2, np.nan, y)], axis=1)

    def added(size: int) -> object:
        made = load_classifier(name)
        for begin in range(0, 900, size):
            made.partial_fit(X[begin : begin + size], y[begin : begin + size], classes=[0, 1, 2])
        return made

    whole = load_classifier(name).fit(X, y)
    assert np.array_equal(added(100).predict_proba(X), whole.predict_proba(X))
    monkeypatch.setattr(streamed, "FEW", 100)
    nearly = added(10)
    assert nearly.counts_.classes.tolist() == whole.counts_.classes.tolist()
    assert nearly.score(X, y) > whole.score(X, y) - 0.03
    monkeypatch.setattr(streamed, "HELD", 300)
    kept = added(100)
    assert kept.held_ is None
    cuts = [column.cuts.tolist() for column in kept.members_[0].columns]
    again = load_classifier(name).fit(X[:400], y[:400])
    assert cuts == [column.cuts.tolist() for column in again.members_[0].columns]
    with pytest.raises(UnsupportedError, match="was read from a file"):
        from_json(kept.to_json()).partial_fit(X, y)


def test_columns_of_batches_join() -> None:
    from optbn.data.discretise.table import joined, table_of

    parts = [[1.0, None, 2.0], ["b", "a"], [None, "2"], [True, False]]
    values = [table_of(pd.DataFrame({"x": pd.Series(part)}))[0] for part in parts]
    whole = joined(joined(joined(values[0], values[1]), values[2]), values[3])
    texts = [None if code < 0 else whole.levels[code] for code in whole.data]
    assert texts == ["1", None, "2", "b", "a", None, "2", "true", "false"]
    assert list(whole.levels) == sorted(whole.levels)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_weights_that_are_no_counts_only_compare_rows(name: str) -> None:
    X, y = mixed(4, 120)
    w = np.random.default_rng(0).random(120) + 0.05
    plain = load_classifier(name).fit(X, y).predict_proba(X)
    assert np.array_equal(load_classifier(name).fit(X, y, np.full(120, 1 / 120)).predict_proba(X), plain)
    if name != "optimal":  # which takes whole numbers only
        relative = load_classifier(name).fit(X, y, w).predict_proba(X)
        assert load_classifier(name).fit(X, y, w * 2.0**-20).predict_proba(X) == pytest.approx(relative, abs=1e-9)
    two = np.full(120, 2.0)
    alike = load_classifier(name).fit(X, y, two, weight_scale="relative").predict_proba(X)
    assert np.array_equal(alike, plain)


def test_weights_that_are_counts() -> None:
    X, y = mixed(4, 120)
    counted = load_classifier("nb").fit(X, y, np.full(120, 0.25), weight_scale="counts")
    assert counted.counts_.classes.sum() == 30.0
    with pytest.raises(UnsupportedError, match="weight_scale='rows': expected one of auto, relative, counts"):
        load_classifier("nb").fit(X, y, np.ones(120), weight_scale="rows")


def test_boosting_over_naive_bayes_boosts() -> None:
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import AdaBoostClassifier

    X, y = load_breast_cancer(return_X_y=True)
    boosted = AdaBoostClassifier(load_classifier("nb"), n_estimators=10).fit(X[::2], y[::2])
    assert boosted.score(X[1::2], y[1::2]) > 0.9


def test_truth_values_and_0_and_1_are_the_same() -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    frame = pd.DataFrame({"flag": (random.random(200) < 0.2 + 0.6 * y), "x": random.normal(y)})
    by_truth = load_classifier("nb").fit(frame, y)
    numbers = frame.assign(flag=frame["flag"].astype(int))
    assert np.array_equal(by_truth.predict_proba(numbers), by_truth.predict_proba(frame))
    assert np.array_equal(
        by_truth.predict_proba(frame.assign(flag=frame["flag"].astype(float))), by_truth.predict_proba(frame)
    )
    by_number = load_classifier("nb").fit(numbers, y)
    assert np.array_equal(by_number.predict_proba(frame), by_number.predict_proba(numbers))


@pytest.mark.parametrize("name", ["nb", "aode"])
def test_levels_that_come_later_get_codes(name: str) -> None:
    first = pd.DataFrame({"a": ["u", "v", "u", "v"], "b": [1.0, 2, 3, 4]})
    later = pd.DataFrame({"a": ["w", None, "w", "u"], "b": [1.0, np.nan, 3, 4]})
    fitted = load_classifier(name, discretizer="equal_width").partial_fit(first, [0, 0, 1, 1], classes=[0, 1])
    fitted.partial_fit(later, [1, 0, 1, 1])
    assert fitted.members_[0].columns[0].labels == ("u", "v", "w", "missing")
    assert fitted.counts_.classes.tolist() == [3, 5]
    assert fitted.counts_.single(0).tolist() == [[1, 2], [1, 1], [0, 2], [1, 0]]
    with pytest.raises(DataError, match="y has the class 7, which is not among"):
        fitted.partial_fit(first, [0, 1, 7, 1])
    with pytest.raises(ValueError, match="first call of partial_fit needs classes="):
        load_classifier(name).partial_fit(first, [0, 0, 1, 1])


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_unseen_levels_are_missing_and_told_once(name: str, caplog: pytest.LogCaptureFixture) -> None:
    X, y = mixed(0)
    fitted = load_classifier(name).fit(X, y)
    with caplog.at_level(logging.WARNING, "optbn.classifiers"):
        odd = fitted.predict_proba(X.assign(job="astronaut", size="xl"))
        fitted.predict_proba(X.assign(job="astronaut"))
    told = [record.getMessage() for record in caplog.records if record.name == "optbn.classifiers"]
    assert len(told) == 1
    assert "column 'job' 200 (first 'astronaut', row 1); column 'size' 200 (first 'xl', row 1)" in told[0]
    assert odd == pytest.approx(fitted.predict_proba(X.assign(job=None, size=None)))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_one_class_only(name: str) -> None:
    X, _ = mixed(0, 30)
    fitted = load_classifier(name).fit(X, ["same"] * 30)
    assert (fitted.predict(X) == "same").all() and (fitted.predict_proba(X) == 1.0).all()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_class_with_one_row(name: str) -> None:
    X, y = mixed(0, 60)
    y = y.copy()
    y[17] = "rare"
    p = load_classifier(name).fit(X, y).predict_proba(X)
    assert p.shape == (60, 3) and p.sum(axis=1) == pytest.approx(1.0) and (p > 0).all()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_constant_attributes_leave_the_prior(name: str) -> None:
    X = pd.DataFrame({"a": [1.0] * 40, "b": ["x"] * 40})
    y = np.array([0, 1, 1, 1] * 10)
    p = load_classifier(name).fit(X, y).predict_proba(X)
    expected = (10 + 0.5) / 41 if name not in OWN_PRIOR else p[0, 0]
    assert p[:, 0] == pytest.approx(expected)
    assert p[0, 0] == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize("name", QUICK)
def test_missing_values_everywhere(name: str) -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    X[y == 0, 1] = np.nan  # that a value is missing tells the class
    X[:, 2] = np.nan
    fitted = load_classifier(name).fit(X, y)
    assert (fitted.predict(X) == y).all()
    assert load_classifier(name).fit(X[:, 1:], y).score(X[:, 1:], y) == 1.0


def test_texts_with_ten_thousand_levels() -> None:
    random = np.random.default_rng(0)
    n = 20_000
    y = random.integers(0, 2, n)
    X = pd.DataFrame({"name": [f"n{i}" for i in random.integers(0, 10_000, n)], "a": random.integers(0, 2, n) * y})
    for name in ("nb", "tan", "skdb"):
        p = load_classifier(name).fit(X, y).predict_proba(X[:50])
        assert p.sum(axis=1) == pytest.approx(1.0)
    X["other"] = X["name"] + "'"
    load_classifier("nb").fit(X, y)
    with pytest.raises(LimitError, match=r"'other' has 8,.* levels and 'name' has 8,.* levels; leave such columns out"):
        load_classifier("tan").fit(X, y)


def test_bad_input_is_named() -> None:
    X, y = mixed(0, 20)
    with pytest.raises(UnknownNameError, match="no classifier 'kbd'"):
        load_classifier("kbd")
    with pytest.raises(UnknownNameError, match="classifier 'kdb' has no setting 'm'; it has: discretizer, k"):
        load_classifier("kdb", m=3)
    with pytest.raises(UnknownNameError, match="no smoother 'hpd'"):
        load_classifier("nb", smoother="hpd").fit(X, y)
    for other in (3, object):
        with pytest.raises(UnsupportedError, match=r"smoother=.*: expected one of mle, laplace"):
            load_classifier("nb", smoother=other).fit(X, y)
        with pytest.raises(UnsupportedError, match=r"discretizer=.*: expected one of equal_width"):
            load_classifier("nb", discretizer=other).fit(X, y)
    with pytest.raises(UnsupportedError, match=r"the target 'income' has 1 missing value .first in row 3"):
        load_classifier("nb").fit(X, y.where(y.index != 2))
    with pytest.raises(ValueError, match="sample_weight, row 2: -1 is negative"):
        load_classifier("nb").fit(X, y, [1, -1, *[1] * 18])
    with pytest.raises(ValueError, match="must contain at least one non-zero"):
        load_classifier("nb").fit(X, y, np.zeros(20))
    for name in ("kdb", "skdb", "kdf", "eskdb"):
        for k in (-1, 1.5):
            with pytest.raises(UnsupportedError, match=f"k={k}: expected a whole number of parents"):
                load_classifier(name, k=k).fit(X, y)
    with pytest.raises(UnsupportedError, match="n_members is 0, expected a whole number, at least 1"):
        load_classifier("eskdb", n_members=0).fit(X, y)
    with pytest.raises(UnsupportedError, match="calibrate='maybe': expected True or False"):
        load_classifier("eskdb", calibrate="maybe").fit(X, y)
    with pytest.raises(UnsupportedError, match="weights='best': expected one of uniform, stacking"):
        load_classifier("eskdb", weights="best").fit(X, y)
    with pytest.raises(UnsupportedError, match="optimal='all': expected one of blanket, augmented"):
        load_classifier("optimal", optimal="all").fit(X, y)
    with pytest.raises(AttributeError, match="ESKDB is an average of 2 networks: see networks_"):
        _ = load_classifier("eskdb", n_members=2).fit(X, y).network_


def test_damaged_files_are_named(tmp_path) -> None:
    X, y = mixed(0, 40)
    path = tmp_path / "model.json"
    save_classifier(load_classifier("tan").fit(X, y), path)
    whole = path.read_bytes()
    record = json.loads(whole)
    for damage, expected in (
        (whole[:-9], "expected a classifier written by optbn"),
        (b"[]", "is not a classifier written by optbn"),
        (json.dumps({**record, "version": 9}).encode(), "version 9; this optbn reads version 1"),
        (json.dumps({k: v for k, v in record.items() if k != "members"}).encode(), "damaged, .*members"),
    ):
        path.write_bytes(damage)
        with pytest.raises(DataError, match=f"model.json: .*{expected}"):
            read_classifier(path)


def test_repr_helps() -> None:
    assert repr(load_classifier("skdb", k=3, smoother="hdp")) == "SKDB(k=3, smoother='hdp')"
