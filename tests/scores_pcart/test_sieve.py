"""The sieve discards what cannot be above its floor, and nothing else (optbn/scores/kernels/sieve.py)."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from numba import config

from optbn.scores.kernels.lattice import dense_plan
from optbn.scores.kernels.product import number_entries, prefix_plan
from optbn.scores.kernels.runs import LEAST_ROWS
from optbn.scores.kernels.trees import find_sites
from optbn.scores.pcart import PCART, BoundTrees
from optbn.scores.trees.scratch import Scratch
from optbn.scores.trees.space import digit_space, lattice_space, product_space, site_space
from optbn_solvers.base.compiled import kernel
from tests.scores_pcart.columns import all_sets, random_data

KINDS = ("c2", "c3", "c4", "o3", "c5", "r")


@pytest.fixture(autouse=True)
def the_sieve_alone(monkeypatch):
    monkeypatch.setattr(BoundTrees, "_least_regret", lambda self, v, leaves: -np.inf)
    monkeypatch.setattr("optbn.scores.pcart.FEWEST_SIEVED", 0)
    monkeypatch.setattr("optbn.scores.pcart.LEAST_SIEVED", 0)


@pytest.mark.twin
@pytest.mark.parametrize(("alpha", "power"), [(0.5, 0.25), (1.0, 0.25), (0.01, 5.0), (30.0, 0.25)])
def test_a_family_just_above_its_floor_is_answered_and_one_below_is_not(alpha, power):
    rng = np.random.default_rng(int(100 * alpha))
    answered = 0
    for _ in range(2 if config.DISABLE_JIT else 25):
        kinds = [KINDS[i] for i in rng.integers(0, len(KINDS), 5)]
        rows = int(rng.integers(1, 30 if config.DISABLE_JIT else 1500))
        bound = PCART(max_splits=2, alpha=alpha, gamma=float(rng.choice([0.25, 0.01]))).bind(
            random_data(rng, kinds, rows)
        )
        counted = ~bound.leaves.is_real
        for k in (1, 2, 3):
            sets, wanted = all_sets(5, k)
            exact = bound.block(sets, wanted)
            below = bound.block(sets, wanted, exact - 1e-6)
            np.testing.assert_array_equal(below, exact)
            above = bound.block(sets, wanted, exact + power)
            assert np.isneginf(above[:, counted]).all()
            np.testing.assert_array_equal(above[:, ~counted], exact[:, ~counted])
            answered += int(np.isfinite(exact).sum())
    assert answered > 50


@pytest.mark.twin
def test_responses_with_and_without_floors_go_side_by_side():
    """Those without one are not tried, and the order of all others by their levels stays."""
    rng = np.random.default_rng(5)
    for _ in range(2 if config.DISABLE_JIT else 10):
        kinds = [("c2", "c3", "c4", "c5", "r")[i] for i in rng.integers(0, 5, 6)]
        bound = PCART(max_splits=2).bind(random_data(rng, kinds, 25 if config.DISABLE_JIT else 300))
        sets, wanted = all_sets(6, 2)
        exact = bound.block(sets, wanted)
        floor = np.where(rng.random(exact.shape) < 0.5, -np.inf, exact - 1e-6)
        np.testing.assert_array_equal(bound.block(sets, wanted, floor), exact)


@pytest.mark.parametrize("alpha", [0.5, 0.01, 30.0])
def test_single_precision_holds_for_many_rows(alpha):
    rng = np.random.default_rng(1)
    bound = PCART(alpha=alpha).bind(random_data(rng, ["c2", "c3", "c2", "c6"], 400_000))
    sets, wanted = all_sets(4, 2)
    exact = bound.block(sets, wanted)
    np.testing.assert_array_equal(bound.block(sets, wanted, exact - 1e-6 * (1 + np.abs(exact))), exact)
    assert np.isneginf(bound.block(sets, wanted, exact + 50)).all()


def test_counts_beyond_single_precision_are_not_sieved(monkeypatch):
    data = random_data(np.random.default_rng(2), ["c2", "c3", "c2"], 100)
    monkeypatch.setattr("optbn.scores.trees.sieve.MOST_ROWS", 99)
    bound = PCART().bind(data)
    sets, wanted = all_sets(3, 2)
    exact = bound.block(sets, wanted)
    np.testing.assert_array_equal(bound.block(sets, wanted, exact + 1e-9), exact)


def test_lattices_too_large_for_the_scratch_are_not_sieved(monkeypatch):
    data = random_data(np.random.default_rng(3), ["c4", "c4", "c3", "c2"], 200)
    bound = PCART().bind(data)
    sets, wanted = all_sets(4, 2)
    exact = bound.block(sets, wanted)
    monkeypatch.setattr("optbn.scores.trees.costs.WORK_BYTES", 640)
    np.testing.assert_array_equal(bound.block(sets, wanted, exact - 1e-6), exact)


def test_rows_in_bits_are_counted_like_rows_in_bytes(monkeypatch):
    """Thousands of rows in a site, many times what a byte holds."""
    bound = PCART().bind(random_data(np.random.default_rng(4), ["c4", "c2", "c3", "o3", "c2"], 5000))
    sets, wanted = all_sets(5, 2)
    in_bits = bound.block(sets, wanted)
    no_bits = np.empty((0, 1), np.uint64), np.empty((0, 64), np.uint8), np.empty(0, np.int64)
    monkeypatch.setattr("optbn.scores.trees.space._bit_space", lambda onehot, reals: no_bits)
    np.testing.assert_array_equal(bound.block(sets, wanted), in_bits)


@pytest.mark.parametrize("few_rows", [0, 1 << 15])
def test_more_responses_than_lanes_of_either_size(monkeypatch, few_rows):
    """Several groups of responses, the last one not full, share the lattice; sets share their prefix."""
    monkeypatch.setattr("optbn.scores.trees.sieve.FEW_ROWS", few_rows)
    rng = np.random.default_rng(6)
    bound = PCART().bind(random_data(rng, [f"c{r}" for r in rng.integers(2, 6, 40)], 300))
    sets, wanted = all_sets(40, 2)
    sets, wanted = sets[::7], wanted[::7]
    exact = bound.block(sets, wanted)
    np.testing.assert_array_equal(bound.block(sets, wanted, exact - 1e-6), exact)
    assert np.isneginf(bound.block(sets, wanted, exact + 0.25)).all()


@pytest.mark.parametrize("few_rows", [0, 1 << 15])
def test_lattices_in_runs_have_the_scores_of_plans(monkeypatch, few_rows):
    """Large sets whose boxes mostly hold rows, in any order of their members; more responses than lanes are scored."""
    monkeypatch.setattr("optbn.scores.trees.sieve.FEW_ROWS", few_rows)
    rng = np.random.default_rng(8)
    kinds, rows = ["c6", "c4", "c5", "o5", *(f"c{r}" for r in rng.integers(2, 6, 12))], 2500
    if config.DISABLE_JIT:
        for place in ("optbn.scores.kernels.runs.LEAST_ROWS", "optbn.scores.pcart.LEAST_ROWS"):
            monkeypatch.setattr(place, 8)
        kinds[:4], rows = ["c3", "c2", "c2", "o2"], 60
    data = random_data(rng, kinds, rows)
    bound = PCART(max_splits=2).bind(data)
    sets = np.array([[0, 1, 2], [0, 2, 3], [1, 2, 3], [0, 1, 3]], np.int32)
    boxes = bound.costs.extent(sets)[0]
    assert config.DISABLE_JIT or (boxes >= LEAST_ROWS).sum() >= 2
    wanted = np.ones((4, 16), np.bool_)
    wanted[np.arange(4)[:, None], sets] = False
    exact = bound.block(sets, wanted)
    np.testing.assert_array_equal(bound.block(sets, wanted, exact - 1e-6), exact)
    assert np.isneginf(bound.block(sets, wanted, exact + 0.3)).all()
    floor = np.where(rng.random(exact.shape) < 0.5, exact + 0.3, exact - 1e-6)
    found = bound.block(sets, wanted, floor)
    np.testing.assert_array_equal(found, np.where(floor > exact, -np.inf, exact))


@pytest.mark.twin
def test_entries_are_the_boxes_that_differ():
    """As many as the plan of all members has slots, with the same rows, where none is ordered."""
    rng = np.random.default_rng(7)
    for _ in range(2 if config.DISABLE_JIT else 20):
        kinds = [("c2", "c3", "c4", "c5")[i] for i in rng.integers(0, 4, 4)]
        bound = PCART().bind(random_data(rng, kinds, int(rng.integers(1, 60))))
        predictors, responses = bound.columns.predictors, bound.leaves.responses
        shapes = predictors.kinds, predictors.sizes, predictors.parts, *predictors[7:]
        for members in ([1], [0, 2], [0, 1, 3]):
            sets = np.array([members], np.int32)
            boxes, splits = (int(extent[0]) for extent in bound.costs.extent(sets))
            before = tuple(int(extent[0]) for extent in bound.costs.extent(sets[:, :-1]))
            space, digits = site_space(sets, predictors, responses), bound._digits(sets)[0]
            prefix, _, product = product_space(sets, predictors, boxes, before)
            k, v = len(members), members[-1]
            u = find(sets[0], tuple(predictors), tuple(responses), space)
            slots = lay(sets[0], digits, space[1][k - 1], space[2][k - 1], shapes, prefix)
            entries = number_entries(v, slots, prefix, space[3], space[4], shapes, product)
            box, plan = lattice_space(boxes, splits)
            room = digit_space(sets, predictors)
            expected = plan_of(sets[0], digits, space[1][k], space[4], u, shapes, box, room, plan)
            assert entries == expected
            np.testing.assert_array_equal(np.sort(product[5][:entries]), np.sort(plan[2][:expected]))


@kernel
def find(members, predictors, responses, space):
    return find_sites(members, 0, True, predictors, responses, space)


@kernel
def lay(members, digits, coordinates, n_sites, shapes, prefix):
    return prefix_plan(members, digits, coordinates, n_sites, shapes, prefix)


@kernel
def plan_of(members, digits, coordinates, rows, n_sites, shapes, box, room, plan):
    return dense_plan(members, digits, coordinates, rows, n_sites, 0, shapes, box, room, plan)


def test_scratch_is_taken_again_and_each_threads_own():
    scratch = Scratch()
    first = scratch.empty(10, np.float64)
    assert not np.shares_memory(first, scratch.empty(10, np.float64))
    scratch.begin()
    assert np.shares_memory(first, scratch.empty(3, np.int32))
    elsewhere = []
    thread = threading.Thread(target=lambda: elsewhere.append(scratch.empty(10, np.float64)))
    thread.start()
    thread.join()
    assert not np.shares_memory(first, elsewhere[0])
    scratch.begin()
    assert len(scratch.empty(1000, np.float64)) == 1000
