"""Soft networks from files larger than the sample in memory: the same optimum, by passes over blocks."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pandas as pd
import pytest

from optbn.classifiers import load_classifier, source
from optbn.classifiers.discriminative import rows
from optbn.classifiers.discriminative.rows import Rows
from optbn.classifiers.soft import training, whole
from optbn.classifiers.soft.ensemble import dealt, in_threads, prepared
from optbn.classifiers.soft.places import Places, from_words
from optbn.classifiers.soft.structure import Resolution, random_structure
from optbn.classifiers.soft.training import Strengths, Trainee
from optbn.data.discretise.table import table_of
from tests.classifiers.examples import mixed


def numbers(n: int, seed: int = 0, classes: int = 2) -> pd.DataFrame:
    """Three numbers, one often missing, a text, and a class that depends on a product."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 3)).round(3), columns=["a", "b", "c"])
    X.loc[random.random(n) < 0.2, "c"] = np.nan
    X["town"] = random.choice(["north", "south", "east"], n)
    z = np.outer(X["a"] * X["b"] + X["c"].fillna(1.0) + (X["town"] == "east"), np.linspace(-1.0, 1.0, classes))
    y = (z + random.gumbel(size=z.shape)).argmax(axis=1)
    return X.assign(y=[f"class {k}" for k in y])


@pytest.mark.parametrize("C", [1, 2, 5])
@pytest.mark.parametrize("held", [1 << 24, 0])
def test_passes_over_blocks_reach_what_all_rows_in_memory_reach(
    C: int, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "HELD", held)
    monkeypatch.setattr(whole, "CHUNK", 50)
    monkeypatch.setattr(whole, "FINE", 1e-9)
    monkeypatch.setattr(training, "FINE", 1e-9)
    frame = numbers(350, C, C)
    table, classes = table_of(frame.drop(columns="y")), np.unique(frame["y"], return_inverse=True)[1].astype(np.int64)
    weights = np.random.default_rng(C).integers(1, 3, 350).astype(float)
    places = Places.of(table, weights)

    def some(part: slice) -> Any:
        return [v.take(np.arange(350)[part]) for v in table], classes[part], weights[part]

    everything = whole.Whole(Rows.of((some(slice(k, k + 97)) for k in range(0, 350, 97)), places.words))
    all_rows, sample = prepared(places, some(slice(None)), C), prepared(places, some(slice(100, 200)), C)
    strengths = Strengths(3.0, 3.0, {})
    run = in_threads(2)
    trainees = []
    for m, inside in enumerate(dealt(sample, 1, np.random.SeedSequence(0))):
        random = np.random.default_rng(m)
        args = sample.places, sample.classes, inside, C, 2, Resolution(), random
        trainees.append(Trainee(sample, random_structure(places.scales, *args), inside))
    for without in (True, False):
        everything.train(trainees, strengths, run, without)
        for one in trainees:
            left = np.zeros(len(all_rows.classes))
            if without:
                left = _weights_of(one, all_rows)
            direct = Trainee(all_rows, one.structure, all_rows.weights - left)
            direct.train(strengths.strength, strengths.ratio, training.FINE)
            found, expected = (t.network().at(all_rows.places) for t in (one, direct))
            assert found == pytest.approx(expected, abs=5e-4)


def _weights_of(one: Trainee, everything: Any) -> np.ndarray:
    """How much of each of all rows the trainee leaves out; they are some of them."""
    left = np.zeros(len(everything.classes))
    keys = {
        (p.tobytes(), int(c)): r for r, (p, c) in enumerate(zip(everything.places.T, everything.classes, strict=True))
    }
    for row, weight in zip(one.outside, one.left_weights, strict=True):
        key = (one.data.places[:, row].copy().tobytes(), int(one.data.classes[row]))
        left[keys[key]] += weight
    return left


def test_places_as_words_come_back() -> None:
    table = table_of(numbers(200).drop(columns="y"))
    places = Places.of(table, np.ones(200))
    assert from_words(places.words(table)) == pytest.approx(places(table), abs=1e-7, nan_ok=True)


@pytest.mark.parametrize("name", ["soft", "softeskdb", "blend"])
def test_a_file_teaches_more_than_its_sample(name: str, tmp_path, monkeypatch, caplog) -> None:
    train, test = numbers(4000, 1), numbers(3000, 2)
    train.loc[0, "a"] = np.nan  # probably not in the sample
    train.to_parquet(tmp_path / "train.parquet")
    small = {"soft": {}, "softeskdb": {"n_members": 5}, "blend": {"n_members": 5, "n_trees": 5, "n_counted": 5}}[name]

    def nats(p: np.ndarray) -> float:
        return float(-np.log(p[np.arange(len(test)), (test["y"] == "class 1").astype(int)]).mean())

    found = []
    for block in (1 << 16, 333):
        monkeypatch.setattr(source, "ROWS", block)
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            fitted = load_classifier(name, **small).fit_file(tmp_path / "train.parquet", "y", sample_size=300)
        assert (len(caplog.records) == 1) == (name == "blend")
        found.append(fitted.predict_proba(test.drop(columns="y")))
    assert found[0] == pytest.approx(found[1], abs=2e-3)  # sums in another order end some descents an iteration apart
    sample = train.sample(300, random_state=0)
    direct = load_classifier(name, **small).fit(sample.drop(columns="y"), sample["y"])
    everything = load_classifier(name, **small).fit(train.drop(columns="y"), train["y"])
    losses = [nats(m.predict_proba(test.drop(columns="y"))) for m in (direct, everything)]
    assert nats(found[0]) < losses[0] - 0.5 * (losses[0] - losses[1])


def test_weights_in_a_file_count(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = mixed(0, 400)
    X = X.drop(columns="size").assign(age=X.age.round(3), hours=X.hours + 0.5, income=y)
    X.assign(people=np.tile([2.0, 1.0, 0.0, 0.5], 100)).to_parquet(tmp_path / "train.parquet")
    totals = []
    train = whole.Whole.train
    monkeypatch.setattr(
        whole.Whole, "train", lambda self, *how, **more: totals.append(self.rows.total) or train(self, *how, **more)
    )
    fitted = load_classifier("soft").fit_file(tmp_path / "train.parquet", "income", weights="people", sample_size=150)
    p = fitted.predict_proba(X.drop(columns="income"))
    assert np.abs(p.sum(axis=1) - 1.0).max() < 1e-12 and totals == [350.0, 350.0]
