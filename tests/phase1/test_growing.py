"""Scoring without a limit on parents: the table of all 2^(n-1) sets, and what bounds close is closed rightly."""

import itertools

import numpy as np
import pytest

import optbn
from optbn.base.errors import LimitError, UnsupportedError
from optbn.scores import load_score
from optbn.scores.kernels.growing import grown, ranks
from optbn.scores.kernels.sets import binomials
from optbn.scores.pipeline import growing
from optbn.scores.scoring import Scoring
from optbn_solvers.base.errors import ConstraintError
from tests.naive import phase1 as naive

SCORES = [
    ("bic", {}),
    ("aic", {}),
    ("bdeu", {}),
    ("bdeu", {"ess": 20.0}),
    ("bds", {}),
    ("k2", {}),
    ("bic", {"prior": "arcs"}),
    ("bdeu", {"prior": "size"}),
    ("aic", {"prior": {("v0", "v1"): 0.9, ("v2", "v1"): 0.01, "*": 0.3}}),
]


def random_data(rng, n):
    rows = int(rng.choice([1, 3, 12, 40, 150]))
    return naive.random_categorical(rng, n, rows, levels=int(rng.integers(2, 5)), skew=bool(rng.random() < 0.5))


def same(one, other):
    return (
        np.array_equal(one.children, other.children)
        and np.array_equal(one.masks, other.masks)
        and np.array_equal(one.scores, other.scores)
    )


@pytest.mark.parametrize(("name", "settings"), SCORES)
def test_no_limit_gives_the_table_of_all_sets(name, settings):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        data = random_data(rng, 6)
        everything = optbn.score_table(data, name, 5, **settings)
        assert same(optbn.score_table(data, name, "all", jobs=1 + seed % 2, **settings), everything)


@pytest.mark.parametrize("name", ["bic", "bdeu"])
def test_required_and_forbidden_arcs(name):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        data = random_data(rng, 6)
        a, b, c, d = (data.names[v] for v in rng.permutation(6)[:4])
        rules = {"required": [(a, b), (c, b)], "forbidden": [(d, a)]}
        everything = optbn.score_table(data, name, {"*": 5, d: 2}, **rules)
        assert same(optbn.score_table(data, name, {"*": "all", d: 2}, **rules), everything)


@pytest.mark.parametrize("name", ["bic", "bdeu"])
@pytest.mark.parametrize("unit", [1.0, 0.3])
def test_weighted_rows(name, unit):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        data = random_data(rng, 5)
        weights = unit * rng.integers(1, 5, data.n_rows)
        everything = optbn.score_table(data, name, 4, weights=weights)
        assert same(optbn.score_table(data, name, "all", weights=weights), everything)


def test_real_columns_end_at_the_regression_on_all_others():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        data = naive.random_real(rng, 6, int(rng.choice([12, 60, 400])))
        for name in ("bic", "aic"):
            assert same(optbn.score_table(data, name, "all"), optbn.score_table(data, name, 5))


def test_ceilings_are_above_every_larger_set():
    for seed in range(6):
        rng = np.random.default_rng(seed)
        data = random_data(rng, 5)
        for name, settings in SCORES:
            bound, n = load_score(name, **settings).bind(data), data.n_variables
            scores, ceilings = {}, {}
            for child, parents in naive.families(n, n - 1):
                wanted = np.arange(n)[None, :] == child
                sets = np.array([parents], np.int32).reshape(1, -1)
                found = bound.bounded_block(sets, wanted, np.full((1, n), -np.inf))
                scores[child, parents], ceilings[child, parents] = (part[0, child] for part in found)
            for (child, parents), ceiling in ceilings.items():
                for (other, larger), score in scores.items():
                    if other == child and set(larger) > set(parents) and data.cardinalities[child] > 1:
                        # a member of one level leaves everything as it is
                        if all(data.cardinalities[u] == 1 for u in set(larger) - set(parents)):
                            continue
                        assert score <= ceiling + 1e-9 * (1 + abs(ceiling)), (name, child, parents, larger)


