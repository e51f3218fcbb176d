"""Arcs into long-tailed columns: noise is named, a real dependence is not, and the network stays as it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

import optbn
from optbn.learning.extremes import arcs_of_extremes, normal_scores
from optbn.scores import load_score

MEMORY = 1 << 30


@pytest.fixture(scope="module")
def counts() -> optbn.Dataset:
    """`calls` is drawn without regard to the others, with a long tail; `amount` depends on `age`."""
    draw = np.random.default_rng(3)
    age, balance = draw.gamma(9, 5, 20_000), draw.normal(0, 3, 20_000)
    amount = np.exp(age / 20 + draw.normal(0, 0.3, 20_000))
    calls = draw.geometric(0.4, 20_000) ** 2.0
    return optbn.Dataset.from_arrays({"age": age, "balance": balance, "amount": amount, "calls": calls})


def test_arcs_that_only_extreme_values_call_for_are_named(counts: optbn.Dataset) -> None:
    sets = [(), (), ("age", "balance"), ("age", "balance")]
    arcs = arcs_of_extremes(counts, load_score("pcart"), sets, math.inf, MEMORY)
    assert arcs == [("balance", "amount"), ("age", "calls"), ("balance", "calls")]


def test_learn_notes_them_and_keeps_the_network(counts: optbn.Dataset) -> None:
    learned = optbn.learn(counts, score="pcart", constraints={"required": [("age", "calls"), ("age", "amount")]})
    notes = [note for note in learned.report.notes if "by ranks" in note]
    assert len(notes) == 1
    assert "age -> calls" in notes[0] and "age -> amount" not in notes[0]
    assert "read 'calls' as categorical" in notes[0]
    assert "age" in learned.network.parents("calls")


def test_nothing_is_noted_where_ranks_agree() -> None:
    draw = np.random.default_rng(5)
    x = draw.normal(size=2_000)
    data = optbn.Dataset.from_arrays({"x": x, "y": x + draw.normal(size=2_000)})
    assert not [note for note in optbn.learn(data).report.notes if "ranks" in note]


def test_normal_scores_do_not_depend_on_the_scale_and_ties_share_one() -> None:
    values = np.array([3.0, np.nan, -2.0, 3.0, 50.0])
    scores = normal_scores(values)
    assert np.isnan(scores[1]) and scores[0] == scores[3]
    assert scores[2] < scores[0] < scores[4] == -scores[2]
    np.testing.assert_array_equal(normal_scores(np.exp(values / 10)), scores)


def test_no_time_no_note(counts: optbn.Dataset) -> None:
    assert arcs_of_extremes(counts, load_score("pcart"), [(), (), (), ("age",)], -math.inf, MEMORY) == []
