"""Solutions as JSON: round trip to the bit, and plain words for files that are not solutions of this table."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from optbn_solvers import Constraints, ScoreTable, Solution, Status, solve
from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.base.solution import ClusterRow, Exhausted, Part, Parts, Proof, RowBound, SubsetRow, Tree
from optbn_solvers.base.solution_json import from_json, has_constraints, to_json
from optbn_solvers.verify import verify
from tests.naive.solvers import random_table

ROWS = RowBound(
    (
        (ClusterRow((0, 2), 2**50), SubsetRow((0, 1, 2), ((0, (1,), 2), (1, (0, 2), 1)), 2, 7)),
        (),
        (ClusterRow((1,), 0),),
    )
)
EVIDENCE = [
    None,
    ROWS,
    Proof("deep/x.proof", "ab" * 32),
    Exhausted("subset dynamic programming"),
    Exhausted("a tree", 1e-7),
    Tree(bytes(range(256)), 17, 8),
    Parts((Part((0, 2), -(2**45), ROWS), Part((1,), 5, Exhausted("x", 0.5)))),
]


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_round_trip(evidence):
    table = random_table(np.random.default_rng(1), 5)
    choice = tuple(table.find(v, []) for v in range(5))
    for score, bound in ((table.total(choice), math.inf), (table.total(choice), 0.1 + 0.2)):
        before = Solution(
            Status.FEASIBLE,
            choice,
            score,
            bound,
            evidence,
            table.digest,
            "some",
            {"nodes": 3, "by": [1, 2.5], "x": "y"},
        )
        assert from_json(table, to_json(table, before)) == before


def test_round_trip_without_a_graph():
    table = random_table(np.random.default_rng(1), 5)
    before = Solution(Status.UNKNOWN, None, None, math.inf, None, table.digest, "some")
    assert from_json(table, to_json(table, before)) == before


def test_numpy_among_the_statistics():
    table = random_table(np.random.default_rng(1), 3)
    choice = tuple(table.find(v, []) for v in range(3))
    statistics = {"a": np.int64(3), "b": np.arange(3), "c": np.float64(0.5)}
    before = Solution(Status.FEASIBLE, choice, table.total(choice), 1e9, None, table.digest, "some", statistics)
    assert from_json(table, to_json(table, before)).statistics == {"a": 3, "b": [0, 1, 2], "c": 0.5}


def test_a_file_with_nothing_but_a_graph():
    """What another program found can be checked too: only what is said is checked, and nothing is proved by it."""
    table = random_table(np.random.default_rng(2), 5)
    found = solve(table, "dp")
    graph = {child: list(parents) for child, parents in table.graph(found.choice).items()}
    read = from_json(table, json.dumps({"parents": graph, "score": found.score}))
    verdict = verify(table, read)
    assert read.choice == found.choice and not verdict.optimal and not verdict.claimed
    with pytest.raises(CheckFailed, match="add up to"):
        verify(table, from_json(table, json.dumps({"parents": graph, "score": found.score + 1})))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["parents"].pop("v1"), "says nothing about 'v1'"),
        (lambda d: d["parents"].update(v9=[]), "names 'v9', which is not a variable"),
        (lambda d: d["parents"].update(v0=["v8"]), "names 'v8', which is not a variable"),
        (lambda d: d["parents"].update(v0=["v1", "v2", "v3", "v4"]), r"'v0' with parents \{v1, v2, v3, v4\} is not in"),
        (lambda d: d.update(variables=["a"]), "about other variables"),
        (lambda d: d.update(format="optbn-solution-9"), "not a solution file"),
        (lambda d: d.update(status="perfect"), "not a solution file.*perfect"),
        (lambda d: d.update(score="high"), r"not a solution file.*\$.score"),
        (lambda d: d.pop("parents"), "not a solution file.*parents"),
        (lambda d: d.update(bound=-1e9), "contradicts itself"),
        (lambda d: d.update(evidence={"kind": "magic"}), "not a solution file.*magic"),
        (
            lambda d: d.update(evidence={"kind": "rows", "stages": [[{"row": "cluster"}]]}),
            "not a solution file.*members",
        ),
    ],
)
def test_files_that_are_not_solutions_of_this_table(change, message):
    table = random_table(np.random.default_rng(2), 5)
    fields = json.loads(to_json(table, solve(table, "dp")))
    change(fields)
    with pytest.raises(CheckFailed, match=message):
        from_json(table, json.dumps(fields))


@pytest.mark.parametrize(
    "constraints",
    [
        *({kind: [["zz", "v1"]]} for kind in ("required", "forbidden", "required_edges", "forbidden_edges")),
        *({kind: [["v1", "zz"]]} for kind in ("ancestors", "no_ancestors", "tiers", "order")),
        {"forbidden": [[["x"], "v1"]]},
        {"forbidden": [[{}, "v1"]]},
        {"tiers": [[1, 2], ["v1"]]},
        {"roots": ["zz"]},
        {"leaves": [None]},
        {"max_children": {"zz": 1}},
        {"max_children": ["abc"]},
        {"max_arcs": "3"},
        {"independences": [[["v1"], ["v2"], ["zz"]]]},
        {"independences": [[["v1"], ["v2"], [["v3"]]]]},
        {"required": 5},
        {"nonsense": 1},
    ],
)
def test_constraints_that_are_not_about_the_table(constraints):
    table = random_table(np.random.default_rng(2), 5)
    fields = json.loads(to_json(table, solve(table, "dp"))) | {"constraints": constraints}
    with pytest.raises(CheckFailed, match="the constraints in the solution"):
        from_json(table, json.dumps(fields))


def test_constraints_come_back():
    table = random_table(np.random.default_rng(2), 5)
    asked = Constraints(
        forbidden=[("v0", "v1")],
        tiers=[["v2"], ["v3"]],
        max_children={"*": 3, "v1": 2},
        independences=[(["v0"], ["v4"], [])],
        leaves=["v1"],
    )
    found = solve(table, "dp", constraints=asked)
    assert from_json(table, to_json(table, found)).constraints == asked
    assert has_constraints(to_json(table, found))


def test_json_that_is_too_deep():
    text = '{"parents": {}, "score": 0, "statistics": {"a": ' + "[" * 200_000 + "]" * 200_000 + "}}"
    for read in (has_constraints, lambda text: from_json(ScoreTable.from_dict({"a": {(): 0.0}}), text)):
        with pytest.raises(CheckFailed, match="not a solution file"):
            read(text)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\xff\xfe", b"\xff\x00"])
def test_text_that_is_no_json(text):
    with pytest.raises(CheckFailed, match="not a solution file"):
        from_json(ScoreTable.from_dict({"a": {(): 0.0}}), text)
