"""`optbn gap`: the gap by its definition, classes by enumeration, p-values that are uniform where the graph holds."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import optbn
from optbn.base.errors import NetworkError, UnsupportedError
from optbn.cli import main
from optbn.evaluate.graphs import Graph, class_of
from optbn.evaluate.kernels.permutation import information_rank
from optbn.evaluate.markov import markov_check
from optbn.network.structure import Structure
from tests.naive.evaluate import information_ranks


def test_losses_add_up_to_the_gap_and_the_optimum_has_none():
    data = optbn.load_network("asia").sample(500, 1)
    empty = Structure.from_parents(dict.fromkeys(data.names, ()))
    found = optbn.gap(data, empty, "bdeu", permutations=0, jobs=1)
    assert found.proved and found.check is None and found.nats > 100
    assert sum(row["loss"] for row in found.families()) == pytest.approx(found.nats)
    table = optbn.score_table(data, "bdeu", 3, jobs=1)
    assert found.best_score == pytest.approx(optbn.solve(table).score)
    again = optbn.gap(data, found.best, "bdeu", permutations=0, jobs=1)
    assert again.nats == 0.0 and again.families() == []


@pytest.mark.parametrize("seed", range(6))
def test_the_best_member_of_a_class_is_that_of_all_members(seed):
    """By a score that members do not share."""
    rng = np.random.default_rng(seed)
    names = tuple("abcde")
    data = optbn.Dataset.from_arrays({name: rng.integers(0, 3, 60).astype(str) for name in names})
    dag = np.triu(rng.random((5, 5)) < 0.5, 1)
    cpdag = Graph(names, class_of(dag))
    found = optbn.gap(data, cpdag, "k2", permutations=0, jobs=1)
    pairs = [(u, v) for u, v in itertools.combinations(range(5), 2) if cpdag.matrix[u, v] or cpdag.matrix[v, u]]
    scores = []
    for turned in itertools.product([False, True], repeat=len(pairs)):
        matrix = np.zeros((5, 5), dtype=bool)
        for (u, v), turn in zip(pairs, turned, strict=True):
            matrix[(v, u) if turn else (u, v)] = True
        graph = Graph(names, matrix)
        if graph.kind == "DAG" and (class_of(matrix) == cpdag.matrix).all():
            scores.append(optbn.gap(data, graph, "k2", permutations=0, jobs=1).score)
    assert found.score == pytest.approx(max(scores))


@pytest.mark.twin
@pytest.mark.parametrize("seed", range(4))
def test_ranks_are_those_among_all_permutations(seed):
    """The shares that many random permutations give are those of all of them."""
    rng = np.random.default_rng(seed)
    starts = np.array([0, 3, 7])
    x, y = rng.integers(0, 3, 7), rng.integers(0, 2, 7)
    larger, equal, testable = information_rank(x, y, starts, 4000, rng)
    shares = information_ranks(x.tolist(), y.tolist(), starts.tolist())
    if testable:
        assert np.array([larger, equal]) / 4000 == pytest.approx(shares, abs=0.04)
    else:
        assert shares == (0.0, 1.0)


def test_p_values_are_uniform_where_the_graph_holds_and_small_where_it_does_not():
    network = optbn.load_network("child")
    below = [
        test.p
        for seed in range(4)
        for test in markov_check(network.structure, network.sample(60, seed), 99, seed).tests
    ]
    for level in (0.05, 0.2, 0.5, 0.8):  # few rows, many cells: exact all the same
        assert np.mean(np.array(below) < level) == pytest.approx(level, abs=0.06)
    data = network.sample(400, 5)
    empty = Structure.from_parents(dict.fromkeys(network.names, ()))
    wrong = markov_check(empty, data, 99, 5)
    assert wrong.uniformity < 1e-6 and len(wrong.rejected()) > 10
    assert [test.p for test in wrong.tests] == sorted(test.p for test in wrong.tests)
    assert markov_check(network.structure, data, 99, 5).uniformity > 1e-4


def test_real_columns_are_tested_in_quarters():
    rng = np.random.default_rng(3)
    x = rng.normal(size=300)
    data = optbn.Dataset.from_arrays({"x": x, "y": x + rng.normal(size=300), "z": rng.normal(size=300)})
    check = markov_check(Structure.from_parents({"x": [], "y": [], "z": []}), data, 199)
    assert {test.one + test.other for test in check.rejected()} <= {"xy", "yx"} and check.tests[0].p < 0.01


def test_the_command_says_where_a_graph_loses(tmp_path, capsys):
    optbn.write(optbn.load_network("asia").sample(300, 1), tmp_path / "asia.csv")
    (tmp_path / "theirs.txt").write_text("smoke -> lung\nlung -> either\ntub -> either\nasia\nxray\nbronc\ndysp\n")
    call = ["gap", str(tmp_path / "asia.csv"), str(tmp_path / "theirs.txt"), "--score", "bdeu"]
    with pytest.raises(SystemExit) as end:
        main(call)
    out, _ = capsys.readouterr()
    assert not end.value.code and "nats below the best network" in out and "(proved)" in out
    assert "independences that the graph implies were tested" in out and "The data contradict" in out
    with pytest.raises(SystemExit):
        main([*call, "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["gap"] == pytest.approx(sum(row["loss"] for row in answer["families"]))
    assert answer["check"]["rejected"] > 0


def test_what_cannot_be_compared_is_named():
    data = optbn.load_network("asia").sample(50, 1)
    with pytest.raises(NetworkError, match="different variables"):
        optbn.gap(data, "child", "bdeu")
    with pytest.raises(UnsupportedError, match="permutations"):
        optbn.gap(data, "asia", "bdeu", permutations=-1)
    with pytest.raises(UnsupportedError, match="leave the weights away"):
        optbn.gap(data, "asia", "bdeu", weights=np.full(50, 2.0), jobs=1)
    assert optbn.gap(data, "asia", "bdeu", weights=np.full(50, 2.0), permutations=0, jobs=1).nats > 0
