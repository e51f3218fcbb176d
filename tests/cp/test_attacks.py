"""Evidence made up to cost the checker time or memory."""

from __future__ import annotations

import time
import tracemalloc
import zlib
from dataclasses import replace

import numpy as np
import pytest

from optbn_solvers import Budget, ScoreTable, Status, solve
from optbn_solvers.base.errors import CheckFailed, OutOfTime
from optbn_solvers.base.solution import Exhausted, Part, Parts, RowBound, SubsetRow, Tree
from optbn_solvers.front.checked import bound_of_proof
from optbn_solvers.proofs import fast, reference
from optbn_solvers.proofs.format import BRANCH, CLUSTER, FILTER, LEAF, SUBSET, unpacked
from optbn_solvers.proofs.kernels import tree, varint
from optbn_solvers.verify import verify
from tests.naive.solvers import random_table

N = 12


@pytest.fixture(scope="module")
def table():
    return random_table(np.random.default_rng(1), N, "dense", rows=40)


def body(numbers: list[int]) -> bytes:
    room = np.empty(varint.LONGEST * len(numbers), dtype=np.uint8)
    return room[: varint.encode(np.array(numbers, dtype=np.int64), room)].tobytes()


def nodes(numbers: list[int], denominator: int = 1) -> Tree:
    return Tree(zlib.compress(body(numbers), 0), 1, denominator)


def cost(check) -> tuple[float, float]:
    """(CPU seconds, megabytes) of a check that may fail."""
    tracemalloc.start()
    begun = time.process_time()
    try:
        check()
    except CheckFailed:
        pass
    finally:
        seconds, megabytes = time.process_time() - begun, tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
    return seconds, megabytes


@pytest.fixture(scope="module", autouse=True)
def compiled(table):
    """Once, so that no test pays for it."""
    with pytest.raises(CheckFailed):
        fast.check_numbers(table, table.total_units(table.offsets[:-1]) - 1, body([LEAF, 0]), 1, 1, lambda: False)


def best(table: ScoreTable) -> int:
    return int(table.units[table.offsets[:-1]].sum())


@pytest.mark.parametrize("records", [2_000, 30_000])
@pytest.mark.parametrize("kind", ["filters below a closed root", "branches below a closed root", "open filters"])
def test_nested_records(table, kind, records):
    """Nothing grows with the depth of what is closed, or of filters."""
    if kind == "branches below a closed root":
        numbers = [CLUSTER, 1, 0, *[BRANCH, 0, 0, 0, 1] * records, *[LEAF, 0] * (records + 1)]
    else:
        numbers = [*[FILTER, 0] * records, LEAF, 0]
    target = best(table) if "closed" in kind else best(table) - 1
    seconds, megabytes = cost(lambda: fast.check_numbers(table, target, body(numbers), 2 * records + 1, 1, never))
    assert megabytes < 30 and seconds < 10


def never() -> bool:
    return False


def test_deep_branches_are_refused_in_time(table):
    """Every branch keeps its families: a path of many is refused before the memory is used up."""
    depth = 200_000
    numbers = [CLUSTER, 1, 0, *[BRANCH, 0, 1, 0, 0] * depth]
    late = iter([False] * 3 + [True] * 10)
    with pytest.raises((OutOfTime, CheckFailed)):
        fast.check_numbers(table, best(table) - 1, body(numbers), depth, 1, lambda: next(late))
    big = tree.DEEPEST * len(table) + (1 << 20)
    assert big * 16 < 1 << 28


@pytest.mark.parametrize("checker", [fast, reference])
def test_the_time_limit_is_heeded(table, checker):
    numbers = [*[FILTER, 0] * 1000, LEAF, 0]
    with pytest.raises(OutOfTime):
        checker.check_numbers(table, best(table) - 1, body(numbers), 1001, 1, lambda: True)
    solution = replace(solve(table, "dp"), evidence=nodes(numbers))
    verdict = verify(table, solution, lambda *call: bound_of_proof(*call, late=lambda: True), never)
    assert not verdict.ended and not verdict.optimal and "not checked" in verdict.claimed[0]


@pytest.mark.twin
def test_pauses_change_nothing(monkeypatch):
    """However often the check looks at the clock, the verdict is the same."""
    small = random_table(np.random.default_rng(2), 9, rows=20)
    solution = solve(small, "cp", carried=1 << 20, passes=1, candidates=1)
    assert isinstance(solution.evidence, Tree) and solution.evidence.nodes > 3
    target = small.total_units(solution.choice)
    for most in (0, 1, 100, 1 << 40):
        looks = []
        monkeypatch.setattr(fast, "SLICE", most)
        fast.check_carried(small, target, solution.evidence, lambda: bool(looks.append(0)))  # noqa: B023
        assert len(looks) > (solution.evidence.nodes if most < 2 else 0)
        with pytest.raises(CheckFailed):
            fast.check_carried(small, target - 1, solution.evidence, never)


def wide_table(n: int, most: int) -> ScoreTable:
    rng = np.random.default_rng(0)
    sets = [{tuple(sorted(rng.choice(n - 1, 3, replace=False))) for _ in range(most)} for _ in range(n)]
    families = [{tuple(f"x{u + (u >= v)}" for u in own): -rng.random() for own in sets[v]} for v in range(n)]
    return ScoreTable.from_dict({f"x{v}": {(): -9.0} | families[v] for v in range(n)})


