"""One pass through the lattice of predictor sets, level by level.

Each level goes in blocks that fit the memory and take a fraction of a second, on all cores; each finished block is kept
on disk when there is a store. See candidates.py for what a block does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optbn.base.threads import spread
from optbn.scores.candidates import Candidates
from optbn.scores.family_blocks import BLOCK_SECONDS, BYTES_PER_FAMILY, FIRST_BLOCK
from optbn.scores.progress import ProgressCallback, ScoreProgress
from optbn.scores.store import Block, Store, Survivors
from optbn_solvers.base.table import ScoreTable

if TYPE_CHECKING:
    from optbn.scores.cluster import Elsewhere

SHORTEST_SECONDS = 0.25  # blocks get shorter towards the end of a level, so that all cores end together, but not below
LEAST_SLOWER = 0.2  # what cheap sets took, as a share of what the score expects, says little about dear ones


@dataclass
class Levels:
    """The pass through all groups and levels; `table` collects the survivors. `memory` is for one block."""

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
            # Who may say that it is enough is heard before each block begins.
            results = spread(blocks, compute, self.jobs, ahead=1 if self.enough is None else 0)
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
