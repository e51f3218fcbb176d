"""Priors over parent sets: by their definitions, and pruning that stays right whatever the prior is."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import optbn
from optbn.base.errors import OptbnError, UnsupportedError
from optbn.scores import load_score
from optbn.scores.parent_priors import read_beliefs
from tests.naive import phase1 as naive
from tests.scores_pcart.columns import random_data

NAMES = tuple(f"v{i}" for i in range(5))
BELIEFS = {("v0", "v1"): 0.95, ("v2", "v1"): 0.01, ("v3", "v4"): 0.7, "*": 0.2}
PRIORS = ["uniform", "size", "arcs", "arcs=6", BELIEFS]


def log_prior(prior, n: int, child: int, parents: tuple[int, ...]) -> float:
    """log pi of one family by definition."""
    k = len(parents)
    if prior == "size":
        return -math.log(math.comb(n - 1, k))
    if prior == "arcs":
        return -k * math.log(n - 1)
    if prior == "arcs=6":
        p = 6 / (n * (n - 1))
        return math.log(p**k * (1 - p) ** (n - 1 - k))
    if isinstance(prior, dict):
        beliefs = {u: prior.get((f"v{u}", f"v{child}"), prior["*"]) for u in range(n) if u != child}
        return sum(math.log(b if u in parents else 1 - b) for u, b in beliefs.items())
    return 0.0


@pytest.mark.parametrize("name", ["pcart", "ft", "bdeu", "bic", "qnml", "pcart-avg"])
@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_tables_under_a_prior(name, prior):
    """Every family above all its subsets is in the table with its score, and nothing else: pruned or not."""
    rng = np.random.default_rng(7)
    data = random_data(rng, ["c2", "c3", "c2", "o3", "c2"], 60)
    table = optbn.score_table(data, name, 3, prior=prior, jobs=1)
    plain = load_score(name).bind(data)
    scores = {}
    for size in range(4):
        sets = np.array(list(itertools.combinations(range(5), size)), np.int32).reshape(math.comb(5, size), size)
        wanted = np.array([[v not in members for v in range(5)] for members in sets.tolist()])
        found = plain.block(sets, wanted)
        for i, v in np.argwhere(wanted):
            parents = tuple(sets[i].tolist())
            scores[v, parents] = found[i, v] + log_prior(prior, 5, int(v), parents)
    sets = [tuple(u for u in range(5) if int(mask[0]) >> u & 1) for mask in table.masks]
    kept = dict(zip(zip(table.children.tolist(), sets, strict=True), table.scores.tolist(), strict=True))
    for (v, parents), score in scores.items():
        subsets = [scores[v, q] for k in range(len(parents)) for q in itertools.combinations(parents, k)]
        if (v, parents) in kept:
            assert kept[v, parents] == pytest.approx(score, rel=1e-9)
            assert all(score > other - 1e-9 for other in subsets)
        else:
            assert any(score <= other + 1e-9 for other in subsets)


def test_scores_that_have_the_prior_by_name():
    data = random_data(np.random.default_rng(1), ["c2", "r", "c3", "c2"], 50)
    for named, plain in (("pcartp", "pcart"), ("ftp", "ft")):
        one, other = (
            optbn.score(data, "v0", ["v1", "v2"], s, **k) for s, k in ((named, {}), (plain, {"prior": "size"}))
        )
        assert one == other
        with pytest.raises(UnsupportedError, match=f"take {plain} for another prior"):
            load_score(named, prior="arcs")


def test_learning_with_beliefs(tmp_path):
    """Beliefs move a graph that the data leave open; a file and a mapping say the same."""
    data = naive.random_categorical(np.random.default_rng(3), 3, 30)
    names = data.names
    path = tmp_path / "beliefs.txt"
    path.write_text(f"# what we think\n{names[0]} -> {names[1]}: 0.999999999999\n*: 1e-9\n")
    mapping = {(names[0], names[1]): 0.999999999999, "*": 1e-9}
    found = [optbn.learn(data, score="bdeu", max_parents=2, prior=p).network.structure for p in (str(path), mapping)]
    assert found[0].arcs == found[1].arcs == ((names[0], names[1]),)


@pytest.mark.parametrize(
    ("prior", "match"),
    [
        ("often", "'often', and there is no such file; expected uniform, size"),
        ("arcs=-1", "number of arcs above 0"),
        (3, "expected uniform"),
        ({("a", "b"): 1.0}, "a -> b is 1.0, expected a number between 0 and 1; to forbid"),
        ({("a", "a"): 0.5}, "pair of different variables"),
    ],
)
def test_priors_that_do_not_exist(prior, match):
    with pytest.raises(UnsupportedError, match=match):
        load_score("bic", prior=prior)


def test_files_of_beliefs_that_cannot_be_read(tmp_path):
    data = naive.random_categorical(np.random.default_rng(3), 3, 30)
    path = tmp_path / "beliefs.txt"
    for text, match in (
        ("a b 0.5", "line 1: expected"),
        ("*: .1\n*: .2", "listed twice"),
        ("p -> q: 0.5", "no variable 'p'"),
    ):
        path.write_text(text)
        with pytest.raises(OptbnError, match=match):
            optbn.score(data, data.names[0], [], "bic", prior=str(path))


def test_beliefs_in_both_directions_may_not_contradict_each_other(tmp_path):
    beliefs = {("a", "b"): 0.7, ("b", "a"): 0.4}
    with pytest.raises(UnsupportedError, match=r"a -> b and b -> a contradict each other: they add up to 1\.1"):
        load_score("bdeu", prior=beliefs)
    path = tmp_path / "beliefs.txt"
    path.write_text("a -> b: 0.7\nb -> a: 0.4\n")
    with pytest.raises(UnsupportedError, match="contradict each other"):
        read_beliefs(str(path))
    path.write_text("a -> b: 0.6\nb -> a: 0.4\n*: 0.5\n")
    assert read_beliefs(str(path)) == {("a", "b"): 0.6, ("b", "a"): 0.4, "*": 0.5}
