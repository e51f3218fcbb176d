"""Running an experiment's cells, each once, whatever happens.

One result file per cell (`runs/<cell>.json`), written to a temporary name and renamed, so it is whole or absent.
Finished cells are skipped, so a run that was killed goes on where it stopped and ends with the same files. A failure or
a time-out is a row as well. Cells run in processes that are killed when a cell overruns its limit (worker.py), here or
on a cluster (cluster.py). What is not a result (machine, versions, when) is kept apart in
`environment.json`; times in a row are the task's own measurements.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from optbn.base.errors import DataError
from optbn.experiments.spec import Experiment, cell_name, read
from optbn.experiments.worker import Cell, Row, Worker

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Tally:
    """Where a run stands: cells in all, finished before it began, done now, and failed or timed out now."""

    cells: int
    before: int
    done: int
    failed: int


def run(
    experiment: Experiment,
    folder: str | Path,
    *,
    jobs: int = 1,
    retry: bool = False,
    scheduler: Any = None,
    progress: Callable[[Tally, str], None] | None = None,
) -> Tally:
    """Run every unfinished cell, `jobs` at a time; `retry` runs failed and timed-out cells again. Safe to interrupt.

    `scheduler`: "local" or a Dask scheduler's address, to spread cells over processes or machines (cluster.py).
    """
    experiment.module()  # an unknown task fails here and not in a worker
    if not experiment.grid:
        return Tally(0, 0, 0, 0)
    folder = Path(folder)
    runs = folder / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        cells = experiment.cells()
        waiting = [cell for cell in cells if not _finished(experiment, runs, cell, retry)]
        _write(folder / "environment.json", environment())
        tally = Tally(len(cells), len(cells) - len(waiting), 0, 0)
        for cell, row in _results(experiment, waiting, scheduler, jobs):
            _write(runs / f"{cell_name(cell)}.json", {**row, "fixed": experiment.fixed})
            failed = row["status"] != "done"
            tally = Tally(tally.cells, tally.before, tally.done + 1, tally.failed + failed)
            if progress:
                progress(tally, f"{cell_name(cell)}: {row['status']}")
    return tally


def rows(experiment: Experiment, folder: str | Path) -> list[dict[str, Any]]:
    """The rows there are, in the order of the grid: {"cell", "status", "result" or "error"}.

    Rows of the studies that the experiment is `of` come first and say so: "study", the name of that study's folder.
    """
    found = []
    for path in experiment.of:
        found += [{**row, "study": path.parent.name} for row in rows(read(path), path.parent)]
    for cell in experiment.cells():
        if row := _row(experiment, Path(folder) / "runs", cell):
            found.append(row)
    return found


def report(experiment: Experiment, folder: str | Path) -> Path:
    """Write the folder's README.md from the finished rows; every number in it comes from them."""
    from optbn_solvers.base.files.atomic import replacing

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
        head += f" The same for every cell: {_told(experiment.fixed)}."
    text = f"{head}\n\n{body.strip()}\n"
    with replacing(path) as file:
        file.write(text.encode())
    return path


def environment() -> dict[str, Any]:
    """What the results were made on."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {}
    packages = "optbn numpy numba scipy pyscipopt highspy pyarrow scikit-learn xgboost-cpu"
    for package in packages.split():
        with contextlib.suppress(PackageNotFoundError):
            versions[package] = version(package)
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "system": platform.system(),
        "cores": os.cpu_count(),
        "packages": versions,
        "at": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def _finished(experiment: Experiment, runs: Path, cell: Cell, retry: bool) -> bool:
    row = _row(experiment, runs, cell)
    return row is not None and not (retry and row["status"] != "done")


def _row(experiment: Experiment, runs: Path, cell: Cell) -> Row | None:
    """The row of a cell; None when it was not done yet, or what is there is no row of it.

    A row of other fixed parameters is refused: it is no result of this experiment, and may not be lost either.
    """
    path = runs / f"{cell_name(cell)}.json"
    if not path.exists():
        return None
    try:
        row = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        row = None
    if _fits(row, cell):
        fixed = json.loads(json.dumps(experiment.fixed))
        if row.get("fixed", fixed) != fixed:
            raise DataError(
                f"{path}: was done with {_told(row['fixed'])}, and the experiment has {_told(fixed)}; "
                "run it in another folder"
            )
        return row  # type: ignore[no-any-return]
    log.warning("%s: damaged, the cell counts as not done", path)
    return None


def _told(fixed: Any) -> str:
    return ", ".join(f"{key} {value}" for key, value in fixed.items()) if isinstance(fixed, dict) and fixed else "none"


def _fits(row: Any, cell: Cell) -> bool:
    if not isinstance(row, dict) or row.get("cell") != json.loads(json.dumps(cell)):
        return False
    if row.get("status") == "done":
        return "result" in row
    return row.get("status") in ("failed", "timeout") and isinstance(row.get("error"), str)


def _results(experiment: Experiment, waiting: list[Cell], scheduler: Any, jobs: int) -> Iterator[tuple[Cell, Row]]:
    """(cell, row) as cells finish, in whatever order they do."""
    if scheduler is None:
        return _here(experiment, waiting, jobs)
    from optbn.experiments.cluster import results

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


def _write(path: Path, value: Mapping[str, Any]) -> None:
    """Whole or not at all."""
    from optbn_solvers.base.files.atomic import replacing

    with replacing(path) as file:
        file.write(json.dumps(value, indent=1, sort_keys=True).encode() + b"\n")


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One run per folder at a time; the lock goes with the process, however it ends."""
    import fcntl

    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(f"{folder}: another run is working in this folder; wait for it or stop it") from None
        yield
