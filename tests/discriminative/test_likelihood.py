"""The loss and its derivatives: against twins, finite differences, and scikit-learn's logistic regression."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

from optbn.classifiers.discriminative import DiscriminativeBN
from optbn.classifiers.discriminative.factors import Family, Layout
from optbn.classifiers.discriminative.kernels.likelihood import adaptive_pass, loss_and_gradient
from optbn.classifiers.discriminative.parameters import KINDS, parameters
from optbn.classifiers.discriminative.rows import Rows
from optbn.classifiers.discriminative.training import Objective, minimise
from optbn.network.structure import Structure
from optbn.smoothing import load_smoother
from tests.classifiers.examples import coded, texts
from tests.naive import discriminative as naive

SIZES = (2, 3, 2, 4)
NB = tuple(Family(i, ()) for i in range(4))
TREE = (Family(0, ()), Family(1, (0,)), Family(2, (1,)), Family(3, (1,)))
DEEP = (Family(0, ()), Family(1, (0,)), Family(2, (0, 1)), Family(3, (2, 1)))
CLASS_BELOW = (Family(0, (3,), of_class=True), Family(1, (0,)), Family(2, ()))
WAYS = [("d", 4), ("e", 4), ("h", 4), ("w", 4), ("w", 3), ("w", 2), ("w", 1)]


def problem(families, kind: str, level: int, seed: int = 0, smoother: str = "m_estimate", n: int = 60):
    codes, y = coded(seed, n)
    batch = (codes, y.astype(np.int64), np.random.default_rng(seed).integers(1, 3, n).astype(float))
    layout = Layout.of([batch], families, SIZES, 3)
    stream = np.random.SeedSequence(0)
    table, _ = layout.generative(layout.own_counts, layout.class_counts, load_smoother(smoother), stream)
    return batch, Rows.of([batch], layout.rows), parameters(kind, level, layout, table)


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(6))
def test_loss_and_gradient_twin(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, F, C, K = int(random.integers(1, 300)), int(random.integers(1, 5)), int(random.integers(1, 5)), 7
    cells = random.integers(0, K, (n, F)).astype(np.int32)
    y, w, scores = random.integers(0, C, n), random.random(n), random.normal(0, 3, (C, K))
    gradient = np.zeros((C, K))
    found = loss_and_gradient(cells, y, w, scores, 6, gradient)
    expected, slopes = naive.loss(np.column_stack([cells, np.full(n, 6)]), y, w, scores)
    assert found == pytest.approx(expected, rel=1e-12)
    assert gradient == pytest.approx(slopes, abs=1e-10)


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(4))
def test_adaptive_pass_twin(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, C, K = 20, 3, 9
    cells = np.stack([random.integers(0, 4, n), random.integers(4, 7, n)], axis=1).astype(np.int32)
    cells[3, 0] = 8  # unknown
    y, w = random.integers(0, C, n), random.integers(1, 3, n).astype(float)
    scale, target, start = (random.normal(size=(C, K)) for _ in range(3))
    scale[:, 8] = 0.0
    pull, order = random.random(K) * 0.1, random.permutation(n)
    ends = []
    whole = np.column_stack([cells, np.full(n, 7)])
    for run, part in ((adaptive_pass, (7,)), (naive.adaptive_pass, ())):
        values, squares = start.copy(), np.full((C, K), 1e-8)
        rows = cells if part else whole
        loss = run(rows, y, w, order, scale, target, pull, values, squares, *part, 8, 0.5)
        ends.append((loss, values, squares))
    assert ends[0][0] == pytest.approx(ends[1][0], rel=1e-10)
    assert ends[0][1] == pytest.approx(ends[1][1], rel=1e-9)
    assert (ends[0][1][:, 8] == start[:, 8]).all()


@pytest.mark.parametrize("families", [NB, TREE, DEEP, CLASS_BELOW])
@pytest.mark.parametrize(("kind", "level"), WAYS)
def test_gradients_are_finite_differences(families, kind: str, level: int) -> None:
    _, rows, chosen = problem(families, kind, level)
    objective = Objective(rows, chosen, 0.7, np.full(chosen.size, 0.3))
    x = chosen.neutral + np.random.default_rng(1).normal(0, 0.3, chosen.size)
    loss, slope = objective.loss(x)
    more, pull = objective.penalty(x)
    for i in range(chosen.size):
        step = np.zeros(chosen.size)
        step[i] = 1e-5
        ahead = [objective.loss(x + s)[0] + objective.penalty(x + s)[0] for s in (step, -step)]
        assert slope[i] + pull[i] == pytest.approx((ahead[0] - ahead[1]) / 2e-5, rel=1e-5, abs=1e-6)
    assert loss > 0 and more > 0


@pytest.mark.parametrize("families", [NB, TREE, DEEP, CLASS_BELOW])
def test_a_score_is_the_sum_down_the_tree_of_contexts(families) -> None:
    _, _, chosen = problem(families, "h", 4, seed=2)
    chosen = replace(chosen, decay=0.5)
    layout, x = chosen.layout, np.random.default_rng(0).normal(size=chosen.size)
    table, at, own = chosen.scores(x), 0, x.reshape(3, -1)
    for f, factor in enumerate(layout.factors):
        nodes = [tuple(v for v in path if v >= 0) for path in factor.prefixes.tolist()]
        cells = len(nodes) * factor.levels
        b = own[:, at : at + cells].reshape(3, len(nodes), factor.levels)
        at += cells
        everywhere = chosen.everywhere(x, f, np.zeros(0))
        for y, u, v in np.ndindex(3, len(nodes), factor.levels):
            above = [nodes.index(nodes[u][:d]) for d in range(len(nodes[u]) + 1)]
            assert everywhere[y, u, v] == pytest.approx(sum(0.5**d * b[y, w, v] for d, w in enumerate(above)))
        assert layout.part(table, f) == pytest.approx(everywhere[:, factor.leaves])
    assert table[:, layout.cells].tolist() == (own[:, at].tolist() if layout.prior else [0.0] * 3)
    assert (~chosen.penalised).sum() == 3 * layout.prior


@pytest.mark.parametrize("families", [NB, TREE])
@pytest.mark.parametrize("kind", KINDS)
def test_neutral_parameters_are_the_generative_classifier(families, kind: str) -> None:
    (codes, y, weights), rows, chosen = problem(families, kind, 4, seed=3)
    repeated = np.repeat(np.arange(len(y)), weights.astype(int))
    codes, y = codes[repeated], y[repeated]
    plain = [(f.attribute, f.parents) for f in families]
    score = naive.frequencies(codes, y, plain, SIZES, 3)
    for i, parents in plain:  # contexts that a class lacks back off to the class
        alone = naive.frequencies(codes, y, [(i, ())], SIZES, 3)
        for row in codes:
            context = tuple(int(row[p]) for p in parents)
            for c in range(3):
                for x in range(SIZES[i]):
                    score.setdefault((i, c, context, x), alone[i, c, (), x])
    prior = np.log((np.bincount(y) + 1 / 3) / (len(y) + 1))
    expected = naive.conditional_nll(codes, y, plain, prior, score)
    assert Objective(rows, chosen, 0.0, chosen.neutral).loss(chosen.neutral)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("families", [NB, TREE])
def test_all_parameterisations_reach_the_same_optimum(families) -> None:
    ends = []
    for kind in KINDS:
        for zero in (True, False):
            _, rows, chosen = problem(families, kind, 4, seed=5, n=400)
            start = np.zeros(chosen.size) if zero else chosen.neutral
            _, curve = minimise(Objective(rows, chosen, 0.0, start), start, 5000, 1e-13)
            ends.append(curve.loss[-1])
            assert curve.loss[-1] < curve.loss[0] and curve.passes[0] == 1
            assert len(curve.loss) == len(curve.passes) and sorted(curve.passes) == curve.passes
    assert ends == pytest.approx([ends[0]] * len(ends), rel=1e-6)


@pytest.mark.twin
@pytest.mark.parametrize(("level", "shared_by"), [(1, ("i",)), (2, ("i", "x")), (3, ("i", "x", "y"))])
def test_shared_exponents_reach_the_optimum_of_their_equations(level: int, shared_by: tuple[str, ...]) -> None:
    """One exponent for each attribute, value (equation 20), or value and class: found by a general optimiser."""
    from scipy.optimize import minimize

    batch, rows, chosen = problem(TREE, "w", level, seed=4, n=80)
    _, curve = minimise(Objective(rows, chosen, 0.0, chosen.neutral), chosen.neutral, 5000, 1e-14)
    codes, y = (np.repeat(part, batch[2].astype(int), axis=0) for part in batch[:2])
    families = [(f.attribute, f.parents) for f in TREE]
    logs = naive.frequencies(codes, y, families, SIZES, 3)
    places: dict[tuple[int, ...], int] = {}
    for i, c, _, x in sorted(logs):
        key = tuple({"i": i, "y": c, "x": x}[part] for part in shared_by)
        places.setdefault(key, len(places))
    theta = np.log((np.bincount(y, minlength=3) + 1 / 3) / (len(y) + 1))

    def loss(v: np.ndarray) -> float:
        own = v[-3:] if level > 1 else v[-1:]
        score = {
            (i, c, context, x): v[places[tuple({"i": i, "y": c, "x": x}[part] for part in shared_by)]] * log
            for (i, c, context, x), log in logs.items()
        }
        for i, parents in families:  # a context that the class has not seen: its own answer without parents
            for context in {tuple(int(row[p]) for p in parents) for row in codes}:
                for c in range(3):
                    for x in range(SIZES[i]):
                        key = places[tuple({"i": i, "y": c, "x": x}[part] for part in shared_by)]
                        alone = ((codes[y == c, i] == x).sum() + 1 / SIZES[i]) / ((y == c).sum() + 1)
                        score.setdefault((i, c, context, x), v[key] * np.log(alone))
        return naive.conditional_nll(codes, y, families, own * theta, score)

    start = np.ones(len(places) + (3 if level > 1 else 1))
    assert loss(start) == pytest.approx(curve.loss[0], rel=1e-9)
    found = minimize(loss, start, method="L-BFGS-B", options={"maxfun": 100_000, "ftol": 1e-12})
    assert curve.loss[-1] == pytest.approx(found.fun, rel=2e-5)


def test_fewer_exponents_fit_less() -> None:
    ends = []
    for level in (1, 2, 3, 4):
        _, rows, chosen = problem(TREE, "w", level, seed=2, n=200)
        _, curve = minimise(Objective(rows, chosen, 0.0, chosen.neutral), chosen.neutral, 3000, 1e-12)
        ends.append(curve.loss[-1])
    assert ends == sorted(ends, reverse=True) and ends[0] > ends[-1] + 1


@pytest.mark.parametrize("C", [2, 3])
@pytest.mark.parametrize("strength", [0.1, 5.0])
def test_naive_bayes_with_free_scores_is_logistic_regression(C: int, strength: float) -> None:
    codes, y = coded(1, 150, SIZES, C)
    X = texts(codes, SIZES)
    ours = DiscriminativeBN("nb", "d", l2=strength, l2_towards="zero", tolerance=0.0).fit(X, y).predict_proba(X)
    one_hot = OneHotEncoder(categories=[X[c].cat.categories.tolist() for c in X]).fit_transform(X)
    # of two classes it has one vector of weights, the difference of ours: the same penalty at half the strength
    theirs = LogisticRegression(C=(2 if C == 2 else 1) / strength, tol=1e-10, max_iter=10_000).fit(one_hot, y)
    assert ours == pytest.approx(theirs.predict_proba(one_hot), abs=2e-5)


def test_convexity_is_checked(caplog: pytest.LogCaptureFixture) -> None:
    codes, y = coded(0, 80)
    X = texts(codes, SIZES)
    married = Structure.from_parents({"class": [], "x0": ["class"], "x1": ["class", "x0"]})
    apart = Structure.from_parents({"class": [], "x0": [], "x1": ["class", "x0"]})
    for kind in KINDS:
        for structure in ("nb", "tan", "kdb1", married, apart, "kdb2"):
            fitted = DiscriminativeBN(structure, kind, l2=1.0).fit(X, y)
            assert fitted.convex_ == (kind != "e" or (structure is not apart and structure != "kdb2"))
    assert sum("not moral" in record.getMessage() for record in caplog.records) == 2


def test_a_class_below_its_parents() -> None:
    random = np.random.default_rng(0)
    a, b = random.integers(0, 2, 500), random.integers(0, 3, 500)
    y = ((a + b + (random.random(500) < 0.1)) % 2).astype(int)
    X = pd.DataFrame(
        {"a": pd.Categorical(a), "b": pd.Categorical(b), "idle": pd.Categorical(random.integers(0, 2, 500))}
    )
    dag = Structure.from_parents({"a": [], "b": [], "class": ["a", "b"], "idle": ["a"]})
    table = pd.crosstab([X.a, X.b], y, normalize="index").to_numpy()
    for kind in KINDS:
        p = DiscriminativeBN(dag, kind, l2=0, tolerance=1e-12).fit(X, y).predict_proba(X)
        assert p == pytest.approx(table[a * 3 + b], abs=1e-4)
