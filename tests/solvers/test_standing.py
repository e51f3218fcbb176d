"""One vocabulary for answers; what can be checked is kept beside what is claimed."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from optbn_solvers import Budget, ScoreTable, Solution, Status, solve
from optbn_solvers.base.solution import ClusterRow, Exhausted, Part, Parts, RowBound
from optbn_solvers.base.solution_json import from_json, to_json
from optbn_solvers.base.standing import Standing, checked_bound, checked_gap, standing
from optbn_solvers.front.beside import with_rows_of
from optbn_solvers.front.checked import checked
from optbn_solvers.front.components import Components
from optbn_solvers.verify import verify
from tests.naive.solvers import random_table

# Two variables that want each other: the plain bound is 0, one cluster proves the optimum of -1.
TABLE = ScoreTable.from_dict({"a": {(): -1.0, ("b",): 0.0}, "b": {(): -1.0, ("a",): 0.0}})
CLUSTER = RowBound(((ClusterRow((0, 1), TABLE.units_of(1.0)),),))
HALF = RowBound(((ClusterRow((0, 1), TABLE.units_of(0.5)),),))
BEST = (0, TABLE.find(1, []))


def answer(evidence, bound, choice=BEST):
    score = None if choice is None else TABLE.total(choice)
    status = Status.UNKNOWN if score is None else Status.OPTIMAL if bound == score else Status.FEASIBLE
    return checked(TABLE, Solution(status, choice, score, bound, evidence, TABLE.digest, "test"), Budget(), work=0)


@pytest.mark.parametrize(
    ("evidence", "bound", "choice", "expected", "most"),
    [
        (CLUSTER, -1.0, BEST, Standing.PROVED, -1.0),
        (Exhausted("x"), -1.0, BEST, Standing.COMPLETE, 0.0),
        (Exhausted("x", rows=HALF), -1.0, BEST, Standing.COMPLETE, -0.5),
        (Exhausted("x", rows=CLUSTER), -1.0, BEST, Standing.PROVED, -1.0),
        (Exhausted("x", rows=HALF), -0.75, BEST, Standing.FOUND, -0.5),
        (HALF, -0.5, BEST, Standing.FOUND, -0.5),
        (None, 0.0, BEST, Standing.FOUND, 0.0),
        (None, 0.0, None, Standing.NONE, 0.0),
        (Parts((Part((0, 1), TABLE.units_of(-1.0), Exhausted("x", rows=HALF)),)), -1.0, BEST, Standing.COMPLETE, -0.5),
    ],
)
def test_words_follow_from_what_was_checked(evidence, bound, choice, expected, most):
    found = answer(evidence, bound, choice)
    assert standing(found) is expected and checked_bound(found) == most
    assert checked_gap(found) == (math.inf if choice is None else most + 1.0)
    fields = json.loads(to_json(TABLE, found))
    assert fields["standing"] == expected and fields["tolerance"] == TABLE.tolerance
    again = from_json(TABLE, to_json(TABLE, found))
    assert again.evidence == evidence
    assert standing(again) in (Standing.NONE, Standing.FOUND, Standing.COMPLETE)  # until it is checked again


def test_a_stopped_search_is_not_called_complete():
    found = verify(TABLE, answer(Exhausted("some search", rows=HALF), -0.75), work=0)
    assert found.claimed == ("the bound -0.75: some search, stopped",)
    found = verify(TABLE, answer(Exhausted("some search"), -1.0), work=0)
    assert found.claimed == ("the bound -1.0: searched completely by some search",)


def test_the_rows_that_prove_more_are_kept():
    claim = answer(Exhausted("x"), -1.0)
    proof = answer(HALF, -0.5)
    both = with_rows_of(TABLE, claim, proof, Budget())
    assert both.evidence == Exhausted("x", rows=HALF) and both.bound == -1.0
    assert with_rows_of(TABLE, both, answer(None, 0.0), Budget()) is both
    assert with_rows_of(TABLE, both, proof, Budget()) is both
    assert with_rows_of(TABLE, both, answer(CLUSTER, -1.0), Budget()).evidence == Exhausted("x", rows=CLUSTER)
    assert with_rows_of(TABLE, proof, both, Budget()) is proof


def test_branching_keeps_the_rows_of_its_root():
    """A search that is stopped below its root proves what the root proved."""
    rng = np.random.default_rng(3)
    kept = 0
    for _ in range(6):
        table = random_table(rng, 16, "dense", rows=20)
        found = solve(table, "ilp", carried=0)
        root = verify(table, replace(found, evidence=None, status=Status.FEASIBLE, bound=math.inf)).bound
        if isinstance(found.evidence, Exhausted):
            assert found.evidence.rows is not None
            kept += checked_bound(found) < root
        again = from_json(table, to_json(table, found))
        assert again.evidence == found.evidence
    assert kept


def test_components_rename_the_rows_beside_a_claim():
    class Claims:
        def solve(self, table, budget=None, start=None, progress=None):
            best = solve(table, "dp")
            row = RowBound(((ClusterRow(tuple(range(table.n)), 1),),))
            return replace(best, evidence=Exhausted("x", rows=row))

    table = random_table(np.random.default_rng(4), 10, "blocks")
    found = Components(Claims()).solve(table)
    assert isinstance(found.evidence, Parts) and len(found.evidence.parts) > 1
    for part in found.evidence.parts:
        assert isinstance(part.evidence, Exhausted) and part.evidence.rows is not None
        assert part.evidence.rows.stages[0][0].members == part.members
    verify(table, found)
