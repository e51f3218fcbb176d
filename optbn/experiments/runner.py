"""Running an experiment's cells, each once, whatever happens.

Finished cells are skipped, so a run that was killed goes on where it stopped and ends with the same rows (rows.py). A
failure or a time-out is a row as well. Cells run in processes that are killed when a cell overruns its limit
(worker.py), here or on a cluster (cluster.py). Every row says which code and versions made it; rows of other code than
today's are kept and counted until `refresh` does them again. Times in a row are the task's own measurements.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from optbn.base.errors import DataError
from optbn.base.pictures import also_as_pdf
from optbn.experiments.cluster import results
from optbn.experiments.code import digest_of, versions
from optbn.experiments.rows import Rows, listed
from optbn.experiments.spec import Experiment, cell_name, read
from optbn.experiments.worker import Cell, Row, Worker
from optbn.report.tables import as_csv, latex, tables_of
from optbn_solvers.base.atomic import replacing

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Tally:
    """Where a run stands: cells in all, finished before it began (and of other code), done now, and failed or timed out
    now."""

    cells: int
    before: int
    done: int
    failed: int
    older: int = 0


def run(
    experiment: Experiment,
    folder: str | Path,
    *,
    jobs: int = 1,
    retry: bool = False,
    refresh: bool = False,
    scheduler: Any = None,
    progress: Callable[[Tally, str], None] | None = None,
) -> Tally:
    """Run every unfinished cell, `jobs` at a time. Safe to interrupt.

    retry      run failed and timed-out cells again
    refresh    run cells again whose rows are of other code than today's; where one fails now, its finished row stays
    scheduler  "local" or a Dask scheduler's address, to spread cells over processes or machines (cluster.py)
    """
    experiment.module()  # an unknown task fails here and not in a worker
    if not experiment.grid:
        return Tally(0, 0, 0, 0)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    made = {"fixed": dict(experiment.fixed), "code": digest_of(experiment.task), "versions": versions()}
    with _locked(folder):
        kept = Rows(experiment, folder)
        cells = experiment.cells()
        found = {cell_name(cell): kept.of(cell) for cell in cells}
        older = {name for name, row in found.items() if row is not None and row.get("code") != made["code"]}

        def wanted(cell: Cell) -> bool:
            row = found[cell_name(cell)]
            return row is None or (retry and row["status"] != "done") or (refresh and cell_name(cell) in older)

        waiting = [cell for cell in cells if wanted(cell)]
        left = len(older) if not refresh else 0
        tally = Tally(len(cells), len(cells) - len(waiting), 0, 0, left)
        try:
            for cell, row in _results(experiment, waiting, scheduler, jobs):
                name, failed = cell_name(cell), row["status"] != "done"
                what = f"{name}: {row['status']}"
                if failed and (before := found[name]) is not None and before["status"] == "done":
                    left += 1  # a result of other code is worth more than a failure of today's
                    what += ", its finished row stays"
                    log.warning("%s: %s", what, row["error"])
                else:
                    kept.put(cell, {**row, **made})
                tally = Tally(tally.cells, tally.before, tally.done + 1, tally.failed + failed, left)
                if progress:
                    progress(tally, what)
        finally:
            kept.gather()
    return tally


def rows(experiment: Experiment, folder: str | Path) -> list[dict[str, Any]]:
    """The rows there are, in the order of the grid: {"cell", "status", "result" or "error"}.

    Rows of the studies that the experiment is `of` come first and say so: "study", the name of that study's folder.
    """
    found = []
    for path in experiment.of:
        found += [{**row, "study": path.parent.name} for row in rows(read(path), path.parent)]
    kept = Rows(experiment, folder)
    return found + [row for cell in experiment.cells() if (row := kept.of(cell))]


def report(experiment: Experiment, folder: str | Path, paper: bool = False) -> Path:
    """Write the folder's README.md from the finished rows; every number in it comes from them.

    paper   write paper/ as well: every table as LaTeX and csv, every picture as svg and pdf
    """
    folder = Path(folder)
    found = rows(experiment, folder)
    if not found:
        raise DataError(f"{folder}: no finished cell to report on")
    done = sum(row["status"] == "done" for row in found)
    cells = len(experiment.cells()) + sum(len(read(path).cells()) for path in experiment.of)
    head = f"# {experiment.title or experiment.name}\n\n{done} of {cells} cells done"
    if failed := len(found) - done:
        head += f", {failed} failed or over the limit of {experiment.time_limit:g} s"
    if len(found) < cells:
        head += "; `optbn bench` on the spec beside this goes on with those that wait"
    try:
        body = experiment.module().report(found, folder)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        message = f"task {experiment.name!r} cannot report on these rows: {type(error).__name__}: {error}"
        raise DataError(f"{folder}: {message}; are all of them its own, of this version?") from error
    path = folder / "README.md"
    head += ". Written by `optbn bench`; no number here was typed by hand."
    if experiment.fixed:
        head += f" The same for every cell: {listed(experiment.fixed)}."
    text = f"{head}\n\n{body.strip()}\n\n## Which code\n\n{_made_by(found)}\n"
    with replacing(path) as file:
        file.write(text.encode())
    if paper:
        _paper(experiment, found, folder / "paper", text)
    return path


def _paper(experiment: Experiment, found: list[Row], folder: Path, text: str) -> None:
    """The report's tables and pictures, one file each, numbered as they come."""
    folder.mkdir(exist_ok=True)
    with also_as_pdf():
        experiment.module().report(found, folder)
    for number, each in enumerate(tables_of(text), 1):
        name = f"{number:02d}-{re.sub('[^a-z0-9]+', '-', each.title.lower()).strip('-')[:60]}"
        (folder / f"{name}.tex").write_text(latex(each))
        (folder / f"{name}.csv").write_text(as_csv(each))


