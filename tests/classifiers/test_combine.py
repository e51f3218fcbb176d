"""How an ensemble's members are weighted and calibrated, by rows that they left out."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest

from optbn.base.errors import DataError
from optbn.classifiers import ESKDB
from optbn.classifiers.combine import FURTHEST, PRIOR, STEP, best_power, raised, stacked
from optbn.classifiers.forest import count_trees
from optbn.classifiers.left_out import LeaveOneOut
from optbn.classifiers.saved import from_json, read_classifier, save_classifier
from optbn.data.discretise.transformer import checked_table
from tests.classifiers.examples import coded, mixed, texts
from tests.naive import classifiers as naive

SIZES = (2, 3, 2, 4)


def test_stacking_finds_the_best_mixture() -> None:
    random = np.random.default_rng(0)
    for gaps in (False, True):
        p, weights = random.random((200, 2)) * np.array([0.9, 0.6]), random.integers(1, 3, 200).astype(float)
        if gaps:  # rows on which one of the two says nothing, or both
            p[:40, 0], p[30:60, 1] = np.nan, np.nan
        w = stacked(p, weights)
        seen = ~np.isnan(p)

        def worth(a: float, p=p, seen=seen, weights=weights) -> float:
            v = np.array([a, 1 - a])
            some = seen.any(axis=1)
            mixture = (np.where(seen, p, 0) @ v)[some] / (seen @ v)[some]
            return float((weights[some] * np.log(mixture)).sum() + np.log(v).sum())

        assert w[0] == pytest.approx(max(np.linspace(0.001, 0.999, 999), key=worth), abs=2e-3)
        assert w.sum() == pytest.approx(1.0)


def test_a_few_rows_do_not_silence_a_member() -> None:
    assert stacked(np.array([[0.9, 0.1]]), np.ones(1)).min() > 0.2


def test_the_power_is_the_best_of_the_grid() -> None:
    for seed in range(12):
        random = np.random.default_rng(seed)
        n, C = int(random.integers(3, 60)), int(random.integers(2, 5))
        p = random.dirichlet(np.full(C, 0.7), n)
        p[0] = np.eye(C)[0]  # certain
        y = np.array([random.choice(C, p=raised(p[[r]], 2.0 ** random.normal())[0]) for r in range(n)])
        w = random.integers(1, 4, n).astype(float)

        def loss(step: int, p=p, y=y, w=w, C=C) -> float:
            q = p ** (2.0 ** (step * STEP))
            q /= q.sum(axis=1, keepdims=True)
            return float((w * ((q - np.eye(C)[y]) ** 2).sum(axis=1)).sum() + PRIOR * np.log(2.0 ** (step * STEP)) ** 2)

        best = min(range(-FURTHEST, FURTHEST + 1), key=loss)
        assert best_power(p, y, w) == pytest.approx(2.0 ** (best * STEP))
    assert best_power(np.ones((5, 1)), np.zeros(5, dtype=np.int64), np.ones(5)) == 1.0


@pytest.mark.twin
def test_left_out_predictions_are_those_of_refits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optbn.classifiers.left_out.CHUNK", 4)
    codes, y = coded(3, 25)
    parents = {2: (), 0: (2,), 3: (0, 2), 1: (3, 0)}
    batch = (codes, y, np.ones(25))
    watched = np.array([0, 3, 4, 9, 10, 17, 24])
    trees, classes = count_trees([batch], parents, SIZES, 3), np.bincount(y).astype(float)
    full = LeaveOneOut(parents, trees, classes, watched=watched)
    for part in (slice(0, 9), slice(9, 10), slice(10, 25)):
        full.add((codes[part], y[part], np.ones(len(y[part]))))
    for k, n in ((0, 4), (1, 3), (2, 4), (2, 0)):
        found = full.predictions((k, n))
        some = {i: p[:k] for i, p in list(parents.items())[:n]}
        for at, r in enumerate(watched):
            rest = np.arange(25) != r
            logs = naive.log_joint(codes[rest], y[rest], SIZES, 3, some, codes[r])
            assert found[at] == pytest.approx(naive.posterior(logs), abs=1e-12)


def hard(seed: int, n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Eight classes and attributes that are copies of three, with noise."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 8, n)
    bits = (y[:, None] >> np.arange(3)) & 1
    X = np.tile(bits, 3) + random.normal(0, 0.6, (n, 9))
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(9)]), y


@pytest.mark.parametrize("settings", [{}, {"weights": "uniform"}, {"sample_parents": True}])
def test_calibration_lowers_the_loss_on_new_rows(settings: dict) -> None:
    X, y = hard(0, 600)
    fresh, truth = hard(1, 2000)
    losses = {}
    for calibrate in (False, True):
        fitted = ESKDB(5, 2, calibrate=calibrate, **settings).fit(X, y)
        p = fitted.predict_proba(fresh)
        assert p.sum(axis=1) == pytest.approx(1.0) and fitted.weights_.sum() == pytest.approx(1.0)
        losses[calibrate] = float(((p - np.eye(8)[truth]) ** 2).sum(axis=1).mean())
        assert (fitted.power_ != 1.0) is calibrate
    assert losses[True] < losses[False] - 0.002


def test_a_file_gives_the_same_ensemble(tmp_path) -> None:
    X, y = hard(0, 300)
    y = np.array(list("abcdefgh"))[y]
    X.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    one = ESKDB(3, 2).fit(X, y)
    two = ESKDB(3, 2).fit_file(tmp_path / "rows.parquet", "y")
    assert one.power_ == two.power_ and one.weights_ == pytest.approx(two.weights_)
    assert one.predict_proba(X) == pytest.approx(two.predict_proba(X))


def test_more_rows_than_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optbn.classifiers.eskdb.ROWS", 30)
    codes, y = coded(0, 200)
    for settings in ({}, {"bootstrap": True}):
        fitted = ESKDB(3, 1, **settings).fit(texts(codes, SIZES), y)
        assert fitted.predict_proba(texts(codes, SIZES)).sum(axis=1) == pytest.approx(1.0)
        assert (fitted.power_ == 1.0) is bool(settings)


def test_weights_and_power_come_back_from_json_and_pickles(tmp_path) -> None:
    X, y = mixed(0)
    fitted = ESKDB(n_members=3, random_state=1).fit(X, y)
    assert fitted.power_ != 1.0 and len(set(fitted.weights_)) == 3  # neither is the default
    save_classifier(fitted, tmp_path / "model.json")
    record = json.loads((tmp_path / "model.json").read_text())
    for again in (read_classifier(tmp_path / "model.json"), pickle.loads(pickle.dumps(fitted))):
        assert again.power_ == fitted.power_ and np.array_equal(again.weights_, fitted.weights_)
        assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
    table = checked_table(fitted, X, reset=False)
    average = sum(w * m.posterior(table) for w, m in zip(fitted.weights_, fitted.members_, strict=True))
    assert fitted.predict_proba(X) == pytest.approx(raised(average, fitted.power_))
    del record["power"]  # as an earlier version wrote it
    assert from_json(json.dumps(record).encode()).power_ == 1.0
    for power in (0.0, -1.0):
        with pytest.raises(DataError, match="damaged, its power is not positive"):
            from_json(json.dumps({**record, "power": power}).encode())
