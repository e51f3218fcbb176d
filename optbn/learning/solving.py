"""Phase II from the side of optbn: ask for the best graph of a score table, and write it in the usual forms."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optbn_solvers
from optbn.base.errors import UnsupportedError
from optbn.base.memory import parse_memory
from optbn.base.options import check_arguments
from optbn.base.registry import unknown
from optbn.learning.again import scored_again
from optbn.learning.checkpoint import Checkpoint
from optbn.network.structure import Structure
from optbn_solvers import Budget, Constraints
from optbn_solvers.base.atomic import beside
from optbn_solvers.base.errors import TableError
from optbn_solvers.base.files import read_rows, read_table
from optbn_solvers.base.solution import Proof
from optbn_solvers.base.whole import is_whole
from optbn_solvers.front.checked import checked, stopping_on_interrupt
from optbn_solvers.front.exported import export as write_proof
from optbn_solvers.front.near import best_graphs
from optbn_solvers.front.registry import solver_class

if TYPE_CHECKING:
    from optbn.data.anything import DataLike
    from optbn_solvers import Progress, ScoreTable, Solution
    from optbn_solvers.front.near import Near


def solve(
    scores: ScoreTable | str | PathLike[str],
    solver: str = "auto",
    *,
    time_limit: float | None = None,
    cpu_limit: float | None = None,
    grace: float | None = None,
    gap: float = 0.0,
    memory: int | str | None = None,
    start: Structure | Sequence[int] | None = None,
    progress: Callable[[Progress], None] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
    data: DataLike | None = None,
    only_listed: bool = False,
    **settings: Any,
) -> Solution:
    """The best acyclic graph of a score table (or score file), checked, with a bound and its evidence.

    scores                  a table, or a file of one
    solver                  a name in optbn_solvers.front.registry.SOLVERS; "auto" chooses
    time_limit, cpu_limit   seconds; then the best graph so far is returned, with status "feasible"
    grace                   seconds after the time limit for the check of the answer; without them it is not checked
    gap                     stop once bound - score is at most this
    memory                  bytes, or "4G"; half of the machine by default
    start                   a graph to begin from: a Structure, or a row of the table per variable
    progress                called with an `optbn_solvers.Progress` when a better graph or bound is found
    checkpoint              a file that keeps the best graph and bound, so that a killed run can continue
    constraints             on the graph: optbn_solvers.Constraints, or a dictionary of its fields
    data                    what a score file was made of: where constraints need all sets and it lacks those that a
                            subset of theirs beats, they are scored again
    only_listed             required arcs or paths may do with a table that lacks sets which a subset of theirs beats
    settings                of the solver
    Ctrl-C stops the search and returns what it has. `structure_of` makes a Structure of the answer.
    """
    check_arguments(solve, settings, f"solver {solver!r}", [field.name for field in fields(solver_class(solver))])  # type: ignore[arg-type]
    if not isinstance(scores, optbn_solvers.ScoreTable | str | PathLike):
        raise UnsupportedError(
            f"solve takes a score table (optbn.score_table makes it from data) or a score file, not a "
            f"{type(scores).__name__}"
        )
    required = constraints_of(constraints)
    table = _table(scores, bool(required), data)
    budget = _budget(time_limit, cpu_limit, memory, gap, grace)
    rows = rows_of(table, start) if isinstance(start, Structure) else start
    settings |= {"only_listed": True} if only_listed else {}
    if checkpoint is None:
        return optbn_solvers.solve(table, solver, budget, rows, progress, required, **settings)
    return _resumed(table, solver, budget, rows, progress, checkpoint, required, settings)


def constraints_of(words: Constraints | Mapping[str, Any] | None) -> Constraints | None:
    """The constraints, of a dictionary of fields too; None where there are none."""
    if words is None or isinstance(words, Constraints):
        return words or None
    known = [field.name for field in fields(Constraints)]
    for name in words:
        if name not in known:
            raise unknown("constraint", name, known)
    return Constraints(**words) or None


def _table(scores: ScoreTable | str | PathLike[str], keep_dominated: bool, data: DataLike | None) -> ScoreTable:
    """A table, or that of a file."""
    if not isinstance(scores, optbn_solvers.ScoreTable):
        return table_of(scores, keep_dominated, data)
    if data is not None:
        raise UnsupportedError("data go with a score file, which says how they were scored; a table does not")
    return scores


def table_of(path: str | PathLike[str], keep_dominated: bool = False, data: DataLike | None = None) -> ScoreTable:
    """The table in a score file; under constraints, and for more than one answer, with all its families. Those that
    were left out of the file are scored again from the data, where these are at hand."""
    if not keep_dominated:
        return read_table(os.fspath(path))
    rows = read_rows(os.fspath(path))
    try:
        table = rows.table(keep_dominated=True)
    except TableError as error:
        raise TableError(f"{os.fspath(path)}: {error}") from None
    return table if data is None or is_whole(table) else scored_again(path, data)


def near(
    scores: ScoreTable | str | PathLike[str],
    most: int = 10,
    *,
    within: float | None = None,
    per_class: bool = False,
    time_limit: float | None = None,
    cpu_limit: float | None = None,
    memory: int | str | None = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
    progress: Callable[[Progress], None] | None = None,
    data: DataLike | None = None,
    only_listed: bool = False,
) -> Near:
    """The best graphs of a score table (or file): the `most` best, or those whose exp(score) is at least that of the
    best divided by `within` (at most `most`); with `per_class` the best of each equivalence class. The limits are those
    of `solve`; a score file without the sets that a subset of theirs beats is scored again from the `data`, and refused
    without them, unless the listed ones are all (`only_listed`)."""
    if within is not None and not within >= 1:
        raise UnsupportedError(f"within a factor of {within!r}: expected a number from 1")
    table = _table(scores, True, data)
    budget = _budget(time_limit, cpu_limit, memory)
    window = None if within is None else math.log(within)
    with stopping_on_interrupt(budget):
        return best_graphs(
            table, most, window, per_class, constraints_of(constraints), budget, progress, None, only_listed
        )


def _budget(
    time_limit: float | None,
    cpu_limit: float | None,
    memory: int | str | None,
    gap: float = 0.0,
    grace: float | None = None,
) -> Budget:
    """The limits as a budget; None for no limit, and for half of the machine."""
    return Budget(
        wall=math.inf if time_limit is None else time_limit,
        cpu=math.inf if cpu_limit is None else cpu_limit,
        memory=None if memory is None else parse_memory(memory),
        gap=gap,
        grace=math.inf if grace is None else grace,
    )


def _resumed(
    table: ScoreTable,
    solver: str,
    budget: Budget,
    start: Sequence[int] | None,
    progress: Callable[[Progress], None] | None,
    path: str | PathLike[str],
    required: Constraints | None,
    settings: dict[str, Any],
) -> Solution:
    """`optbn_solvers.solve` with its state on disk, from where an earlier run left it."""
    kept = Checkpoint.at(table, path, required)
    earlier = kept.earlier
    if earlier is not None and earlier.status == "optimal":
        if isinstance(earlier.evidence, Proof):  # never where the file says
            beside = Path(path).absolute().parent / Path(earlier.evidence.path).name
            earlier = replace(earlier, evidence=replace(earlier.evidence, path=str(settings.get("proof") or beside)))
        return checked(table, earlier, budget)
    if kept.choice is not None and (start is None or table.total(start) < table.total(kept.choice)):
        start = kept.choice

    def listen(event: Progress) -> None:
        kept.listen(event)
        if progress is not None:
            progress(event)

    solution = optbn_solvers.solve(table, solver, budget, start, listen, required, **settings)
    kept.finish(solution)
    if earlier is not None:
        note = {"score": earlier.score, "bound": earlier.bound}
        solution = replace(solution, statistics={**solution.statistics, "earlier": note})
    return solution


def structure_of(table: ScoreTable, solution: Solution) -> Structure:
    """The graph of a solution over the rows of its table."""
    if solution.choice is None:
        raise ValueError(f"the solution is {solution.status}: it has no graph")
    return Structure.from_parents(table.graph(solution.choice))


def rows_of(table: ScoreTable, structure: Structure) -> list[int]:
    """The rows of the table for a graph; a family that is not in the table gives way to its best subset that is."""
    place = {name: v for v, name in enumerate(table.names)}
    if set(structure.names) != set(place):
        odd = sorted(set(structure.names) ^ set(place))[0]
        raise UnsupportedError(f"the graph to start from and the score table differ in variables: {odd!r}")
    rows = []
    for v, name in enumerate(table.names):
        parents = {place[p] for p in structure.parents(name)}
        row = next((r for r in table.rows(v) if parents.issuperset(table.parents(r))), None)
        if row is None:
            raise UnsupportedError(f"the table has no parent set for {name!r} within the graph to start from")
        rows.append(row)
    return rows


def export(table: ScoreTable, solution: Solution, path: str | PathLike[str]) -> Path:
    """Write the proof of an optimum for VeriPB, and the problem that it is about beside it (.opb); returns that."""
    problem = Path(path).with_suffix(".opb")
    with beside(problem) as opb, beside(path) as pbp, open(opb, "w") as first, open(pbp, "w") as second:
        write_proof(table, solution, first, second)
    return problem
