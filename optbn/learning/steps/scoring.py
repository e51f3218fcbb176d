"""The second step of `learn`: the score is bound to the rows, and as many families scored as asked, or as time allows.

Where time is limited, the table grows in this order: sets of one more parent while they fit into their share, families
left out as too dear, then larger sets among the likeliest parents.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from optbn.base.errors import LimitError
from optbn.base.settings import check_limit
from optbn.learning.affordable import Scored, affordable_table, unlimited_table
from optbn.learning.constraints import all_families, check_constraints, demanding
from optbn.learning.estimate import estimate, in_words
from optbn.learning.left_over import with_time_left
from optbn.learning.rehearsal import rehearse
from optbn.learning.restrictions import coarsened, restrictions, why_left_out
from optbn.learning.steps.shares import (
    AGAIN_SHARE,
    DEAR_SHARE,
    DEFAULT_PARENTS,
    DEFAULT_SCORING_SECONDS,
    LARGER_SHARE,
    MOST_PARENTS,
    PREPARING_SHARE,
    RESCORING,
    SCORING_SHARE,
    SMALLEST_SHARE,
    UNTHINKABLE,
)
from optbn.scores.left_out import Alone, families_left_out
from optbn.scores.pipeline import table_of_sets
from optbn.scores.progress import ScoreProgress
from optbn.scores.scoring import Scoring
from optbn.scores.trees.grace import SHORTEST_LIMIT, grace
from optbn.scores.without_end import refuse_without_end
from optbn.smoothing import load_smoother
from optbn.smoothing.default import check_counts
from optbn_solvers.base.clock import working
from optbn_solvers.base.table import ScoreTable

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.learning.estimate import Cost
    from optbn.learning.steps.job import Job
    from optbn.scores.parent_sets import Limit
    from optbn.smoothing.protocol import Smoother


def bind(job: Job, max_parents: Limit | None, candidates: int | None, memory: int | str | None) -> None:
    """The score for these rows, under the constraints; contradictions are refused."""
    job.share_what_is_left()
    data = job.data
    if data.weights is not None:
        job.notes.append(f"{data.n_rows:,} rows count, by their weights, for {data.total_weight:,.6g}")
    job.watcher.phase("score")
    with job.watch.phase("score"):
        usual = DEFAULT_PARENTS if job.time_limit is None else MOST_PARENTS
        largest = usual if max_parents is None else max_parents
        check_limit("max_parents", largest)
        if largest != "all":
            largest = min(largest, max(0, data.n_variables - 1))
        job.scoring = bound_to(job, data, largest, candidates, memory)
        check_constraints(job.constraints, data.names)
    if job.interventions:
        kept = ", ".join(f"{mask.sum():,} of {name}" for name, mask in job.interventions.rows.items())
        job.notes.append(f"Rows in which a variable was set do not count for its own score: {kept}.")


def bound_to(
    job: Job, rows: Dataset, largest: Limit, candidates: int | None = None, memory: int | str | None = None
) -> Scoring:
    """The score of the run for some rows. Where time is limited, parent sets that would take too much of it one by one
    are left out."""
    scoring = Scoring.of(rows, job.method, largest, job.constraints, candidates, memory)
    return scoring if job.time_limit is None else scoring.hurried(DEAR_SHARE * job.time_limit)


def prepare(job: Job, solver: str, smoother: str | Smoother | None) -> None:
    """Compile what has not been compiled on this machine, before anything is timed."""
    if smoother is not None:
        check_counts(load_smoother(smoother), job.data)
    if job.time_limit is not None and job.time_limit < SHORTEST_LIMIT:
        grace.end()
    rehearse(job.data, job.method, solver, smoother, job.watcher)


def score(job: Job, max_parents: Limit | None, store: str | os.PathLike[str] | None, larger: bool = True) -> None:
    """The table, as large as `max_parents` says, or as the time allows; where some is left, `larger` sets of the
    likeliest parents are tried, too."""
    families, everything = 0, demanding(job.constraints)

    def listen(report: ScoreProgress) -> None:
        nonlocal families
        families = report.total
        job.watcher.scoring(report)

    seconds = job.left(SCORING_SHARE / (1 + RESCORING) if everything else SCORING_SHARE)
    limited = max_parents is None or seconds is not None
    if seconds is not None and not everything and _too_many_rows(job, seconds):
        _score_alone(job)
        return
    begin = working()
    share = DEFAULT_SCORING_SECONDS if seconds is None else seconds
    if not limited:
        refuse_without_end(job.scoring)
    costs = [] if job.scoring.unlimited else _costs(job, limited, share)
    left = DEFAULT_SCORING_SECONDS
    if seconds is not None:
        left = max(0.0, max(0.0, seconds) - (working() - begin))
    with job.watch.phase("score"):
        if job.scoring.unlimited:
            job.scored = unlimited_table(job.scoring, math.inf if seconds is None else left, job.jobs, listen)
        elif limited:
            job.scored = affordable_table(job.scoring, costs, left, job.jobs, listen, _at_least(job))
        else:
            scoring = job.scoring.at_most(costs[-1].size)
            table = table_of_sets(scoring, jobs=job.jobs, store=store, progress=listen)
            job.scored = Scored(table, families, costs[-1].size)
        if everything:
            table = all_families(job.scoring.at_most(job.scored.size), job.jobs)
            job.scored = replace(job.scored, table=table)
    if seconds is not None and larger and not everything and not job.scoring.unlimited:
        _use_time_left(job, max_parents, listen)
    enough = max_parents is None and job.scored.size >= DEFAULT_PARENTS
    job.notes += [job.scored.note] if job.scored.note and not enough else []
    with job.watch.phase("score"):
        scored = job.scored
        bounded = job.scoring.at_most(scored.size)
        limits = restrictions(bounded, scored.unscored, scored.likeliest, scored.dear - scored.after_all)
        job.restrictions = (*limits, *job.filled)
        dear = 0 if bounded.unlimited else families_left_out(bounded.bound, bounded.sets)
        if not scored.unscored:
            job.scored = replace(scored, families=scored.families - dear)  # what is left out is not scored
        job.notes += [why_left_out(bounded)] if dear > scored.after_all else []
    job.notes += coarsened(job.scoring)


def _use_time_left(job: Job, max_parents: Limit | None, listen: Callable[[ScoreProgress], None]) -> None:
    """Families left out as too dear, and sets of one member more among likeliest parents, in the time that is left
    for scoring."""
    left, begun = job.left(LARGER_SHARE) or 0.0, working()

    def listen_to_more(done: int, total: int) -> None:
        listen(ScoreProgress(done, total, done, job.scored.size + 1, working() - begun))

    with job.watch.phase("score"):
        job.scored = with_time_left(
            job.scored,
            job.scoring,
            job.scoring.sets.largest,
            working() + left,
            AGAIN_SHARE * (job.time_limit or 0.0),
            job.jobs,
            listen_to_more,
        )
    if job.scored.likeliest:
        size, k = job.scored.likeliest
        job.notes.append(f"sets of {size} are scored among the {k} likeliest parents of each variable")


def _too_many_rows(job: Job, seconds: float) -> bool:
    """Whether most of the time would be gone before anything is scored."""
    bound, needs = job.scoring.bound, int(job.scoring.sets.needs.max(initial=0))
    return needs == 0 and float(getattr(bound, "preparation", 0.0)) > PREPARING_SHARE * seconds


def _score_alone(job: Job) -> None:
    """The table of no parents at all."""
    n = job.data.n_variables
    with job.watch.phase("score"):
        job.scoring = replace(job.scoring, bound=Alone(job.scoring.bound))
        scores = np.array([job.scoring.bound.fitted(v, ()).score for v in range(n)])
        masks = np.zeros((n, max(1, -(-n // 64))), np.uint64)
        table = ScoreTable.build(job.data.names, np.arange(n), masks, scores, whole=False)
        families = sum(job.scoring.sets.count(size) for size in range(job.scoring.sets.largest + 1))
    note = (
        f"no family with parents is scored: to lay out {job.data.n_rows:,} rows for trees takes about "
        f"{in_words(job.scoring.bound.preparation)}; give more time, or use a score that counts (bdeu, bic)"  # type: ignore[attr-defined]
    )
    job.scored = Scored(table, n, 0, note, 0)
    job.notes += [note, *coarsened(job.scoring.at_most(0))]
    job.restrictions = (f"without parents, {families - n:,} families left out", *job.filled)


def _at_least(job: Job) -> float:
    """Seconds for the smallest size; where it is slow, search and fit have less."""
    left = job.left(SMALLEST_SHARE)
    return math.inf if left is None else left


def _costs(job: Job, limited: bool, seconds: float) -> list[Cost]:
    """What scoring would cost, for the sizes that the watcher agrees to: those that `seconds` bear and one more."""
    with job.watch.phase("score"):
        costs = estimate(job.scoring, job.jobs, rehearsed=True, enough=seconds if limited else math.inf)
        if not limited and costs[-1].seconds > UNTHINKABLE:
            raise LimitError(
                f"scoring the {costs[-1].families:,} families of at most {costs[-1].size} of "
                f"{job.data.n_variables} variables would take about {in_words(costs[-1].seconds)}: lower "
                "max_parents, or set a time limit, and the size is chosen to fit it"
            )
    return costs[: job.watcher.estimated(costs, limited) + 1]
