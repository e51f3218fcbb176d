"""The checker: it accepts what is true, never proves what is false, and rejects every kind of tampering by name."""

from __future__ import annotations

import ast
import itertools
import math
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import optbn_solvers.verify.checker
from optbn_solvers import Constraints, Solution, Status, load_solver, solve
from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.base.solution import (
    ClauseRow,
    ClusterRow,
    Exhausted,
    LimitRow,
    Literal,
    Part,
    Parts,
    Proof,
    RowBound,
    SubsetRow,
    Tree,
)
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.front.checked import bound_of_proof
from optbn_solvers.relaxation.orders import search
from optbn_solvers.verify import verify
from optbn_solvers.verify.rules import Rules
from tests.fuzz.forge import forged
from tests.fuzz.heavy import costs, too_dear
from tests.naive.solvers import KINDS, ascent, families_of, largest_left_side, optimum, random_table
from tests.naive.verify import bound_of_rows


def solution(table: ScoreTable, choice, bound_units, evidence=None) -> Solution:
    score = table.total(choice)
    bound = table.score_of(bound_units)
    status = Status.OPTIMAL if bound == score else Status.FEASIBLE
    return Solution(status, tuple(map(int, choice)), score, bound, evidence, table.digest, "test")


def random_rows(rng, members, count, scale) -> list[ClusterRow | SubsetRow]:
    """Random valid rows on subsets of `members`."""
    rows: list[ClusterRow | SubsetRow] = []
    for _ in range(count):
        size = int(rng.integers(1, min(4, len(members)) + 1))
        chosen = tuple(sorted(int(v) for v in rng.choice(members, size=size, replace=False)))
        y = int(rng.integers(0, scale))
        if rng.random() < 0.5 or size == 1:
            rows.append(ClusterRow(chosen, y))
            continue
        coefficients = []
        for v in chosen:
            others = [u for u in chosen if u != v]
            for k in range(len(others) + 1):
                for parents in itertools.combinations(others, k):
                    if rng.random() < 0.5:
                        coefficients.append((v, parents, int(rng.integers(1, 4))))
        rows.append(SubsetRow(chosen, tuple(coefficients), largest_left_side(chosen, coefficients), y))
    return rows


def test_no_evidence_proves_a_false_bound():
    """Random tables, random acyclic graphs, random rows in stages and parts: no false proof."""
    rng = np.random.default_rng(1)
    closed = 0
    for trial in range(400):
        table = random_table(rng, int(rng.integers(1, 6)), KINDS[trial % len(KINDS)])
        best = optimum(table)
        if best is None:
            continue
        choice = search(table, seed=trial, starts=1, kicks=int(rng.integers(0, 4)))
        spread = max(1, int(np.ptp(table.units)))
        evidence = []
        groups = [list(range(table.n))] if trial % 2 else np.array_split(rng.permutation(table.n), 2)
        for group in groups:
            members = tuple(sorted(int(v) for v in group))
            if members:
                stages = [tuple(random_rows(rng, members, 3, spread)) for _ in range(int(rng.integers(0, 4)))]
                if trial % 2 and rng.random() < 0.7:
                    stages.append(tuple(ClusterRow(c, y) for c, y in ascent(table, rng)))
                evidence.append(Part(members, 2**52, RowBound(tuple(stages), int(rng.integers(1, 4)))))
        whole = evidence[0].evidence if trial % 4 == 1 else Parts(tuple(evidence))
        verdict = verify(table, solution(table, choice, 2**52, whole))
        assert verdict.bound >= table.score_of(best)
        assert not verdict.claimed
        if verdict.optimal:
            closed += 1
            assert table.total_units(choice) == best
            verify(table, solution(table, choice, best, whole))
        else:
            with pytest.raises(CheckFailed, match="lower than its evidence gives"):
                verify(table, solution(table, choice, table.total_units(choice), whole))
    assert closed > 60


