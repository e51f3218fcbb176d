"""Averages over trees against the sum over every tree (tests/naive/pcart.py), and against the best of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import optbn
from optbn.base.errors import LimitError, OptbnError
from optbn.data.dataset import Categorical, Dataset, Real
from optbn.learning.averaged import average_trees, trees_of
from optbn.network.structure import Structure
from optbn.scores import load_score
from optbn.scores.pcart import PCART
from optbn.scores.pcart_avg import PCARTAverage
from optbn.scores.pipeline import table_of_sets
from optbn.scores.scoring import Scoring
from tests.naive import pcart as naive
from tests.scores_pcart.columns import check_blocks, random_data, score

KINDS = ("c2", "c3", "c4", "o3", "o4", "r")


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(30))
def test_equals_the_sum_over_all_trees(seed):
    rng = np.random.default_rng(seed)
    kinds = [KINDS[i] for i in rng.integers(0, len(KINDS), 3)]
    data = random_data(rng, kinds, int(rng.integers(1, 40)))
    max_splits, cuts = int(rng.integers(0, 3)), ("range", "rank")[seed % 2]
    prior = {} if seed % 3 else {"alpha": 2.0, "nu": 0.7, "lambda_": 1.8, "mean": 0.3, "a": 0.4}
    gamma = (0.25, None, 0.05)[seed % 3]
    bound = PCARTAverage(max_splits=max_splits, cuts=cuts, gamma=gamma, **prior).bind(data)
    best = PCART(max_splits=max_splits, cuts=cuts, gamma=gamma, **prior).bind(data)
    for child, parents in [(0, (1, 2)), (1, (0,)), (2, ())]:
        if sum({"c4": 3, "o4": 3, "c3": 2, "o3": 2, "r": max_splits}.get(kinds[u], 1) for u in parents) > 4:
            parents = parents[:1]  # too many trees to look at
        expected = naive.average(data, child, parents, max_splits, cuts, gamma, **prior)
        assert score(bound, 3, child, parents) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        if gamma is not None:
            assert score(bound, 3, child, parents) >= score(best, 3, child, parents) - 1e-9
        assert bound.fitted(child, parents).score == score(bound, 3, child, parents)


@pytest.mark.twin
@pytest.mark.parametrize("kinds", [("r", "c2"), ("o3", "c2"), ("c3",), ("r",), ()])
@pytest.mark.parametrize("cuts", ["range", "rank"])
def test_predictions_are_means_over_all_trees(kinds, cuts):
    data = random_data(np.random.default_rng(len(kinds) + len(cuts)), [*kinds, "c3"], 25)
    child, parents = len(kinds), tuple(range(len(kinds)))
    gamma = None if cuts == "range" else 0.25
    found = PCARTAverage(max_splits=2, cuts=cuts, gamma=gamma).bind(data).predictions(child, parents)
    sizes = [4 if kind == "r" else int(kind[1:]) for kind in kinds]
    assert found.shape == (math.prod(sizes), 3)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    occupied = set(naive.cells(data, parents, 2, cuts))
    for row, cell in enumerate(itertools.product(*map(range, sizes))):
        if cuts == "range" or cell in occupied:  # by rank, empty cells may be counted otherwise
            expected = naive.average_prediction(data, child, parents, cell, 2, cuts, gamma)
            np.testing.assert_allclose(found[row], expected, rtol=1e-9)


def test_a_network_of_averages():
    data = random_data(np.random.default_rng(5), ["c3", "r", "r", "c2"], 200)
    parents = {"v0": (), "v1": ("v0",), "v2": ("v1",), "v3": ("v0", "v1", "v2")}
    network = average_trees(Structure.from_parents(parents), data, max_splits=3, cuts="rank")
    rows = PCARTAverage(max_splits=3, cuts="rank").bind(data)
    cells = rows.leaves.columns.predictors.cells
    place = (cells[0] * 8 + cells[1]) * 8 + cells[2]
    expected = rows.predictions(3, (0, 1, 2))[place, data.column("v3")]
    cpd = network.cpd("v3")
    found = cpd.log_density(data.column("v3"), [data.column(p) for p in cpd.parents])
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-12)
    assert math.isfinite(network.log_likelihood(data))


def test_sums_beyond_floating_point():
    """Likelihoods of 10^-20,000: mantissas and exponents are kept apart."""
    rng = np.random.default_rng(1)
    data = random_data(rng, ["c4", "r", "c3", "r"], 30_000)
    few = data.take(slice(0, 40))
    for one in (data, few):
        average, best = PCARTAverage(max_splits=2, gamma=0.25).bind(one), PCART(max_splits=2).bind(one)
        for child in (2, 3):
            gap = score(average, 4, child, (0, 1)) - score(best, 4, child, (0, 1))
            assert 0 <= gap < 30


def test_a_batch_gives_the_bits_of_single_families():
    data = random_data(np.random.default_rng(3), ["c3", "r", "o4", "c2", "r"], 120)
    bound = PCARTAverage(max_splits=2, alpha={"v0": 0.2, "v3": 1.0}).bind(data)
    for k in (0, 1, 3):
        check_blocks(bound, 5, k)


def test_levels_that_are_declared_count():
    """A level that no row has makes more trees, all of which the average is over."""
    codes = np.array([0, 2, 0, 2, 2, 0, 2], np.uint8)
    y = np.array([0, 1, 0, 1, 1, 1, 1], np.uint8)
    data = Dataset(("x", "y"), (Categorical(tuple("abcd")), Categorical(("0", "1"))), (codes, y))
    assert score(PCARTAverage().bind(data), 2, 1, (0,)) == pytest.approx(naive.average(data, 1, (0,)), rel=1e-12)


def test_too_many_boxes_are_refused():
    levels = tuple(map(str, range(25)))
    x = np.arange(50).astype(np.uint8) % 25
    data = Dataset(("x", "y"), (Categorical(levels), Real(0.0, 49.0)), (x, np.arange(50.0)))
    with pytest.raises(LimitError, match=r"'x' are averages over 3.36e\+07 boxes"):
        score(PCARTAverage(most_levels=None).bind(data), 2, 1, (0,))
    assert math.isfinite(score(PCARTAverage(most_levels=None).bind(data), 2, 0, (1,)))


def test_where_rows_have_no_number():
    """A real parent with gaps: rows without a number have a bin of their own."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=120)
    x[rng.random(120) < 0.3] = np.nan
    y = (np.isnan(x) | (x > 0.5)).astype(np.uint8)
    domains = (Real(float(np.nanmin(x)), float(np.nanmax(x)), absent=True), Categorical(("n", "y")))
    data = Dataset(("x", "y"), domains, (x, y))
    network = average_trees(Structure.from_parents({"x": (), "y": ("x",)}), data, max_splits=3)
    bound = PCARTAverage(max_splits=3).bind(data)
    expected = bound.predictions(1, (0,))[bound.leaves.columns.predictors.cells[0], y]
    np.testing.assert_allclose(np.exp(network.cpd("y").log_density(y, [x])), expected, rtol=1e-12)


