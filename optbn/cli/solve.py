"""`optbn solve`: Phase II, from a score file to the best graph with evidence."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import optbn
from optbn.base.errors import UnsupportedError
from optbn.base.files import check_writable
from optbn.base.numbers import counted
from optbn.base.options import check_choice
from optbn.cli.options import Values, with_options
from optbn.cli.panel import live, status
from optbn.cli.texts import constraints, settings
from optbn_solvers.base.atomic import replacing
from optbn_solvers.base.clock import age
from optbn_solvers.base.errors import CheckFailed
from optbn_solvers.base.standing import Standing, checked_bound, checked_gap, standing
from optbn_solvers.front.registry import load_solver, solver_with

if TYPE_CHECKING:
    from optbn_solvers import Constraints, ScoreTable, Solution

LARGEST_TREE = 1 << 26  # bytes that an answer carries to be exported


@with_options("solve")
def solve(
    scores: Annotated[str, typer.Argument(help="A .jkl, .jaa, .pss or .parquet score file; - is .jkl from stdin.")],
    options: Values,
) -> None:
    """Find the best acyclic graph of a score file; the answer is checked before it is written.

    With --k-best, --per-class or --within: the best graphs, and the arcs that all, most or some of them have.

    Ctrl-C stops the search and gives what it has. Exit code 3: not proved.

    Examples:

    optbn solve scores.jkl -o solution.json

    optbn solve scores.jkl --time-limit 60 --format adjacency

    optbn solve scores.jkl --solver dp --format dot | dot -Tsvg -o graph.svg

    optbn score data.csv | optbn solve - --proof optimal.proof

    optbn solve scores.jkl --forbid "A->B" --independent "A:B|C" --max-arcs 30

    optbn solve scores.jkl --within 20 --per-class -o graphs.json
    """
    from optbn.learning.solving import constraints_of

    check_choice("solve", "format", options.format)
    if options.output != "-":
        check_writable(options.output)
    required = constraints_of(constraints(vars(options)))
    if options.k_best is not None or options.per_class or options.within is not None:
        _several(scores, required, options)
    else:
        _best(scores, required, options)


def _best(scores: str, required: Constraints | None, options: Values) -> None:
    """The best graph, with its evidence."""
    from optbn.learning.solving import export, table_of
    from optbn.learning.written import written
    from optbn.scores.selection import noted
    from optbn_solvers.base.files import read_about

    solver, solver_settings = _solver(options)
    load_solver(solver, **solver_settings)  # a mistake here should not wait for a large file to be read
    with status(f"reading {scores}"):
        table = table_of(scores, required is not None, options.data)
    start = None if options.start is None else _read(table, options.start).choice
    values = options.keywords("solve") | {"solver": solver, "start": start, "constraints": required, "data": None}
    values |= _left(options)
    values |= {"thorough": True} if options.certify and options.proof is None else {}
    with live(table, solver) as progress:
        solution = optbn.solve(table, **values, progress=progress, **solver_settings)
    if solution.choice is None:
        print(f"optbn: {_sentence(table, solution)}", file=sys.stderr)
        raise typer.Exit(3)
    about = read_about(scores)
    limited = noted(about)
    notes = {"scores": about} | ({"candidates": limited} if limited is not None else {})
    solution = replace(solution, statistics={**solution.statistics, **notes})
    _put(written(table, solution, options.format), options.output)
    if options.proof is not None and options.proof.endswith(".pbp"):
        export(table, solution, options.proof)
    note = f"; {limited}, which is how the scores were made" if limited is not None else ""
    print(_sentence(table, solution) + note, file=sys.stderr if options.output == "-" else sys.stdout)
    if checked_gap(solution) > options.gap:
        raise typer.Exit(3)


def _left(options: Values) -> dict[str, float]:
    """What is left of the limits, which count from the start of the program, with some of it for the check."""
    left = {}
    if options.time_limit is not None:
        check = _for_the_check(options.time_limit)
        left = {"time_limit": max(0.0, options.time_limit - check - age()), "grace": max(LEAST_GRACE, check)}
    if options.cpu_limit is not None:
        check = _for_the_check(options.cpu_limit)
        left["cpu_limit"] = max(0.0, options.cpu_limit - check - time.process_time())
    return left


def _for_the_check(limit: float) -> float:
    """Seconds of a limit that are kept for the check of the answer, which depends on the size of the table."""
    return max(CHECK_SHARE * limit, min(USUAL_CHECK, limit / 4))


def _solver(options: Values) -> tuple[str, dict[str, Any]]:
    """The solver and its settings; a proof decides what auto means."""
    solver, chosen = options.solver, settings(options.setting)
    if options.proof is None:
        return solver, chosen
    certifying = solver_with("certify", "carried")
    if options.proof.endswith(".pbp"):  # of rows or a tree, which branch and cut leaves
        check_writable(options.proof)
        return (certifying, {"carried": LARGEST_TREE} | chosen) if solver == "auto" else (solver, chosen)
    if options.certify and solver not in ("auto", certifying):
        raise UnsupportedError(f"--certify does not go with --solver {solver}: only {certifying} writes such a proof")
    check_writable(options.proof)
    if solver == "auto":
        solver = certifying if options.certify else solver_with("proof")
    return solver, chosen | {"proof": options.proof} | ({"certify": True} if options.certify else {})


def _put(text: str, output: str) -> None:
    """Write the answer, to a file in one step."""
    if output == "-":
        sys.stdout.write(text)
        return
    with replacing(output) as file:
        file.write(text.encode())


def _read(table: ScoreTable, path: str) -> Solution:
    """An earlier answer."""
    from optbn_solvers.base.solution_json import from_json

    try:
        return from_json(table, Path(path).read_bytes())
    except CheckFailed as error:
        raise UnsupportedError(f"--start {path}: {error}") from None


CHECK_SHARE, USUAL_CHECK = 0.1, 2.0  # of a limit, and seconds of a short one, that the check of the answer may take
LEAST_GRACE = 1.0  # seconds that it has in any case
MOST = 10_000  # graphs of a window that are listed


def _several(scores: str, required: Constraints | None, options: Values) -> None:
    """The best graphs, and what they have in common."""
    import msgspec

    from optbn.learning.graphs import as_adjacency, described, in_words
    from optbn.learning.solving import near, table_of

    with status(f"reading {scores}"):
        table = table_of(scores, True, options.data)
    within, output = options.within, options.output
    most = options.k_best or (MOST if within is not None else 10)
    limits = {"time_limit": options.time_limit, "cpu_limit": options.cpu_limit, "memory": options.memory}
    with live(table, "the best graphs") as progress:
        graphs = near(
            table,
            most,
            within=within,
            per_class=options.per_class,
            constraints=required,
            progress=progress,
            only_listed=options.only_listed,
            **limits,
        )
    record = described(graphs, options.per_class, within, required.stated() if required else {}, options.only_listed)
    as_json = msgspec.json.format(msgspec.json.encode(record)).decode() + "\n"
    _put(as_adjacency(record) if options.format == "adjacency" else as_json, output)
    for line in in_words(record):
        print(line, file=sys.stderr if output == "-" else sys.stdout)
    if within is not None and not graphs.complete:
        raise typer.Exit(3)


def _sentence(table: ScoreTable, solution: Solution) -> str:
    """What came out, for people."""
    if solution.score is None or solution.choice is None:
        return f"no graph was found within the limits; none scores more than {solution.bound:.6f}"

    arcs = sum(len(table.parents(row)) for row in solution.choice)
    what = f"score {solution.score:.6f}, {counted(table.n, 'variable')}, {counted(arcs, 'arc')}"
    return f"{what}; {_proof_in_words(table, solution)}"


def _proof_in_words(table: ScoreTable, solution: Solution) -> str:
    """How good that is known to be, in the words of optbn_solvers.base.standing."""
    checked = solution.statistics.get("checked", {})
    claimed = "".join(f"; claimed: {text}" for text in checked.get("claimed", ())[:1])
    most = f"no graph of this table scores more than {checked_bound(solution):.6f}"
    what = standing(solution)
    if what is Standing.PROVED:
        return (
            f"optimal among the graphs of this table (proved, and the proof checked; to within {table.tolerance:.1g})"
        )
    if what is Standing.COMPLETE:
        remedy = "" if solution.constraints else ", --certify proves it"
        return f"{what}, not proved (the search is taken on trust{remedy}; checked is that {most}){claimed}"
    relative = f", {checked_gap(solution) / abs(solution.score or 1.0):.2%}" if solution.score else ""
    return f"{what}, not proved optimal: {most} (checked; gap {checked_gap(solution):.6g}{relative}){claimed}"
