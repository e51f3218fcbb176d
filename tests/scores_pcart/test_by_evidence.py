"""alpha="auto" and its like: the best of every graph with every combination of values, by looking at all."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import optbn
from optbn.base.errors import UnsupportedError
from optbn.scores import load_score
from optbn.scores.pcart import PCART
from optbn.scores.trees.leaves import GRIDS
from tests.naive import pcart as naive
from tests.scores_pcart.columns import all_sets, random_data, score


def acyclic(parents: tuple[tuple[int, ...], ...]) -> bool:
    placed: set[int] = set()
    while len(placed) < len(parents):
        free = [v for v, of in enumerate(parents) if v not in placed and set(of) <= placed]
        if not free:
            return False
        placed |= set(free)
    return True


def test_the_network_is_the_best_of_all_graphs_with_all_values():
    for seed in range(4):
        data = random_data(np.random.default_rng(seed), ["c2", "c3", "c2"], 30)
        subsets = [[p for k in range(3) for p in itertools.combinations([u for u in range(3) if u != v], k)]
                   for v in range(3)]  # fmt: skip
        value = {
            (v, p, alpha): naive.pcart(data, v, p, 0, alpha=alpha)[0]
            for v in range(3) for p in subsets[v] for alpha in GRIDS["alpha"]
        }  # fmt: skip
        best = max(
            math.fsum(value[v, graph[v], alphas[v]] for v in range(3))
            for graph in itertools.product(*subsets)
            if acyclic(graph)
            for alphas in itertools.product(GRIDS["alpha"], repeat=3)
        )
        found = optbn.learn(data, score="pcart", alpha="auto", max_parents=2, smoother="m_estimate")
        assert found.solution.score == pytest.approx(best, abs=1e-8)
        (note,) = [note for note in found.report.notes if "by evidence" in note]
        assert note.startswith("alpha by evidence: ") and all(name in note for name in data.names)


@pytest.mark.parametrize("name", ["pcart", "pcartp", "pcart-avg", "ft", "ftp"])
def test_each_family_has_its_best_value(name):
    data = random_data(np.random.default_rng(1), ["c3", "r", "c2", "r"], 80)
    auto = {"alpha": "auto", "nu": "auto", "lambda_": {"v1": "auto", "*": 0.7}, "a": {"v3": "auto"}}
    bound = load_score(name, **auto).bind(data)
    numbers = [
        load_score(name, alpha=alpha, nu=nu, lambda_={"v1": lambda_, "*": 0.7}, a={"v3": a}).bind(data)
        for alpha in GRIDS["alpha"] for nu in GRIDS["nu"] for lambda_ in GRIDS["lambda_"] for a in GRIDS["a"]
    ]  # fmt: skip
    for k in (0, 1, 2):
        sets, wanted = all_sets(4, k)
        best = np.max([one.block(sets, wanted) for one in numbers], axis=0)
        np.testing.assert_array_equal(bound.block(sets, wanted), best)
    for child, parents in [(0, (1, 2)), (1, (0,)), (3, ())]:
        assert bound.fitted(child, parents).score == score(bound, 4, child, parents)


def test_gaps_take_alpha_and_the_numbers_their_own():
    rng = np.random.default_rng(2)
    x = np.where(rng.random(60) < 0.3, np.nan, rng.normal(size=60))
    table = {"x": x, "c": np.where(np.isnan(x) ^ (rng.random(60) < 0.1), "a", "b")}
    found = optbn.learn(table, score="pcart", alpha="auto", a="auto", missing="value")
    numbers = [optbn.learn(table, score="pcart", alpha=alpha, a=a, missing="value").solution.score
               for alpha in GRIDS["alpha"] for a in GRIDS["a"]]  # fmt: skip
    assert found.solution.score >= max(numbers) - 1e-9


def test_floors_and_limits_do_not_matter():
    data = optbn.load_network("asia").sample(300, 1)
    auto = optbn.score_table(data, "pcart", alpha="auto", max_parents=3)
    bound, n = load_score("pcart", alpha="auto").bind(data), data.n_variables
    for v in range(n):
        best: dict[tuple[int, ...], float] = {}
        kept = 0
        for k in range(4):
            for members in itertools.combinations([u for u in range(n) if u != v], k):
                own = score(bound, n, v, members)
                below = max((best[members[:j] + members[j + 1 :]] for j in range(k)), default=-math.inf)
                best[members] = max(own, below)
                kept += own > below
        assert kept == len(auto.rows(v))


def test_averages_use_the_chosen_value():
    data = random_data(np.random.default_rng(3), ["c3", "c2", "c2"], 100)
    found = optbn.learn(data, score="pcart", alpha="auto", trees="average", max_parents=2)
    chosen = {}
    bound = load_score("pcart-avg", alpha="auto").bind(data)
    for v, parents in enumerate(found.network.structure.parent_sets):
        chosen[data.names[v]] = bound.best(v, parents)[1]["alpha"]
    plain = optbn.learning.averaged.average_trees(found.network.structure, data, alpha=chosen)
    assert all(plain.cpd(name) == found.network.cpd(name) for name in data.names)


def test_wrong_words_are_refused():
    with pytest.raises(UnsupportedError, match="alpha is 'best', expected a finite number above 0, or auto"):
        PCART(alpha="best")
    with pytest.raises(UnsupportedError, match="mean is 'auto'"):
        PCART(mean="auto")
    with pytest.raises(UnsupportedError, match="gamma is 'auto'"):
        PCART(gamma="auto")
