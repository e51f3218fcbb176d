"""A look of the cluster search below the root of branch and cut: where it ends, it leaves a tree to be checked."""

from __future__ import annotations

import numpy as np

from optbn_solvers.base.protocol import Progress
from optbn_solvers.base.run import Run
from optbn_solvers.base.solution import Exhausted, Status, Tree
from optbn_solvers.relaxation.ledger import Ledger, WrongProof
from optbn_solvers.search.solver import ClusterSearch
from optbn_solvers.search.start import Start

PATIENCE = 5  # times the nodes of a look that it may take besides if it seems to end then


def look(ledger: Ledger, run: Run, start: Start, nodes: int, seed: int, carried: int) -> Tree | Exhausted | None:
    """Search from `start`, for `nodes` nodes, and up to PATIENCE times as many more while the end seems near; the
    evidence, or None where it did not end."""

    def below_root(event: Progress) -> None:
        """The search's bound is kept only once it ends."""
        run.nodes = event.nodes
        run.report("search")

    search = ClusterSearch(
        greedy=False, restarts=0, most=nodes, patience=PATIENCE, rows=start, seed=seed, carried=carried
    )
    found = search.solve(run.table, run.budget, ledger.rows.tolist(), below_root)
    assert found.choice is not None
    ledger.offer(np.array(found.choice, dtype=np.int64))
    run.statistics["nodes"] = run.nodes = int(found.statistics["nodes"])
    if found.status is not Status.OPTIMAL:
        return None
    if ledger.known is not None and run.table.total_units(ledger.known) > ledger.score:
        raise WrongProof("the cluster search ended without finding the known optimum")
    run.lower(ledger.score)
    return (
        found.evidence
        if isinstance(found.evidence, Tree)
        else Exhausted("cluster search below the root of branch and cut")
    )
