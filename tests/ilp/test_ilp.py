"""Branch and cut as a whole: random tables, poor starts, every phase on its own, and the shared instances.

Where a known optimum is handed in, every row, bound, dropped family and pruned node on the way is checked against it.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

import optbn_solvers.methods.ilp.branch
import optbn_solvers.methods.ilp.callbacks
import optbn_solvers.methods.ilp.solver
import optbn_solvers.relaxation.refine
import optbn_solvers.relaxation.root
from optbn import load_network
from optbn.scores import pipeline
from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.base.files import read_table
from optbn_solvers.base.protocol import Budget, Progress
from optbn_solvers.base.solution import Exhausted, Status, Tree
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.front.checked import bound_of_proof
from optbn_solvers.front.registry import load_solver
from optbn_solvers.methods.ilp import Ilp
from optbn_solvers.methods.ilp.branch import Branching, BranchSettings
from optbn_solvers.proofs import check_carried, reference
from optbn_solvers.proofs.format import unpacked
from optbn_solvers.relaxation.families import Families
from optbn_solvers.relaxation.improve import Improver
from optbn_solvers.relaxation.ledger import Ledger
from optbn_solvers.relaxation.localcuts import LocalCuts
from optbn_solvers.relaxation.orders import FamilyIndex, search
from optbn_solvers.relaxation.polish import polish
from optbn_solvers.relaxation.root import Root, RootSettings, ascend, first_relaxation
from optbn_solvers.relaxation.separate import Point, stuck_cluster
from optbn_solvers.verify import verify
from tests.naive.solvers import KINDS, optimum, random_table, scores_of_all_dags, values_of_subsets
from tests.paths import GOLDEN, shared_neighbour

SHORT = RootSettings(
    stall_rounds=1, stall_gain=0.5, most_rounds=2, largest_part=0
)  # leaves work to the phases after it
NODE = RootSettings(most_rounds=1, keep=True, largest_part=0)
SEARCH = Ilp(starts=1, kicks=0, ascents=0, root=SHORT, thorough=SHORT, search_share=0.0)
BRANCHING = replace(SEARCH, branch=BranchSettings(node=NODE), search_nodes=0)
SCIP = replace(SEARCH, branch=BranchSettings(most_nodes=0), search_nodes=0)

METHODS = {
    "cluster search below the root of branch and cut": "search",
    "branch and cut in exact integers": "branching",
}


def optimal_rows(table: ScoreTable) -> list[int]:
    """An optimum by enumeration (n <= 5)."""
    scores = scores_of_all_dags(table)
    best = max(scores, key=lambda graph: scores[graph])
    return [table.find(v, [u for u in range(table.n) if mask >> u & 1]) for v, mask in enumerate(best)]


@pytest.fixture
def no_help(monkeypatch):
    """No local search: the first graph is the worst there is, and points are never polished."""

    def worst(index, *_):
        scores = scores_of_all_dags(index.table)
        graph = min(scores, key=lambda g: scores[g])
        rows = [index.table.find(v, [u for u in range(len(graph)) if m >> u & 1]) for v, m in enumerate(graph)]
        return np.array(rows, dtype=np.int64)

    monkeypatch.setattr(optbn_solvers.methods.ilp.solver, "search", worst)
    for module in (optbn_solvers.relaxation.root, optbn_solvers.relaxation.refine, optbn_solvers.methods.ilp.callbacks):
        monkeypatch.setattr(module, "polish", lambda *_: False)


@pytest.mark.parametrize(
    ("name", "solver"), [("search", SEARCH), ("branching", BRANCHING), ("scip", SCIP), ("whole", Ilp())]
)
def test_every_phase_finds_the_optimum_without_any_help(no_help, name, solver):
    rng = np.random.default_rng(len(name))
    phases = set()
    for case in range(120):
        table = random_table(rng, 2 + case % 4, KINDS[case % len(KINDS)])
        best = optimum(table)
        if best is None:
            continue
        solution = solver.solve(table, known=optimal_rows(table))
        assert solution.status is Status.OPTIMAL
        off = best - table.total_units(solution.choice)
        evidence = solution.evidence
        if isinstance(evidence, Exhausted) and evidence.tolerance:
            phases.add("scip")
            assert 0 <= off * table.quantum <= evidence.tolerance
        else:
            phases.add(METHODS.get(evidence.method, evidence.method) if isinstance(evidence, Exhausted) else "root")
            if isinstance(evidence, Tree):
                phases.add("search" if solver.search_nodes else "branching")
            assert off == 0
        # the rows beside a claim may do, with the graph that was found after them
        assert verify(table, solution, bound_of_proof).optimal or isinstance(evidence, Exhausted)
    assert name in phases or name == "whole"


def test_medium_tables_agree_with_recursion_over_subsets():
    rng = np.random.default_rng(12)
    for case in range(25):
        n = 6 + case % 5
        table = random_table(rng, n, KINDS[case % len(KINDS)], rows=20)
        best = values_of_subsets(table).get((1 << n) - 1)
        if best is None:
            continue
        for solver in (Ilp(), BRANCHING) if case % 2 else (Ilp(),):
            solution = solver.solve(table)
            assert solution.status is Status.OPTIMAL
            assert table.total_units(solution.choice) == best
            verify(table, solution)


def blocks_of_five(rng: np.random.Generator, n: int) -> tuple[ScoreTable, float]:
    """n variables in shuffled blocks of five that only touch inside: the optimum is the sum of the blocks'."""
    places = rng.permutation(n)
    families: dict[str, dict[tuple[str, ...], float]] = {f"x{v}": {} for v in range(n)}
    total = 0.0
    for block in range(n // 5):
        rough = random_table(rng, 5)
        names = [f"x{places[5 * block + v]}" for v in range(5)]
        scores = {
            (v, rough.parents(row)): round(float(rough.scores[row]) * 1024) / 1024
            for v in range(5)
            for row in rough.rows(v)
        }
        inner = ScoreTable.from_dict(
            {names[v]: {tuple(names[u] for u in p): s for (c, p), s in scores.items() if c == v} for v in range(5)}
        )
        total += inner.quantum * optimum(inner)
        for (v, parents), score in scores.items():
            families[names[v]][tuple(names[u] for u in parents)] = score
    return ScoreTable.from_dict(families), total


@pytest.mark.parametrize("n", [65, 130])
def test_several_words_per_mask(n):
    table, best = blocks_of_five(np.random.default_rng(n), n)
    assert table.words == -(-n // 64)
    solvers = [Ilp(), BRANCHING, SCIP] if n == 65 else [Ilp()]
    for solver in solvers:
        solution = solver.solve(table)
        assert solution.status is Status.OPTIMAL
        assert solution.score == pytest.approx(best, abs=1e-4)
        if solver is not SCIP:
            assert solution.score == best
        verify(table, solution)


@pytest.mark.parametrize(("network", "rows", "candidates"), [("pigs", 1000, 12), ("link", 500, 4)])
def test_hundreds_of_variables_are_proved_at_the_root(network, rows, candidates):
    """All that keeps pairs of variables apart is in the first linear program, not sixty rows a round."""
    table = pipeline.score_table(load_network(network).sample(rows, 1), "bdeu", 2, candidates=candidates, jobs=1)
    solution = load_solver("auto").solve(table, Budget(cpu=120))
    assert solution.status is Status.OPTIMAL
    assert verify(table, solution, bound_of_proof).optimal


PROVED = ("child_1000_bdeu1_p3", "insurance_1000_bdeu1_p3", "water_1000_bdeu1_p3", "alarm_1000_bdeu1_p3",
          "hailfinder_1000_bdeu10_p3")  # fmt: skip
GRAPHS = json.loads((GOLDEN / "optimal_graphs.json").read_text())


def shared(name: str) -> tuple[ScoreTable, float]:
    table = read_table(shared_neighbour("golden", "solver", f"{name}.jkl"))
    return table, json.loads(shared_neighbour("golden", "solver", "optima.json").read_text())[name]["optimum"]


@pytest.mark.parametrize("name", PROVED)
def test_roots_that_close_are_proved(name):
    table, best = shared(name)
    solution = Ilp().solve(table)
    assert solution.status is Status.OPTIMAL
    assert solution.score == pytest.approx(best, abs=1e-6)
    assert verify(table, solution, bound_of_proof).optimal


OTHERS = {"autos_bdeu1_p4": "dp", "autos_bic_p5": "cp", "carpo100_bdeu1_p2": "cp", "flag_bdeu1_p3": "cp",
          "letter_bic_p4": "dp", "sponge_bdeu1_p3": "cp", "voting_bdeu1_p4": "dp", "zoo_bdeu10_p4": "dp"}  # fmt: skip
"""The shared instances without a graph on file, and another solver to find one with."""


def known_rows(table: ScoreTable, name: str) -> list[int]:
    """An optimal graph that branch and cut had no part in, or one on file."""
    if name in OTHERS:
        return list(load_solver(OTHERS[name]).solve(table).choice)
    return [table.find(v, [table.names.index(u) for u in GRAPHS[name][child]]) for v, child in enumerate(table.names)]


@pytest.mark.parametrize("name", sorted([*GRAPHS, *OTHERS]))
def test_nothing_excludes_the_known_optimum(name, monkeypatch):
    """Two seconds each, from a graph without arcs, without polishing at first: the optimum stays unknown to the
    solver for a while, and every row, bound, dropped family and pruned node is checked against it."""
    table, best = shared(name)
    known = known_rows(table, name)
    assert table.total(known) == pytest.approx(best, abs=1e-6)
    empty = np.array([table.find(v, []) for v in range(table.n)])
    monkeypatch.setattr(optbn_solvers.methods.ilp.solver, "search", lambda *_: empty)
    calls = itertools.count()
    monkeypatch.setattr(optbn_solvers.relaxation.root, "polish", lambda *a: next(calls) > 8 and polish(*a))
    events: list[Progress] = []
    solution = Ilp(seed=1).solve(table, Budget(cpu=2), known=known, progress=events.append)
    assert solution.bound >= table.total(known) >= solution.score
    assert all(event.bound >= table.total(known) >= (event.score or -np.inf) for event in events)
    verify(table, solution)


@pytest.mark.parametrize("nodes", [1, 2, 5, 12])
def test_a_tree_that_was_stopped_proves_its_bound(nodes):
    """Whatever is open, the tree so far is a proof of the bound it has; a lower one is refused."""
    proved = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        table = random_table(rng, 8, "dense", rows=20)
        index = FamilyIndex.of(table)
        ledger = Ledger(table, search(index, seed, 1, 0), Families.of(table, np.arange(len(table))))
        nearness, clusters = ascend(ledger, 1, rng, Budget())
        if ledger.closed:
            continue
        ledger.restrict()
        lp = first_relaxation(ledger, nearness[ledger.families.rows], clusters, 0.15, float(ledger.gap))
        Root(ledger, index, LocalCuts(rng), rng, SHORT, lp).run(Budget())
        if ledger.closed:
            continue
        settings = BranchSettings(node=NODE, most_nodes=nodes)
        branching = Branching(ledger, lp, index, rng, settings, lambda *_: None)
        branching.run(Budget())
        assert branching.bound >= values_of_subsets(table)[(1 << 8) - 1]
        if branching.bound == ledger.bound:
            continue
        proved += 1
        tree = branching.record.tree(1 << 20, lambda: False)
        check_carried(table, branching.bound, tree)
        numbers = unpacked(tree.body, "tree")
        reference.check_numbers(table, branching.bound, numbers, tree.nodes, tree.denominator)
        if branching.bound > ledger.score:
            with pytest.raises(CheckFailed):
                check_carried(table, ledger.score - 1, tree)
    assert proved > 2


def test_a_node_has_the_rows_that_hold_its_bound_whatever_others_dropped():
    """Rows are taken out of the linear program behind the tree's back; a node worked on later has its own again."""
    rng = np.random.default_rng(4)
    brought = 0
    for _ in range(12):
        table = random_table(rng, 8, "dense", rows=30)
        index = FamilyIndex.of(table)
        ledger = Ledger(table, search(index, 0, 1, 0), Families.of(table, np.arange(len(table))))
        lp = first_relaxation(ledger, ledger.families.units * 0, [], 0.15, float(ledger.gap))
        branching = Branching(ledger, lp, index, rng, BranchSettings(node=NODE, most_nodes=1), lambda *_: None)
        branching.run(Budget())
        rows = branching.record.rows(branching.record.root)
        if not rows or branching.bound == ledger.score:
            continue
        lp.idle = [1 << 30] * len(lp.rows)
        lp.drop_idle_rows(0)
        assert not lp.rows
        branching._bring_back(branching.record.root)
        assert {id(row) for row in rows} == {id(row) for row in lp.rows}
        branching._bring_back(branching.record.root)
        assert len(lp.rows) == len(rows)
        brought += 1
    assert brought > 2


def test_local_search_in_turns_keeps_to_its_share_and_gives_graphs():
    """Turns of every kind, from points and without; what is offered is acyclic and never worse."""
    table = random_table(np.random.default_rng(2), 30, "dense", rows=40)
    index = FamilyIndex.of(table)
    ledger = Ledger(table, search(index, 0, 1, 0), Families.of(table, np.arange(len(table))))
    clock = iter(range(10**9))
    budget = Budget(cpu_clock=lambda: 0.01 * next(clock))
    improver = Improver(ledger, index, np.random.default_rng(0), 0.5, budget)
    which = ledger.families.offsets[:-1]
    begun, best = budget.cpu_elapsed(), ledger.score
    better = False
    for _ in range(20):
        better |= improver.work(Point(ledger.families, which, np.ones(len(which))))
        better |= improver.work()
    assert better == (ledger.score > best)
    assert better
    assert improver.turns > 4
    assert improver.spent < 0.5 * (budget.cpu_elapsed() - begun) + 2.0
    assert stuck_cluster(Point(ledger.families, ledger.families.positions(ledger.rows), np.ones(30))) is None
