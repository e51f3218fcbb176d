"""`optbn learn`: from a data file to the best network, its parameters, and a page that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from optbn.cli.options import (
    ForbidOption,
    JobsOption,
    LeavesOption,
    MemoryOption,
    RequireOption,
    RootsOption,
    TiersOption,
    arc_constraints,
)
from optbn.cli.reading import DataArgument, MissingOption, SchemaOption
from optbn.cli.score import complete_score
from optbn.cli.solve import complete_solver

if TYPE_CHECKING:
    from optbn.learning.learn import Learned, Watcher


def learn(
    data: DataArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The network: .json (everything), .bif, .xmlbif or .net.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", "-r", help="The page (.html), or the record behind it (.json).")
    ] = None,
    score: Annotated[
        str, typer.Option("--score", help="What to maximise; see optbn score.", autocompletion=complete_score)
    ] = "pcartp",
    max_parents: Annotated[
        int | None,
        typer.Option("--max-parents", "-D", help="Of any variable.", min=0, show_default="3, or what the time allows"),
    ] = None,
    solver: Annotated[
        str, typer.Option("--solver", help="What searches; see optbn solve.", autocompletion=complete_solver)
    ] = "auto",
    smoother: Annotated[
        str | None, typer.Option("--smoother", help="For the probabilities; see optbn fit.", show_default="hdp")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for everything; what is then best is the answer.", min=0.1)
    ] = None,
    forbid: ForbidOption = None,
    require: RequireOption = None,
    tiers: TiersOption = None,
    roots: RootsOption = None,
    leaves: LeavesOption = None,
    target: Annotated[str | None, typer.Option(help="A variable to say the Markov blanket of.")] = None,
    schema: SchemaOption = None,
    missing: MissingOption = "refuse",
    seed: Annotated[int, typer.Option(help="Of everything random.", min=0)] = 0,
    jobs: JobsOption = None,
    memory: MemoryOption = None,
    store: Annotated[
        str | None, typer.Option(help="A folder that keeps finished scoring; needs --max-parents.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Find the best Bayesian network for the data, with proof, parameters and a page.

    Example: optbn learn data.csv -o model.bif --report page.html
    """
    import optbn
    from optbn.errors import UnsupportedError
    from optbn.network.formats import format_of

    if output is not None:
        format_of(output)
    for path in (output, report):
        if path is not None and not path.absolute().parent.is_dir():
            raise UnsupportedError(f"{path}: there is no folder {path.absolute().parent}")
    if store is not None and (max_parents is None or time_limit is not None):
        raise UnsupportedError("--store goes with --max-parents and without --time-limit: what it keeps is of one size")
    rows = _read(data, schema, missing)
    if target is not None:
        rows.index(target)  # a wrong name should not wait for the search
    with _display() as watcher:
        found = optbn.learn(
            rows,
            score=score,
            max_parents=max_parents,
            solver=solver,
            smoother=smoother,
            time_limit=time_limit,
            constraints=arc_constraints(forbid, require, tiers, roots, leaves),
            seed=seed,
            jobs=jobs,
            memory=memory,
            store=store,
            watcher=watcher,
            source=Path(data).name if data != "-" else "stdin",
            command=_command(),
        )
    written = _write(found, output, report)
    if as_json:
        from optbn.report.report import to_json

        print(to_json(found.report).decode())
    else:
        _print(found, target, written)
    if not found.report.outcome.proved:
        raise typer.Exit(3)


def _read(data: str, schema: Path | None, missing: str) -> Any:
    import optbn
    from optbn.cli.reading import reading

    with reading() as progress:
        return optbn.read(data, schema, missing=missing, progress=progress)


def _command() -> str:
    """The command line to get this result again."""
    import shlex
    import sys

    return shlex.join(["optbn", *sys.argv[1:]])


def _write(found: Learned, output: Path | None, report: Path | None) -> list[str]:
    """Write what was asked for; a line on each file. What a format cannot say goes to JSON beside it, and is said."""
    from optbn.errors import NetworkError
    from optbn.network.formats import write_network
    from optbn.report.report import write

    lines = []
    if output is not None:
        try:
            write_network(found.network, output)
        except NetworkError as error:
            beside = output.with_suffix(".json")
            write_network(found.network, beside)
            lines.append(f"{beside}  the network ({error})")
        else:
            lines.append(f"{output}  the network")
    if report is not None:
        if report.suffix.lower() == ".json":
            write(found.report, report)
        else:
            report.write_text(found.page(), encoding="utf-8")
        lines.append(f"{report}  open it in a browser" if report.suffix.lower() != ".json" else f"{report}  the record")
    return lines


def _print(found: Learned, target: str | None, written: list[str]) -> None:
    """The answer for people."""
    report = found.report
    outcome, data = report.outcome, report.data
    print(f"{len(data.columns)} variables, {data.rows:,} rows")
    print(f"{report.families_scored:,} candidate parent sets scored, {report.families_kept:,} kept")
    print(f"score {outcome.score:.6f}, {len(report.arcs)} arcs, {found.network.n_parameters:,} parameters")
    print(f"{outcome.proof}.")
    for note in report.notes:
        print(f"Note: {note}.")
    if report.arcs:
        print("\narcs, and the score lost without each")
        width = max(len(f"{arc.parent} -> {arc.child}") for arc in report.arcs)
        for arc in sorted(report.arcs, key=lambda arc: -(arc.strength or 0.0)):
            strength = "required" if arc.strength is None else f"{arc.strength:12.3f}"
            print(f"  {f'{arc.parent} -> {arc.child}':<{width}} {strength}{'' if arc.compelled else '  (reversible)'}")
    if target is not None:
        print(f"\nMarkov blanket of {target}: {', '.join(found.network.markov_blanket(target)) or 'nothing'}")
    spent = ", ".join(f"{phase.name} {phase.wall:.2f} s" for phase in report.phases)
    print(f"\ntime: {spent}")
    for line in written:
        print(line)


@contextmanager
def _display() -> Iterator[Watcher | None]:
    """A line on stderr that says what is going on, on a terminal only."""
    import sys

    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    from optbn.learning.learn import Watcher

    console = Console(stderr=True)
    with console.status("") as status:
        say: Callable[[str], None] = status.update

        class Shown(Watcher):
            def phase(self, name: str) -> None:
                say({"fit": "estimating probabilities", "report": "writing"}.get(name, name))

            def scoring(self, report: Any) -> None:
                say(
                    f"scoring sets of {report.size}: {report.done:,} of {report.total:,} families, "
                    f"{report.rate:,.0f}/s, {report.remaining:.0f} s left, {report.survivors:,} kept"
                )

            def solving(self, report: Any) -> None:
                best = "none yet" if report.score is None else f"{report.score:.3f}"
                say(f"solving: best {best}, bound {report.bound:.3f}, {report.nodes:,} nodes, {report.seconds:.0f} s")

        yield Shown()
