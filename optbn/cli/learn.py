"""`optbn learn`: from a data file to the best network, its parameters, and a page that shows it."""

from __future__ import annotations

import contextlib
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import optbn
from optbn.base.errors import UnsupportedError
from optbn.base.files import check_writable, saving
from optbn.base.numbers import counted
from optbn.cli.display import display
from optbn.cli.options import Values, with_options
from optbn.cli.reading import DataArgument, reading, with_reading
from optbn.cli.texts import constraints, limit, settings
from optbn.cli.writing import check_network_file, write_or_beside
from optbn.network.formats import encode
from optbn.scores import load_score

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.learning.learn import Learned
    from optbn.report.report import HeldOut
    from optbn.scores.protocol import LocalScore


@with_options("learn")
@with_reading
def learn(how: dict[str, Any], data: DataArgument, options: Values) -> None:
    """Find the best Bayesian network for the data, with proof, parameters and a page.

    The cost of scoring is estimated first; on a terminal, `learn` asks you before it begins work of many minutes.

    Example: optbn learn data.csv -o model.bif --report page.html
    """
    from optbn.data.anything import as_dataset
    from optbn.report.report import to_json

    outputs = options.output or []
    _check_files(outputs, options.report, data)
    piped = Path("-") in outputs
    if piped and options.as_json:
        raise UnsupportedError("-o - and --json would both write to stdout; leave one out")
    method = load_score(options.score, **settings(options.setting))
    required = constraints(vars(options))
    if options.only_estimate:
        rows = as_dataset(data, missing=options.missing, reading=how, weights=options.weights)
        _estimate(rows, method, required, options)
        return
    schema = how.pop("schema")
    try:
        with reading() as progress, display(options.target, options.yes) as watcher:
            learned = optbn.learn(
                data,
                **options.keywords("learn") | {"score": method, "max_parents": limit(options.max_parents)},
                constraints=required if options.constraints is None else options.constraints,
                watcher=watcher,
                source=Path(data).name if data != "-" else "stdin",
                command=_command(),
                schema=schema,
                missing=options.missing,
                reading={**how, "progress": progress},
            )
            start = time.monotonic()
            watcher.phase("report")
            written = _write(learned, outputs, options.report)
            writing = time.monotonic() - start
    except KeyboardInterrupt:
        raise KeyboardInterrupt("nothing was written") from None
    if options.as_json:
        print(to_json(learned.report).decode())
    else:
        with contextlib.redirect_stdout(sys.stderr) if piped else contextlib.nullcontext():
            _print(learned, options.target, written, writing)
    if not learned.report.outcome.proved:
        raise typer.Exit(3)


def _check_files(outputs: Sequence[Path], report: Path | None, data: str) -> None:
    """Refuse what could not be written, before any work is done."""
    for output in outputs:
        if output != Path("-"):
            check_network_file(output, data)
    if report is not None:
        if report.suffix.lower() not in (".html", ".htm", ".json"):
            raise UnsupportedError(f"{report}: a report is a page (.html) or the record behind it (.json)")
        check_writable(report)
    written = [*outputs, *([report] if report is not None else [])]
    for i, path in enumerate(written):
        if path in written[:i]:
            raise UnsupportedError(f"{path} is named twice: one file would overwrite the other")


def _estimate(data: Dataset, score: LocalScore, required: dict[str, Any], options: Values) -> None:
    """A line per number of parents; what the data cannot bear ends the list with the reason."""
    from optbn.learning.constraints import check_constraints
    from optbn.learning.estimate import estimate, in_words
    from optbn.learning.solving import constraints_of
    from optbn.scores.scoring import Scoring

    words = constraints_of(required)
    wanted = limit(options.max_parents)
    largest = 5 if wanted is None else wanted
    if largest != "all":
        largest = min(largest, max(0, data.n_variables - 1))
    scoring = Scoring.of(data, score, largest, words, options.candidates, options.memory)
    if scoring.unlimited:
        raise UnsupportedError(
            "--estimate with --max-parents all: nobody knows before scoring where bounds end it; run it with "
            "--time-limit, or estimate for a number of parents"
        )
    check_constraints(words, data.names)
    print("parents          families       time      memory")
    for cost in estimate(scoring, options.jobs):
        left_out = f"  {cost.left_out:,} of them too dear and left out" if cost.left_out else ""
        memory = f"{cost.memory / 1e6:,.0f} MB"
        print(f"{cost.size:7d} {cost.families:17,} {in_words(cost.seconds):>10} {memory:>11}{left_out}")


