"""The whole of Phase I: data and a score in, a ScoreTable out.

All families up to a size, level by level (levels.py), those of likeliest parents as a list (listed.py), or sets
that grow until bounds end them (growing.py); on the threads here, or elsewhere (cluster.py).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from hashlib import sha256
from os import PathLike
from typing import Any

import numpy as np

from optbn.base.cluster import Cluster
from optbn.base.errors import UnsupportedError
from optbn.base.options import check_together
from optbn.base.threads import check_jobs
from optbn.base.version import __version__
from optbn.data.anything import DataLike, WeightsLike, as_dataset
from optbn.data.dataset import Dataset
from optbn.scores import load_score, named
from optbn.scores.candidates import Candidates, group_width
from optbn.scores.cluster import Elsewhere, Job
from optbn.scores.families import Families
from optbn.scores.growing import Growth
from optbn.scores.levels import Levels
from optbn.scores.listed import scores_of
from optbn.scores.parent_sets import Arc, Limit, ParentSets
from optbn.scores.progress import ProgressCallback, ScoreProgress
from optbn.scores.protocol import LocalScore
from optbn.scores.scoring import Scoring
from optbn.scores.store import Store
from optbn.scores.without_end import refuse_without_end
from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.table import ScoreTable

LARGEST_BLOCK = 256 << 20  # bytes of work space, whatever the memory: more brings nothing


def score_table(
    data: DataLike,
    score: str | LocalScore = "pcartp",
    max_parents: Limit | Mapping[str, Limit] | None = None,
    *,
    forbidden: Iterable[Arc] = (),
    required: Iterable[Arc] = (),
    tiers: Sequence[Sequence[str]] = (),
    roots: Iterable[str] = (),
    leaves: Iterable[str] = (),
    candidates: int | None = None,
    weights: WeightsLike = None,
    jobs: int | None = None,
    memory: int | str | None = None,
    store: str | PathLike[str] | None = None,
    scheduler: Any = None,
    progress: ProgressCallback | None = None,
    **settings: Any,
) -> ScoreTable:
    """Score every candidate parent set of every variable and keep those that no subset matches.

    data         a file, a Dataset or a data frame
    score        a name in optbn.scores.SCORES (with its `settings`, ess=10 say) or a score itself
    max_parents  one limit, or a limit per variable ("*": for those not listed); default 3; "all": none, and where the
                 score has bounds that end the enumeration (bic, aic, bdeu, bds, k2), sets grow until they do
    forbidden, required   (parent, child) pairs;  tiers  groups of names, causes first
    roots, leaves         variables without parents, without children
    candidates   only sets of this many likeliest parents of each variable: a heuristic, for hundreds of variables
    weights      how many rows each row counts for: a column's name, or an array
    jobs         threads (default: all cores; the table does not depend on it)
    memory       bytes or "4G" (default: half of the machine)
    store        a folder that keeps finished blocks: a run that was stopped goes on there
    scheduler    "local" or a Dask scheduler's address, to spread the work over processes or machines (cluster.py)
    progress     called with a ScoreProgress after each block of work
    """
    check_together("score", {"candidates": candidates, "store": store, "scheduler": scheduler})
    data = as_dataset(data, missing="value", weights=weights)
    method = load_score(score, caller=score_table, **settings)
    words = Constraints(forbidden=forbidden, required=required, tiers=tiers, roots=roots, leaves=leaves)  # type: ignore[arg-type]
    scoring = Scoring.of(data, method, max_parents, words, candidates, memory)
    return table_of_sets(scoring, jobs=jobs, store=store, scheduler=scheduler, progress=progress)


def table_of_sets(
    scoring: Scoring,
    *,
    jobs: int | None = None,
    store: str | PathLike[str] | None = None,
    scheduler: Any = None,
    progress: ProgressCallback | None = None,
    enough: Callable[[], bool] | None = None,
) -> ScoreTable:
    """`score_table` of what is bound and listed already. Once `enough` says so no more is begun, and what is scored by
    then is the table: in `ScoreProgress`, `done` stays below `total`."""
    threads = check_jobs(jobs)
    if scoring.candidates is not None:
        return _table_of_candidates(scoring, threads, progress, enough)
    if scoring.unlimited:
        if store is not None or scheduler is not None:
            raise UnsupportedError(
                "scoring without a limit on parents keeps no store and uses no scheduler: set max_parents to a number"
            )
        growth = growing(scoring, threads, progress)
        while growth.open:
            growth.step()
        return growth.table()
    if enough is None:
        refuse_without_end(scoring)
    data, sets, limit = scoring.data, scoring.sets, scoring.memory
    width = group_width(data.n_variables, sets.largest, limit)
    with ExitStack() as stack:
        kept = None
        if store is not None:
            run = describe_run(data, scoring.method, sets) | {
                "the responses at a time (they follow from the memory)": width
            }
            kept = stack.enter_context(Store.open(store, run))
        work = Candidates(data.names, scoring.bound, sets, width)
        space = min(limit // 4, LARGEST_BLOCK)
        if scheduler is None:
            return Levels(work, kept, threads, space // threads, progress, enough=enough).table()

        cluster = stack.enter_context(Cluster.open(scheduler, threads))
        elsewhere = Elsewhere.begin(cluster, Job(data, scoring.method, sets, width, limit, __version__))
        return Levels(work, kept, cluster.cores, space, progress, elsewhere).table()


def _table_of_candidates(
    scoring: Scoring, jobs: int, progress: ProgressCallback | None, enough: Callable[[], bool] | None
) -> ScoreTable:
    """All sets of the likeliest parents, scored as a list; see selection.py."""
    begun = time.perf_counter()

    def listen(done: int, total: int) -> None:
        if progress is not None:
            progress(ScoreProgress(done, total, done, scoring.sets.largest, time.perf_counter() - begun))

    names = scoring.data.names
    families = Families.allowed(names, scoring.sets, scoring.memory).without_dear(scoring.bound)
    scores = scores_of(scoring.bound, families, jobs, scoring.memory, listen, enough)
    done = ~np.isnan(scores)
    return ScoreTable.build(names, families.children[done], families.masks[done], scores[done])


def growing(scoring: Scoring, jobs: int | None, progress: ProgressCallback | None, until: float = math.inf) -> Growth:
    """Scoring without a limit on parents that has not begun, and the time (of `working`) that there is."""
    begun = time.monotonic()
    growth = Growth(scoring, check_jobs(jobs), until=until)

    def listen(done: int, total: int) -> None:
        if progress is not None:
            seconds = time.monotonic() - begun
            progress(ScoreProgress(done, total, growth.kept, growth.size + 1, seconds, needless=growth.needless))

    growth.listen = listen
    return growth


def describe(data: Dataset, method: LocalScore, constraints: Mapping[str, Any]) -> dict[str, Any]:
    """What a native score file says about its scores: the score, its constraints, the data's digest and schema."""
    return {
        "score": repr(method),
        **named(method),
        "constraints": {name: value for name, value in constraints.items() if value},
        "data": data.digest,
        "rows": data.n_rows,
        **({} if data.weights is None else {"weight of the rows": data.total_weight}),
        "schema": json.loads(data.schema.to_json()),
        "optbn": __version__,
    }


def describe_run(data: Dataset, method: LocalScore, sets: ParentSets) -> dict[str, Any]:
    """What makes two runs the same, by the words a message would use."""
    arcs = np.stack([sets.allowed, sets.required])
    return {
        "the program's version": __version__,
        "the data": data.digest,
        "the score": repr(method),
        "max_parents": sets.max_parents.tolist(),
        "the arcs allowed and required": sha256(np.packbits(arcs).tobytes()).hexdigest(),
    }
