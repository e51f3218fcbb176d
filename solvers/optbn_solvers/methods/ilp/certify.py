"""Proofs in files from branch and cut.

When the root closes, its stages of rows are a proof; where the cluster search ended below the root, so is its tree.
When branching was needed, that tree is none (its nodes are closed by their own linear programs, and SCIP's in floating
point): then the cluster search may go on below the root, from its rows and with the optimum as incumbent, and writes
the tree that it needs.
"""

from __future__ import annotations

from dataclasses import replace

from optbn_solvers.base.protocol import Budget, ProgressCallback
from optbn_solvers.base.solution import ClauseRow, LimitRow, RowBound, Solution, Tree
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.proofs.writer import write_rows, write_tree
from optbn_solvers.relaxation.evidence import row_bound
from optbn_solvers.relaxation.ledger import Ledger
from optbn_solvers.search.solver import ClusterSearch


def certified(
    table: ScoreTable,
    solution: Solution,
    ledger: Ledger,
    path: str,
    finish: bool,
    budget: Budget,
    progress: ProgressCallback | None,
) -> Solution:
    """The solution with a proof in the file `path`, if there is one; the statistics say."""
    assert solution.choice is not None
    if ledger.rules is not None:
        return _with(solution, "none: proofs have no place for constraints on the whole graph")
    rows = solution.evidence if isinstance(solution.evidence, RowBound) else None
    if rows is not None or solution.evidence is None:
        proof = write_rows(table, path, solution.choice, rows or RowBound(()))
        return replace(_with(solution, "the rows of the root"), evidence=proof)
    if isinstance(solution.evidence, Tree):
        proof = write_tree(table, path, solution.choice, solution.evidence)
        return replace(_with(solution, "the rows of the root and a tree below it"), evidence=proof)
    if not finish:
        return _with(solution, "none: the root did not close (certify lets the cluster search finish the proof)")

    known = row_bound(ledger)
    assert not any(isinstance(row, ClauseRow | LimitRow) for stage in known.stages for row in stage)
    search = ClusterSearch(greedy=False, restarts=0, rows=known, proof=path)
    proved = search.solve(table, budget, solution.choice, progress)
    if proved.choice != solution.choice or proved.bound != solution.bound:
        return _with(solution, "none: the cluster search was stopped")
    done = _with(solution, f"the rows of the root and a tree of {proved.statistics['nodes']} nodes")
    return replace(done, evidence=proved.evidence)


def _with(solution: Solution, proof: str) -> Solution:
    return replace(solution, statistics={**solution.statistics, "proof": proof})
