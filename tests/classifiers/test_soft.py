"""Soft networks: kernels against definitions, the optimum against a general optimiser, and what a user meets."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numba import config
from scipy.optimize import minimize as general

from optbn.base.errors import DataError, UnsupportedError
from optbn.classifiers import load_classifier
from optbn.classifiers.saved import from_json
from optbn.classifiers.soft import Blend, SoftESKDB, SoftKDB, ensemble, training
from optbn.classifiers.soft.kernels.cutting import cut
from optbn.classifiers.soft.kernels.descent import begun, minimise, repenalised
from optbn.classifiers.soft.kernels.scores import add_up, loss_and_slopes, zero_scores
from optbn.classifiers.soft.places import MOST_IN_PAIRS, POINTS, Places, Scale
from optbn.classifiers.soft.structure import Structure
from optbn.classifiers.soft.training import Data, Trainee
from optbn.data.discretise.table import table_of
from tests.classifiers.examples import mixed
from tests.naive import soft as naive


def example(seed: int, n: int, C: int) -> tuple[Structure, np.ndarray, np.ndarray, np.ndarray]:
    """Two numbers, one with a constant knot, a text of three cells and missing ones, pairs of all kinds."""
    random = np.random.default_rng(seed)
    places = np.stack(
        [
            random.random(n),
            np.where(random.random(n) < 0.2, np.nan, random.random(n)),
            random.integers(0, 4, n).astype(float),
            random.integers(0, 3, n).astype(float),
        ]
    )
    number = Scale(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.zeros(0, np.int32), np.zeros(1, np.int32))
    text = Scale(np.zeros(0), np.zeros(0), np.array([0, 1, 2], np.int32), np.array([0, 1, 1, 2], np.int32))
    other = Scale(np.zeros(0), np.zeros(0), np.array([0, 1], np.int32), np.array([0, 1, 2], np.int32))
    knots = (np.array([0.1, 0.35, 0.8]), np.array([0.2, 0.9]), np.zeros(0), np.zeros(0))
    structure = Structure((number, number, text, other), knots, {1: (0,), 2: (1, 0), 3: (2, 0), 0: ()})
    return structure, places, random.integers(0, C, n), random.random(n) + 0.1


def named(structure: Structure, plane: np.ndarray) -> dict[Any, float]:
    """The scores of one class by the names of the naive twin, in the order in which they stand."""
    found: dict[Any, float] = {(): plane[0]}
    at = 1
    cells: list[list[Any]] = []
    for i, knots in enumerate(structure.knots):
        own: list[Any] = [*range(len(knots)), "missing"] if len(knots) else list(range(structure.mains[i]))
        for cell in own:
            found[i, cell] = plane[at]
            at += 1
        cells.append(own)
    for i, parents in structure.parents.items():
        for p in parents:
            coarse = [
                own if len(structure.knots[j]) else list(range(structure.in_pairs[j])) for j, own in enumerate(cells)
            ]
            for c, d in itertools.product(coarse[i], coarse[p]):
                found[i, c, p, d] = plane[at]
                at += 1
    return found


def slow_scores(structure: Structure, places: np.ndarray, planes: np.ndarray) -> np.ndarray:
    """float64[n, planes] by the twin; texts in pairs are pooled."""
    out = np.zeros((places.shape[1], len(planes)))
    for k, plane in enumerate(planes):
        s = named(structure, plane)
        pooled = dict(s)
        for key, value in s.items():  # the twin asks for the cells of texts as they are
            if len(key) == 4:
                i, c, p, d = key
                own = [c] if len(structure.knots[i]) else np.flatnonzero(structure.scales[i].coarse == c).tolist()
                others = [d] if len(structure.knots[p]) else np.flatnonzero(structure.scales[p].coarse == d).tolist()
                for a, b in itertools.product(own, others):
                    pooled[i, a, p, b] = value
        for r, row in enumerate(places.T):
            out[r, k] = naive.score(row, structure.knots, structure.parents, pooled)
    return out


@pytest.mark.twin
def test_codes_are_the_numbers_of_cuts_below():
    rng = np.random.default_rng(0)
    places = rng.integers(0, 6, (4, 30)) / 2.0
    places[:, ::7] = np.nan
    cuts = [np.unique(rng.integers(0, 6, size)) / 2.0 for size in (0, 3, 5, 4)]
    missing, codes = np.array([7, -1, 0, -2], dtype=np.int32), np.full((30, 4), 99, dtype=np.int32)
    cut(places, np.concatenate(cuts), np.cumsum([0, *map(len, cuts)]), missing, codes)
    for i, r in np.ndindex(4, 30):
        known = sum(c < places[i, r] for c in cuts[i])
        wanted = 99 if missing[i] == -2 else missing[i] if np.isnan(places[i, r]) else known
        assert codes[r, i] == wanted


@pytest.mark.twin
@pytest.mark.parametrize(("C", "n"), [(2, 40), (3, 40), (5, 300)])
def test_scores_loss_and_derivatives(C: int, n: int) -> None:
    structure, places, classes, weights = example(C, n, C)
    scores = zero_scores(C, structure.cells)
    random = np.random.default_rng(C)
    planes = random.normal(size=(C if C > 2 else 1, structure.cells))
    lanes = scores.shape[2]
    for k, plane in enumerate(planes):
        scores[k // lanes, :, k % lanes] = plane
    rows, design = structure.rows(places), structure.design
    z = np.zeros((1 if C == 2 else 8 * len(scores), n))
    add_up(rows, design, 0, n, scores, z)
    expected = slow_scores(structure, places, planes)
    assert pytest.approx(expected, abs=1e-5) == z[: len(planes)].T  # single precision
    found, gradient = np.zeros_like(scores), np.zeros_like(scores)
    loss = loss_and_slopes(rows, design, C, classes, weights, scores, False, gradient)
    assert loss == pytest.approx(naive.loss(expected, classes, weights), rel=1e-6)
    loss_and_slopes(rows, design, C, classes, weights, scores, True, found)
    for k, j in [
        (0, 0),
        *((int(random.integers(len(planes))), int(random.integers(structure.cells))) for _ in range(12)),
    ]:
        ends, slopes = [], []
        for step in (-1e-3, 1e-3):
            moved, slope, shifted = scores.copy(), np.zeros_like(scores), planes.copy()
            moved[k // lanes, j, k % lanes] += step
            shifted[k, j] += step
            ends.append(naive.loss(slow_scores(structure, places, shifted), classes, weights))
            loss_and_slopes(rows, design, C, classes, weights, moved, False, slope)
            slopes.append(slope[k // lanes, j, k % lanes])
        assert gradient[k // lanes, j, k % lanes] == pytest.approx((ends[1] - ends[0]) / 2e-3, abs=2e-4)
        assert found[k // lanes, j, k % lanes] == pytest.approx((slopes[1] - slopes[0]) / 2e-3, abs=1e-2)
    if len(planes) > 1:
        assert (gradient.reshape(-1, structure.cells, lanes)[-1, :, C - lanes * (len(gradient) - 1) :] == 0).all()


@pytest.mark.twin
@pytest.mark.parametrize("C", [2] if config.DISABLE_JIT else [2, 3, 6])
def test_the_descent_reaches_the_optimum_and_that_of_another_penalty_and_of_more_rows(C: int) -> None:
    structure, places, classes, weights = example(C, 150, C)
    rows, design = structure.rows(places), structure.design
    penalty, x = np.linspace(0.3, 3.0, structure.cells), zero_scores(C, structure.cells)
    diagonal = np.empty_like(x)
    loss_and_slopes(rows, design, C, classes, weights, x, True, diagonal)
    descent, used = begun(x, diagonal, penalty), []
    for factor, strength in ((1.0, penalty), (1.0, penalty[::-1] * 0.7), (1.5, penalty * 0.5)):
        weights = weights * factor

        def objective(flat: np.ndarray, w: np.ndarray = weights, p: np.ndarray = strength) -> tuple[float, np.ndarray]:
            at, gradient = flat.reshape(x.shape), np.zeros_like(x)
            found = loss_and_slopes(rows, design, C, classes, w, at, False, gradient)
            return found + 0.5 * float((p[:, None] * at * at).sum()), (gradient + p[:, None] * at).ravel()

        repenalised(descent, strength, factor)
        if factor == 1.0 and used:  # no evaluation was needed
            value, gradient = objective(x.ravel())
            assert descent.at[0] == pytest.approx(value) and descent.g.ravel() == pytest.approx(gradient, abs=1e-5)
        value, evaluations = minimise(rows, design, C, classes, weights, descent, 500, 1e-10)
        best = general(
            objective, np.zeros(x.size), jac=True, method="L-BFGS-B", options={"ftol": 1e-14, "maxiter": 5000}
        )
        assert value == pytest.approx(best.fun, abs=1e-6 if C == 2 else 1e-4)
        assert objective(x.ravel())[0] == pytest.approx(value)
        used.append(evaluations)
    assert max(used) < 200


@pytest.mark.parametrize("C", [1, 2, 5])
def test_trainees_go_back_to_where_they_were(C: int) -> None:
    structure, places, classes, weights = example(C, 150, C)
    one = Trainee(Data(places, classes, weights, C), structure, weights)
    one.train(3.0, 1.0, 1e-3)
    state, scores = one.state(), one.scores.copy()
    one.train(0.1, 10.0, 1e-3)
    assert C == 1 or not np.array_equal(one.scores, scores)
    one.back_to(state)
    assert np.array_equal(one.scores, scores)
    one.train(3.0, 1.0, 1e-3)
    assert one.scores == pytest.approx(scores, abs=0.05)


@pytest.mark.parametrize(
    ("weak", "ratio", "expected"),
    [(0.0, 0.0, (3.0, 1.0)), (4.0, 0.0, (0.03, 1.0)), (-2.0, 2.0, (30.0, 10.0)), (2.0, 1.0, (0.3, 3.0))],
)
def test_strengths_are_found_by_climbing(
    weak: float, ratio: float, expected: tuple[float, float], monkeypatch: Any
) -> None:
    """On a bowl, with its lowest point this many steps from where the search begins."""
    at: dict[str, tuple[float, float]] = {}

    def train(self: Any, strength: float, pairs: float, tolerance: float) -> None:
        at["place"] = training.LAMBDAS.index(strength), training.RATIOS.index(pairs)

    def loss_of(*_: Any) -> float:
        i, j = at["place"]
        return float((i - training.START[0] - weak) ** 2 + 1.5 * (j - ratio) ** 2)

    monkeypatch.setattr(Trainee, "train", train)
    monkeypatch.setattr(training, "together", lambda *_: (np.zeros((0, 2)), np.zeros(0, dtype=int)))
    monkeypatch.setattr(training, "loss_of", loss_of)
    structure, places, classes, weights = example(2, 150, 2)
    data = Data(places, classes, weights, 2)
    found = training.choose(data, [Trainee(data, structure, weights)], lambda work, items: [work(x) for x in items])
    assert (found.strength, found.ratio) == expected and found.losses[expected] == min(found.losses.values())


def test_places() -> None:
    random = np.random.default_rng(0)
    n = 3000
    frame = pd.DataFrame(
        {
            "many": random.lognormal(0, 3, n),
            "few": random.integers(0, 3, n).astype(float),
            "city": [f"c{int(v)}" for v in random.geometric(0.03, n)],
            "flag": random.random(n) < 0.5,
        }
    )
    frame.loc[::5, "many"] = np.nan
    table = table_of(frame)
    places = Places.of(table, np.ones(n))
    found = places(table)
    many = frame["many"].to_numpy()
    known = ~np.isnan(many)
    assert np.isnan(found[0, ~known]).all() and len(places.scales[0].points) <= POINTS
    ranks = pd.Series(many[known]).rank(method="average").to_numpy() / known.sum()
    assert np.abs(found[0, known] - ranks).max() < 2.0 / POINTS
    assert sorted(set(found[1])) == pytest.approx(places.scales[1].ranks.tolist())
    coarse = places.scales[2].coarse
    assert coarse.max() == MOST_IN_PAIRS + 1 and found[2].max() < len(coarse) - 1
    fresh = table_of(frame.assign(city="elsewhere", flag=None))
    assert (places(fresh)[2] == len(coarse) - 1).all() and (places(fresh)[3] == 2).all()


@pytest.mark.parametrize(
    "make", [SoftKDB, lambda **s: SoftESKDB(6, **s), lambda **s: Blend(5, n_trees=10, n_counted=5, **s)]
)
def test_weights_are_repeated_rows_and_order_and_threads_do_not_matter(make: Any) -> None:
    X, y = mixed(3, 120)
    w = np.random.default_rng(0).integers(0, 3, 120)
    one = make().fit(X, y, w)
    again = X.loc[np.repeat(np.arange(120), w)].sample(frac=1.0, random_state=1)
    two = make(n_jobs=2).fit(again, y[again.index])
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    assert one.power_ == two.power_ and one.strengths_.losses == two.strengths_.losses


def test_what_is_chosen_by_some_of_the_rows_does_not_depend_on_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ensemble, "STUDIED", 50)
    X, y = mixed(3, 120)
    w = np.random.default_rng(0).integers(0, 3, 120)
    one = SoftESKDB(6).fit(X, y, w)
    again = X.loc[np.repeat(np.arange(120), w)].sample(frac=1.0, random_state=1)
    two = SoftESKDB(6, n_jobs=2).fit(again, y[again.index])
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    assert one.strengths_.losses == two.strengths_.losses


def test_probabilities_sum_to_one_and_are_never_nan() -> None:
    X, y = mixed(0, 80)
    X["gone"], X["same"] = np.nan, 1.0
    X["id"] = [f"row {i}" for i in range(80)]
    y = y.astype(object)
    y[7] = "once"
    for name in ("soft", "softeskdb", "blend"):
        p = load_classifier(name).fit(X, y).predict_proba(X.assign(age=1e300, gone=3.0, id="new"))
        assert np.isfinite(p).all() and np.abs(p.sum(axis=1) - 1.0).max() < 1e-12


def test_smooth_boundaries_are_learned_better_than_by_bins() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(1200, 4))
    y = (random.random(1200) < 1 / (1 + np.exp(-2 * X @ [1, 1, -1, 0.5]))).astype(int)
    train, test = slice(0, 400), slice(400, None)

    def nats(name: str) -> float:
        p = load_classifier(name).fit(X[train], y[train]).predict_proba(X[test])
        return float(-np.log(p[np.arange(800), y[test]]).mean())

    assert nats("softeskdb") < min(nats("eskdb"), nats("forest")) - 0.02


def test_damaged_mixtures_are_named() -> None:
    X, y = mixed(0, 60)
    record = json.loads(Blend(2, n_trees=2, n_counted=2).fit(X, y).to_json())
    member = record["members"][0]

    def refused(**changes: Any) -> str:
        broken = {**record, "members": [{**member, **changes}]}
        with pytest.raises(DataError, match="damaged, a mixture") as error:
            from_json(json.dumps(broken).encode())
        return str(error.value)

    network, tree = member["networks"][0], member["trees"][0]
    refused(shares=[0.5])
    refused(scales=member["scales"][:1])
    refused(networks=[{**network, "scores": [network["scores"][0][:-1]]}, *member["networks"][1:]])
    refused(networks=[{**network, "parents": [[0, [99]]]}, *member["networks"][1:]])
    refused(networks=[{**network, "knots": [k[::-1] for k in network["knots"]]}, *member["networks"][1:]])
    refused(trees=[{**tree, "branch": [9 for _ in tree["branch"]]}, *member["trees"][1:]])
    refused(trees=[{**tree, "attribute": [99 if a >= 0 else a for a in tree["attribute"]]}, *member["trees"][1:]])


def test_settings_are_checked() -> None:
    X, y = mixed(0, 40)
    for made, expected in (
        (SoftESKDB(n_members=0), "n_members is 0, expected a whole number, at least 1"),
        (SoftKDB(n_knots=1), "n_knots is 1, expected a whole number, at least 2"),
        (Blend(n_trees=0), "n_trees is 0, expected a whole number, at least 1"),
        (SoftESKDB(k=-1), "k=-1: expected a whole number of parents"),
    ):
        with pytest.raises(UnsupportedError, match=expected):
            made.fit(X, y)
    with pytest.raises(AttributeError, match="no probabilities of a network"):
        _ = SoftKDB().fit(X, y).networks_
