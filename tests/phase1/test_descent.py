"""Larger parent sets by urns: what the bounds close scores less, and the search is its slow twin's."""

import itertools

import numpy as np
import pytest

import optbn
from optbn.base.errors import LimitError
from optbn.data.dataset import Categorical, Dataset
from optbn.scores import larger as room
from optbn.scores import load_score
from optbn.scores.descent import Descent, Known
from optbn.scores.scoring import Scoring
from tests.naive import descent as slow
from tests.naive import phase1 as naive
from tests.phase1.test_growing import same

PRIORS = [0.001, 0.5, 1.0, 10.0, 300.0]


def random_data(rng, n):
    """Few rows or many, some of them again and again, levels that do not occur among them."""
    rows = int(rng.choice([1, 5, 20, 60]))
    data = naive.random_categorical(rng, n, rows, levels=int(rng.integers(2, 6)), skew=bool(rng.random() < 0.5))
    return data.take(rng.integers(0, rows, rows * int(rng.integers(1, 4))))


def masks_of(sets, candidates):
    at = {int(u): i for i, u in enumerate(candidates)}
    return np.array([sum(1 << at[u] for u in members) for members in sets], np.uint64)


def problem(rng, n, size):
    """(the slow twin's, the real one's arguments) of the last child that has levels."""
    data, prior = random_data(rng, n), float(rng.choice(PRIORS))
    weights = rng.integers(1, 4, data.n_rows)
    weighted = data.with_units(weights.astype(np.int32)) if rng.random() < 0.5 else data
    bound = load_score("bdeu", ess=prior).bind(weighted)
    urns = bound.urns
    child = int(rng.choice([v for v in range(n) if data.cardinalities[v] > 1]))
    candidates = np.array([u for u in range(n) if u != child and data.cardinalities[u] > 1])
    known = {}
    for k in range(size + 1):
        for members in itertools.combinations(candidates.tolist(), k):
            wanted = np.arange(n)[None, :] == child
            known[frozenset(members)] = bound.block(np.array([members], np.int32).reshape(1, k), wanted)[0, child]
    rows = [tuple(row) for row in urns.codes.T.tolist()]
    most = int(rng.integers(size + 1, n))
    twin = slow.Problem(rows, urns.weight.tolist(), urns.levels.tolist(), prior, child, known, size, most)
    listed = Known(candidates, masks_of(known, candidates), np.array(list(known.values())), size, most)
    return bound, twin, lambda: Descent.above(urns, child, listed, urns.tables)


def sets_of(masks, candidates):
    return {frozenset(int(u) for i, u in enumerate(candidates) if int(mask) >> i & 1) for mask in masks}


def test_nothing_between_a_set_and_all_others_is_above_its_bound():
    closed = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        bound, twin, _ = problem(rng, 6, 0)
        members = [u for u in range(6) if u != twin.child and twin.levels[u] > 1]
        scores = {}
        for k in range(len(members) + 1):
            for some in itertools.combinations(members, k):
                wanted = np.arange(6)[None, :] == twin.child
                scores[frozenset(some)] = bound.block(np.array([some], np.int32).reshape(1, k), wanted)[0, twin.child]
        for below in scores:
            others = [u for u in members if u not in below]
            for k in range(1, len(others) + 1):
                for after in map(frozenset, itertools.combinations(others, k)):
                    most = -twin.least_cost(below, after)
                    closed += most < scores[below]
                    for between in scores:
                        if below < between <= below | after:
                            assert scores[between] <= most + 1e-9 * (1 - most)
            own = -twin.own_cost(below) - twin.cells(below) * np.log(twin.r)
            assert scores[below] <= own + 1e-9 * (1 - own)
    assert closed > 100


