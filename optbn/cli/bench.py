"""`optbn bench`: run a declared experiment, resumably, and write its report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def bench(
    spec: Annotated[Path, typer.Argument(help="The experiment, a .toml or .json file.")],
    folder: Annotated[
        Path | None, typer.Option("--folder", "-o", help="Where results go; default: the folder of SPEC.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Cells run at once.", min=1)] = 1,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed and timed-out cells again.")] = False,
    report_only: Annotated[bool, typer.Option("--report", help="Only write the README from what is finished.")] = False,
) -> None:
    """Run a declared experiment; finished cells are kept and skipped.

    Example: optbn bench results/recovery/spec.toml --jobs 2
    """
    import sys

    from optbn.experiments import runner
    from optbn.experiments.spec import read

    experiment = read(spec)
    folder = folder or spec.parent

    def show(tally: runner.Tally, what: str) -> None:
        finished = tally.before + tally.done
        print(f"{finished}/{tally.cells} {what}", file=sys.stderr, flush=True)

    if not report_only:
        tally = runner.run(experiment, folder, jobs=jobs, retry=retry, progress=show)
        if tally.failed:
            print(f"{tally.failed} cells failed or ran over; see {folder / 'runs'}", file=sys.stderr)
    print(runner.report(experiment, folder))