@pytest.mark.twin
def test_grown_is_what_all_subsets_allow():
    rng = np.random.default_rng(1)
    for _ in range(200):
        n, k = int(rng.integers(3, 8)), int(rng.integers(1, 5))
        every = list(itertools.combinations(range(n), k))
        chosen = [members for members in every if rng.random() < 0.8]
        best = {members: float(rng.integers(10)) for members in chosen}
        sets = np.array(chosen, np.int32).reshape(-1, k)
        choose = binomials(n, k)
        top = np.array([best[members] for members in chosen])
        larger, floor = grown(sets, ranks(sets, n, choose), top, n, choose)
        expected = {}
        for members in itertools.combinations(range(n), k + 1):
            within = list(itertools.combinations(members, k))
            if all(one in best for one in within):
                expected[members] = max(best[one] for one in within)
        assert dict(zip(map(tuple, larger.tolist()), floor.tolist(), strict=True)) == expected
        assert larger.tolist() == sorted(larger.tolist())


def test_what_was_needless_is_counted():
    data = optbn.load_network("asia").sample(500, seed=1)
    growth = growing(Scoring.of(data, load_score("bic"), "all"), 1, None)
    while growth.open:
        growth.step()
    assert growth.scored + growth.needless == 8 * 2**7
    assert growth.scored <= growth.looked_at < 8 * 2**7


def test_learn_without_a_limit_is_learn_of_all_sets():
    data = optbn.load_network("asia").sample(500, seed=1)
    found = optbn.learn(data, score="bic", max_parents="all", smoother="laplace")
    limited = optbn.learn(data, score="bic", max_parents=7, smoother="laplace")
    assert found.solution.score == limited.solution.score
    assert not found.report.outcome.restrictions
    assert any("bounds prove" in note for note in found.report.notes)


def test_learn_without_a_limit_stops_in_time_and_says_so():
    data = optbn.load_network("alarm").sample(1000, seed=1)
    found = optbn.learn(data, score="bdeu", max_parents="all", smoother="laplace", time_limit=4)
    assert found.report.outcome.restrictions[0].startswith("with at most ")
    assert any("not any number" in note for note in found.report.notes)


def test_scores_without_bounds_take_all_sizes():
    data = naive.random_categorical(np.random.default_rng(1), 4, 50)
    assert same(optbn.score_table(data, "pcart", "all"), optbn.score_table(data, "pcart", 3))


@pytest.mark.parametrize(("name", "settings"), [("pcart", {}), ("pcartp", {"leaf": "bic"})])
def test_trees_that_nothing_ends_are_refused_at_once(name, settings):
    data = optbn.load_network("child").sample(1000, seed=1)
    with pytest.raises(LimitError, match=r"10,485,760 families here, .* Set max_parents to a smaller number"):
        optbn.score_table(data, name, "all", **settings)
    with pytest.raises(LimitError, match=r"no bound that shows the larger ones needless"):
        optbn.learn(data, score=name, max_parents="all", **settings)


def test_too_many_families_are_refused_with_a_remedy():
    data = optbn.load_network("alarm").sample(500, seed=1)
    with pytest.raises(LimitError, match=r"set max_parents to [1-9], or raise the memory"):
        optbn.score_table(data, "bdeu", "all", memory="20M")


def test_what_does_not_go_together_is_refused(tmp_path):
    data = optbn.load_network("cancer").sample(50, seed=1)
    with pytest.raises(UnsupportedError, match="max_parents to a number"):
        optbn.score_table(data, "bic", "all", store=tmp_path / "kept")
    with pytest.raises(UnsupportedError, match="posteriors"):
        optbn.learn(data, score="bic", max_parents="all", posteriors=True)
    with pytest.raises(ConstraintError, match="or 'all'"):
        optbn.score_table(data, "bic", "many")


def test_interventions():
    data = optbn.load_network("cancer").sample(300, seed=1)
    mask = np.arange(300) < 100
    frame = data.to_frame()
    frame["set"] = np.where(mask, "Smoker", "")
    found = optbn.learn(frame, score="bic", max_parents="all", targets="set", smoother="laplace")
    limited = optbn.learn(frame, score="bic", max_parents=4, targets="set", smoother="laplace")
    assert found.solution.score == limited.solution.score