def test_one_stage_is_the_formula():
    """B = sum_v max_P s'(v, P) - sum y + sum y r, computed here in another way."""
    rng = np.random.default_rng(2)
    for _ in range(40):
        table = random_table(rng, 5, "plain")
        rows = random_rows(rng, range(5), 5, 10**12)
        bound = sum(-r.multiplier if isinstance(r, ClusterRow) else r.rhs * r.multiplier for r in rows)
        for v, families in enumerate(families_of(table)):
            adjusted = []
            for parents, units in families:
                for row in rows:
                    if v in row.members and isinstance(row, ClusterRow) and not parents & set(row.members):
                        units += row.multiplier
                    if isinstance(row, SubsetRow):
                        pattern = tuple(sorted(parents & set(row.members)))
                        units -= row.multiplier * sum(a for c, p, a in row.coefficients if (c, p) == (v, pattern))
                adjusted.append(units)
            bound += max(adjusted)
        plain = sum(families[0][1] for families in families_of(table))
        unknown = Solution(Status.UNKNOWN, None, None, math.inf, RowBound((tuple(rows),)), table.digest, "test")
        assert verify(table, unknown).bound == table.score_of(min(bound, plain))


@pytest.fixture(scope="module")
def proved():
    """A table of six variables with a graph that cluster rows prove optimal in stages, and that solution."""
    for seed in itertools.count():
        rng = np.random.default_rng(seed)
        table = random_table(rng, 6, "plain")
        choice = search(table, seed=seed)
        rows = tuple(ClusterRow(c, y) for c, y in ascent(table, rng))
        found = solution(table, choice, table.total_units(choice), RowBound((rows, rows)))
        plain = table.score_of(int(table.units[table.offsets[:-1]].sum()))
        try:
            if rows and verify(table, found).optimal and plain > found.score:
                return table, found
        except CheckFailed:
            continue


def test_a_true_solution_is_accepted(proved):
    table, found = proved
    verdict = verify(table, found)
    assert verdict.optimal and verdict.claimed == () and "acyclic" in verdict.proved[0]


def test_a_changed_score_is_rejected(proved):
    table, found = proved
    for score in (found.score - table.quantum, found.score - 1, found.score * 2):
        with pytest.raises(CheckFailed, match="the families add up to"):
            verify(table, replace(found, score=score, status=Status.FEASIBLE))
    with pytest.raises(CheckFailed, match="add up to"):
        verify(table, replace(found, score=math.nan, status=Status.FEASIBLE))


def test_a_cycle_is_rejected():
    table = ScoreTable.from_dict(
        {"a": {(): 0.0, ("b",): 2.0}, "b": {(): 0.0, ("c",): 2.0}, "c": {(): 0.0, ("a",): 2.0}, "d": {(): 0.0}}
    )
    best = [table.rows(v)[0] for v in range(4)]
    with pytest.raises(CheckFailed, match="the graph has a cycle: a -> c -> b -> a"):
        verify(table, solution(table, best, table.total_units(best)))


def test_a_lowered_bound_is_rejected(proved):
    table, found = proved
    worse = [table.rows(v)[-1] if table.parents(table.rows(v)[-1]) == () else found.choice[v] for v in range(6)]
    if table.total_units(worse) == table.total_units(found.choice):
        pytest.fail("the worse graph should be worse")
    lowered = solution(table, worse, table.total_units(found.choice) - 1, found.evidence)
    with pytest.raises(CheckFailed, match="lower than its evidence gives"):
        verify(table, lowered)
    with pytest.raises(CheckFailed, match="lower than the sum of the best scores"):
        verify(table, replace(found, evidence=None))
    with pytest.raises(CheckFailed, match="not a number"):
        verify(table, replace(found, bound=math.nan, status=Status.FEASIBLE))


def changed_rows(found, change):
    stages = tuple(tuple(change(row) for row in stage) for stage in found.evidence.stages)
    return replace(found, evidence=RowBound(stages))


