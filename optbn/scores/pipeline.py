"""The whole of Phase I: data and a score in, a ScoreTable out.

Levels of the lattice of predictor sets in turn; each level in blocks that fit the memory and take a fraction of a
second, on all cores; each finished block kept on disk when there is a store. See candidates.py for what a block does.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.cluster import Cluster
from optbn.base.errors import UnsupportedError
from optbn.base.options import check_together
from optbn.base.threads import check_jobs, spread
from optbn.base.version import __version__
from optbn.data.anything import DataLike, WeightsLike, as_dataset
from optbn.data.dataset import Dataset
from optbn.scores import load_score, named
from optbn.scores.candidates import Candidates, group_width
from optbn.scores.cluster import Elsewhere, Job
from optbn.scores.families import BLOCK_SECONDS, BYTES_PER_FAMILY, FIRST_BLOCK, Families, scores_of
from optbn.scores.growing import Growth
from optbn.scores.parent_sets import Arc, Limit, ParentSets
from optbn.scores.protocol import LocalScore
from optbn.scores.scoring import Scoring
from optbn.scores.store import Block, Store, Survivors
from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.table import ScoreTable

if TYPE_CHECKING:
    from optbn.scores.cluster import Elsewhere

SHORTEST_SECONDS = 0.25  # blocks get shorter towards the end of a level, so that all cores end together, but not below
LEAST_SLOWER = 0.2  # what cheap sets took, as a share of what the score expects, says little about dear ones
LARGEST_BLOCK = 256 << 20  # bytes of work space, whatever the memory: more brings nothing


@dataclass(frozen=True)
class ScoreProgress:
    """One report of a running Phase I; families of a resumed store count as done at once."""

    done: int
    total: int
    survivors: int
    size: int  # parents per set at the moment
    seconds: float
    resumed: int = 0  # families found in the store
    needless: int = 0  # without a limit on parents: the families that are not scored, if no more are open

    @property
    def rate(self) -> float:
        """Families per second in this run."""
        return (self.done - self.resumed) / self.seconds if self.seconds > 0 else 0.0

    @property
    def remaining(self) -> float:
        """Seconds left at this rate; infinite while nothing is known."""
        return (self.total - self.done) / self.rate if self.rate > 0 else float("inf")


ProgressCallback = Callable[[ScoreProgress], None]


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
            return _Run(work, kept, threads, space // threads, progress, enough=enough).table()

        cluster = stack.enter_context(Cluster.open(scheduler, threads))
        elsewhere = Elsewhere.begin(cluster, Job(data, scoring.method, sets, width, limit, __version__))
        return _Run(work, kept, cluster.cores, space, progress, elsewhere).table()


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


def growing(scoring: Scoring, jobs: int | None, progress: ProgressCallback | None) -> Growth:
    """Scoring without a limit on parents that has not begun."""
    begun = time.monotonic()
    growth = Growth(scoring, check_jobs(jobs))

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


@dataclass
class _Run:
    """One pass through all groups and levels; collects the survivors. `memory` is for one block."""

    work: Candidates
    store: Store | None
    jobs: int
    memory: int
    progress: ProgressCallback | None
    elsewhere: Elsewhere | None = None
    enough: Callable[[], bool] | None = None
    done: int = 0
    resumed: int = 0
    survivors: int = 0
    kept: list[tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64]]] = field(default_factory=list)
    seconds_per_set: float = 0.0
    slower: float = 1.0  # than the score expects
    ended: bool = False
    started: float = field(default_factory=time.monotonic)

    def table(self) -> ScoreTable:
        for group in range(self.work.groups):
            columns = self.work.group(group)
            below = np.empty((0, columns.stop - columns.start))
            for size in range(self.work.constraints.largest + 1):
                if not self.ended or size == 0:
                    below = self._level(group, size, below)
        if not self.ended:  # shares of groups are rounded
            self.done = self._total
            self._report(size)
        children, masks, scores = (np.concatenate(part) for part in zip(*self.kept, strict=True))
        return ScoreTable.build(self.work.names, children, masks, scores, whole=False)  # many were never scored

    def _level(self, group: int, size: int, below: NDArray[np.float64]) -> NDArray[np.float64]:
        """All sets of one size for one group of responses; returns their `best`, which the next size needs."""
        work, columns = self.work, self.work.group(group)
        best = np.empty((work.sets(size), columns.stop - columns.start)) if size < work.constraints.largest else None
        families = work.constraints.count(size) / work.sets(size) / work.groups  # per set, for the progress
        end = self.done + round(families * work.sets(size))

        def compute(block: Block) -> tuple[Block, Survivors, float]:
            start = time.perf_counter()
            survivors = work.compute(block, below, best)
            seconds = time.perf_counter() - start
            if self.store is not None:
                self.store.write(block, survivors)
            return block, survivors, seconds

        finished = []
        for block, survivors in self._stored(group, size):
            work.restore(block, survivors, below, best)
            finished.append(block)
            self._keep(block, survivors, families)
        self.resumed += round(families * sum(block.last - block.first for block in finished))
        blocks = self._blocks(group, size, finished)
        if self.elsewhere is None:
            results = spread(blocks, compute, self.jobs)
        else:
            results = self._kept_here(self.elsewhere.spread(blocks, below), below, best)
        for block, survivors, seconds in results:
            self.seconds_per_set = seconds / (block.last - block.first)
            expected = work.seconds(block).sum()
            self.slower = max(LEAST_SLOWER, seconds / expected) if expected else 1.0
            self._keep(block, survivors, families)
            self._report(size)
        self.done = self.done if self.ended else end  # the sum of the blocks' shares, less their rounding
        self._report(size)
        self.seconds_per_set *= 4  # a guess for the next size: its tables are that much larger
        return np.empty((0, 0)) if best is None else best

    def _kept_here(
        self,
        results: Iterator[tuple[Block, Survivors, float]],
        below: NDArray[np.float64],
        best: NDArray[np.float64] | None,
    ) -> Iterator[tuple[Block, Survivors, float]]:
        """Blocks computed elsewhere; what is kept of them is kept here."""
        for block, survivors, seconds in results:
            self.work.restore(block, survivors, below, best)
            if self.store is not None:
                self.store.write(block, survivors)
            yield block, survivors, seconds

    def _stored(self, group: int, size: int) -> Iterator[tuple[Block, Survivors]]:
        """The blocks of a level that an earlier run has finished, by rank."""
        if self.store is not None:
            for block in self.store.finished(group, size):
                survivors = self.store.read(block)
                if survivors is not None:
                    yield block, survivors

    def _blocks(self, group: int, size: int, finished: Sequence[Block]) -> Iterator[Block]:
        """The sets still to do, cut when they are taken, by what is known of the speed by then."""
        most = max(1, self.memory // (BYTES_PER_FAMILY * self.work.n))
        starts = [0, *(block.last for block in finished)]
        stops = [*(block.first for block in finished), self.work.sets(size)]
        for at, stop in zip(starts, stops, strict=True):
            while at < stop:
                if size and self.enough is not None and self.enough():
                    self.ended = True
                    return
                left = stop - at
                count = FIRST_BLOCK if not self.seconds_per_set else int(BLOCK_SECONDS / self.seconds_per_set)
                if self.jobs > 1 and self.seconds_per_set:
                    shortest = int(SHORTEST_SECONDS / self.seconds_per_set)
                    count = min(count, max(shortest, -(-left // (2 * self.jobs))))
                count = min(max(1, count), most, left)
                expected = np.cumsum(self.work.seconds(Block(group, size, at, at + count)))
                if expected[-1] * self.slower > BLOCK_SECONDS:
                    count = 1 + min(count - 1, int(np.searchsorted(expected, BLOCK_SECONDS / self.slower)))
                yield Block(group, size, at, at + count)
                at += count

    def _keep(self, block: Block, survivors: Survivors, families: float) -> None:
        self.kept.append((survivors.children, self.work.masks(block, survivors), survivors.scores))
        self.survivors += len(survivors.children)
        self.done += round(families * (block.last - block.first))

    def _report(self, size: int) -> None:
        if self.progress is not None:
            seconds = time.monotonic() - self.started
            self.progress(ScoreProgress(self.done, self._total, self.survivors, size, seconds, self.resumed))

    @cached_property
    def _total(self) -> int:
        return sum(self.work.constraints.count(k) for k in range(self.work.constraints.largest + 1))
