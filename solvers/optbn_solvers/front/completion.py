"""Evidence for what was only claimed.

Where a search left no evidence for a part of the variables (dynamic programming, A*, branching trees, SCIP), the
optimum is known, and with it as the incumbent the cluster search may write down a tree that the checker replays. That
is for what the checker's own search (verify.layers) did not settle; parts of few variables it did.
"""

from __future__ import annotations

from dataclasses import replace

from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.solution import Exhausted, Part, Parts, Proof, RowBound, Solution, Status, Tree
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.front.components import renamed_rows, restrict
from optbn_solvers.search.solver import ClusterSearch

CARRIED = 1 << 26  # bytes of a tree
FEW = 20  # variables of a part that the checker's own search was surely enough for


def completed(table: ScoreTable, solution: Solution, budget: Budget, few: int = FEW) -> Solution:
    """The solution with trees in place of claims about over `few` variables, as far as the budget goes."""
    if solution.status is not Status.OPTIMAL or solution.choice is None or solution.constraints is not None:
        return solution
    evidence = solution.evidence
    if isinstance(evidence, Parts):
        parts = [replace(part, evidence=_tree(table, solution, part, budget, few)) for part in evidence.parts]
        return replace(solution, evidence=Parts(tuple(parts)))
    if isinstance(evidence, Exhausted):
        whole = Part(tuple(range(table.n)), table.total_units(solution.choice), evidence)
        return replace(solution, evidence=_tree(table, solution, whole, budget, few))
    return solution


def _tree(
    table: ScoreTable, solution: Solution, part: Part, budget: Budget, few: int
) -> Tree | Exhausted | RowBound | Proof:
    """The evidence of a part, a tree if there was a claim and the cluster search can end in time."""
    claim = part.evidence
    if not isinstance(claim, Exhausted) or len(part.members) <= few or budget.exhausted():
        return claim
    assert solution.choice is not None
    alone = restrict(table, part.members)
    start = alone.narrow(table, solution.choice)
    if alone.table.total_units(start) != part.bound:
        return claim  # the claim is about less than an optimum
    if claim.rows is None:
        search = ClusterSearch(carried=CARRIED)
    else:  # the root is as strong as the rows
        rows = renamed_rows(claim.rows, {u: i for i, u in enumerate(part.members)})
        search = ClusterSearch(greedy=False, restarts=0, rows=rows, carried=CARRIED)
    found = search.solve(alone.table, budget, start.tolist())
    settled = found.status is Status.OPTIMAL and found.score == alone.table.score_of(part.bound)
    return found.evidence if settled and isinstance(found.evidence, Tree) else claim
