"""Phase I on many machines: blocks go to the workers of a Dask cluster (optbn/base/cluster.py), their survivors come
back.

The data and the score are sent once, and per level of the lattice what its floors need (`best` of the sizes below:
8 binom(n, k-1) n bytes). A task is a block and its answer the survivors, some kilobytes. All that is kept is kept here:
the store, and `best`, which survivors determine (candidates.py). So a block's bits do not depend on who computed it,
and runs on one machine and on many go on in each other's stores.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from optbn.base.cluster import Cluster, Shared, check_version
from optbn.scores.candidates import Candidates
from optbn.scores.scoring import bind
from optbn.scores.store import Block, Survivors

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.scores.parent_sets import ParentSets
    from optbn.scores.protocol import LocalScore

AHEAD = 2  # blocks per core that are given out

Result = tuple[Survivors, float]


@dataclass(frozen=True, eq=False)
class Job:
    """What a worker must know of a run; it binds the score once."""

    data: Dataset
    method: LocalScore
    constraints: ParentSets
    width: int
    memory: int
    version: str
    token: str = field(default_factory=lambda: uuid.uuid4().hex)


_bound: dict[str, Candidates] = {}  # of this process, for the job at hand


def compute(block: Block, job: Job, below: NDArray[np.float64]) -> Result:
    """What a worker does: the survivors of a block, and the seconds they took."""
    check_version(job.version)
    work = _bound.get(job.token)
    if work is None:
        work = Candidates(job.data.names, bind(job.method, job.data, job.memory), job.constraints, job.width)
        _bound.clear()
        _bound[job.token] = work
    start = time.perf_counter()
    survivors = work.compute(block, below, None)
    return survivors, time.perf_counter() - start


@dataclass(frozen=True)
class Elsewhere:
    """A job that a cluster knows."""

    cluster: Cluster
    job: Shared

    @classmethod
    def begin(cls, cluster: Cluster, job: Job) -> Elsewhere:
        """Send the data round."""
        return cls(cluster, cluster.share(job))

    def spread(self, blocks: Iterator[Block], below: NDArray[np.float64]) -> Iterator[tuple[Block, Survivors, float]]:
        """`compute` of every block, in order of completion."""
        floors = self.cluster.share(below)
        for block, (survivors, seconds) in self.cluster.spread(compute, blocks, self.job, floors, ahead=AHEAD):
            yield block, survivors, seconds
