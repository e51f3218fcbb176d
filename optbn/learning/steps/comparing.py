"""What `learn` adds on request: other networks than the best, and how such networks explain rows they have not seen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from optbn.base.threads import check_jobs
from optbn.learning import near
from optbn.learning.averaged import averaged, trees_of
from optbn.learning.constraints import all_families, demanding
from optbn.learning.edges import arc_losses
from optbn.learning.estimate import in_words
from optbn.learning.held_out import held_out
from optbn.learning.local import with_local_models
from optbn.learning.steps.reporting import Others
from optbn.learning.steps.scoring import bound_to
from optbn.learning.steps.shares import MORE_SECONDS, REPORT_SHARE
from optbn.learning.structure import Stopwatch, best_structure
from optbn.scores.pipeline import table_of_sets
from optbn.smoothing.fitting import fitted
from optbn_solvers.base.clock import working

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.learning.steps.job import Job
    from optbn.network.network import BayesianNetwork
    from optbn.report.report import HeldOut
    from optbn.scores.parent_sets import Limit
    from optbn.smoothing.protocol import Smoother


def compare(job: Job, alternatives: int, posteriors: bool, edges: bool) -> Others:
    """Other networks than the best, as far as they are wanted and the time allows."""
    others = Others()
    if not (alternatives or posteriors or edges):
        return others
    job.watcher.phase("more")
    with job.watch.phase("more"):
        left, learned = job.left(1 - REPORT_SHARE), job.learned
        seconds = MORE_SECONDS if left is None else max(0.0, left)
        if posteriors:
            needed = 0.0 if left is None else job.watch.phases["score"][0]  # all sets are scored once more
            best = learned.structure if learned.solution.gap == 0 else None
            scoring, share = job.scoring.at_most(job.scored.size), seconds / 2 if alternatives else seconds
            chances, note = near.arc_posteriors(scoring, job.constraints, best, job.jobs, share, needed)
            others = replace(others, chances=chances)
            job.notes.append(note)
        if alternatives:
            left = job.left(1 - REPORT_SHARE)
            seconds = seconds if left is None else max(0.0, left)
            lines, note = near.alternatives(job.scored.table, learned.solution, alternatives, seconds)
            others = replace(others, alternatives=lines)
            job.notes += [note] if note else []
        if edges:
            losses, note = arc_losses(
                job.scoring.at_most(job.scored.size),
                job.constraints,
                learned,
                job.jobs,
                job.left(1 - REPORT_SHARE),
            )
            others = replace(others, losses=losses)
            job.notes += [note] if note else []
    return others


def hold_out(
    job: Job, folds: int, solver: str, smoother: str | Smoother | None, seed: int, target: str | None, trees: str
) -> tuple[HeldOut, ...]:
    """How well networks that are learned so explain rows they have not seen; without time for it, a note."""
    if job.interventions is not None or job.data.weights is not None:
        job.notes.append("rows that experiments set, or that have weights, are not held out")
        return ()
    left, begin = job.left(1 - REPORT_SHARE), working()
    used = begin - job.begin
    if left is not None and left < 2 * folds * used:
        job.notes.append(f"there was no time to hold rows out: {folds} folds take about {in_words(2 * folds * used)}")
        return ()
    constraints = job.constraints

    def learner(rows: Dataset, size: int) -> BayesianNetwork:
        all_sizes = job.scoring.unlimited and size == job.scored.size == job.scoring.sets.largest
        limit: Limit = "all" if all_sizes else min(size, rows.n_variables - 1)
        scoring = bound_to(job, rows, limit)
        table = all_families(scoring, job.jobs) if demanding(constraints) else table_of_sets(scoring, jobs=job.jobs)
        found = best_structure(table, 0, Stopwatch(), solver=solver, time_limit=left, constraints=constraints)
        shapes = with_local_models(found.structure, rows, scoring.bound)
        network = fitted(shapes, rows, smoother, seed=seed, threads=check_jobs(job.jobs)).network
        return averaged(network, rows, trees_of(job.method))[0] if trees == "average" else network

    job.watcher.phase("more")
    with job.watch.phase("held out"):
        return held_out(job.data, folds, seed, learner, job.scored.size, target)
