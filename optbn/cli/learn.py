"""`optbn learn`: from a data file to the best network, its parameters, and a page that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from optbn.cli.options import CandidatesOption, JobsOption, MemoryOption, settings, with_constraints
from optbn.cli.reading import DataArgument, MissingOption, reading, with_reading
from optbn.cli.score import complete_score
from optbn.cli.solve import complete_solver
from optbn.cli.writing import check_network_file, write_or_beside

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.learning.estimate import Cost
    from optbn.learning.learn import Learned, Watcher
    from optbn.scores.protocol import LocalScore


@with_constraints
@with_reading
def learn(
    how: dict[str, Any],
    constraints: dict[str, Any],
    data: DataArgument,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="The network: .json (everything), .bif, .xmlbif or .net; again for more than one.",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", "-r", help="The page (.html), or the record behind it (.json).")
    ] = None,
    score: Annotated[
        str, typer.Option("--score", help="What to maximise; see optbn score.", autocompletion=complete_score)
    ] = "pcartp",
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the score, ess=10 say; may be repeated.")
    ] = None,
    max_parents: Annotated[
        int | None,
        typer.Option("--max-parents", "-D", help="Of any variable.", min=0, show_default="3, or what the time allows"),
    ] = None,
    candidates: CandidatesOption = None,
    solver: Annotated[
        str, typer.Option("--solver", help="What searches; see optbn solve.", autocompletion=complete_solver)
    ] = "auto",
    smoother: Annotated[
        str | None, typer.Option("--smoother", help="For the probabilities; see optbn fit.", show_default="hdp")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds for everything; what is then best is the answer.", min=0.1)
    ] = None,
    target: Annotated[str | None, typer.Option(help="A variable to say the Markov blanket of.")] = None,
    missing: MissingOption = "refuse",
    seed: Annotated[int, typer.Option(help="Of everything random.", min=0)] = 0,
    jobs: JobsOption = None,
    memory: MemoryOption = None,
    store: Annotated[
        str | None, typer.Option(help="A folder that keeps finished scoring; needs --max-parents.")
    ] = None,
    alternatives: Annotated[
        int,
        typer.Option("--alternatives", help="Report so many of the next best networks.", min=0),
    ] = 0,
    posteriors: Annotated[
        bool,
        typer.Option("--posteriors", help="Report the arcs' probabilities over all, or the most probable, networks."),
    ] = False,
    only_estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say what scoring would cost, by the most parents.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Find the best Bayesian network for the data, with proof, parameters and a page.

    What scoring will cost is estimated first; on a terminal, work of many minutes is begun only when you agree.

    Example: optbn learn data.csv -o model.bif --report page.html
    """
    import time

    import optbn
    from optbn.base.errors import UnsupportedError
    from optbn.scores import load_score

    outputs = output or []
    _check_files(outputs, report)
    method = load_score(score, **settings(setting))
    if store is not None and (max_parents is None or time_limit is not None):
        raise UnsupportedError("--store goes with --max-parents and without --time-limit: what it keeps is of one size")
    if store is not None and candidates is not None:
        raise UnsupportedError("--candidates does not go with --store: the work is short")
    if only_estimate:
        rows = optbn.read(data, missing=missing, **how)
        _estimate(rows, method, max_parents, candidates, constraints, jobs, memory)
        return
    schema = how.pop("schema")
    try:
        with reading() as progress, _display(target, yes) as watcher:
            found = optbn.learn(
                data,
                score=method,
                max_parents=max_parents,
                candidates=candidates,
                solver=solver,
                smoother=smoother,
                time_limit=time_limit,
                constraints=constraints,
                seed=seed,
                jobs=jobs,
                memory=memory,
                store=store,
                watcher=watcher,
                source=Path(data).name if data != "-" else "stdin",
                command=_command(),
                schema=schema,
                missing=missing,
                reading={**how, "progress": progress},
                alternatives=alternatives,
                posteriors=posteriors,
            )
            start = time.monotonic()
            watcher.phase("report")
            written = _write(found, outputs, report)
            writing = time.monotonic() - start
    except KeyboardInterrupt:
        import sys

        print("optbn: interrupted; nothing was written", file=sys.stderr)
        raise typer.Exit(130) from None
    if as_json:
        from optbn.report.report import to_json

        print(to_json(found.report).decode())
    else:
        _print(found, target, written, writing)
    if not found.report.outcome.proved:
        raise typer.Exit(3)