def test_multipliers_must_be_whole_and_not_negative(proved):
    table, found = proved
    for denominator in (0, -1, 0.5, True):
        with pytest.raises(CheckFailed, match="denominator"):
            verify(table, replace(found, evidence=replace(found.evidence, denominator=denominator)))
    for y in (-1, 0.5, True, None):
        with pytest.raises(CheckFailed, match="expected a whole number >= 0"):
            verify(table, changed_rows(found, lambda row, y=y: replace(row, multiplier=y)))
    with pytest.raises(CheckFailed):
        verify(table, changed_rows(found, lambda row: replace(row, multiplier=row.multiplier // 2)))
    with pytest.raises(CheckFailed):
        verify(table, replace(found, evidence=RowBound(())))


@pytest.mark.parametrize("members", [(), (0, 0), (0, 9), (-1, 2), (0, "1")])
def test_rows_must_be_about_variables(proved, members):
    table, found = proved
    with pytest.raises(CheckFailed, match="not a set of variables"):
        verify(table, changed_rows(found, lambda row: replace(row, members=members)))


def test_another_tables_solution_is_rejected(proved):
    found = proved[1]
    other = random_table(np.random.default_rng(10**6), 6, "plain")
    with pytest.raises(CheckFailed, match="another score table"):
        verify(other, found)
    with pytest.raises(CheckFailed):
        verify(other, replace(found, table_digest=other.digest))


def test_families_must_be_the_variables_own(proved):
    table, found = proved
    for row in (-1, len(table), table.rows(1)[0]):
        with pytest.raises(CheckFailed, match="is not a family of 'v0'"):
            verify(table, replace(found, choice=(row, *found.choice[1:])))
    with pytest.raises(CheckFailed, match="5 families, but there are 6"):
        verify(table, replace(found, choice=found.choice[1:]))


@pytest.mark.twin
def test_subset_rows_are_proved_to_the_last_unit():
    """The right-hand side that all graphs on the members allow is accepted, one less is not."""
    rng = np.random.default_rng(3)
    table = random_table(rng, 5, "plain")
    choice = search(table)
    for _ in range(150):
        for row in random_rows(rng, range(5), 3, 100):
            if isinstance(row, SubsetRow):
                verify(table, solution(table, choice, 2**52, RowBound(((row,),))))
                low = replace(row, rhs=row.rhs - 1)
                with pytest.raises(CheckFailed, match=f"claims at most {low.rhs}, but an acyclic graph reaches"):
                    verify(table, solution(table, choice, 2**52, RowBound(((low,),))))


@pytest.mark.parametrize(
    "coefficients",
    [
        ((0, (5,), 1),),  # a parent outside
        ((0, (0,), 1),),  # its own parent
        ((4, (), 1),),  # a child outside
        ((0, (1,), 0),),
        ((0, (1,), -2),),
        ((0, (1,), 1.5),),
        ((0, (1,), 1), (0, (1,), 1)),  # twice
        ((0, (1, 2), 1), (0, (2, 1), 1)),
    ],
)
def test_coefficients_must_make_sense(proved, coefficients):
    table, found = proved
    row = SubsetRow((0, 1, 2), coefficients, 100, 1)
    with pytest.raises(CheckFailed, match="coefficient"):
        verify(table, replace(found, evidence=RowBound(((row,),))))


def test_large_subset_rows_are_refused():
    table = ScoreTable.from_dict({f"v{v}": {(): 0.0} for v in range(20)})
    row = SubsetRow(tuple(range(20)), (), 0, 1)
    with pytest.raises(CheckFailed, match="at most 12"):
        verify(table, solution(table, range(20), 0, RowBound(((row,),))))


def test_parts_must_be_disjoint_and_keep_to_themselves(proved):
    table, found = proved
    rows = RowBound(((ClusterRow((0, 1), 1),),))
    for parts in (((0, 1), (1, 2)), ((0, 0),), ((),), ((0, 6),)):
        evidence = Parts(tuple(Part(members, 2**52, RowBound(())) for members in parts))
        with pytest.raises(CheckFailed, match="parts of the evidence"):
            verify(table, replace(found, evidence=evidence))
    with pytest.raises(CheckFailed, match="not a set of variables of its part"):
        verify(table, replace(found, evidence=Parts((Part((0, 2, 3), 2**52, rows),))))


def test_claims_are_told_from_proofs(proved):
    table, found = proved
    verdict = verify(table, replace(found, evidence=Exhausted("some method", 0.001)), work=0)
    assert not verdict.optimal and verdict.bound > found.score
    assert "searched completely by some method, within 0.001" in verdict.claimed[0]
    verdict = verify(table, replace(found, evidence=Proof("x.proof", "0" * 64)))
    assert not verdict.optimal and "x.proof was not opened" in verdict.claimed[0]
    units = table.total_units(found.choice)
    checker = lambda table, solution, proof: units  # noqa: E731
    assert verify(table, replace(found, evidence=Proof("x.proof", "0" * 64)), proof_checker=checker).optimal
    # a part that is only claimed leaves the whole claimed, and the others proved
    part = Part((0, 1, 2), -(2**50), Exhausted("some method"))
    claimed = verify(table, replace(found, evidence=Parts((part,))), work=0).claimed
    assert "for 3 variables (v0, v1, v2)" in claimed[0]
    for units, work in ((2**52, 0), (-(2**50), 1e6)):  # looser than the whole; false, as the checker's search finds
        part = Part((0, 1, 2), units, Exhausted("some method"))
        with pytest.raises(CheckFailed, match="lower than its evidence gives"):
            verify(table, replace(found, evidence=Parts((part,))), work=work)


def test_a_status_without_its_graph_is_rejected(proved):
    table, found = proved
    for status in (Status.OPTIMAL, Status.FEASIBLE):
        nothing = Solution(Status.UNKNOWN, None, None, found.bound, found.evidence, table.digest, "test")
        object.__setattr__(nothing, "status", status)
        with pytest.raises(CheckFailed, match=r"no graph|not the score"):
            verify(table, nothing)


def test_the_order_of_rows_is_not_believed():
    """Under constraints the checker drops families by itself, and the best of a child may come last."""
    table = ScoreTable.from_dict({"a": {(): -9.0, ("b",): -3.0}, "b": {(): -9.0}, "c": {(): -5.0}})
    order = [1, 0, 2, 3]
    moved = ScoreTable(table.names, table.offsets, table.masks[order], table.units[order], table.exponent)
    asked = Constraints(forbidden=[("c", "a")])
    wrong = replace(solution(moved, (0, 2, 3), moved.total_units((0, 2, 3))), constraints=asked)
    with pytest.raises(CheckFailed, match="lower than the sum of the best scores"):
        verify(moved, wrong)
    assert verify(moved, replace(solution(moved, (1, 2, 3), moved.total_units((1, 2, 3))), constraints=asked)).optimal


@pytest.mark.twin
def test_families_that_a_subset_replaces():
    """Against all pairs of families, with few parents and many, and in any order."""
    rng = np.random.default_rng(5)
    for trial in range(200):
        size = int(rng.integers(1, 40)) if trial % 2 else 3
        families = {
            int(mask): int(rng.integers(-9, 0)) for mask in rng.integers(0, 1 << size, int(rng.integers(1, 30)))
        }
        part = (1 << size) - 1 & ~int(rng.integers(0, 1 << size)) if trial % 3 else (1 << size) - 1
        best: dict[int, int] = {}
        for mask, units in families.items():
            best[mask & part] = max(units, best.get(mask & part, units))
        wanted = {
            mask: units
            for mask, units in best.items()
            if not any(other != mask and other & ~mask == 0 and best[other] >= units for other in best)
        }
        assert dict(optbn_solvers.verify.families.within(list(families.items()), part)) == wanted


def test_families_of_very_many_parents_take_no_time():
    full = (1 << 60) - 1
    assert optbn_solvers.verify.families.within([(full, -1), (full >> 1, -2), (0, -9)], full) == [
        (full, -1),
        (full >> 1, -2),
        (0, -9),
    ]


def test_stated_bounds_without_measure_are_refused(proved):
    table, _ = proved
    tree = Tree(zlib.compress(bytes([4, 0])), 1, 1)  # a leaf
    unknown = Solution(Status.UNKNOWN, None, None, 0.0, tree, table.digest, "test")
    for bound in (1e300, -1e300, 1.7e308, table.score_of(1 << 62), -table.score_of(1 << 62)):
        with pytest.raises(CheckFailed, match="beyond 2\\^62"):
            verify(table, replace(unknown, bound=bound), bound_of_proof)
    for units in (10**30, -(10**30), 10**400, 1 << 62):
        parts = Parts((Part((0, 1), units, tree),))
        with pytest.raises(CheckFailed, match="beyond 2\\^62"):
            verify(table, replace(unknown, bound=1e300, evidence=parts), bound_of_proof)
    large = replace(unknown, bound=table.score_of((1 << 62) - (1 << 10)))
    assert verify(table, large, bound_of_proof).bound == large.bound
    huge = ScoreTable.from_dict({"a": {(): -4e307, ("b",): -3e307}, "b": {(): -1e300, ("a",): -5e299}})
    for bound in (1 << 62, 10**400, -(10**400)):
        claim = Parts((Part((0, 1), bound, Exhausted("some method")),))
        claimed = verify(huge, replace(unknown, bound=math.inf, evidence=claim, table_digest=huge.digest))
        assert math.isclose(claimed.bound, -3e307, rel_tol=1e-6)
    far = RowBound(((ClusterRow((0, 1), 1 << 5000),),))
    stuck = ScoreTable.from_dict({"a": {("b",): 0.0}, "b": {("a",): 0.0}})
    assert verify(stuck, replace(unknown, bound=0.0, evidence=far, table_digest=stuck.digest)).bound == -math.inf


@pytest.mark.parametrize("path", ["missing.proof", ".", "\0", "\ud800"])
def test_a_proof_that_cannot_be_read(proved, path, tmp_path):
    table, found = proved
    with pytest.raises(CheckFailed, match="cannot be read"):
        verify(table, replace(found, evidence=Proof(f"{tmp_path}/{path}", "0" * 64)), bound_of_proof)


def test_it_imports_nothing_of_the_solvers():
    imported = set()
    for path in Path(optbn_solvers.verify.checker.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text())
        imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        imported |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    base = ("clock", "compiled", "constraints", "errors", "memory", "solution", "table")  # data types, memory, time
    own = {name for name in imported if name.startswith("optbn_solvers") and "optbn_solvers.verify." not in name}
    assert own == {f"optbn_solvers.base.{name}" for name in base}
    assert not {name for name in imported if name.startswith(("numba", "scipy", "optbn."))}


def test_multipliers_count_parts_of_a_unit():
    """Multipliers and denominator belong together: another one proves less, and what is no denominator is refused."""
    table = ScoreTable.from_dict({"a": {("b",): -1.0, (): -3.0}, "b": {("a",): -1.0, (): -4.0}})
    choice = (table.find(0, []), table.find(1, [0]))
    row = ClusterRow((0, 1), 2 * table.units_of(2.0))
    right = Solution(Status.OPTIMAL, choice, -4.0, -4.0, RowBound(((row,),), denominator=2), table.digest, "test")
    assert verify(table, right).optimal
    for denominator in (1, 3, 4):
        with pytest.raises(CheckFailed, match="lower than its evidence gives"):
            verify(table, replace(right, evidence=RowBound(((row,),), denominator)))
    for denominator in (0, -2, 2.0, True):
        with pytest.raises(CheckFailed, match="expected a whole number >= 1"):
            verify(table, replace(right, evidence=RowBound(((row,),), denominator)))


@pytest.mark.twin
@pytest.mark.parametrize("denominator", [1, 3, 2**40, 2**62, 2**63, 2**64, 2**200])
def test_arrays_add_up_like_loops(denominator):
    """Multipliers of sense and of none, sums from small to far beyond 64 bits, more variables than bits in a word."""
    rng = np.random.default_rng(denominator.bit_length())
    helped = 0
    for trial in range(20):
        n = int(rng.integers(60, 70)) if trial % 10 == 0 else int(rng.integers(2, 12))
        table = random_table(rng, n, KINDS[trial % len(KINDS)], rows=6 if n > 60 else 12)
        spread = max(1, int(np.ptp(table.units)))
        stages = []
        for _ in range(3):
            rows = [replace(row, multiplier=row.multiplier // 8) for row in random_rows(rng, range(n), 3, spread)]
            if trial % 3:
                rows = [ClusterRow(c, y) for c, y in ascent(table, rng)] + rows[:1]
            odd = 4 if trial % 4 else 1 << int(rng.integers(0, 64))
            stages.append(tuple(replace(row, multiplier=row.multiplier * denominator * odd // 4) for row in rows))
        evidence = RowBound(tuple(stages), denominator)
        families = families_of(table)
        plain = bound_of_rows(families, evidence, None)
        unknown = Solution(Status.UNKNOWN, None, None, math.inf, evidence, table.digest, "test")
        assert verify(table, unknown).bound == table.score_of(plain)
        if KINDS[trial % len(KINDS)] in ("single", "bare"):  # there may be no acyclic graph
            continue
        choice = search(table, seed=trial, starts=1, kicks=3)
        bound = bound_of_rows(families, evidence, table.total_units(choice))
        assert verify(table, solution(table, choice, 2**53, evidence)).bound == table.score_of(bound)
        helped += plain < sum(rows[0][1] for rows in families)
    assert helped > 2


@pytest.mark.parametrize("finer", [1, 2**50, 2**64])
def test_filters_in_arrays_drop_what_loops_drop(finer):
    """The evidence of branch and cut, whose stages prove their bound only by what earlier ones drop."""
    filtered = 0
    for seed in range(12):
        table = random_table(np.random.default_rng(seed), 9, "dense")
        found = load_solver("ilp", search_nodes=0).solve(table)
        if not isinstance(found.evidence, RowBound):
            continue
        stages = tuple(
            tuple(replace(row, multiplier=row.multiplier * finer) for row in stage) for stage in found.evidence.stages
        )
        evidence = RowBound(stages, found.evidence.denominator * finer)
        families = families_of(table)
        target = table.total_units(found.choice)
        assert bound_of_rows(families, evidence, target) == target
        assert verify(table, replace(found, evidence=evidence)).optimal
        filtered += bound_of_rows(families, evidence, None) > target
        for at in range(len(stages)):  # and with a stage left out
            fewer = RowBound(stages[:at] + stages[at + 1 :], evidence.denominator)
            bound = bound_of_rows(families, fewer, target)
            assert verify(table, solution(table, found.choice, 2**53, fewer)).bound == table.score_of(bound)
    assert filtered > 2


@pytest.mark.twin
def test_rows_of_constraints_add_up_like_loops():
    rng = np.random.default_rng(4)
    for trial in range(60):
        n = int(rng.integers(63, 68)) if trial % 4 == 0 else int(rng.integers(3, 7))
        table = random_table(rng, n, "plain", rows=6)
        asked = Constraints(max_arcs=2 * n, no_ancestors=[("v0", "v1")], required_edges=[("v1", f"v{n - 1}")])
        rules = Rules(asked, table.names)
        alive = [[f for f in rows if rules.allows(v, f[0])] for v, rows in enumerate(families_of(table))]
        edge = ClauseRow((Literal(1, (n - 1,), True), Literal(n - 1, (1,), True)), int(rng.integers(0, 2**50)))
        path = ClauseRow((Literal(2, (0,), False), Literal(1, (2,), False)), int(rng.integers(0, 2**50)))
        limit = LimitRow(tuple(range(n)), 2 * n, int(rng.integers(0, 2**44)) << 20 * (trial % 2))
        evidence = RowBound(((edge, path), (limit,)))
        unknown = Solution(Status.UNKNOWN, None, None, math.inf, evidence, table.digest, "test", constraints=asked)
        assert verify(table, unknown).bound == table.score_of(bound_of_rows(alive, evidence, None))
        far = replace(path, literals=(Literal(2, (0, 200), False), Literal(1, (2,), False)))
        for odd in (far, replace(limit, parents=(n,)), replace(limit, parents=(-1,), rhs=n)):
            with pytest.raises(CheckFailed, match="do not imply"):
                verify(table, replace(unknown, evidence=RowBound(((odd,),))))


def test_mutants_of_evidence_whose_sums_leave_64_bits_are_rejected():
    """A proof in units of 1 / 2^100: the truth is accepted, every changed multiplier proves less or is refused."""
    table = ScoreTable.from_dict(
        {"a": {("b",): -1.0, (): -3.0}, "b": {("c",): -1.0, (): -4.0}, "c": {("a",): -1.0, (): -6.0}}
    )
    choice = (table.find(0, []), table.find(1, [2]), table.find(2, [0]))
    worth = table.units_of(2.0) << 100
    right = Solution(
        Status.OPTIMAL,
        choice,
        -5.0,
        -5.0,
        RowBound(((ClusterRow((0, 1, 2), worth),),), 1 << 100),
        table.digest,
        "test",
    )
    assert verify(table, right).optimal
    for multiplier in (worth - (1 << 101), worth // 2, worth % 2**64, 0, -worth, worth + (1 << 163), worth * 3):
        with pytest.raises(CheckFailed):
            verify(table, replace(right, evidence=RowBound(((ClusterRow((0, 1, 2), multiplier),),), 1 << 100)))


def test_a_check_without_time_claims_and_proves_nothing_more(proved):
    table, found = proved
    verdict = verify(table, found, out_of_time=lambda: True)
    assert not verdict.ended and not verdict.optimal and verdict.bound > found.score
    assert verdict.claimed == (f"the bound {found.bound!r}: not checked, no time left",)
    assert "acyclic" in verdict.proved[0]
    looks = itertools.count()
    assert verify(table, found, out_of_time=lambda: next(looks) > 10**6).ended
    assert not verify(table, found, out_of_time=lambda: next(looks) > 1).ended
    with pytest.raises(CheckFailed, match="families add up to"):
        verify(table, replace(found, score=found.score - 1, status=Status.FEASIBLE), out_of_time=lambda: True)


@pytest.mark.parametrize("asked", [{"forbidden": [["v0", "zz"]]}, {"max_children": {"zz": 1}}, {"roots": ["zz"]}])
def test_constraints_on_other_variables(asked):
    table = random_table(np.random.default_rng(1), 4)
    choice = tuple(table.find(v, []) for v in range(4))
    answer = Solution(Status.FEASIBLE, choice, table.total(choice), math.inf, None, table.digest, "test")
    with pytest.raises(CheckFailed, match="name 'zz', which is not a variable"):
        verify(table, replace(answer, constraints=Constraints(**asked)))


def test_changed_evidence_never_proves_what_is_false():
    """Some hundred here; `python -m tests.fuzz.forge` makes as many as one likes."""
    seen = forged(np.random.default_rng(3), 300)
    assert sum(times for what, times in seen.items() if what.endswith("refused")) > 100


def test_evidence_made_up_to_cost_much_costs_little():
    """Small here; `python -m tests.fuzz.heavy 200000` makes it as large as one likes."""
    list(costs(300, 8))  # code is loaded
    for kind, length, seconds, limited, more, outcome in costs(8000, 8):
        assert not too_dear(length, seconds, limited, more), (kind, length, seconds, limited, more, outcome)


def test_a_part_of_all_variables_has_them_in_order():
    """Under constraints a search that counted variables by another order proved bounds below the optimum."""
    rng = np.random.default_rng(3)
    refused = 0
    for _ in range(20):
        table = random_table(rng, 4, "dense", rows=8)
        constraints = Constraints(ancestors=((table.names[2], table.names[1]),))
        best = solve(table, "dp", constraints=constraints, only_listed=True)
        assert best.choice is not None
        for members in list(itertools.permutations(range(4)))[1:]:
            for choice in itertools.product(*(table.rows(v)[:3] for v in range(4))):
                units = table.total_units(choice)
                if units < table.total_units(best.choice):
                    score = table.score_of(units)
                    evidence = Parts((Part(members, units, Exhausted("nobody")),))
                    forged = replace(best, choice=choice, score=score, bound=score, evidence=evidence)
                    with pytest.raises(CheckFailed):
                        verify(table, forged)
                    refused += 1
                    break
    assert refused > 100
