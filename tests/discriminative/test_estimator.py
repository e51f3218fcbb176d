"""The classifier: weights, files, unseen configurations, the choice of the penalty, errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from optbn.base.errors import LimitError, OptbnError, UnknownNameError, UnsupportedError
from optbn.classifiers.discriminative import DiscriminativeBN, plot_curves, rows, strength
from optbn.classifiers.discriminative.factors import Family, Layout
from optbn.classifiers.discriminative.parameters import KINDS
from optbn.network.structure import Structure
from tests.classifiers.examples import coded, mixed, texts
from tests.naive import discriminative as naive

SIZES = (2, 3, 2, 4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_of_two_is_two_rows(kind: str) -> None:
    codes, y = coded(0, 80)
    X = texts(codes, SIZES)
    weights = np.random.default_rng(0).integers(0, 4, 80)
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(80), weights))
    fitted = DiscriminativeBN("tan", kind).fit(X, y, weights)
    again = DiscriminativeBN("tan", kind).fit(X.iloc[order], y[order])
    assert fitted.l2_ == again.l2_ and fitted.l2_losses_ == again.l2_losses_
    assert np.array_equal(fitted.predict_proba(X), again.predict_proba(X))


def test_folds_share_out_the_weight() -> None:
    random = np.random.default_rng(0)
    y, w = random.integers(0, 3, 200), random.integers(1, 9, 200).astype(float)
    dealt = strength.folds(y, w, 5, np.random.SeedSequence(0))
    assert dealt.sum(axis=1) == pytest.approx(w) and (dealt >= 0).all() and (dealt == np.rint(dealt)).all()
    for c in range(3):
        assert np.ptp(dealt[y == c].sum(axis=0)) <= 2
    assert (np.sort(dealt, axis=1)[:, -1] <= np.ceil(w / 5)).all()
    fractions = strength.folds(y, w / 3, 5, np.random.SeedSequence(0))
    assert fractions.sum(axis=1) == pytest.approx(w / 3, abs=1e-5)


def test_noise_is_not_learned_and_signal_is() -> None:
    random = np.random.default_rng(0)
    noise = pd.DataFrame(random.integers(0, 4, (200, 6)).astype(str), columns=list("abcdef"))
    y = random.integers(0, 2, 200)
    free, chosen = (DiscriminativeBN("tan", "d", l2=l2).fit(noise, y) for l2 in (0, "cv"))
    assert chosen.l2_ >= 30 and np.abs(chosen.predict_proba(noise) - 0.5).max() < 0.3
    assert np.abs(free.predict_proba(noise) - 0.5).max() > 0.45
    signal = noise.assign(y=y)
    assert DiscriminativeBN("tan", "d").fit(signal, y).l2_ <= 1
    assert min(chosen.l2_losses_.values()) == chosen.l2_losses_[chosen.l2_]


def test_towards_the_generative_classifier_ends_there() -> None:
    X, y = mixed(0)
    from optbn.classifiers import NaiveBayes

    fitted = DiscriminativeBN("nb", "w", l2=np.inf, l2_towards="generative").fit(X, y)
    assert fitted.predict_proba(X) == pytest.approx(NaiveBayes().fit(X, y).predict_proba(X), abs=1e-12)
    strong = DiscriminativeBN("nb", "d", l2=1e7, l2_towards="generative").fit(X, y)
    assert strong.predict_proba(X) == pytest.approx(fitted.predict_proba(X), abs=0.02)


@pytest.mark.parametrize("kind", ["w", "d", "e"])
def test_unseen_configurations_back_off_to_what_was_trained(kind: str) -> None:
    codes, y = coded(4, 60)
    codes = codes[(codes[:, 0] == 0) | (codes[:, 1] < 2)]
    y = y[: len(codes)]
    codes = codes[~((codes[:, 0] == 1) & (codes[:, 1] == 1) & (codes[:, 3] == 2))]
    y = y[: len(codes)]
    dag = Structure.from_parents({"class": [], "x0": [], "x1": [], "x3": ["class", "x0", "x1"]})
    fitted = DiscriminativeBN(dag, kind, l2=0.5, smoother="m_estimate").fit(texts(codes, SIZES), y)
    batch = (codes.astype(np.int32), y.astype(np.int64), np.ones(len(y)))
    layout = Layout.of([batch], [Family(3, (0, 1))], SIZES, 3)
    generative = naive.frequencies(codes, y, [(3, (0, 1))], SIZES, 3)
    prior = fitted.members_[0].prior
    asked = [(1, 2, x) for x in range(4)] if kind == "e" else [(1, 2, 1), (1, 1, 2)]
    seen = {(int(r[0]), int(r[1])) for r in codes}
    assert (1, 2) not in seen and (1, 1) in seen
    row = pd.concat([texts(np.array([[a, b, 0, x]]), SIZES) for a, b, x in asked])
    found = fitted.predict_log_proba(row) - prior
    found -= found.mean(axis=1, keepdims=True)
    table, everywhere = layout.generative(
        layout.own_counts, layout.class_counts, fitted._chosen_smoother(), np.random.SeedSequence(0)
    )
    from optbn.classifiers.discriminative.parameters import parameters

    scores = layout.part(parameters(kind, 4, layout, table).scores(fitted.parameters_), 0)
    own = layout.part(table, 0)
    contexts = [tuple(map(int, c)) for c in layout.factors[0].prefixes[layout.factors[0].leaves]]
    nodes = {tuple(int(v) for v in p if v >= 0): u for u, p in enumerate(layout.factors[0].prefixes)}
    rows_of = [r for r in codes]
    for (a, b, x), values in zip(asked, found, strict=True):
        expected = np.empty((3, 4))
        node = nodes.get((a, b), nodes.get((a,)))
        for c in range(3):
            for v in range(4):
                trained = {}
                for k, context in enumerate(contexts):
                    t, g = scores[c, k, v], own[c, k, v]
                    trained[context, v] = {"w": t / g, "e": t - g, "d": t}[kind]
                logs = everywhere[0][c, node, v]
                known = naive.backed_off(rows_of, 3, (0, 1), (a, b), v, trained) is not None
                mean = naive.backed_off(rows_of, 3, (0, 1), (a, b), v, trained) if known else 1.0 * (kind == "w")
                expected[c, v] = {"w": mean * logs, "e": mean + logs, "d": mean}[kind]
        if kind == "e":
            expected -= np.log(np.exp(expected).sum(axis=1, keepdims=True))
        assert values == pytest.approx(expected[:, x] - expected[:, x].mean(), abs=1e-8)
    assert generative


def test_interactions_are_shrunk_where_they_do_not_help() -> None:
    """Deep noise is left out, and what only pairs tell is found, whatever the depth."""
    random = np.random.default_rng(0)
    codes, y = random.integers(0, 4, (240, 4)), random.integers(0, 2, 240)
    codes[:, 0] = np.where(random.random(240) < 0.8, 2 * y, codes[:, 0])
    X, Z = texts(codes[:120], (4, 4, 4, 4)), texts(codes[120:], (4, 4, 4, 4))

    def loss(**settings) -> float:
        made = DiscriminativeBN("kdb2", **settings).fit(X, y[:120])
        return float(-np.log(made.predict_proba(Z)[np.arange(120), y[120:]]).mean())

    assert loss(parameterisation="h", l2=0.3, decay=0.25) < loss(parameterisation="d", l2=0.3)
    assert loss(parameterisation="h") < loss(parameterisation="d") + 0.005
    parity = np.array([(a + b) % 2 for a, b, *_ in codes])
    fitted = DiscriminativeBN("kdb2", "h").fit(texts(codes, (4, 4, 4, 4)), parity)
    assert fitted.score(texts(codes, (4, 4, 4, 4)), parity) > 0.95 and fitted.decay_ in (1.0, 0.5, 0.25)
    fixed = DiscriminativeBN("kdb2", "h", l2=1.0).fit(X, y[:120])
    assert fixed.l2_ == 1.0 and set(fixed.l2_losses_) == {1.0}


def test_files_are_memory_and_blocks_are_the_whole(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = mixed(1, 300)
    expected = DiscriminativeBN("tan").fit(X, y)
    X.assign(income=y).to_csv(tmp_path / "rows.csv", index=False)
    schema = {"age": "real", "hours": "real"}
    from optbn.classifiers import source

    monkeypatch.setattr(source, "ROWS", 64)
    for held in (1 << 26, 200, 0):
        monkeypatch.setattr(rows, "HELD", held)
        found = DiscriminativeBN("tan", l2=expected.l2_).fit_file(tmp_path / "rows.csv", "income", schema=schema)
        assert found.predict_proba(X) == pytest.approx(expected.predict_proba(X), abs=1e-3)
        assert found.curve_.loss[0] == pytest.approx(expected.curve_.loss[0], rel=1e-9)
        chosen = DiscriminativeBN("tan").fit_file(tmp_path / "rows.csv", "income", schema=schema)
        assert chosen.l2_ == expected.l2_


def test_rows_in_a_file_come_back_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "HELD", 0)
    codes, y = coded(0, 90)
    layout = Layout.of([(codes, y, np.ones(90))], [Family(i, ()) for i in range(4)], SIZES, 3)
    parts = [slice(0, 40), slice(40, 90)]
    kept = rows.Rows.of([(codes[p], y[p].astype(np.int64), np.full(len(y[p]), 0.5)) for p in parts], layout.rows)
    for _ in range(2):
        blocks = list(kept)
        assert sum(w.sum() for _, _, w in blocks) == 45.0 == kept.total
        for (cells, classes, weights), p in zip(blocks, parts, strict=True):
            expected = rows.distinct(layout.rows(codes[p]), y[p].astype(np.int64), np.full(len(y[p]), 0.5))
            assert all(np.array_equal(a, b) for a, b in zip((cells, classes, weights), expected, strict=True))
    cells, classes, weights = kept.together(1000, np.random.SeedSequence(0))
    assert weights.sum() == 45.0 and len(np.unique(np.column_stack([cells, classes]), axis=0)) == len(classes)
    assert len(kept.together(20, np.random.SeedSequence(0))[1]) <= 20


@pytest.mark.parametrize("kind", ["w", "d"])
def test_stochastic_ascent_comes_near(kind: str) -> None:
    codes, y = coded(1, 500)
    X = texts(codes, SIZES)
    exact = DiscriminativeBN("tan", kind, l2=1.0).fit(X, y)
    near = DiscriminativeBN("tan", kind, l2=1.0, solver="sgd", max_iterations=30).fit(X, y)
    assert near.predict_proba(X) == pytest.approx(exact.predict_proba(X), abs=0.08)
    assert np.abs(near.predict_proba(X) - exact.predict_proba(X)).mean() < 0.02
    assert near.curve_.passes == list(range(1, 31)) and near.curve_.loss[-1] < near.curve_.loss[0]


def test_probabilities_make_a_network_and_scores_do_not() -> None:
    codes, y = coded(2, 120)
    X = texts(codes, SIZES)
    fitted = DiscriminativeBN("tan", "e", l2=1.0).fit(X, y)
    network = fitted.network_
    p = fitted.predict_proba(X)
    for r in range(5):
        evidence = {name: X[name].iloc[r] for name in X}
        from optbn.network.inference import query

        assert query(network, ["class"], evidence).probabilities == pytest.approx(p[r], abs=1e-9)
    for kind in ("w", "d"):
        with pytest.raises(AttributeError, match="scores of this classifier are no probabilities"):
            _ = DiscriminativeBN("tan", kind, l2=1.0).fit(X, y).network_


def test_curves_are_kept_and_drawn(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    codes, y = coded(2, 120)
    X = texts(codes, SIZES)
    curves = {kind: DiscriminativeBN("nb", kind, l2=0, init="zero").fit(X, y).curve_ for kind in KINDS}
    for curve in curves.values():
        assert curve.loss[0] == pytest.approx(120 * np.log(3))
        assert curve.at(0) == curve.loss[0] and curve.at(10**6) == curve.loss[-1]
    plot_curves(curves, tmp_path / "curves.svg")
    assert (tmp_path / "curves.svg").read_text().startswith("<?xml")


def test_every_smoother_even_one_with_zeros() -> None:
    from optbn.smoothing import SMOOTHERS

    X, y = mixed(0)
    for smoother in SMOOTHERS:
        p = DiscriminativeBN("tan", l2=1.0, smoother=smoother).fit(X, y).predict_proba(X)
        assert np.isfinite(p).all() and p.sum(axis=1) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"structure": "tna"}, UnsupportedError, "structure='tna': expected nb, tan, kdb1, kdb2, ... or a DAG"),
        ({"structure": 3}, OptbnError, "expected a network, a structure or a networkx graph, got int"),
        ({"structure": Structure.from_parents({"a": []})}, UnsupportedError, "has no variable 'income'"),
        (
            {"structure": Structure.from_parents({"income": [], "agee": ["income"]})},
            UnsupportedError,
            "'agee', but the data have no such column",
        ),
        ({"parameterisation": "x"}, UnknownNameError, "no parameterisation 'x'"),
        ({"level": 5}, UnsupportedError, "level=5: expected 1, 2, 3 or 4"),
        ({"parameterisation": "d", "level": 2}, UnsupportedError, "only w shares parameters"),
        ({"init": "generativ"}, UnknownNameError, "did you mean 'generative'"),
        ({"l2": -1.0}, UnsupportedError, "l2=-1.0: expected a number of at least 0, or 'cv'"),
        ({"l2": "auto"}, UnsupportedError, "l2='auto'"),
        ({"decay": 0}, UnsupportedError, "decay=0: expected a number above 0, at most 1, or 'cv'"),
        ({"solver": "adam"}, UnknownNameError, "no choice of solver 'adam'; there are: lbfgs, sgd"),
        ({"solver": "sgd", "parameterisation": "e"}, UnsupportedError, "solver='sgd' needs a free parameter"),
        ({"max_iterations": 0}, UnsupportedError, "max_iterations=0"),
        ({"corrections": 2.5}, UnsupportedError, "corrections=2.5: expected a whole number"),
        ({"tolerance": -1.0}, UnsupportedError, "tolerance=-1.0"),
    ],
)
def test_bad_settings_are_named(settings, error, said: str) -> None:
    X, y = mixed(0, 40)
    with pytest.raises(error) as caught:
        DiscriminativeBN(**settings).fit(X, y)
    assert said in str(caught.value)


def test_a_model_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from optbn.classifiers.discriminative import factors

    monkeypatch.setattr(factors, "LARGEST", 20)
    X, y = mixed(0, 40)
    with pytest.raises(LimitError, match=r"the network has .* parameters, more than 20"):
        DiscriminativeBN("tan").fit(X, y)
