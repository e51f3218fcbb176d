"""The checker's own search through sets of variables, and trees for what it is too small for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from optbn_solvers import Budget, ScoreTable, solve
from optbn_solvers.base.errors import CheckFailed, OutOfTime, TooMuch
from optbn_solvers.base.solution import ClusterRow, Exhausted, Parts, RowBound, Status, SubsetRow, Tree
from optbn_solvers.base.standing import Standing, standing
from optbn_solvers.front import checked as front
from optbn_solvers.front.checked import checked
from optbn_solvers.front.completion import completed
from optbn_solvers.verify import layers, verify
from optbn_solvers.verify.families import FITS, Families
from optbn_solvers.verify.layers import Best, Work, best_above
from optbn_solvers.verify.subsets import LARGEST, NEVER, best_choice
from tests.naive.solvers import KINDS, largest_left_side, optimum_by_subsets, random_table


def listed(table: ScoreTable) -> list[list[tuple[int, int]]]:
    return [[(int(table.masks[row, 0]), int(table.units[row])) for row in table.rows(v)] for v in range(table.n)]


def plenty() -> Work:
    return Work(math.inf, 1 << 30)


@pytest.mark.twin
@pytest.mark.parametrize("one", [1, 3, 14])
def test_it_finds_the_optimum(one, monkeypatch):
    """However many groups there are, whatever clusters are to help, and whatever there is to beat."""
    monkeypatch.setattr(layers, "ONE", one)
    monkeypatch.setattr(layers, "SCANNED", 0)
    monkeypatch.setattr(layers, "SLICE", 5)
    rng = np.random.default_rng(one)
    for trial in range(90):
        table = random_table(rng, 1 + trial % 9, KINDS[trial % len(KINDS)])
        expected = optimum_by_subsets(table)
        families = Families.of(listed(table))
        assert best_choice(listed(table)) == (NEVER if expected is None else expected)
        if expected is None:
            assert best_above(families, NEVER // 2, plenty()).order == []
            continue
        room = int(table.units.max() - table.units.min())
        clusters = [(int(rng.integers(1 << table.n)), int(rng.integers(0, 1 + room // 4))) for _ in range(trial % 7)]
        for below in (1, 1 + room // 3):
            found = best_above(families, expected - below, plenty(), clusters)
            assert found.units == expected
            placed = 0
            for v, row in found.order:
                assert families.child[row] == v and families.masks[row] & ~placed == 0
                placed |= 1 << v
            assert sum(int(families.units[row]) for _, row in found.order) == expected and placed == 2**table.n - 1
        for above in (0, 1 + room // 3):
            assert best_above(families, expected + above, plenty(), clusters) == Best(expected + above, [])


def test_it_refuses_what_it_cannot_do(monkeypatch):
    assert best_choice([[(0, 0)]] * (LARGEST + 1)) is None
    assert best_choice([[(0, 1 << 70)]]) is None
    assert best_choice([[(0, FITS)], [(0, 0)]]) is None and Families.of([[(0, 0)]] * 63) is None
    families = Families.of([[(0, 0)]] * 3)
    with pytest.raises(OutOfTime):
        best_above(families, 0, Work(math.inf, 1 << 30, lambda: True))
    monkeypatch.setattr(layers, "ONE", 2)
    monkeypatch.setattr(layers, "SCANNED", 0)
    for little in (Work(10, 1 << 30), Work(math.inf, 10)):
        with pytest.raises(TooMuch):
            best_above(families, -1, little)


@pytest.mark.twin
def test_subset_rows_have_the_largest_left_side_of_all_graphs():
    rng = np.random.default_rng(3)
    table = random_table(rng, 5)
    solution = replace(solve(table, "dp"), status=Status.FEASIBLE, bound=np.inf)
    for _ in range(40):
        members = tuple(sorted(rng.choice(5, int(rng.integers(1, 5)), replace=False).tolist()))
        listed = {
            (v, tuple(u for u in members if u != v and rng.random() < 0.5)): int(rng.integers(1, 9))
            for v in members
            for _ in range(3)
        }
        coefficients = [(v, parents, a) for (v, parents), a in listed.items()]
        most = largest_left_side(members, coefficients)
        for rhs in (most, most + 1):
            row = SubsetRow(members, tuple(coefficients), rhs, 1)
            verify(table, replace(solution, evidence=RowBound(((row,),))))
        with pytest.raises(CheckFailed, match="but an acyclic graph reaches"):
            row = SubsetRow(members, tuple(coefficients), most - 1, 1)
            verify(table, replace(solution, evidence=RowBound(((row,),))))


@pytest.mark.parametrize("solver", ["dp", "astar"])
def test_claims_about_few_variables_are_proved(solver):
    table = random_table(np.random.default_rng(5), 15)
    found = solve(table, solver)
    assert isinstance(found.evidence, Exhausted) and standing(found) is Standing.PROVED


def test_false_claims_are_found_out():
    rng = np.random.default_rng(6)
    for _ in range(20):
        table = random_table(rng, 7)
        right = solve(table, "dp")
        worse = list(right.choice)
        worse[0] = table.find(0, [])
        score = table.total(worse)
        if score < right.score:
            lie = replace(right, choice=tuple(worse), score=score, bound=score, evidence=Exhausted("a liar"))
            with pytest.raises(CheckFailed, match="is lower than its evidence gives"):
                verify(table, lie)


def test_trees_take_the_place_of_claims():
    rng = np.random.default_rng(7)
    for kind in ("plain", "blocks"):
        table = random_table(rng, 24, kind)
        right = solve(table, "ilp")
        claim = replace(right, evidence=Exhausted("somebody"))
        assert standing(checked(table, claim, Budget(), work=0)) is Standing.COMPLETE
        done = checked(table, completed(table, claim, Budget().started(), 0), Budget(), work=0)
        assert isinstance(done.evidence, Tree) and standing(done) is Standing.PROVED
        beside = replace(claim, evidence=Exhausted("somebody", rows=RowBound(((ClusterRow(tuple(range(24)), 1),),))))
        done = checked(table, completed(table, beside, Budget().started(), 0), Budget(), work=0)
        assert isinstance(done.evidence, Tree) and standing(done) is Standing.PROVED
        late = completed(table, claim, Budget(cpu=0.0).started(), 0)
        assert late.evidence == claim.evidence
        wrong = replace(claim, bound=claim.bound + 1, status=Status.FEASIBLE)
        assert completed(table, wrong, Budget().started(), 0) is wrong
        parts = solve(table, "auto")
        if isinstance(parts.evidence, Parts):
            claims = Parts(tuple(replace(part, evidence=Exhausted("x")) for part in parts.evidence.parts))
            done = completed(table, replace(parts, evidence=claims), Budget().started(), 0)
            assert standing(checked(table, done, Budget(), work=0)) is Standing.PROVED


def test_a_thorough_answer_leaves_nothing_to_trust(monkeypatch):
    table = random_table(np.random.default_rng(1), 23)
    found = solve(table, "dp", thorough=True)
    assert isinstance(found.evidence, Exhausted) and standing(found) is Standing.PROVED
    monkeypatch.setattr(front, "STEPS", 1.0)
    assert standing(solve(table, "dp")) is Standing.COMPLETE
    found = solve(table, "dp", thorough=True)
    assert isinstance(found.evidence, Tree) and standing(found) is Standing.PROVED
