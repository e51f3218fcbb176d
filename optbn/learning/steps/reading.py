"""The first step of `learn`: rows, what was noticed in them, what experiments set, and constraints in their names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from optbn.data.anything import DataLike, WeightsLike, as_reading, with_weights
from optbn.data.findings import MOST_LINES
from optbn.data.interventions import TargetsLike, reading_targets, without_targets
from optbn.data.lags import forwards, lagged
from optbn.data.missing import AS_VALUE
from optbn.learning.completing import COPIES, Incomplete, Search, completed
from optbn.learning.constraint_files import read_constraints
from optbn.learning.solving import constraints_of
from optbn.learning.steps.shares import DEFAULT_PARENTS, FILLING_SHARE
from optbn.scores.interventional import Interventional

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.data.policies import MissingLike
    from optbn.data.schema import SchemaLike
    from optbn.learning.steps.job import Job
    from optbn.scores.parent_sets import Limit
    from optbn_solvers import Constraints


@dataclass(frozen=True)
class Form:
    """How data become rows: the options of `learn` that say so, by their names there."""

    schema: SchemaLike
    missing: MissingLike
    reading: Mapping[str, Any]
    weights: WeightsLike
    targets: TargetsLike | None
    lags: int
    time_column: str | None
    series_column: str | None
    past_only: bool


def read(
    job: Job,
    data: DataLike,
    form: Form,
    constraints: Constraints | Mapping[str, Any] | str | os.PathLike[str] | None,
    target: str | None,
) -> None:
    """The rows of the run. From here on the time limit counts anew: all later steps share what reading has left."""
    job.watcher.phase("read")
    with job.watch.phase("read"):
        policy: MissingLike = "value" if form.missing == "model" else form.missing
        policy = policy if form.targets is None else reading_targets(policy, form.targets)
        rows = _rows(job, data, form, policy)
        if form.weights is not None:
            rows = rows.weighted(form.weights)
        if form.targets is not None:
            rows, job.interventions = without_targets(rows, form.targets)
        if isinstance(constraints, str | os.PathLike):
            constraints = read_constraints(constraints, rows.names)
        if form.lags:
            rows = lagged(rows, form.lags, form.time_column, form.series_column)
            constraints = forwards(constraints_of(constraints), rows.names, form.past_only)
    job.watcher.data(rows)
    if target is not None:
        rows.index(target)  # a wrong name should not wait for the search
    if job.interventions:
        job.method = Interventional.of(job.method, job.interventions)
    job.data, job.constraints = rows, constraints_of(constraints)


def _rows(job: Job, data: DataLike, form: Form, policy: MissingLike) -> Dataset:
    """The data; what was noticed and done to read them becomes notes of the report, and no log."""
    found = as_reading(data, with_weights(form.schema, form.weights), policy, form.reading)
    lines = [str(finding) for finding in found.findings]
    more = (
        [f"{len(lines) - MOST_LINES} more lines like these, which optbn describe has"]
        if len(lines) > MOST_LINES
        else []
    )
    job.source, job.notes = os.path.basename(found.where), [*lines[:MOST_LINES], *more]
    return found.data


def fill(job: Job, max_parents: Limit | None, candidates: int | None, seed: int, memory: int | str | None) -> None:
    """Fill the gaps in the rows by the model, and note it."""
    job.notes = [note for note in job.notes if not note.endswith(AS_VALUE)]
    incomplete = Incomplete.of(job.data)
    job.data = incomplete.data
    if not incomplete.missing:
        return
    most = DEFAULT_PARENTS if max_parents is None or max_parents == "all" else max_parents
    largest = min(most, job.data.n_variables - 1)
    search = Search(largest, None, job.constraints, candidates, job.jobs, memory)
    until = None if job.time_limit is None else job.begin + FILLING_SHARE * job.time_limit
    found = completed(incomplete, search, seed=seed, until=until)
    job.data, job.filled = found.data, ("with gaps filled by a model",)
    job.notes.append(found.note(incomplete, COPIES))
