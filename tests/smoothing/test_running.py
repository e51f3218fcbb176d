"""Parameters of rows that keep coming: blocks in any order are all rows at once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import optbn
from optbn.base.errors import DataError, NetworkError, UnknownNameError
from tests.smoothing.test_fit import mixed_network

ALARM = optbn.load_network("alarm")
ROWS = ALARM.sample(300, 1)
BLOCKS = [ROWS.take(slice(a, b)) for a, b in ((0, 50), (50, 51), (51, 51), (51, 220), (220, 300))]


@pytest.mark.parametrize(
    ("smoother", "settings"),
    [("hdp", {"sweeps": 64}), ("hdp", {"sweeps": 64, "discount": 0.2}), ("hierarchical", {}), ("gradient", {})],
)
def test_blocks_in_any_order_are_all_rows_at_once_to_the_bit(smoother, settings):
    wanted = optbn.fit(ALARM, ROWS, smoother, **settings)
    for order in ([0, 1, 2, 3, 4], [4, 2, 3, 1, 0], [2, 1, 4, 0, 3]):
        running = optbn.RunningFit(ALARM, smoother, **settings)
        for i in order:
            running.partial_fit(BLOCKS[i])
        found = running.network()
        assert running.rows == 300 and found == wanted
        for name, worth in wanted.precision.items():
            assert np.array_equal(found.precision[name], worth)


def test_a_network_is_there_at_any_time_and_asking_changes_nothing():
    running = optbn.RunningFit(ALARM, "hdp", sweeps=64)
    for i, block in enumerate(BLOCKS):
        running.partial_fit(block)
        so_far = ROWS.take(slice(0, running.rows))
        assert running.network() == optbn.fit(ALARM, so_far, "hdp", sweeps=64), i
        assert running.network(threads=2) == running.network()


def test_real_variables_and_weights_are_the_same_but_for_rounding():
    truth = mixed_network()
    rows = truth.sample(300, 1)
    weights = np.random.default_rng(0).random(300)
    wanted = optbn.fit(truth, rows, "hierarchical", weights=weights)
    parts = [slice(0, 7), slice(7, 200), slice(200, 300)]
    for order in itertools.permutations(parts):
        running = optbn.RunningFit(truth, "hierarchical")
        for part in order:
            running.partial_fit(rows.take(part), weights=weights[part])
        for name in truth.names:
            ours, theirs = running.network().cpd(name).leaves, wanted.cpd(name).leaves
            for field in ("probabilities", "mean", "sd"):
                if hasattr(ours, field):
                    assert np.allclose(getattr(ours, field), getattr(theirs, field), rtol=1e-6)


def test_a_bare_dag_takes_the_levels_of_the_first_block_or_of_the_schema():
    structure = {"a": (), "b": ("a",)}
    first = {"a": ["x", "y", "x"], "b": ["u", "v", "v"]}
    second = {"a": ["y"], "b": ["u"]}
    running = optbn.RunningFit(structure, "laplace").partial_fit(first).partial_fit(second)
    assert running.network().cpd("a").probabilities.tolist() == [0.5, 0.5]
    with pytest.raises(DataError, match="'z'"):
        running.partial_fit({"a": ["z"], "b": ["u"]})
    assert running.rows == 4
    known = {"a": ["z", "y", "x"], "b": ["u", "v"]}
    found = [
        optbn.RunningFit(structure, "laplace", schema=known).partial_fit(one).partial_fit(other).network()
        for one, other in ((first, second), (second, first))
    ]
    assert found[0] == found[1] and found[0].cpd("a").domain.levels == ("z", "y", "x")


def test_mistakes():
    with pytest.raises(DataError, match="call partial_fit first"):
        optbn.RunningFit(ALARM).network()
    with pytest.raises(UnknownNameError, match="sweeps"):
        optbn.RunningFit(ALARM, "hdp", sweep=10)
    with pytest.raises((DataError, NetworkError)):
        optbn.RunningFit(ALARM).partial_fit({"a": ["x"]})
