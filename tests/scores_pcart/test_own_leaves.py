"""Leaves of BDeu, leaves with runs: against every tree and every way to cut levels into runs (tests/naive/pcart.py)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import optbn
from optbn.base.errors import LimitError, UnsupportedError
from optbn.data.dataset import Categorical, Dataset
from optbn.learning.local import with_local_models
from optbn.network.leaves import CategoricalLeaves
from optbn.network.render import cpd_text
from optbn.network.structure import Structure
from optbn.scores import load_score
from optbn.scores.pcart import PCART
from optbn.scores.structures import in_words
from optbn.scores.trees import costs
from optbn.scores.trees.leaves import best_runs
from tests.naive import pcart as naive
from tests.scores_pcart.columns import all_sets, random_data, score
from tests.scores_pcart.test_pcart import survivors

CATEGORICAL = ("c2", "c3", "c4", "o3", "o4")


def families(kinds: list[str], max_splits: int = 0) -> list[tuple[int, tuple[int, ...]]]:
    """Some with few enough trees to look at."""
    found = []
    for child, parents in [(0, (1, 2)), (1, (0,)), (2, ())]:
        size = sum({"c4": 3, "o4": 3, "r": max_splits}.get(kinds[u], 1) for u in parents)
        found.append((child, parents[:1] if size > 4 else parents))
    return found


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(30))
def test_bdeu_leaves_equal_the_best_of_all_trees(seed):
    rng = np.random.default_rng(seed)
    kinds = [CATEGORICAL[i] for i in rng.integers(0, len(CATEGORICAL), 3)]
    data = random_data(rng, kinds, int(rng.integers(1, 40)))
    settings = {"leaf": "bdeu", "ess": float(rng.choice([0.3, 1.0, 10.0])), "gamma": (0.25, 0.05, None)[seed % 3]}
    bound = PCART(**settings).bind(data)
    for child, parents in families(kinds):
        expected, leaves = naive.pcart(data, child, parents, 0, **settings)
        assert score(bound, 3, child, parents) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        fitted = bound.fitted(child, parents)
        assert fitted.score == score(bound, 3, child, parents)
        assert fitted.n_leaves == leaves


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(30))
def test_runs_equal_the_best_of_all_trees_and_runs(seed):
    rng = np.random.default_rng(seed)
    kinds = [(*CATEGORICAL, "o4", "r")[i] for i in rng.integers(0, 7, 3)]
    data = random_data(rng, kinds, int(rng.integers(1, 40)))
    max_splits = int(rng.integers(0, 3))
    settings = {"leaf": "runs", "alpha": float(rng.choice([0.2, 0.5, 2.0])), "gamma": (0.25, 0.05, None)[seed % 3]}
    bound = PCART(max_splits=max_splits, **settings).bind(data)
    for child, parents in families(kinds, max_splits):
        expected, leaves = naive.pcart(data, child, parents, max_splits, "rank", **settings)
        assert score(bound, 3, child, parents) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        fitted = bound.fitted(child, parents)
        assert fitted.score == score(bound, 3, child, parents)
        assert fitted.n_leaves == leaves


@pytest.mark.twin
def test_the_best_runs_are_the_best_of_all():
    rng = np.random.default_rng(1)
    for _ in range(100):
        counts = rng.integers(0, 6, int(rng.integers(1, 7)))
        alpha = float(rng.choice([0.1, 0.5, 3.0]))
        values = np.repeat(np.arange(len(counts)), counts).tolist()
        value, starts = best_runs(counts, alpha)
        if not values:
            assert (value, starts) == (0.0, (0,))
            continue
        ways = {
            tuple(run[0] for run in cut): naive.runs(values, cut, alpha) for cut in naive.cuts_into_runs(len(counts))
        }
        assert value == pytest.approx(max(ways.values()), abs=1e-9)
        assert ways[starts] == pytest.approx(value, abs=1e-9)


def test_a_leaf_for_every_configuration_is_bdeu():
    """Without a prior on trees a full tree is worth as much as the table, and the best tree at least that."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        data = random_data(rng, ["c2", "c3", "o3"], 200)
        tree, table = PCART(leaf="bdeu", ess=4.0, gamma=None).bind(data), load_score("bdeu", ess=4.0).bind(data)
        for child, parents in [(0, (1, 2)), (1, (0, 2)), (2, (1,))]:
            assert score(tree, 3, child, parents) >= score(table, 3, child, parents) - 1e-9
        # Every configuration has a distribution of its own: the full tree is best
        x, z = rng.integers(0, 2, 4000), rng.integers(0, 2, 4000)
        y = (rng.random(4000) < np.array([[0.05, 0.6], [0.3, 0.95]])[x, z]).astype(np.uint8)
        two = Categorical(("a", "b"))
        full = Dataset(("x", "z", "y"), (two,) * 3, (x.astype(np.uint8), z.astype(np.uint8), y))
        assert score(PCART(leaf="bdeu", gamma=None).bind(full), 3, 2, (0, 1)) == pytest.approx(
            score(load_score("bdeu").bind(full), 3, 2, (0, 1)), rel=1e-12
        )