def _made_by(rows: list[Row]) -> str:
    """Which code the rows are of, in words."""
    count = Counter((row.get("code"), row.get("versions")) for row in rows)
    if set(count) <= {(None, None)}:
        return "The rows are of code before rows said which."
    parts = []
    for (code, with_), rows_of_it in count.most_common():
        which = f"code {code} ({with_})" if code else "code before rows said which"
        parts.append(f"{rows_of_it} of {which}")
    return f"Rows: {'; '.join(parts)}."


def _results(experiment: Experiment, waiting: list[Cell], scheduler: Any, jobs: int) -> Iterator[tuple[Cell, Row]]:
    """(cell, row) as cells finish, in whatever order they do."""
    if scheduler is None:
        return _here(experiment, waiting, jobs)

    return results(experiment, waiting, scheduler, jobs)


def _here(experiment: Experiment, waiting: list[Cell], jobs: int) -> Iterator[tuple[Cell, Row]]:
    """In worker processes of this one."""
    queue = list(reversed(waiting))
    workers: list[Worker] = []
    try:
        while queue or any(worker.cell for worker in workers):
            while len(workers) < min(jobs, len(queue) + sum(worker.cell is not None for worker in workers)):
                workers.append(Worker(experiment))
            for worker in workers:
                if worker.cell is None and queue:
                    worker.start(queue.pop())
            busy = [worker for worker in workers if worker.cell is not None]
            patience = max(0.0, min(worker.deadline for worker in busy) - time.monotonic())
            ready = wait([worker.answer for worker in busy], timeout=min(patience, 60.0))
            for worker in busy:
                assert worker.cell is not None
                if worker.answer in ready or time.monotonic() >= worker.deadline:
                    yield worker.cell, worker.collect()
    finally:
        for worker in workers:
            worker.kill()


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One run per folder at a time; the lock goes with the process, however it ends."""
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(f"{folder}: another run is working in this folder; wait for it or stop it") from None
        yield
