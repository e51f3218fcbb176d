"""The probability of an event: sums of what `query` lists, ratios of masses, and the refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import optbn
from optbn.base.errors import UnsupportedError
from optbn.network.ranges import Range
from tests.network.test_network import mixed_network

ASIA = optbn.load_network("asia")


def test_levels_are_what_query_lists() -> None:
    joint = ASIA.query(["lung", "tub"], xray="yes")
    for lung, tub in itertools.product(("yes", "no"), repeat=2):
        found = ASIA.probability({"lung": lung, "tub": tub}, {"xray": "yes"})
        assert found == pytest.approx(joint[lung, tub], rel=1e-12)


@pytest.fixture(scope="module")
def people() -> optbn.BayesianNetwork:
    """`age` whole, `height` not, `old` follows from age."""
    draw = np.random.default_rng(0)
    age = draw.integers(18, 90, 3_000).astype(float)
    height = draw.normal(170, 10, 3_000) + age / 10
    old = np.where(draw.random(3_000) < 0.9, age > 60, age <= 60)
    rows = optbn.Dataset.from_arrays({"age": age, "height": height, "old": np.where(old, "yes", "no")})
    return optbn.learn(rows, constraints={"required": [("age", "old"), ("age", "height")]}).network


def test_ranges_are_shares_of_drawn_rows(people: optbn.BayesianNetwork) -> None:
    rows = people.sample(200_000, 1)
    age, height, old = rows.column("age"), rows.column("height"), rows.column("old")
    yes = people.domain("old").levels.index("yes")  # type: ignore[union-attr]
    assert people.probability({"age": ">60"}) == pytest.approx(np.mean(age > 60), abs=0.006)
    assert people.probability({"age": ">60"}, {"old": "yes"}) == pytest.approx(np.mean(age[old == yes] > 60), abs=0.008)
    both = np.mean((height > 175) & (old == yes))
    assert people.probability({"height": (175, None), "old": "yes"}) == pytest.approx(both, abs=0.006)
    within = (age > 50) & (age <= 70)
    assert people.probability({"age": "<= 60"}, {"age": Range(50, 70, above=True, upto=True)}) == pytest.approx(
        np.mean(age[within] <= 60), abs=0.02
    )
    assert people.probability({"age": 40}) == pytest.approx(np.mean(age == 40), abs=0.003)


def test_parts_add_up_to_one(people: optbn.BayesianNetwork) -> None:
    for evidence in ({}, {"old": "no"}, {"height": 171.5}):
        parts = [people.probability({"age": part}, evidence) for part in ("<30", "30<=x<=60", ">60")]
        assert sum(parts) == pytest.approx(1, abs=1e-12)
    assert people.probability({"age": "<30"}, {"age": ">40"}) == 0
    assert people.probability({"age": ">20"}, {"age": ">40"}) == 1


def test_refusals(people: optbn.BayesianNetwork) -> None:
    with pytest.raises(UnsupportedError, match="a single number has probability 0; ask for a range"):
        people.probability({"height": 170})
    with pytest.raises(UnsupportedError, match="'old' is both in the question and in the evidence"):
        people.probability({"old": "yes"}, {"old": "no"})
    with pytest.raises(UnsupportedError, match="the event is empty"):
        people.probability({})
    with pytest.raises(UnsupportedError, match="has probability zero"):
        ASIA.probability({"lung": "yes"}, {"either": "no", "tub": "yes"})


def test_mixed_leaves_and_trees_take_part() -> None:
    network = mixed_network()
    for name, domain in zip(network.names, network.domains, strict=True):
        if isinstance(domain, optbn.Real):
            middle = (domain.low + domain.high) / 2
            below, above = (network.probability({name: part}) for part in ((None, middle), (middle, None)))
            assert below + above == pytest.approx(1, abs=1e-9)