def test_a_batch_gives_the_bits_of_single_families(monkeypatch):
    rng = np.random.default_rng(3)
    data = random_data(rng, ["c3", "o5", "o4", "c2", "c4"], 120)
    for leaf in ("bdeu", "runs"):
        bound = PCART(leaf=leaf).bind(data)
        for k in (0, 1, 3):
            sets, wanted = all_sets(5, k)
            scores = bound.block(sets, wanted)
            for i, v in np.argwhere(wanted):
                assert score(bound, 5, int(v), tuple(sets[i].tolist())) == scores[i, v]
            assert np.isneginf(scores[~wanted]).all()
        monkeypatch.setattr(costs, "WORK_BYTES", 1)  # few responses at a time
        np.testing.assert_array_equal(bound.block(sets, wanted), scores)
        monkeypatch.undo()
    runs, plain = PCART(leaf="runs").bind(data), PCART().bind(data)
    for child in (0, 3, 4):  # not ordered
        assert score(runs, 5, child, (1, 2)) == pytest.approx(score(plain, 5, child, (1, 2)), rel=1e-12)


@pytest.mark.parametrize("leaf", ["bdeu", "runs"])
def test_bounds_never_discard_a_survivor(leaf):
    discarded = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        data = random_data(rng, [(*CATEGORICAL, "o5")[i] for i in rng.integers(0, 6, 5)], int(rng.integers(1, 200)))
        if seed % 2:  # nearly constant columns are where bounds bite
            columns = [np.where(rng.random(data.n_rows) < 0.9, 0, c).astype(np.uint8) for c in data.columns]
            data = Dataset(data.names, data.domains, tuple(columns))
        settings = {"gamma": (0.25, None, 0.01)[seed % 3], "alpha": float(rng.choice([0.1, 0.5, 2.0]))}
        settings |= {"ess": float(rng.choice([0.1, 1.0, 20.0]))} if leaf == "bdeu" else {}
        bound = PCART(leaf=leaf, **settings).bind(data)
        with_bounds, skipped = survivors(bound, 5, 3, use_floor=True)
        assert with_bounds == survivors(bound, 5, 3, use_floor=False)[0]
        discarded += skipped
    assert discarded > 100  # or nothing was tested


def test_weights_of_two_are_two_rows():
    rng = np.random.default_rng(4)
    data = random_data(rng, ["c3", "o4", "c2"], 30)
    times = rng.integers(1, 3, 30)
    twice = data.take(np.repeat(np.arange(30), times))
    for leaf in ("bdeu", "runs"):
        for child, parents in [(1, (0, 2)), (0, (1,))]:
            weighted = PCART(leaf=leaf).bind(data.weighted(times.astype(float)))
            assert score(weighted, 3, child, parents) == pytest.approx(
                score(PCART(leaf=leaf).bind(twice), 3, child, parents), rel=1e-12
            )


