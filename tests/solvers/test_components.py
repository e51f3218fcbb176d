"""Splitting by components: the parts, their tables, the joined answer and the joined evidence."""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import dataclass, field
from typing import ClassVar

import networkx
import numpy as np
import pytest

import optbn_solvers.front.auto
import optbn_solvers.methods.dp
from optbn_solvers import Budget, ScoreTable, Solution, Status
from optbn_solvers.base.errors import InfeasibleError
from optbn_solvers.base.solution import ClusterRow, Parts, RowBound, Tree
from optbn_solvers.front.auto import Auto
from optbn_solvers.front.checked import bound_of_proof
from optbn_solvers.front.components import Components, components, restrict
from optbn_solvers.front.race import Race
from optbn_solvers.methods.dp import SubsetDP
from optbn_solvers.search.solver import ClusterSearch
from optbn_solvers.verify import verify
from tests.naive.solvers import ascent, families_of, optimum_by_subsets, random_table


def chained_table(rng, sizes, rows=8, most=3) -> ScoreTable:
    """Blocks of the given sizes; families take parents from their own block and any earlier one."""
    block = [i for i, size in enumerate(sizes) for _ in range(size)]
    names = [f"v{i}" for i in rng.permutation(len(block))]
    families = {}
    for v, name in enumerate(names):
        others = [u for u in range(len(block)) if u != v and block[u] <= block[v]]
        found = {(): -20.0}
        for _ in range(rows if others else 0):
            size = int(rng.integers(1, min(most, len(others)) + 1))
            parents = sorted(rng.choice(others, size=size, replace=False).tolist())
            found[tuple(names[u] for u in parents)] = -20 + 10 * rng.random() * size**0.5
        families[name] = found
    return ScoreTable.from_dict({name: families[name] for name in sorted(names)})


def test_components_are_the_strongly_connected_ones():
    rng = np.random.default_rng(1)
    for trial in range(30):
        table = chained_table(rng, rng.integers(1, 6, size=4), rows=2)
        if trial < 4:
            table = random_table(rng, (63, 64, 65, 129)[trial], "blocks", rows=2)
        graph = networkx.DiGraph()
        graph.add_nodes_from(range(table.n))
        for v, families in enumerate(families_of(table)):
            graph.add_edges_from((u, v) for parents, _ in families for u in parents)
        wanted = {frozenset(group) for group in networkx.strongly_connected_components(graph)}
        assert {frozenset(group) for group in components(table)} == wanted


def test_a_restriction_forgets_the_parents_outside():
    rng = np.random.default_rng(2)
    for _ in range(30):
        table = random_table(rng, 7, "dense")
        members = sorted(rng.choice(7, size=4, replace=False).tolist())
        part = restrict(table, members)
        assert part.table.exponent == table.exponent
        for i, v in enumerate(members):
            best: dict[frozenset[int], int] = {}
            for parents, units in families_of(table)[v]:
                inside = frozenset(members.index(u) for u in parents if u in members)
                best[inside] = max(best.get(inside, units), units)
            wanted = {p: u for p, u in best.items() if not any(q < p and best[q] >= u for q in best)}
            assert dict(families_of(part.table)[i]) == wanted
            for row in part.table.rows(i):
                whole = set(table.parents(int(part.rows[row])))
                assert {members.index(u) for u in whole if u in members} == set(part.table.parents(row))
                assert table.units[part.rows[row]] == part.table.units[row]


@dataclass(frozen=True)
class Ascending:
    """An inner solver whose evidence is rows: dual ascent, and the optimum when that closes."""

    def solve(self, table, budget=None, start=None, progress=None):
        found = SubsetDP().solve(table)
        rows = tuple(ClusterRow(c, 3 * y) for c, y in ascent(table, np.random.default_rng(0)))
        evidence = RowBound((rows, rows), denominator=3)
        draft = Solution(Status.FEASIBLE, found.choice, found.score, 1e9, evidence, table.digest, "ascending")
        bound = verify(table, draft).bound
        status = Status.OPTIMAL if bound == found.score else Status.FEASIBLE
        return Solution(status, found.choice, found.score, bound, evidence, table.digest, "ascending")


class InTurn:
    """One solver after the other."""

    def __init__(self, *solvers):
        self.solvers = itertools.cycle(solvers)

    def solve(self, *args):
        return next(self.solvers).solve(*args)


