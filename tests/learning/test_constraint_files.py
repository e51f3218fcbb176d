"""Files of constraints of ours and of Tetrad, read, written and obeyed; benchpress' are in tests/evaluate."""

from __future__ import annotations

import json

import pytest

import optbn
from optbn.base.errors import DataError, UnsupportedError
from optbn.cli import main
from optbn.learning.constraint_files import FORMAT, read_constraints, write_constraints
from optbn_solvers import Constraints

KNOWLEDGE = """/knowledge

addtemporal
1* a b
2- c
3 d
4 e

forbiddirect
a ==> c
b d

requiredirect
a d
"""


def test_tetrads_knowledge(tmp_path):
    path = tmp_path / "known.txt"
    path.write_text(KNOWLEDGE)
    found = read_constraints(path, tuple("abcde"))
    assert found.tiers == (("a", "b"), ("c",), ("d",), ("e",)) and found.required == (("a", "d"),)
    assert set(found.forbidden) == {("a", "c"), ("b", "d"), ("a", "b"), ("b", "a"), ("c", "e")}


@pytest.mark.parametrize("name", ["c.txt", "c.knowledge", "c.json"])
def test_what_is_written_is_read_back(tmp_path, name):
    plain = Constraints(required=[("a", "b")], forbidden=[("b", "c")], tiers=[["a"], ["b", "c"]])
    write_constraints(plain, tmp_path / name)
    assert read_constraints(tmp_path / name, tuple("abc")) == plain


def test_ours_says_everything(tmp_path):
    every = Constraints(
        required=[("a", "b")], forbidden_edges=[("b", "c")], order=[["a", "b"]], ancestors=[("a", "c")],
        max_children={"*": 2}, max_arcs=3, roots=["a"], independences=[(["a"], ["d"], ["b"])],
    )  # fmt: skip
    write_constraints(every, tmp_path / "c.json")
    assert read_constraints(tmp_path / "c.json", tuple("abcd")) == every
    with pytest.raises(UnsupportedError, match="cannot say"):
        write_constraints(every, tmp_path / "c.txt")
    with pytest.raises(UnsupportedError, match="'a b' cannot stand"):
        write_constraints(Constraints(roots=[], required=[("a b", "c")]), tmp_path / "c.txt")


def test_learn_obeys_a_file(tmp_path, capsys):
    data = optbn.load_network("asia").sample(300, 1)
    path = tmp_path / "known.txt"
    path.write_text(
        "/knowledge\naddtemporal\n1 smoke asia\n2 bronc lung tub either xray dysp\nforbiddirect\nsmoke bronc\n"
    )
    learned = optbn.learn(data, score="bdeu", max_parents=2, constraints=path, jobs=1)
    arcs = learned.network.structure.arcs
    assert ("smoke", "bronc") not in arcs
    assert not any(v in ("smoke", "asia") and u not in ("smoke", "asia") for u, v in arcs)
    optbn.write(data, tmp_path / "asia.csv")
    with pytest.raises(SystemExit):
        main(["learn", str(tmp_path / "asia.csv"), "--score", "bdeu", "-D", "2", "--constraints", str(path), "--json"])
    shown = json.loads(capsys.readouterr().out)
    assert {(arc["parent"], arc["child"]) for arc in shown["arcs"]} == set(arcs)


def test_bad_files_are_named(tmp_path):
    for text, message in (
        ("nothing\n", "is not knowledge of Tetrad"),
        ("", "expected JSON, or Tetrad's"),
        ("/knowledge\nforbiddirect\na b c\n", "line 3"),
        ("/knowledge\nforbiddengroup\na b\n", "'a b', has no line of effects"),
        (json.dumps({"format": FORMAT, "forbiden": []}), "no constraint 'forbiden'"),
        ('{"forbiden": []}', "optbn-constraints 1"),
        ("{", "Expecting"),
    ):
        path = tmp_path / "bad.txt"
        path.write_text(text)
        with pytest.raises((DataError, UnsupportedError), match=message):
            read_constraints(path, ("a", "b"))


def test_groups_of_tetrad_are_all_their_arcs(tmp_path):
    """Two lines each, the causes and the effects, as Tetrad's loader reads them."""
    path = tmp_path / "groups.knowledge"
    path.write_text("/knowledge\naddtemporal\n1 a\n\nforbiddengroup\na b\nc d\nd\na d\n\nrequiredgroup\na\nb\n")
    found = read_constraints(path, "abcd")
    assert found.forbidden == (("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("d", "a"))
    assert found.required == (("a", "b"),) and found.tiers == (("a",),)
