"""The sound rule: what is left out before counting is never above its floor, and the table is the same without it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import optbn
from optbn.scores import load_score, scoring
from tests.naive import phase1 as naive

SCORES = ["bic", "aic", "bdeu", "bds", "k2", "fnml", "qnml", "ft", "ftp", "hmd"]


class NoFloor:
    """A bound score that is never told what its subsets score, and so counts everything."""

    def __init__(self, bound):
        self.bound = bound

    def block(self, sets, wanted, floor=None):
        return self.bound.block(sets, wanted, None)


def table(monkeypatch, data, name, *arguments, floors=True, **more):
    with monkeypatch.context() as patch:
        if not floors:
            bind = scoring.bind
            patch.setattr(scoring, "bind", lambda *given: NoFloor(bind(*given)))
        return optbn.score_table(data, name, *arguments, jobs=1, **more)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("seed", range(4))
def test_the_table_is_that_of_counting_everything(name, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    data = naive.random_categorical(rng, 7, int(rng.integers(5, 80)), levels=6)
    names = data.names
    for more in ({}, {"required": [(names[0], names[3])], "forbidden": [(names[1], names[2])]}):
        whole = table(monkeypatch, data, name, 4, floors=False, **more)
        assert table(monkeypatch, data, name, 4, **more) == whole


@pytest.mark.twin
@pytest.mark.parametrize("name", ["bic", "aic"])
@pytest.mark.parametrize("seed", range(6))
def test_what_is_left_out_is_not_above_its_subsets(name, seed):
    """By the slow definitions of the score and of the rule; and the rule does leave something out."""
    rng = np.random.default_rng(seed)
    data = naive.random_categorical(rng, 5, int(rng.integers(8, 60)), levels=5)
    method = load_score(name)
    bound, slow, price = method.bind(data), getattr(naive, name), method.weight(data.n_rows)
    left_out = 0
    for size in range(1, 4):
        sets = list(combinations(range(5), size))
        floor = np.full((len(sets), 5), -np.inf)
        wanted = np.zeros((len(sets), 5), dtype=np.bool_)
        for i, parents in enumerate(sets):
            for v in set(range(5)) - set(parents):
                wanted[i, v] = True
                floor[i, v] = max(slow(data, v, some) for k in range(size) for some in combinations(parents, k))
        found = bound.block(np.array(sets, dtype=np.int32), wanted, floor)
        for i, v in np.argwhere(wanted):
            hopeful = naive.worth_counting(data, price, v, sets[i], floor[i, v])
            if found[i, v] == -np.inf:
                left_out += 1
                assert slow(data, v, sets[i]) <= floor[i, v] + 1e-9
                assert not hopeful
            else:
                assert found[i, v] == pytest.approx(slow(data, v, sets[i]), abs=1e-8)
                assert hopeful
    assert left_out > 0


@pytest.mark.parametrize("name", ["bdeu", "bds", "k2", "fnml", "ft"])
def test_every_configuration_costs_its_first_row(name):
    rng = np.random.default_rng(3)
    data = naive.random_categorical(rng, 5, 12, levels=4)
    bound = load_score(name).bind(data)
    for child, parents in naive.families(5, 3):
        if not parents:
            continue
        occurring = len({tuple(data.columns[u][i] for u in parents) for i in range(data.n_rows)})
        most = -occurring * np.log(data.cardinalities[child])
        sets, wanted = np.array([parents], dtype=np.int32), np.arange(5)[None, :] == child

        def told(floor, sets=sets, wanted=wanted, child=child):
            return bound.block(sets, wanted, None if floor is None else np.full((1, 5), floor))[0, child]

        assert told(None) <= most + 1e-9
        assert told(most + 1e-6) == -np.inf
        assert told(most - 1e-6) == told(None)


def test_a_score_that_is_not_told_its_floor_counts_everything():
    data = naive.random_categorical(np.random.default_rng(4), 4, 30, levels=5)
    bound = load_score("bic").bind(data)
    sets = np.array(list(combinations(range(4), 2)), dtype=np.int32)
    wanted = np.ones((len(sets), 4), dtype=np.bool_)
    np.put_along_axis(wanted, sets.astype(np.int64), False, axis=1)
    assert (bound.block(sets, wanted, None)[wanted] > -np.inf).all()
    unknown = np.full((len(sets), 4), -np.inf)
    assert (bound.block(sets, wanted, unknown)[wanted] > -np.inf).all()