def test_joined_answers_and_their_evidence():
    """With evidence of any kind, or several in turn, the joined answer is the optimum and passes the checker."""
    rng = np.random.default_rng(3)
    proved = 0
    for trial in range(60):
        table = chained_table(rng, [(3, 3, 1), (1, 4, 2), (2, 1, 5), (6,), (1, 1, 1), (4, 4)][trial % 6])
        search = ClusterSearch(greedy=False, carried=10**6)
        mixed, both = InTurn(Ascending(), SubsetDP()), InTurn(search, Ascending())
        solution = Components([SubsetDP(), Ascending(), mixed, both, search][trial % 5]).solve(table)
        assert table.total_units(solution.choice) == optimum_by_subsets(table)
        verdict = verify(table, solution, bound_of_proof)
        if trial % 5 in (0, 4):
            assert solution.status is Status.OPTIMAL
        if trial % 5 in (1, 3, 4):
            assert not verdict.claimed
            assert verdict.optimal == (solution.status is Status.OPTIMAL)
            proved += verdict.optimal
        if isinstance(solution.evidence, Parts):
            assert len(solution.statistics["parts"]) == sum(len(g) > 1 for g in components(table))
    assert proved >= 10


def test_equal_scores_do_not_weaken_the_joined_proof():
    """Forgetting parents outside makes new ties; the checker drops the same families as the split did."""
    rng = np.random.default_rng(7)
    joined = 0
    for _ in range(300):
        table = random_table(rng, int(rng.integers(4, 9)), "ties", rows=int(rng.integers(3, 12)))
        solution = Auto().solve(table)
        assert verify(table, solution).optimal
        joined += isinstance(solution.evidence, Parts)
    assert joined > 20


def test_a_start_is_kept_and_the_budget_is_shared():
    rng = np.random.default_rng(4)
    table = chained_table(rng, (5, 5, 5))
    best = Auto().solve(table)
    stopped = Budget()
    stopped.stop()
    assert Auto().solve(table, stopped, start=best.choice).score == best.score
    budget = Budget(gap=5.0)
    Auto().solve(table, budget)
    assert budget.gap == 5.0


def test_progress_of_the_whole():
    rng = np.random.default_rng(5)
    table = chained_table(rng, (4, 5, 3))
    events = []
    best = table.score_of(optimum_by_subsets(table))
    Auto().solve(table, progress=events.append)
    assert events and events[-1].bound == events[-1].score == best
    assert all(e.bound >= best >= e.score for e in events)
    assert all(a.bound >= b.bound and a.score <= b.score for a, b in itertools.pairwise(events))


def test_infeasible_tables_are_refused_before_the_split():
    table = ScoreTable.from_dict({"a": {(): 0.0}, "b": {("c",): 0.0}, "c": {("b",): 0.0}})
    with pytest.raises(InfeasibleError, match="'b', 'c'"):
        Auto().solve(table)


def steps(table, budget=None, jobs=1):
    """(the answer, the steps to the first component's)."""
    solution = Auto(jobs).solve(table, budget)
    part = solution.statistics["parts"][0]
    assert solution.solver == "auto" and part["why"]
    return solution, [step["solver"] for step in part.get("steps", [part])]


def test_auto_takes_its_steps_and_says_why(monkeypatch):
    rng = np.random.default_rng(6)
    dense = random_table(rng, 14, "dense", rows=200)
    table = random_table(rng, 8)
    solution, taken = steps(table)
    assert taken == ["dp"] and "8 variables" in solution.statistics["parts"][0]["why"]
    assert steps(table, Budget(memory=2**5))[1] == ["cp"]
    assert steps(dense)[1] == ["dp"]
    assert steps(random_table(rng, 40, "blocks"))[1] == ["dp"]
    monkeypatch.setattr(optbn_solvers.front.auto, "NODES", 1)
    one, two = steps(dense, Budget(memory=2**10)), steps(dense, Budget(memory=2**10), jobs=2)
    assert one[1] == ["cp", "astar", "ilp"] and two[1] == ["cp", "astar", "ilp against cp"]
    assert one[0].score == two[0].score == table_optimum(dense)
    assert steps(random_table(rng, 14, "dense", rows=60))[1] == ["dp"]
    monkeypatch.setattr(optbn_solvers.methods.dp, "SECONDS", 4e-7)  # about as long as branch and cut may try
    monkeypatch.setattr(optbn_solvers.front.auto, "QUICK", 0.0)
    stalled, taken = steps(random_table(rng, 15, "dense", rows=150))
    assert taken[:2] == ["cp", "astar"] and stalled.status is Status.OPTIMAL
    stopped, taken = steps(random_table(rng, 30, "dense", rows=100), Budget(cpu=0.01))
    assert taken == ["ilp"] and stopped.bound > stopped.score
    stopped, taken = steps(random_table(rng, 28, "dense", rows=100), Budget(cpu=0.01))
    assert taken == ["cp"] and stopped.bound > stopped.score


