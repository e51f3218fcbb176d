"""`optbn bench`: run a declared experiment, resumably, and write its report."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from optbn.experiments.spec import read

if TYPE_CHECKING:
    from optbn.experiments.spec import Experiment


def bench(
    spec: Annotated[Path, typer.Argument(help="The experiment, a .toml or .json file.")],
    folder: Annotated[
        Path | None, typer.Option("--folder", "-o", help="Write results to this folder; by default that of SPEC.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="The number of cells run at once.", min=1)] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Spread the cells: local (processes here), or the address of a Dask scheduler (tcp://..)."),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed and timed-out cells again.")] = False,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Also run cells again whose rows come from other code than today's.")
    ] = False,
    report_only: Annotated[bool, typer.Option("--report", help="Only write the README from what is finished.")] = False,
    paper: Annotated[
        bool,
        typer.Option("--paper", help="Also write paper/: every table as LaTeX and csv, every picture as svg and pdf."),
    ] = False,
) -> None:
    """Run a declared experiment; finished cells are kept, so it can be stopped and continued.

    A task is a Python file beside SPEC, or one of optbn's (a wrong name gets their list), or package.module of your
    own, found from the current folder: it has cell(**parameters) -> dict and report(rows, folder) -> str.

    Example: optbn bench results/recovery/spec.toml --jobs 2
    """
    from optbn.experiments import runner

    sys.path.append(str(Path.cwd()))  # a task of the user's own; workers get the same path
    experiment = read(spec)
    folder = folder or spec.parent
    if not report_only:
        _run(experiment, folder, jobs, retry, refresh, scheduler)
    print(runner.report(experiment, folder, paper))


def run_and_print(experiment: Experiment, folder: Path | None, jobs: int) -> None:
    """Run an experiment put together on the command line and print its report; without a folder nothing is kept, so
    the report is printed without the pictures that stand beside it."""
    from optbn.experiments import runner

    with tempfile.TemporaryDirectory() as scratch:
        kept = folder is not None
        folder = folder or Path(scratch)
        _run(experiment, folder, jobs, kept=kept)
        text = runner.report(experiment, folder).read_text()
        print(text if kept else re.sub(r"(^!\[.*\n)+\n?", "", text, flags=re.MULTILINE))


def _run(
    experiment: Experiment,
    folder: Path,
    jobs: int,
    retry: bool = False,
    refresh: bool = False,
    scheduler: str | None = None,
    kept: bool = True,
) -> None:
    from optbn.experiments import runner

    def show(tally: runner.Tally, what: str) -> None:
        print(f"{tally.before + tally.done}/{tally.cells} {what}", file=sys.stderr, flush=True)

    tally = runner.run(
        experiment,
        folder,
        jobs=jobs,
        retry=retry,
        refresh=refresh,
        scheduler=scheduler,
        progress=show if sys.stderr.isatty() else None,
    )
    if tally.failed:
        where = f"see {folder / 'rows.jsonl'}" if kept else "--output FOLDER keeps what they say"
        cells = f"{tally.failed} cell{'s' if tally.failed != 1 else ''}"
        print(f"{cells} failed or ran over; {where}", file=sys.stderr)
    if tally.older:
        print(f"{tally.older} of {tally.cells} rows are of other code; --refresh redoes them", file=sys.stderr)