@pytest.mark.parametrize("denominator, limit", [(1, 2.0), (257, 0.5)])
def test_a_heavy_tree_ends_in_time(denominator, limit):
    """Minutes of changes and of filters, for the compiled checker and (257) for the reference."""
    large = wide_table(60, 300)
    heavy = [CLUSTER, 60, *range(60), FILTER, 300_000, *[0, 1] * 300_000, *[FILTER, 0] * 300_000, LEAF, 0]
    assert seconds_over(large, nodes(heavy, denominator), limit) < 0.1 * limit + 1


def test_a_heavy_search_ends_in_time():
    """A claim on many families that the checker's own search cannot settle."""
    assert seconds_over(wide_table(40, 600), Exhausted("x"), 0.5) < 0.05 + 1


def seconds_over(table: ScoreTable, evidence: Tree | Exhausted, limit: float) -> float:
    """CPU seconds by which a check of evidence that takes far longer exceeds its limit."""
    found = solve(table, "greedy", Budget(grace=0.0))
    answer = replace(found, status=Status.OPTIMAL, bound=found.score, evidence=evidence)
    begun = time.process_time()

    def late() -> bool:
        return time.process_time() - begun > limit

    verdict = verify(table, answer, lambda *call: bound_of_proof(*call, late=late), late)
    assert not verdict.optimal and time.process_time() - begun > limit
    return time.process_time() - begun - limit


def test_many_subset_rows_are_cheap(table):
    """A thousand bytes of large rows with a denominator that only the reference holds, and as rows of stages."""
    rng = np.random.default_rng(3)
    members = list(range(N))
    numbers: list[int] = []
    for i in range(40):
        numbers += [SUBSET, N, *members, 10**6, 1, int(rng.integers(N)), 0, i + 1]
    numbers += [LEAF, 0]
    late = [False] * 10 + [True] * 1000
    begun = time.process_time()
    with pytest.raises(OutOfTime):
        fast.check_numbers(table, best(table) - 1, body(numbers), 1, 257, lambda: late.pop(0))
    assert time.process_time() - begun < 5
    rows = tuple(SubsetRow(tuple(members), ((0, (), i + 1),), 10**6, 1) for i in range(100))
    answer = replace(solve(table, "dp"), status=Status.FEASIBLE, bound=np.inf, evidence=RowBound((rows,), 257))
    seconds, megabytes = cost(lambda: verify(table, answer))
    assert seconds < 5 and megabytes < 30


def test_bombs_are_not_unpacked(table):
    for packed in (zlib.compress(bytes(300 << 20), 9), zlib.compress(b"\x06\x00" * (20 << 20), 9)):
        assert len(packed) < 400_000
        seconds, megabytes = cost(lambda packed=packed: unpacked(packed, "a bomb"))
        assert megabytes < 200 and seconds < 2
        with pytest.raises(CheckFailed, match="unpacks to more than"):
            unpacked(packed, "a bomb")


def test_many_empty_stages_end_in_time(table):
    late = iter([False] * 50 + [True] * 10_000)
    answer = replace(solve(table, "dp"), status=Status.FEASIBLE, bound=np.inf, evidence=RowBound(((),) * 5000))
    assert not verify(table, answer, None, lambda: next(late)).optimal


@pytest.mark.parametrize("seed", range(3))
def test_random_records_end_and_prove_nothing_false(table, seed):
    """Streams of well-formed records: no crash, no wrong proof, the two checkers agree."""
    rng = np.random.default_rng(seed)
    small = random_table(rng, 5)
    optimum = small.total_units(solve(small, "dp").choice)
    plain = best(small)
    accepted = 0
    for _ in range(300):
        numbers = [CLUSTER, 2, 0, 1, CLUSTER, 3, 1, 2, 4, SUBSET, 2, 0, 3, 1, 2, 0, 2, 1, 1, 1, 1]
        left, records = 1, 0
        while left:
            kind = int(rng.choice([LEAF, FILTER, BRANCH])) if records < 12 else LEAF
            changes = [(int(rng.integers(3)), int(rng.integers(0, 9)) << 47) for _ in range(int(rng.integers(3)))]
            numbers += [kind, len(changes), *(x for change in changes for x in change)]
            numbers += [int(rng.integers(5)), int(rng.integers(3)), int(rng.integers(2))] if kind == BRANCH else []
            left, records = left + {LEAF: -1, FILTER: 0, BRANCH: 1}[kind], records + 1
        for target in (optimum - 1, optimum, (optimum + plain) // 2, plain):
            verdicts = set()
            for checker in (fast, reference):
                try:
                    checker.check_numbers(small, target, body(numbers), records, 1)
                    verdicts.add(True)
                except CheckFailed:
                    verdicts.add(False)
            assert len(verdicts) == 1
            assert verdicts == {False} or target >= optimum
            accepted += True in verdicts
    assert 50 < accepted < 1100


def test_parts_that_lie_about_their_bound_are_refused(table):
    solution = solve(table, "dp")
    forged = Parts((Part(tuple(range(N)), best(table) - 1, nodes([LEAF, 0])),))
    with pytest.raises(CheckFailed):
        verify(table, replace(solution, evidence=forged), bound_of_proof)
