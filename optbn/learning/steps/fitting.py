"""The fourth step of `learn`: the parameters of the best network, by a quicker smoother where time is short."""

from __future__ import annotations

from dataclasses import replace
from itertools import starmap
from typing import TYPE_CHECKING

from optbn.base.threads import check_jobs
from optbn.learning.averaged import averaged, trees_of
from optbn.learning.local import with_local_models
from optbn.learning.steps.shares import REPORT_SHARE
from optbn.learning.timely import FALLBACK, Timely
from optbn.scores.by_evidence import chosen_values
from optbn.smoothing import load_smoother
from optbn.smoothing.default import smoother_for
from optbn.smoothing.family import Family
from optbn.smoothing.fitting import fitted
from optbn_solvers.base.clock import working

if TYPE_CHECKING:
    from optbn.learning.steps.job import Job
    from optbn.smoothing.fitting import Fitted
    from optbn.smoothing.protocol import Smoother


def fit(job: Job, smoother: str | Smoother | None, seed: int, more: bool, trees: str) -> tuple[Fitted, str | Smoother]:
    """The parameters and what smoothed them; what would not end in time gives way to a quicker smoother.

    `more` is to follow.
    """

    def listen(phase: str, done: int, of: int | None) -> None:
        if phase == "fitting" and of is not None:
            job.watcher.fitting(done, of)

    job.watcher.phase("fit")
    with job.watch.phase("fit"):
        shapes = with_local_models(job.learned.structure, job.data, job.scoring.bound)
        if smoother is None:
            whole = job.data.weights is None or job.data.weights.whole
            smoother = smoother_for(starmap(Family.of, zip(shapes.names, shapes.cpds, strict=True)), whole)
            if not whole:
                job.notes.append(f"probabilities are estimated by {smoother}, which counts shares of a row")
        chosen, left = load_smoother(smoother), job.left(1 - REPORT_SHARE)
        if left is not None:
            chosen = Timely(chosen, load_smoother(FALLBACK), working() + (left / 2 if more else left))
        job.notes += chosen_values(job.scoring.bound, job.data, job.learned.structure.parent_sets)
        model = fitted(
            shapes,
            job.data,
            chosen,
            seed=seed,
            threads=check_jobs(job.jobs),
            progress=listen,
            interventions=job.interventions,
        )
        if trees == "average":
            network, kept = averaged(model.network, job.data, trees_of(job.method))
            model = replace(model, network=network)
            keep = "keeps its best tree" if len(kept) == 1 else "keep their best trees"
            job.notes += [f"averages over trees: {', '.join(kept)} {keep}"] if kept else []
    if isinstance(chosen, Timely) and chosen.gave_way:
        name = smoother if isinstance(smoother, str) else type(smoother).__name__
        job.notes.append(
            f"{chosen.gave_way} of {job.data.n_variables} distributions are m-estimates: {name} would not have "
            "been done within the time limit"
        )
    return model, smoother
