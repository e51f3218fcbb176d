"""Candidate parents: all of them give the whole table, some of them the part that they allow, and it is said."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import optbn
from optbn.data.write import write
from optbn.errors import UnsupportedError
from optbn.scores import load_score
from optbn.scores.constraints import Constraints
from optbn.scores.families import score
from optbn.scores.selection import likeliest
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
        gain = {other: score(data, child, [other]) for other in data.names if other != child}
        best = sorted(gain, key=lambda name: -gain[name])[:k]
        for size in range(largest + 1):
            for parents in combinations(best, size):
                wanted[child, frozenset(parents)] = score(data, child, parents)
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
    constraints = Constraints.build(names, 4, required=required)
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


def test_what_is_refused(data, tmp_path):
    for k in (0, -1, 1.5, True):
        with pytest.raises(UnsupportedError, match="expected a whole number"):
            optbn.score_table(data, "bdeu", 2, candidates=k)
    with pytest.raises(UnsupportedError, match="do not go with a store"):
        optbn.score_table(data, "bdeu", 2, candidates=3, store=tmp_path)