def _check_files(outputs: Sequence[Path], report: Path | None) -> None:
    """Refuse what could not be written, before any work is done."""
    from optbn.base.errors import UnsupportedError
    from optbn.base.files import check_writable

    for output in outputs:
        check_network_file(output)
    if report is not None:
        if report.suffix.lower() not in (".html", ".htm", ".json"):
            raise UnsupportedError(f"{report}: a report is a page (.html) or the record behind it (.json)")
        check_writable(report)
    written = [*outputs, *([report] if report is not None else [])]
    for i, path in enumerate(written):
        if path in written[:i]:
            raise UnsupportedError(f"{path} is asked for twice; the second would overwrite the first")


def _estimate(
    data: Dataset,
    score: LocalScore,
    max_parents: int | None,
    candidates: int | None,
    constraints: dict[str, Any],
    jobs: int | None,
    memory: str | None,
) -> None:
    """A line per number of parents; what the data cannot bear ends the list with the reason."""
    from optbn.learning.constraints import divided
    from optbn.learning.estimate import estimate, in_words

    rules, _ = divided(constraints, data.names)
    if candidates is not None:
        rules["candidates"] = candidates
    print("parents          families       time      memory")
    largest = min(5 if max_parents is None else max_parents, data.n_variables - 1)
    for cost in estimate(data, score, largest, constraints=rules, jobs=jobs, memory=memory):
        memory_text = f"{cost.memory / 1e6:,.0f} MB"
        print(f"{cost.size:7d} {cost.families:17,} {in_words(cost.seconds):>10} {memory_text:>11}")


def _command() -> str:
    """The command line to get this result again."""
    import shlex
    import sys

    return shlex.join(["optbn", *sys.argv[1:]])


def _write(found: Learned, outputs: Sequence[Path], report: Path | None) -> list[str]:
    """Write what was asked for; a line on each file. What a format cannot say goes to JSON beside it, and is said."""
    from optbn.base.files import saving
    from optbn.report.report import to_json

    lines = []
    for output in outputs:
        written, reason = write_or_beside(found.network, output)
        lines.append(f"{written}  the network" + (f" ({reason})" if reason else ""))
    if report is not None:
        record = report.suffix.lower() == ".json"
        with saving(report) as partial:
            partial.write_bytes(to_json(found.report) + b"\n" if record else found.page().encode("utf-8"))
        lines.append(f"{report}  {'the record' if record else 'open it in a browser'}")
    return lines


def _print(found: Learned, target: str | None, written: list[str], writing: float) -> None:
    """The answer for people."""
    from optbn.base.numbers import counted
    from optbn.report.report import PHASES

    report = found.report
    outcome, data = report.outcome, report.data
    print(f"{counted(len(data.columns), 'variable')}, {counted(data.rows, 'row')}")
    print(f"{counted(report.families_scored, 'candidate parent set')} scored, {report.families_kept:,} kept")
    parameters = counted(found.network.n_parameters, "parameter")
    print(f"score {outcome.score:.6f}, {counted(len(report.arcs), 'arc')}, {parameters}")
    print(f"{outcome.proof}.")
    for note in report.notes:
        print(f"Note: {note}.")
    width = max((len(f"{arc.parent} -> {arc.child}") for arc in (*report.arcs, *report.others)), default=0)
    if report.arcs:
        print("\narcs, and the score lost without each")
        for arc in sorted(report.arcs, key=lambda arc: -(arc.strength or 0.0)):
            strength = "required" if arc.strength is None else f"{arc.strength:12.3f}"
            chance = "" if arc.posterior is None else f"  probability {arc.posterior:.3f}"
            turn = "" if arc.compelled else "  (reversible)"
            print(f"  {f'{arc.parent} -> {arc.child}':<{width}} {strength}{chance}{turn}")
    if report.others:
        print("\narcs that it does not have, by their probability")
        for arc in report.others:
            print(f"  {f'{arc.parent} -> {arc.child}':<{width}} {arc.posterior:12.3f}")
    if report.alternatives:
        print("\nthe next best networks")
        for line in report.alternatives:
            print(f"  {line}")
    if target is not None:
        print(f"\nMarkov blanket of {target}: {', '.join(found.network.markov_blanket(target)) or 'nothing'}")
    phases = [(phase.name, phase.wall) for phase in report.phases] + ([("write", writing)] if written else [])
    spent = ", ".join(f"{PHASES.get(name, name)} {wall:.2f} s" for name, wall in phases)
    print(f"\ntime: {spent}")
    for line in written:
        print(line)


