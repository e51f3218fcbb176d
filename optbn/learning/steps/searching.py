"""The third step of `learn`: the best network of the table, checked, and what rests on a few extreme values in it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from optbn.learning.extremes import arcs_of_extremes, extremes_note
from optbn.learning.steps.shares import CHECK_SHARE, RESERVE
from optbn.learning.structure import best_structure
from optbn.scores.selection import limited
from optbn_solvers.base.clock import working

if TYPE_CHECKING:
    from optbn.learning.steps.job import Job
    from optbn_solvers import Progress


def solve(job: Job, solver: str) -> None:
    """The best network of the table, checked."""
    job.watcher.phase("solve")

    def listen(progress: Progress) -> None:
        job.trace.append((progress.seconds, progress.score, progress.bound))
        job.watcher.solving(progress)

    left = job.left(1 - RESERVE)
    job.learned = best_structure(
        job.scored.table,
        job.scored.families,
        job.watch,
        solver=solver,
        time_limit=None if left is None else max(0.1, left),
        grace=None if job.time_limit is None else CHECK_SHARE * job.time_limit,
        progress=listen,
        constraints=job.constraints,
    )
    if job.scoring.candidates is not None:
        job.learned = replace(job.learned, solution=limited(job.learned.solution, job.scoring.candidates))
    if job.interventions is None:
        _doubt_extremes(job)


def _doubt_extremes(job: Job) -> None:
    """A note on arcs that ranks would not have."""
    left = job.left(1 - RESERVE)
    until = math.inf if left is None else working() + left
    with job.watch.phase("fit"):
        sets = [job.learned.structure.parents(name) for name in job.data.names]
        arcs = arcs_of_extremes(job.data, job.method, sets, until, job.scoring.memory)
    if note := extremes_note(job.data, arcs):
        job.notes.append(note)