def test_a_few_nodes_before_the_relaxation_of_a_very_dense_table(monkeypatch):
    monkeypatch.setattr(optbn_solvers.front.auto, "ORDERS", 0)
    table = random_table(np.random.default_rng(7), 30, "dense", rows=60)
    assert steps(table, Budget(cpu=0.01))[1] == ["ilp"]
    monkeypatch.setattr(optbn_solvers.front.auto, "VERY_DENSE", 40)
    solution, taken = steps(table, Budget(cpu=0.01))
    assert taken == ["cp"] and "very short search" in solution.statistics["parts"][0]["why"]


def test_the_order_graph_is_tried_before_branch_and_cut(monkeypatch):
    """A trial that does not end costs no more than some times what was spent before it."""
    table = random_table(np.random.default_rng(6), 14, "dense", rows=60)
    monkeypatch.setattr(optbn_solvers.front.auto, "NODES", 1)
    few = Budget(memory=2**16)  # too little for the recurrence
    solution, taken = steps(table, few)
    assert taken in (["cp", "astar"], ["cp", "astar", "ilp"]) and solution.score == table_optimum(table)
    monkeypatch.setattr(optbn_solvers.front.auto, "TRIAL", 0)
    solution, taken = steps(table, few)
    assert taken == ["cp", "astar", "ilp"] and solution.score == table_optimum(table)


@dataclass(frozen=True)
class SlowToLoad:
    """The cluster search of a machine that has it to compile: the first call takes half a second more."""

    before: list = field(default_factory=list, hash=False, compare=False)
    capabilities: ClassVar = ClusterSearch.capabilities

    def solve(self, table, *args):
        begun = time.process_time()
        while not self.before and time.process_time() - begun < 0.5:
            pass
        self.before.append(len(table))
        return ClusterSearch().solve(table, *args)


def test_what_compiling_takes_does_not_choose_the_solver(monkeypatch):
    slow = SlowToLoad()
    load = optbn_solvers.front.auto.load_solver
    monkeypatch.setattr(
        optbn_solvers.front.auto, "load_solver", lambda name, **options: slow if name == "cp" else load(name, **options)
    )
    table = random_table(np.random.default_rng(6), 23, "plain", rows=8)
    solution, taken = steps(table)
    assert taken == ["cp"] and len(slow.before) == 2 and slow.before[1] == len(table)
    assert solution.status is Status.OPTIMAL


def table_optimum(table):
    return table.score_of(optimum_by_subsets(table))


def test_what_auto_finds_is_proved():
    """Whatever step it comes from: rows, or a tree that the solution carries."""
    rng = np.random.default_rng(12)
    trees = 0
    for trial in range(10):
        table = random_table(rng, 21, "plain", rows=8) if trial % 2 else chained_table(rng, (14, 21), rows=7)
        solution = Auto().solve(table)
        verdict = verify(table, solution, bound_of_proof)
        assert verdict.optimal and not verdict.claimed
        parts = solution.evidence.parts if isinstance(solution.evidence, Parts) else [solution]
        trees += sum(isinstance(part.evidence, Tree) for part in parts)
    assert trees > 3


class Endless:
    """Waits until it is stopped."""

    def solve(self, table, budget, start, progress=None):
        while not budget.exhausted():
            time.sleep(0.01)
        return SubsetDP().solve(table, budget, start, progress)


class Broken:
    def solve(self, *args):
        raise ArithmeticError("broken")


def test_a_race_ends_with_its_first():
    rng = np.random.default_rng(13)
    table = random_table(rng, 9, "dense")
    best = table_optimum(table)
    events = []
    found = Race([SubsetDP(), Endless()]).solve(table, Budget(), None, events.append)
    assert found.status is Status.OPTIMAL and found.score == best
    assert all(a.bound >= b.bound and a.seconds <= b.seconds for a, b in itertools.pairwise(events))
    budget = Budget(wall=0.2)
    found = Race([Endless(), Endless()]).solve(table, budget, found.choice)
    assert found.status is Status.FEASIBLE and found.score == best and budget.elapsed() < 1
    budget = Budget()
    threading.Timer(0.1, budget.stop).start()
    assert Race([Endless(), Endless()]).solve(table, budget).status is Status.UNKNOWN
    with pytest.raises(ArithmeticError):
        Race([Endless(), Broken()]).solve(table, Budget())


def test_a_part_of_a_budget():
    whole = Budget(cpu=100.0, cpu_clock=lambda: 0.0)
    part = whole.within(10.0)
    assert part.cpu == 10.0 and whole.within(200.0).cpu == 100.0 and not part.exhausted()
    part.stop()
    assert part.exhausted() and part.remaining() == 0 and not whole.exhausted()
    part = whole.within()
    whole.stop()
    assert part.exhausted() and part.stopped and part.remaining() == 0
