"""The front door: run a solver by name, check what it says, hand it over.

Nothing leaves here unchecked: a wrong answer is a CheckFailed, never a Solution; a proof in a file is read back and
checked too. Ctrl-C asks the solver to stop (a second one kills), so that an interrupted run still gives its best graph
and bound.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from solvers.errors import CheckFailed
from solvers.protocol import Budget, ProgressCallback
from solvers.registry import load_solver
from solvers.solution import Proof, Solution
from solvers.table import ScoreTable
from solvers.verify import Constraint, verify


def solve(
    table: ScoreTable,
    solver: str = "auto",
    budget: Budget | None = None,
    start: Sequence[int] | None = None,
    progress: ProgressCallback | None = None,
    constraints: Sequence[Constraint] = (),
    **options: Any,
) -> Solution:
    """The checked answer of the solver called `solver` (its `options` are its own settings).

    statistics["checked"] says what was proved and what the solver only claims.
    """
    budget = budget or Budget()
    with stopping_on_interrupt(budget):
        solution = load_solver(solver, **options).solve(table, budget, start, progress)
    begun = time.perf_counter()
    verdict = verify(table, solution, constraints, bound_of_proof)
    checked = {
        "proved": list(verdict.proved),
        "claimed": list(verdict.claimed),
        "seconds": time.perf_counter() - begun,
    }
    return replace(solution, statistics={**solution.statistics, "checked": checked})


def bound_of_proof(table: ScoreTable, solution: Solution, proof: Proof) -> int:
    """The bound in units that a proof file proves; CheckFailed when it is another file or does not hold."""
    from solvers.proofs import check_proof

    if sha256(Path(proof.path).read_bytes()).hexdigest() != proof.sha256:
        raise CheckFailed(f"{proof.path} is not the proof that the solution speaks of: its digest differs")
    bound, _ = check_proof(table, proof.path)
    return bound


@contextmanager
def stopping_on_interrupt(budget: Budget) -> Iterator[None]:
    """While inside, the first Ctrl-C stops the budget; the second raises KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def stop(signum: int, frame: object) -> None:
        if budget.stopped:
            raise KeyboardInterrupt
        budget.stop()

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
