"""The front door: run a solver by name, check what it says, hand it over.

Nothing leaves here unchecked: a wrong answer is a CheckFailed, never a Solution; a proof in a file is read back and
checked too. Ctrl-C asks the solver to stop (a second one kills), so that an interrupted run still gives its best graph
and bound.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.errors import CheckFailed, InfeasibleError
from optbn_solvers.base.instance import Instance, table_from
from optbn_solvers.base.protocol import Budget, Progress, ProgressCallback, has_settings
from optbn_solvers.base.run import LOG
from optbn_solvers.base.solution import Proof, Solution, Status, Tree
from optbn_solvers.base.standing import Standing, standing
from optbn_solvers.base.start import Start, rows_of_start
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.base.whole import need_whole
from optbn_solvers.front.completion import completed
from optbn_solvers.front.filtering import Filtered, allowed_families
from optbn_solvers.front.registry import load_solver
from optbn_solvers.proofs import check_carried, check_proof
from optbn_solvers.relaxation.cases import Cases
from optbn_solvers.verify import verify
from optbn_solvers.verify.checker import WORK
from optbn_solvers.verify.layers import STEPS

HARDLY = 0.2  # seconds of checking that nobody minds


def solve(
    table: Instance,
    solver: str = "auto",
    budget: Budget | None = None,
    start: Start | None = None,
    progress: ProgressCallback | None = None,
    constraints: Constraints | None = None,
    only_listed: bool = False,
    thorough: bool = False,
    **options: Any,
) -> Solution:
    """The checked answer of the solver called `solver` (its `options` are its own settings).

    `table` is a ScoreTable, the path of a score file, {child: {parents: score}}, or the arrays (names, children, masks,
    scores) of `ScoreTable.build`.
    `start` is a graph to begin from: {child: parents}, arcs (parent, child), an object with `edges`, a Solution, or a
    row of the table per variable. What cannot be kept of it is noted in statistics["start"].

    Under constraints it is the best graph that obeys them; InfeasibleError when there is none. What families cannot say
    is the business of solvers with a setting `residual`, and of `Cases` around the others. Arcs and paths that must be
    need a table with all parent sets, unless the caller says that those listed are all (base.whole).
    statistics["checked"] has the bound that was proved, says what was proved and what the solver only claims, and
    whether the check was ended: it is given up when the budget's grace is used up. `base.standing` has one word for it.
    A claim is checked by the checker's own search where that takes at most half as long as the solver's did; with
    `thorough` it may take as long, what is too large for it is searched once more, with a tree as evidence, and where
    that does not end either the checker's search may take a minute.
    """
    chosen = load_solver(solver, **options)
    table = table_from(table, keep_dominated=bool(constraints))
    rows, note = rows_of_start(table, start)
    running = (budget or Budget()).started()
    LOG.info("%s: %d variables, %d parent sets, %s", solver, table.n, len(table), running)
    with stopping_on_interrupt(budget or running):
        if constraints:
            filtered = allowed_families(table, constraints)
            if filtered.demanding:
                need_whole(table, "graphs with required arcs or paths", only_listed)
            begin = filtered.narrow(rows)
            note = "left out: it breaks the constraints" if rows is not None and begin is None else note
            solution = _constrained(table, chosen, running, filtered, begin, progress)
            solution = replace(solution, constraints=constraints)
        else:
            solution = chosen.solve(table, running, rows, progress)
    if note:
        solution = replace(solution, statistics={**solution.statistics, "start": note})
    seconds = running.cpu_elapsed() * (1.0 if thorough else 0.5) if solution.status is Status.OPTIMAL else 0.0
    solution = checked(table, solution, running, STEPS * max(seconds, HARDLY))
    if thorough and standing(solution) is Standing.COMPLETE:
        with stopping_on_interrupt(budget or running):
            solution = completed(table, solution, running)
        solution = checked(table, solution, running)
    LOG.info("%s: %r after %.1f s", solver, solution, running.elapsed())
    return solution


def checked(table: ScoreTable, solution: Solution, budget: Budget, work: float = WORK) -> Solution:
    """The solution with what the checker says of it, whose own searches do so much work; Ctrl-C ends the check, not the
    answer."""
    begun = time.perf_counter()
    try:
        check = partial(bound_of_proof, late=budget.overdue)
        verdict = verify(table, solution, check, budget.overdue, work)
    except KeyboardInterrupt:
        verdict = verify(table, solution, bound_of_proof, lambda: True, work)
    record = {
        "bound": verdict.bound if math.isfinite(verdict.bound) else None,
        "proved": list(verdict.proved),
        "claimed": list(verdict.claimed),
        "ended": verdict.ended,
        "seconds": time.perf_counter() - begun,
    }
    return replace(solution, statistics={**solution.statistics, "checked": record})


def _constrained(
    table: ScoreTable,
    solver: Any,
    budget: Budget,
    filtered: Filtered,
    start: Sequence[int] | None,
    progress: ProgressCallback | None,
) -> Solution:
    """The answer on the families that the constraints allow, as one for the whole table."""
    if filtered.residual:
        own = has_settings(solver, "residual")
        solver = replace(solver, residual=filtered.residual) if own else Cases(solver, filtered.residual)

    def lifted(choice: Sequence[int] | None) -> tuple[int, ...] | None:
        return None if choice is None else tuple(filtered.rows[list(choice)].tolist())

    def listen(event: Progress) -> None:
        if progress is not None:
            progress(replace(event, choice=lifted(event.choice)))

    try:
        solution: Solution = solver.solve(filtered.table, budget, start, None if progress is None else listen)
    except InfeasibleError as error:
        raise InfeasibleError(f"under the constraints, {error}") from None
    return replace(solution, choice=lifted(solution.choice), table_digest=table.digest)


def bound_of_proof(table: ScoreTable, stated: int, proof: Proof | Tree, late: Callable[[], bool] | None = None) -> int:
    """The bound in units that a proof proves, a tree the one that is stated; CheckFailed when it does not hold.

    OutOfTime when it is `late` before that is known.
    """
    limit = () if late is None else (late,)

    if isinstance(proof, Tree):
        check_carried(table, stated, proof, *limit)
        return stated
    try:
        digest = sha256(Path(proof.path).read_bytes()).hexdigest()
    except (OSError, ValueError) as error:
        raise CheckFailed(f"the proof that the solution speaks of cannot be read: {error}") from None
    if digest != proof.sha256:
        raise CheckFailed(f"{proof.path} is not the proof that the solution speaks of: its digest differs")
    bound, _ = check_proof(table, proof.path, *limit)
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