ASK_SECONDS = 600.0  # scoring that takes longer is asked about


@contextmanager
def _display(target: str | None, yes: bool) -> Iterator[Watcher]:
    """Checks what should not wait for the search; on a terminal a line on stderr says what is going on."""
    import sys

    from optbn.learning.learn import Watcher

    class Checking(Watcher):
        def data(self, data: Dataset) -> None:
            if target is not None:
                data.index(target)  # a wrong name should not wait for the search

        def estimated(self, costs: Sequence[Cost], limited: bool) -> int:
            if not limited and costs[-1].seconds >= ASK_SECONDS:
                print(f"optbn: to score: {costs[-1]}; --time-limit chooses a size that fits", file=sys.stderr)
            return costs[-1].size

    if not sys.stderr.isatty():
        yield Checking()
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("") as status:
        say: Callable[[str], None] = status.update

        class Shown(Checking):
            def phase(self, name: str) -> None:
                words = {"read": "reading", "fit": "estimating probabilities", "more": "weighing other networks"}
                say(words.get(name, {"report": "writing"}.get(name, name)))

            def estimated(self, costs: Sequence[Cost], limited: bool) -> int:
                if limited or costs[-1].seconds < ASK_SECONDS:
                    if costs[-1].seconds > 2:
                        console.print(f"to score: {costs[-1]}{', or what the time allows' if limited else ''}")
                    return costs[-1].size
                status.stop()
                try:
                    return _agreed(costs, yes or not sys.stdin.isatty())
                finally:
                    status.start()

            def scoring(self, report: Any) -> None:
                say(
                    f"scoring sets of {report.size}: {report.done:,} of {report.total:,} families, "
                    f"{report.rate:,.0f}/s, {report.remaining:.0f} s left, {report.survivors:,} kept"
                )

            def solving(self, report: Any) -> None:
                best = "none yet" if report.score is None else f"{report.score:.3f}"
                say(f"solving: best {best}, bound {report.bound:.3f}, {report.nodes:,} nodes, {report.seconds:.0f} s")

            def fitting(self, done: int, of: int) -> None:
                say(f"estimating probabilities: {done} of {of} variables")

        yield Shown()


def _agreed(costs: Sequence[Cost], yes: bool) -> int:
    """The most parents that the user wants when the whole would take long."""
    typer.echo(f"To score: {costs[-1]}.", err=True)
    if yes:
        return costs[-1].size
    fits = [cost for cost in costs if cost.seconds < ASK_SECONDS]
    smaller = fits[-1] if fits else costs[0]
    while True:
        typer.echo(f"With at most {smaller.size} parents: {smaller}.", err=True)
        answer = typer.prompt(f"The most parents, {costs[-1].size} to go on", default=str(smaller.size), err=True)
        if answer.strip().isdecimal() and int(answer) <= costs[-1].size:
            return int(answer)
        typer.echo(f"A number from 0 to {costs[-1].size}, please; Ctrl-C stops.", err=True)