def _command() -> str:
    """The command line to get this result again."""
    return shlex.join(["optbn", *sys.argv[1:]])


def _write(learned: Learned, outputs: Sequence[Path], report: Path | None) -> list[str]:
    """Write the files; a line on each. A network that a format cannot hold goes to JSON beside it, with the reason."""
    from optbn.report.report import to_json

    lines = []
    for output in outputs:
        if output == Path("-"):
            sys.stdout.buffer.write(encode(learned.network, "json"))
            sys.stdout.buffer.flush()
            continue
        written, reason = write_or_beside(learned.network, output)
        lines.append(f"{written}  the network" + (f" ({reason})" if reason else ""))
    if report is not None:
        record = report.suffix.lower() == ".json"
        with saving(report) as partial:
            partial.write_bytes(to_json(learned.report) + b"\n" if record else learned.page().encode("utf-8"))
        lines.append(f"{report}  {'the record' if record else 'open it in a browser'}")
    return lines


def _print(learned: Learned, target: str | None, written: list[str], writing: float) -> None:
    """The answer for people."""
    from optbn.report.report import PHASES

    report = learned.report
    outcome, data = report.outcome, report.data
    print(f"{counted(len(data.columns), 'variable')}, {counted(data.rows, 'row')}")
    print(f"{counted(report.families_scored, 'candidate parent set')} scored, {report.families_kept:,} kept")
    parameters = counted(learned.network.n_parameters, "parameter")
    print(f"{report.score_name} score {outcome.score:.6f} nats, {counted(len(report.arcs), 'arc')}, {parameters}")
    print(f"{outcome.proof}.")
    for note in report.notes:
        print(f"Note: {note}.")
    width = max((len(f"{arc.parent} -> {arc.child}") for arc in (*report.arcs, *report.others)), default=0)
    if report.arcs:
        print("\narcs, and what this network's score loses without each, the others as they are (nats)")
        for arc in sorted(report.arcs, key=lambda arc: -(arc.strength or 0.0)):
            strength = "required" if arc.strength is None else f"{arc.strength:12.3f}"
            loss = "" if arc.loss is None else f"  best without {arc.loss:.3f}{'' if arc.proved else ' (not proved)'}"
            chance = "" if arc.posterior is None else f"  probability {arc.posterior:.3f}"
            turn = "" if arc.compelled else "  (reversible)"
            print(f"  {f'{arc.parent} -> {arc.child}':<{width}} {strength}{loss}{chance}{turn}")
        if not all(arc.compelled for arc in report.arcs):
            print("reversible: a network with the same independences has the arc the other way round")
    if report.others:
        print("\narcs that it does not have, by their probability")
        for arc in report.others:
            print(f"  {f'{arc.parent} -> {arc.child}':<{width}} {arc.posterior:12.3f}")
    if report.alternatives:
        print("\nthe next best networks")
        for line in report.alternatives:
            print(f"  {line}")
    if report.held_out:
        print("\nrows it has not seen" + ("" if target is None else f", and what they say of {target}"))
        for line in _held_out(report.held_out):
            print(f"  {line}")
    if target is not None:
        print(f"\nMarkov blanket of {target}: {', '.join(learned.network.markov_blanket(target)) or 'nothing'}")
    phases = [(phase.name, phase.wall) for phase in report.phases] + ([("write", writing)] if written else [])
    spent = ", ".join(f"{PHASES.get(name, name)} {wall:.2f} s" for name, wall in phases)
    print(f"\ntime: {spent}")
    for line in written:
        print(line)


def _held_out(lines: Sequence[HeldOut]) -> list[str]:
    """A line per model, with what was judged."""
    width = max(len(each.model) for each in lines)
    found = []
    for each in lines:
        fit = "" if each.per_row is None or each.error is None else f"{each.per_row:.4f} ± {each.error:.4f} nat per row"
        target = (
            []
            if each.log_loss is None or each.right is None
            else [f"log loss {each.log_loss:.4f}, right {each.right:.1%}"]
        )
        target += [] if each.rmse is None else [f"root mean squared error {each.rmse:.4g}"]
        found.append(f"{each.model:<{width}}  {fit:<34}{''.join(target)}".rstrip())
    return found
