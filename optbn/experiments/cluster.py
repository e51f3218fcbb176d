"""The cells of an experiment on a Dask cluster (optbn/base/cluster.py): a cell goes out, its row comes back.

On the machine of a worker a cell runs in a process of its own, as at home (worker.py): one that overruns is killed and
one that dies is a row, and the worker lives. A cell whose worker dies is done again. Rows are written where the
experiment was started, so its folder is the same and runs here and elsewhere go on in each other's. Files that a task
reads must be there for every worker, under the same name.
"""

from __future__ import annotations

import contextlib
import os
import threading
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from optbn.base.cluster import TRIES, Cluster, check_version
from optbn.base.version import __version__
from optbn.experiments.spec import Experiment
from optbn.experiments.worker import Cell, Row, Worker


@dataclass(frozen=True)
class Order:
    """What a worker must know of an experiment; `folder` is where it was started."""

    experiment: Experiment
    version: str
    folder: str = field(default_factory=os.getcwd)
    token: str = field(default_factory=lambda: uuid.uuid4().hex)


_kept: dict[int, tuple[str, Worker]] = {}  # thread -> its process, and the experiment that this was started for


def do(cell: Cell, order: Order) -> Row:
    """What a worker does: the row of a cell."""
    check_version(order.version)
    thread = threading.get_ident()
    token, worker = _kept.get(thread, ("", None))
    if worker is None or token != order.token:
        if worker is not None:
            worker.kill()
        worker = Worker(order.experiment, order.folder)
        _kept[thread] = order.token, worker
    return worker.run(cell)


def leave(token: str) -> None:
    """End the processes that this worker keeps for an experiment."""
    for thread, (known, worker) in list(_kept.items()):
        if known == token:
            del _kept[thread]
            worker.kill()


def results(
    experiment: Experiment, waiting: Iterable[Cell], scheduler: str | Any, jobs: int
) -> Iterator[tuple[Cell, Row]]:
    """(cell, row) as cells finish, in whatever order they do."""

    def lost(cell: Cell) -> Row:
        return {"cell": cell, "status": "failed", "error": f"{TRIES} workers died at it"}

    order = Order(experiment, __version__)
    with Cluster.open(scheduler, jobs) as cluster:
        try:
            yield from cluster.spread(do, waiting, cluster.share(order), lost=lost)
        finally:
            with contextlib.suppress(Exception):  # workers that are gone have ended their processes already
                cluster.client.run(leave, order.token)
