"""Candidate parents: all of them give the whole table, some of them the part that they allow, and it is said."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

import optbn
from optbn.base.errors import LimitError, UnsupportedError
from optbn.data.write import write
from optbn.learning.estimate import estimate
from optbn.scores import load_score
from optbn.scores.families import Families
from optbn.scores.listed import score
from optbn.scores.parent_sets import ParentSets
from optbn.scores.scoring import Scoring
from optbn.scores.selection import likeliest
from optbn_solvers import Constraints
from tests.naive import phase1 as naive


@pytest.fixture(scope="module")
def data():
    return naive.random_categorical(np.random.default_rng(5), 7, 150)


def test_all_candidates_give_the_whole_table(data):
    names = data.names
    for more in ({}, {"required": [(names[0], names[3])], "forbidden": [(names[1], names[2])], "roots": [names[4]]}):
        whole = optbn.score_table(data, "bdeu", 3, **more)
        assert optbn.score_table(data, "bdeu", 3, candidates=6, **more) == whole


def test_some_candidates_are_the_best_single_parents(data):
    k, largest = 3, 2
    wanted = {}
    for child in data.names:
        gain = {other: score(data, child, [other], "bdeu") for other in data.names if other != child}
        best = sorted(gain, key=lambda name: -gain[name])[:k]
        for size in range(largest + 1):
            for parents in combinations(best, size):
                wanted[child, frozenset(parents)] = score(data, child, parents, "bdeu")
    table = optbn.score_table(data, "bdeu", largest, candidates=k)
    assert len(table) > table.n
    for row, child in enumerate(table.children.tolist()):
        parents = frozenset(table.names[u] for u in table.parents(row))
        assert wanted[table.names[child], parents] == pytest.approx(table.scores[row], abs=1e-9)
    for (child, parents), value in wanted.items():  # what is missing, a subset matches
        v = table.names.index(child)
        within = [table.scores[row] for row in table.rows(v) if {table.names[u] for u in table.parents(row)} <= parents]
        assert max(within) >= value - 1e-9


def test_required_parents_are_candidates_in_any_case(data):
    names = data.names
    required = [(name, names[0]) for name in names[3:6]]
    constraints = ParentSets.of(names, 4, Constraints(required=required))
    chosen = likeliest(load_score("bdeu").bind(data), constraints, 1)
    assert chosen[0, 3:6].all() and chosen[0].sum() == 3
    assert (chosen.sum(axis=1)[1:] <= 1).all()


def test_it_is_said_wherever_the_table_goes(data, tmp_path, capsys):
    from optbn.cli import main

    write(data, tmp_path / "d.csv", "csv")
    for arguments in (
        ["score", "d.csv", "-D", "2", "--candidates", "3", "-o", "s.parquet"],
        ["solve", "s.parquet", "-o", "a.json"],
    ):
        with pytest.raises(SystemExit) as left:
            main([str(tmp_path / each) if "." in each else each for each in arguments])
        assert left.value.code == 0
        assert "among the 3 likeliest parents of each variable" in capsys.readouterr().out
    assert "among the 3 likeliest" in (tmp_path / "a.json").read_text()


def test_learning_among_candidates_is_learning_from_their_table(data):
    names = data.names
    for constraints in ({}, {"required": [(names[0], names[3])], "forbidden": [(names[1], names[2])]}):
        found = optbn.learn(
            data, score="bdeu", max_parents=2, candidates=3, constraints=constraints, smoother="laplace"
        )
        assert found.scores == optbn.score_table(data, "bdeu", 2, candidates=3, **constraints)
        proof = found.report.outcome.proof
        assert proof.startswith("Best network with at most 2 parents per variable, of the 3 likeliest parents of each")
        assert "candidates=3" in found.report.command and found.report.settings["candidate parents"] == 3


def test_what_needs_every_set_of_the_candidates_gets_them(data):
    """An adjacency that is asked for may need sets that a subset beats, and probabilities are over all sets."""
    names = data.names
    asked = {"required_edges": [(names[0], names[3])]}
    found = optbn.learn(
        data, score="bdeu", max_parents=2, candidates=2, constraints=asked, smoother="laplace", posteriors=True
    )
    chosen = likeliest(load_score("bdeu").bind(data), ParentSets.of(names, 2), 2)
    sizes = [math.comb(int(row.sum()), k) for row in chosen for k in range(3)]
    assert len(found.scores) == sum(sizes)
    assert "at most 2 parents among the 2 likeliest parents of each variable" in " ".join(found.report.notes)
    for arc in (*found.report.arcs, *found.report.others):
        assert chosen[names.index(arc.child), names.index(arc.parent)]


def test_the_estimate_counts_the_sets_of_candidates(data):
    costs = estimate(Scoring.of(data, load_score("bdeu"), 2, candidates=3))
    assert [cost.families for cost in costs] == [7, 7 + 7 * 3, 7 + 7 * 3 + 7 * 3]


@pytest.mark.parametrize("n", [5, 70])
def test_allowed_families_are_those_one_by_one(n):
    names = [f"v{i}" for i in range(n)]
    words = Constraints(forbidden=[("v2", "v4")], required=[("v0", "v1"), (names[-1], "v1")], roots=["v3"])
    rules = ParentSets.of(names, {"*": 2, "v1": 3}, words)
    listed = Families.allowed(names, rules, 1 << 30)
    found = [
        (child, frozenset(u for u in range(n) if int(mask[u // 64]) >> u % 64 & 1))
        for child, mask in zip(listed.children.tolist(), listed.masks, strict=True)
    ]
    wanted = {
        (v, frozenset(some))
        for v in range(n)
        for size in range(4)
        for some in combinations(np.flatnonzero(rules.allowed[v]).tolist(), size)
        if size <= rules.max_parents[v] and set(np.flatnonzero(rules.required[v]).tolist()) <= set(some)
    }
    assert len(found) == len(wanted) and set(found) == wanted
    with pytest.raises(LimitError, match="allow fewer parents, or raise the memory"):
        Families.allowed(names, rules, 1 << 10)


def test_what_is_refused(data, tmp_path):
    for k in (0, -1, 1.5, True):
        with pytest.raises(UnsupportedError, match="expected a whole number"):
            optbn.score_table(data, "bdeu", 2, candidates=k)
        with pytest.raises(UnsupportedError, match="expected a whole number"):
            optbn.learn(data, candidates=k)
    for call in (optbn.score_table, optbn.learn):
        with pytest.raises(UnsupportedError, match="does not go with store"):
            call(data, max_parents=2, candidates=3, store=tmp_path)
