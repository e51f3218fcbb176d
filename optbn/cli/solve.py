"""`optbn solve`: Phase II, from a score file to the best graph with evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from optbn.cli.options import MemoryOption, SettingOption, refuse, settings, with_constraints

if TYPE_CHECKING:
    from rich.table import Table

    from optbn_solvers import Constraints, Progress, ScoreTable, Solution


def complete_solver(start: str) -> list[str]:
    """Names of solvers for the shell."""
    from optbn_solvers.front.registry import SOLVERS

    return [name for name in SOLVERS if name.startswith(start)]


@with_constraints
def solve(
    constraints: dict[str, Any],
    scores: Annotated[str, typer.Argument(help="A .jkl, .jaa, .pss or .parquet score file; - is .jkl from stdin.")],
    solver: Annotated[
        str,
        typer.Option(
            help="auto (chooses), ilp, cp, dp, astar, maxsat or greedy.",
            autocompletion=complete_solver,
        ),
    ] = "auto",
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds; then the best graph so far is the answer.", min=0.0)
    ] = None,
    cpu_limit: Annotated[float | None, typer.Option(help="The same in seconds of CPU.", min=0.0)] = None,
    gap: Annotated[float, typer.Option(help="Stop once bound - score is at most this (0: prove it).", min=0.0)] = 0.0,
    memory: MemoryOption = None,
    output: Annotated[str, typer.Option("--output", "-o", help="Where the answer goes; - is stdout.")] = "-",
    format: Annotated[str, typer.Option(help="json (with the evidence), dot, adjacency or cpdag.")] = "json",
    proof: Annotated[
        str | None, typer.Option(help="Write a proof of optimality to this file; auto then means cp.")
    ] = None,
    start: Annotated[str | None, typer.Option(help="An earlier answer (json) to begin from.")] = None,
    checkpoint: Annotated[
        str | None, typer.Option(help="Keeps the best graph and bound in a file: a killed run goes on there.")
    ] = None,
    certify: Annotated[
        bool, typer.Option("--certify", help="With --proof: branch and cut, and its proof finished by cluster search.")
    ] = False,
    k_best: Annotated[int | None, typer.Option(help="So many of the best graphs.", min=1)] = None,
    per_class: Annotated[
        bool, typer.Option("--per-class", help="Of graphs that say the same independences only the best.")
    ] = False,
    within: Annotated[
        float | None, typer.Option(help="All graphs at most so many times less probable than the best.", min=1.0)
    ] = None,
    setting: SettingOption = None,
) -> None:
    """Find the best acyclic graph of a score file; the answer is checked before it is written.

    With --k-best, --per-class or --within: the best graphs, and the arcs that all, most or some of them have.

    Ctrl-C stops the search and gives what it has. Exit code 3: stopped without proof.

    Examples:

    optbn solve scores.jkl -o solution.json

    optbn solve scores.jkl --time-limit 60 --format adjacency

    optbn solve scores.jkl --solver dp --format dot | dot -Tsvg -o graph.svg

    optbn score data.csv | optbn solve - --proof optimal.proof

    optbn solve scores.jkl --forbid "A->B" --independent "A:B|C" --max-arcs 30

    optbn solve scores.jkl --within 20 --per-class -o graphs.json
    """
    import sys
    from dataclasses import replace
    from pathlib import Path

    from optbn.base.errors import UnsupportedError
    from optbn.base.files import check_writable
    from optbn.base.registry import unknown
    from optbn.learning.solving import FORMATS, constraints_of, table_of, written
    from optbn.learning.solving import solve as search
    from optbn.scores.selection import noted
    from optbn_solvers.base.files.atomic import replacing
    from optbn_solvers.base.files.native import read_about
    from optbn_solvers.front.registry import load_solver

    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    if output != "-":
        check_writable(output)
    given = settings(setting)
    asked = constraints_of(constraints)
    if k_best is not None or per_class or within is not None:
        refuse(
            "--k-best, --per-class and --within, which have a search of their own",
            solver=solver != "auto",
            proof=proof,
            certify=certify,
            start=start,
            checkpoint=checkpoint,
            gap=gap,
            set=setting,
            **{f"format {format}": format not in ("json", "adjacency")},
        )
        limits = {"time_limit": time_limit, "cpu_limit": cpu_limit, "memory": memory}
        _several(scores, k_best, per_class, within, asked, limits, output, format)
        return
    if certify and (proof is None or solver not in ("auto", "ilp")):
        raise UnsupportedError("--certify goes with --proof FILE, and with the solver ilp or none")
    if proof is not None:
        check_writable(proof)
        given["proof"] = proof
        solver = ("ilp" if certify else "cp") if solver == "auto" else solver
        given |= {"certify": True} if certify else {}
    load_solver(solver, **given)  # what is wrong here should not wait for a large file to be read
    with _status(f"reading {scores}"):
        table = table_of(scores, keep_dominated=asked is not None)
    begin = None if start is None else _read(table, start).choice
    with _panel(table, solver) as progress:
        solution = search(
            table,
            solver,
            time_limit=time_limit,
            cpu_limit=cpu_limit,
            gap=gap,
            memory=memory,
            start=begin,
            progress=progress,
            checkpoint=checkpoint,
            constraints=asked,
            **given,
        )
    if solution.choice is None:
        print(f"optbn: {_sentence(table, solution)}", file=sys.stderr)
        raise typer.Exit(3)
    limited = noted(read_about(scores)) if Path(scores).suffix.lower() == ".parquet" else None
    if limited is not None:
        solution = replace(solution, statistics={**solution.statistics, "candidates": limited})
    text = written(table, solution, format)
    if output == "-":
        sys.stdout.write(text)
    else:
        with replacing(output) as file:
            file.write(text.encode())
    note = f"; {limited}, which is how the scores were made" if limited is not None else ""
    print(_sentence(table, solution) + note, file=sys.stderr if output == "-" else sys.stdout)
    if solution.gap > gap:
        raise typer.Exit(3)


def _read(table: ScoreTable, path: str) -> Solution:
    """An earlier answer."""
    from pathlib import Path

    from optbn.base.errors import UnsupportedError
    from optbn_solvers.base.errors import CheckFailed
    from optbn_solvers.base.solution_json import from_json

    try:
        return from_json(table, Path(path).read_bytes())
    except CheckFailed as error:
        raise UnsupportedError(f"--start {path}: {error}") from None


MOST = 10_000  # graphs of a window that are listed


def _several(
    scores: str,
    k_best: int | None,
    per_class: bool,
    within: float | None,
    asked: Constraints | None,
    limits: dict[str, Any],
    output: str,
    format: str,
) -> None:
    """More than one answer."""
    import sys

    import msgspec

    from optbn.learning.graphs import as_adjacency, described, in_words
    from optbn.learning.solving import near, table_of
    from optbn_solvers.base.files.atomic import replacing

    with _status(f"reading {scores}"):
        table = table_of(scores, keep_dominated=True)
    most = k_best or (MOST if within is not None else 10)
    with _panel(table, "the best graphs") as progress:
        found = near(table, most, within=within, per_class=per_class, constraints=asked, progress=progress, **limits)
    told = described(found, per_class, within, asked.given() if asked else {})
    text = (
        as_adjacency(told) if format == "adjacency" else msgspec.json.format(msgspec.json.encode(told)).decode() + "\n"
    )
    if output == "-":
        sys.stdout.write(text)
    else:
        with replacing(output) as file:
            file.write(text.encode())
    for line in in_words(told):
        print(line, file=sys.stderr if output == "-" else sys.stdout)
    if within is not None and not found.complete:
        raise typer.Exit(3)


def _sentence(table: ScoreTable, solution: Solution) -> str:
    """What came out, for people."""
    if solution.score is None or solution.choice is None:
        return f"no graph found in the time given; no graph scores more than {solution.bound:.6f}"
    from optbn.base.numbers import counted

    arcs = sum(len(table.parents(row)) for row in solution.choice)
    what = f"score {solution.score:.6f}, {counted(table.n, 'variable')}, {counted(arcs, 'arc')}"
    if solution.bound > solution.score:
        return f"{what}; not proved: no graph scores more than {solution.bound:.6f} (gap {_gap(solution)})"
    claimed = solution.statistics.get("checked", {}).get("claimed", ())
    return f"{what}; optimal ({claimed[0].rpartition(': ')[2] if claimed else 'proved, and the proof checked'})"


def _gap(event: Progress | Solution) -> str:
    relative = f", {event.gap / abs(event.score):.2%}" if event.score else ""
    return f"{event.gap:.6g}{relative}"


@contextmanager
def _status(text: str) -> Iterator[None]:
    """A spinner on stderr, on a terminal only."""
    import sys

    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


@contextmanager
def _panel(table: ScoreTable, solver: str) -> Iterator[Callable[[Progress], None] | None]:
    """A live panel on stderr, on a terminal only: incumbent, bound, gap, time."""
    import sys
    import time

    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.panel import Panel

    begun = time.monotonic()
    last: list[Progress] = []

    def show() -> Panel:
        title = f"{table.n} variables, {len(table):,} parent sets: {solver}"
        return Panel(_rows(last[-1] if last else None, time.monotonic() - begun), title=title, width=64)

    def listen(event: Progress) -> None:
        last[:] = [event]

    with Live(get_renderable=show, console=Console(stderr=True), refresh_per_second=4, transient=True):
        yield listen


def _rows(event: Progress | None, seconds: float) -> Table:
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    rows = [("time", f"{seconds:.1f} s   (Ctrl-C stops and keeps the best)")]
    if event is not None:
        rows += [
            ("incumbent", "none yet" if event.score is None else f"{event.score:.6f}"),
            ("bound", f"{event.bound:.6f}"),
            ("gap", "" if event.score is None else _gap(event)),
            ("nodes", f"{event.nodes:,}"),
            ("", event.phase),
        ]
    for label, text in rows:
        grid.add_row(label, text)
    return grid
