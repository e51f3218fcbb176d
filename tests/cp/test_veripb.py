"""Proofs in a format of others, replayed by a checker that knows nothing of graphs, and refused when changed."""

from __future__ import annotations

import io
import itertools
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from optbn_solvers import solve
from optbn_solvers.base.errors import ConstraintError, InfeasibleError, NoProofError
from optbn_solvers.base.solution import Exhausted, Parts, RowBound, SubsetRow, Tree
from optbn_solvers.front.exported import export
from optbn_solvers.proofs.nodes import nodes_of_tree
from optbn_solvers.proofs.opb import Encoding, before
from optbn_solvers.proofs.opb_constraints import Demands
from optbn_solvers.proofs.replay import Part, Replay
from optbn_solvers.proofs.veripb import parts_of
from tests.naive.constraints import best_obeying, obeys, random_constraints
from tests.naive.pseudoboolean import Checker, Refused
from tests.naive.solvers import random_table


def exported(table, solution) -> tuple[str, str]:
    problem, proof = io.StringIO(), io.StringIO()
    export(table, solution, problem, proof, 0.0)
    return problem.getvalue(), proof.getvalue()


def cases(count: int, kinds=("plain", "dense", "ties", "blocks")):
    """(table, solution) with rows or trees as evidence."""
    rng = np.random.default_rng(1)
    made = 0
    while made < count:
        table = random_table(rng, int(rng.integers(3, 7)), kinds[made % len(kinds)], rows=8)
        how = [("ilp", {"search_nodes": 0}), ("auto", {}), ("cp", {"carried": 1 << 20, "restarts": 0})][made % 3]
        solution = solve(table, how[0], **how[1])
        try:
            parts_of(table, solution.evidence)
        except NoProofError:
            continue
        made += 1
        yield table, solution


def test_exported_proofs_are_accepted():
    subsets = parts = 0
    for table, solution in cases(30):
        problem, proof = exported(table, solution)
        best = sum(int(table.units[rows]) for rows in table.offsets[:-1])
        assert Checker(problem).check(proof) == best - table.total_units(solution.choice)
        listed = parts_of(table, solution.evidence)
        rows = [row for _, each in listed if isinstance(each, RowBound) for stage in each.stages for row in stage]
        subsets += any(isinstance(row, SubsetRow) for row in rows)
        parts += isinstance(solution.evidence, Parts)
    assert subsets >= 5 and parts >= 3


def test_trees_are_accepted():
    """Branches, support and bounds of tables that rows alone do not close."""
    rng = np.random.default_rng(4)
    branches = support = dropped = 0
    for trial in range(16):
        table = random_table(rng, 6 + trial % 2, "dense", rows=6)
        solution = solve(table, "cp", carried=1 << 20, restarts=0, greedy=False)
        if not isinstance(solution.evidence, Tree):
            continue
        problem, proof = exported(table, solution)
        best = sum(int(table.units[rows]) for rows in table.offsets[:-1])
        assert Checker(problem).check(proof) == best - table.total_units(solution.choice)
        members = tuple(range(table.n))
        replay = Replay(
            Part.of(table, members, solution.choice, np.ones(len(table), dtype=bool)),
            *nodes_of_tree(solution.evidence, members),
            supports=True,
        )
        replay.run()
        branches += sum(node.branch is not None and not node.closed for node in replay.nodes)
        support += sum(bool(node.support) for node in replay.nodes)
        dropped += sum(bool(node.dropped) for node in replay.nodes)
    assert branches >= 5 and support >= 2 and dropped >= 5


def test_changed_problems_and_proofs_are_refused():
    """Another coefficient in the problem makes another optimum, which the proof does not prove; thousands in all."""
    rng = np.random.default_rng(2)
    refused = same = 0
    for table, solution in cases(8):
        problem, proof = exported(table, solution)
        optimum = Checker(problem).check(proof)
        for _ in range(15):
            which = rng.random() < 0.5
            text = problem if which else proof
            numbers = [m for m in re.finditer(r"(?<= )\d+(?= )", text) if m.start() > 60]
            at = numbers[int(rng.integers(len(numbers)))]
            changed = text[: at.start()] + str(int(rng.integers(0, 2 * int(at.group()) + 2))) + text[at.end() :]
            if changed == text:
                continue
            try:
                found = Checker(changed if which else problem).check(proof if which else changed)
            except (Refused, ValueError, IndexError, KeyError, AssertionError):
                refused += 1
            else:
                assert which or found == optimum
                same += 1
    assert refused > 25  # many changes do no harm: rows and terms that the proof does not use