@pytest.mark.twin
def test_the_search_is_its_twin():
    found = nodes = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        _, twin, descent_of = problem(rng, int(rng.integers(4, 8)), int(rng.integers(0, 3)))
        descent = descent_of()
        candidates = [u for u in range(len(twin.levels)) if u != twin.child and twin.levels[u] > 1]
        tree = twin.search(frozenset(), candidates)
        while descent.open:
            descent.go(int(rng.integers(1, 9)))
        masks = [int(mask) for part in descent.found for mask in part]
        assert len(set(masks)) == len(masks)
        assert sets_of(masks, candidates) == twin.found
        assert descent.visited == slow.nodes_of(tree)
        found, nodes = found + len(masks), nodes + descent.visited
    assert found > 100
    assert nodes > 100


@pytest.mark.twin
def test_dives_are_their_twins():
    several = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        _, twin, descent_of = problem(rng, 7, 0)
        tree = twin.search(frozenset(), [u for u in range(7) if u != twin.child and twin.levels[u] > 1])
        total, visited = descent_of().nodes_above(np.random.default_rng(seed), 5)
        draws, members = np.random.default_rng(seed), sum(size > 1 for size in twin.levels) - 1
        expected = [slow.dive(tree, draws.random(members + 1)) for _ in range(5)]
        assert total == pytest.approx(sum(nodes for nodes, _ in expected) / 5)
        assert visited == sum(depth for _, depth in expected)
        several += visited > 5
    assert several > 10


@pytest.mark.parametrize("ess", PRIORS)
def test_no_limit_gives_the_table_of_all_sets(ess):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        data = random_data(rng, 8)
        weights = rng.integers(3, 9, data.n_rows) * (0.4 if seed % 2 else 1.0) if seed % 3 == 0 else None
        rules = {"weights": weights, "ess": ess, "jobs": 1 + seed % 2}
        if seed % 4 == 1:
            a, b, c = (data.names[v] for v in rng.permutation(8)[:3])
            rules |= {"forbidden": [(a, b), (c, b)], "roots": [c]}
        limit = int(rng.integers(4, 7))
        one = data.names[int(rng.integers(8))]
        everything = optbn.score_table(data, "bdeu", {"*": 7, one: limit}, **rules)
        assert same(optbn.score_table(data, "bdeu", {"*": "all", one: limit}, **rules), everything)


def test_variables_beyond_the_first_word():
    some = naive.random_categorical(np.random.default_rng(1), 7, 30, levels=2)
    names = tuple(f"c{i}" for i in range(60)) + some.names
    filler = [np.zeros(30, some.columns[0].dtype)] * 60
    data = Dataset(names, (*([Categorical(("only",))] * 60), *some.domains), (*filler, *some.columns))
    limits = {"*": 0, names[65]: "all"}
    seen = []
    found = optbn.score_table(data, "bdeu", limits, jobs=1, progress=seen.append)
    small = optbn.score_table(some, "bdeu", {"*": 0, some.names[5]: 6})
    assert found.scores[found.children == 65] == pytest.approx(small.scores[small.children == 5], abs=1e-9)
    assert seen[-1].size == 67


def test_what_takes_long_is_announced_and_what_takes_days_is_refused(caplog):
    data = optbn.load_network("asia").sample(200, seed=1)
    scoring = Scoring.of(data, load_score("bdeu"), "all")
    nothing = np.empty(0, np.int64), np.empty((0, 1), np.uint64), np.empty(0)
    larger = room.Larger.of(scoring, 3, nothing, 1)
    larger.nodes = 1e6
    larger.announce(59.0)
    assert not caplog.records
    larger.announce(600.0)
    assert "about 1,000,000 sets of more than 3 parents to be looked at, about 10 min" in caplog.text
    with pytest.raises(LimitError, match=r"about 28 h: max_parents=3, or bic or aic"):
        larger.announce(100_000.0)


def test_estimates_are_near_what_is_visited():
    data = optbn.load_network("child").sample(300, seed=1)
    scoring = Scoring.of(data, load_score("bdeu"), "all")
    table = optbn.score_table(data, "bdeu", 3)
    larger = room.Larger.of(scoring, 3, (table.children, table.masks, table.scores), 1)
    larger.expect()
    larger.families(lambda nodes: None)
    assert larger.nodes / 3 < larger.visited < larger.nodes * 3