def test_a_coarsened_parent_has_all_its_levels():
    """More levels than trees tell apart: those that are one to the trees have one row."""
    rng = np.random.default_rng(8)
    x = rng.integers(0, 12, 300).astype(np.uint8)
    y = ((x > 5) ^ (rng.random(300) < 0.1)).astype(np.uint8)
    levels = tuple(f"l{i}" for i in range(12))
    data = Dataset(("x", "y"), (Categorical(levels), Categorical(("n", "y"))), (x, y))
    network = average_trees(Structure.from_parents({"x": (), "y": ("x",)}), data)
    bound = PCARTAverage().bind(data)
    expected = bound.predictions(1, (0,))[bound.leaves.columns.predictors.cells[0], y]
    np.testing.assert_allclose(np.exp(network.cpd("y").log_density(y, [x])), expected, rtol=1e-12)
    assert network.cpd("y").probabilities.shape == (12, 2)


def test_the_option_of_learn_and_fit(tmp_path):
    """trees="average" is the exact average on the learned graph, and the trees are the score's."""
    data = random_data(np.random.default_rng(5), ["c3", "r", "c4", "c2"], 200)
    best = optbn.learn(data, score="pcart", alpha=0.3, max_parents=2)
    found = optbn.learn(data, score="pcart", alpha=0.3, max_parents=2, trees="average")
    assert found.network.structure == best.network.structure
    assert found.solution.score == best.solution.score
    expected = average_trees(best.network.structure, data, alpha=0.3)
    for name, domain in zip(data.names, data.domains, strict=True):
        if isinstance(domain, Categorical):
            assert found.network.cpd(name) == expected.cpd(name)
        else:
            assert found.network.cpd(name) == best.network.cpd(name)
    kept = [name for name in ("v1",) if best.network.parents(name)]
    assert [note for note in found.report.notes if "averages over trees" in note] == [
        f"averages over trees: {name} keeps its best tree" for name in kept
    ]
    fitted = optbn.fit(best.network, data, trees="average")
    plain = average_trees(best.network.structure, data)
    assert all(fitted.cpd(v) == plain.cpd(v) for v in ("v0", "v2", "v3"))
    graph = {name: best.network.parents(name) for name in data.names}
    assert all(optbn.fit(graph, data, trees="average").cpd(v) == plain.cpd(v) for v in ("v0", "v2", "v3"))
    twice = data.take(np.repeat(np.arange(200), 2))
    weighted = optbn.fit(graph, data, weights=np.full(200, 2.0), trees="average")
    assert all(
        weighted.cpd(v) == average_trees(Structure.from_parents(graph), twice).cpd(v) for v in ("v0", "v2", "v3")
    )
    for prior in ("size", "uniform"):
        assert trees_of(load_score("ftp" if prior == "size" else "ft", alpha=0.2)) == PCARTAverage(alpha=0.2)
    assert trees_of(load_score("pcart-avg", gamma=0.1, prior="size")) == PCARTAverage(gamma=0.1)
    assert trees_of(load_score("bic")) == PCARTAverage()
    with pytest.raises(OptbnError, match=r"no trees 'averages' .did you mean 'average'"):
        optbn.learn(data, trees="averages")
    with pytest.raises(OptbnError, match="did you mean 'average'"):
        optbn.fit(best.network, data, trees="averages")


def test_held_out_rows_are_predicted_by_averages_too():
    data = optbn.load_network("asia").sample(400, 3)
    folds = [optbn.learn(data, max_parents=2, held_out=2, trees=trees).report.held_out for trees in ("best", "average")]
    assert len(folds[0]) == len(folds[1]) and folds[0] != folds[1]


def test_little_memory_changes_no_average():
    data = optbn.load_network("asia").sample(300, 1)
    tight = Scoring.of(data, load_score("pcart-avg"), 2, memory="64M")
    wide = Scoring.of(data, load_score("pcart-avg"), 2)
    assert tight.bound.room < wide.bound.room
    assert table_of_sets(tight) == table_of_sets(wide)
    pairs = np.array([[0, 1], [2, 3]], np.int32)
    tight.bound.room = 10
    assert tight.bound.too_dear(pairs).all() and not wide.bound.too_dear(pairs).any()