def test_answers_under_constraints_are_accepted():
    """All kinds of constraints; the problem admits every graph that obeys, and the optimum is that of all of them."""
    rng = np.random.default_rng(7)
    ways = [("ilp", {"search_nodes": 0}), ("auto", {}), ("cp", {"carried": 1 << 20, "restarts": 0})]
    found: Counter[str] = Counter()
    for trial in range(90):
        table = random_table(rng, int(rng.integers(4, 6)), ("plain", "dense", "ties")[trial % 3], rows=12)
        constraints = random_constraints(rng, table.names)
        solver, settings = ways[trial % len(ways)]
        try:
            solution = solve(table, solver, constraints=constraints, only_listed=True, **settings)
            problem, proof = exported(table, solution)
        except (ConstraintError, InfeasibleError, NoProofError) as error:
            found[type(error).__name__] += 1
            continue
        best = sum(int(table.units[row]) for row in table.offsets[:-1])
        optimum = best_obeying(table, constraints)
        assert optimum is not None
        assert Checker(problem).check(proof) == best - optimum
        found["accepted"] += 1
        found.update(list(constraints.stated()))
        if isinstance(solution.evidence, RowBound):
            found.update({type(row).__name__ for stage in solution.evidence.stages for row in stage})
    assert found["accepted"] >= 40 and found["NoProofError"] <= 15  # claims: no tree under constraints
    assert min(found[kind] for kind in ("ClauseRow", "LimitRow", "independences", "ancestors", "no_ancestors")) >= 2


def test_the_problem_admits_what_obeys():
    """Each acyclic graph that obeys is a solution of the problem, each that does not obey is refused."""
    rng = np.random.default_rng(8)
    obeying = 0
    for _ in range(25):
        table = random_table(rng, 4, "dense", rows=6)
        constraints = random_constraints(rng, table.names)
        encoding = Encoding(table)
        demands = Demands(encoding, constraints)
        problem = io.StringIO()
        encoding.write(problem, demands.rows, len(demands.variables))
        for order in itertools.permutations(range(4)):
            graph = [
                next((row for row in table.rows(v) if set(table.parents(row)) <= set(order[: order.index(v)])), None)
                for v in range(4)
            ]
            if None in graph:
                continue
            masks = tuple(sum(1 << u for u in table.parents(row)) for row in graph)
            literals = [f"x{row + 1}" if row in graph else f"~x{row + 1}" for row in range(len(table))]
            literals += [before(*sorted(pair, key=order.index)) for pair in itertools.combinations(range(4), 2)]
            checker = Checker(problem.getvalue())
            known = {x.removeprefix("~"): not x.startswith("~") for x in literals}
            if obeys(masks, constraints, table.names) and keeps(order, demands.chains):
                checker.solution([*literals, *demands.true(masks)])
                obeying += 1
            elif not obeys(masks, constraints, table.names) and not constraints.ancestors:
                assert checker.propagate(known, list(checker.constraints))
    assert obeying > 50


def keeps(order, chains) -> bool:
    return all(order.index(u) < order.index(v) for u, v in chains)


def test_what_has_no_such_proof_is_said():
    table = random_table(np.random.default_rng(3), 6)
    best = solve(table, "ilp", search_nodes=0)
    for answer, message in (
        (replace(best, evidence=Exhausted("somebody")), "only rows and trees can be exported"),
        (replace(best, bound=best.bound + 1, status="feasible"), "only an optimal graph"),
        (replace(best, evidence=RowBound(())), "do not prove the optimum"),
    ):
        with pytest.raises(NoProofError, match=message):
            exported(table, answer)