def test_what_is_not_there_is_refused(monkeypatch):
    with pytest.raises(UnsupportedError, match=r"leaf is 'runs', expected one of: dirichlet$"):
        load_score("pcart-avg", leaf="runs")
    with pytest.raises(UnsupportedError, match="ess is 0"):
        PCART(leaf="bdeu", ess=0)
    with pytest.raises(UnsupportedError, match="ess is of leaf='bdeu', and leaf is 'dirichlet'"):
        PCART(ess=10.0)
    real = random_data(np.random.default_rng(0), ["c2", "r"], 9)
    with pytest.raises(UnsupportedError, match="'v1' is real, and leaf='bdeu'"):
        PCART(leaf="bdeu").bind(real)
    monkeypatch.setattr(costs, "MOST_DENSE_BOXES", 10)
    data = random_data(np.random.default_rng(0), ["c3", "c3", "o3"], 30)
    bound = PCART(leaf="runs").bind(data)
    assert bound.too_dear(np.array([[0, 1]], np.int32)).all()
    with pytest.raises(LimitError, match="leaf='runs' needs a lattice that fits into memory"):
        score(bound, 3, 2, (0, 1))
    assert math.isfinite(score(bound, 3, 2, (0,)))


def test_runs_are_fitted_queried_written_and_shown(tmp_path):
    """A rating whose middle levels are alike, given a group: levels of a run have one probability, by any smoother."""
    rng = np.random.default_rng(6)
    group = rng.integers(0, 2, 3000)
    shares = np.array([[0.1, 0.2, 0.2, 0.2, 0.3], [0.4, 0.4, 0.05, 0.05, 0.1]])
    rating = np.array([rng.choice(5, p=shares[g]) for g in group]).astype(np.uint8)
    domains = (Categorical(("a", "b")), Categorical(tuple("12345"), ordered=True))
    data = Dataset(("group", "rating"), domains, (group.astype(np.uint8), rating))
    found = optbn.learn(data, score=PCART(leaf="runs"), max_parents=1, constraints={"forbidden": [("rating", "group")]})
    cpd = found.network.cpd("rating")
    assert isinstance(cpd.leaves, CategoricalLeaves) and cpd.leaves.runs is not None
    runs = {tuple(row) for row in cpd.leaves.runs.tolist()}
    assert runs == {(0, 1, 1, 1, 2), (0, 0, 1, 1, 2)}
    assert cpd.leaves.n_parameters == 4
    assert "2 to 4 0." in cpd_text("rating", cpd)
    for smoother in ("hdp", "m_estimate"):
        network = optbn.fit(found.network, data, smoother)
        for g, level in enumerate(("a", "b")):
            answer = network.query("rating", {"group": level}).probabilities
            np.testing.assert_allclose(answer, shares[g], atol=0.03)
        rows = network.cpd("rating").leaves
        for probabilities, run in zip(rows.probabilities, rows.runs, strict=True):
            assert all(np.ptp(probabilities[run == number]) == 0 for number in run)
    path = tmp_path / "rating.json"
    found.network.save(path)
    assert optbn.load_network(str(path)) == found.network
    words = in_words(PCART(leaf="runs").bind(data).fitted(1, (0,)), data)
    assert words["left"]["runs"] in ([["1"], ["2", "3", "4"], ["5"]], [["1", "2"], ["3", "4"], ["5"]])
    alone = optbn.learn(data.select(("rating",)), score=PCART(leaf="runs"))
    assert alone.network.cpd("rating").leaves.runs is not None


def test_an_estimate_of_dirichlet_kind_is_the_posterior_mean_of_the_runs():
    """(n_run + l alpha) / (n + r alpha), shared by the l levels of a run."""
    data = Dataset(
        ("x",), (Categorical(tuple("abcd"), ordered=True),), (np.repeat([0, 1, 3], [5, 4, 40]).astype(np.uint8),)
    )
    tree = PCART(leaf="runs", alpha=1.0).bind(data).fitted(0, ())
    shape = with_local_models(Structure.from_parents({"x": ()}), data, PCART(leaf="runs", alpha=1.0).bind(data))
    found = optbn.fit(shape, data, "laplace").cpd("x").leaves.probabilities[0]
    counts, runs = np.array([5, 4, 0, 40]), tree.runs[0]
    expected = [(counts[runs == run].sum() + (runs == run).sum()) / (49 + 4) / (runs == run).sum() for run in runs]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
