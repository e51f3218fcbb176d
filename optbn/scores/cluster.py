"""Phase I on many machines: blocks go to the workers of a Dask cluster, their survivors come back.

    local                    worker processes on this machine (a script needs its `if __name__ == "__main__":`)
    tcp://host:port, tls://  the scheduler of a cluster; its workers need this version of optbn, and nothing else

The data and the score are sent once, and per level of the lattice what its floors need (`best` of the sizes below:
8 binom(n, k-1) n bytes). A task is a block and its answer the survivors, some kilobytes. All that is kept is kept here:
the store, and `best`, which survivors determine (candidates.py). So a block's bits do not depend on who computed it,
and runs on one machine and on many go on in each other's stores.

Workers may be slow, join, or die: a block whose worker is gone, or whose input was lost with one, is given out again.
Dask sends code and data by pickle: connect only to clusters that you trust, over networks that you trust.
"""

from __future__ import annotations

import contextlib
import logging
import time
import uuid
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optbn.errors import OptbnError, UnsupportedError
from optbn.scores.candidates import Candidates
from optbn.scores.store import Block, Survivors

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.scores.constraints import Constraints
    from optbn.scores.protocol import LocalScore

log = logging.getLogger(__name__)

PATIENCE = 60.0  # seconds for the first worker to appear
AHEAD = 2  # blocks per core that are given out, so that no worker waits for the next one
TRIES = 20  # of one block, each on workers that then die

Result = tuple[Block, Survivors, float]


class ClusterError(OptbnError, RuntimeError):
    """The cluster cannot be reached, has no workers, or loses them all the time."""


@dataclass(frozen=True, eq=False)
class Job:
    """What a worker must know of a run; it binds the score once."""

    data: Dataset
    method: LocalScore
    constraints: Constraints
    width: int
    memory: int
    version: str
    token: str = field(default_factory=lambda: uuid.uuid4().hex)


_bound: dict[str, Candidates] = {}  # of this process, for the job at hand


def compute(job: Job, block: Block, below: NDArray[np.float64]) -> Result:
    """What a worker does: the survivors of a block, and the seconds they took."""
    import optbn
    from optbn.scores.pipeline import bind

    if optbn.__version__ != job.version:
        raise ClusterError(f"a worker has optbn {optbn.__version__}, expected {job.version}: install the same")
    work = _bound.get(job.token)
    if work is None:
        work = Candidates(job.data.names, bind(job.method, job.data, job.memory), job.constraints, job.width)
        _bound.clear()
        _bound[job.token] = work
    start = time.perf_counter()
    survivors = work.compute(block, below, None)
    return block, survivors, time.perf_counter() - start


def _the_same(value: Any) -> Any:
    return value


class Cluster:
    """Use it as `with Cluster.open(scheduler, jobs) as cluster`."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._job: Any = None  # as the workers know it
        self._plain: Job | None = None
        self._looked = (0, -np.inf)

    @classmethod
    @contextlib.contextmanager
    def open(cls, scheduler: str | Any, jobs: int) -> Iterator[Cluster]:
        """Connect to a scheduler (or start `jobs` local workers); a distributed.Client is taken as it is."""
        try:
            import distributed
        except ImportError:
            raise UnsupportedError("a scheduler needs Dask: pip install 'optbn[cluster]'") from None
        with contextlib.ExitStack() as stack:
            if isinstance(scheduler, str):
                try:
                    scheduler = stack.enter_context(_client(distributed, scheduler, jobs))
                    scheduler.wait_for_workers(1, timeout=PATIENCE)
                except (OSError, TimeoutError) as error:
                    raise ClusterError(f"the cluster has no worker, or cannot be reached: {error}") from None
            yield cls(scheduler)

    def begin(self, job: Job) -> None:
        """Send the data round."""
        self._plain = job
        self._job = self._send(job)

    @property
    def cores(self) -> int:
        """How many blocks can be worked on at the moment."""
        count, at = self._looked
        if time.monotonic() - at > 2.0:
            count = max(1, sum(self._client.nthreads().values()))
            self._looked = count, time.monotonic()
        return count

    def _send(self, value: Any) -> Any:
        """A value for workers to fetch from each other. It is a task that returns it, and not `scatter`ed, so that the
        scheduler makes it again when all who had it are gone (and scatter can hang while a worker dies)."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return self._client.submit(_the_same, value, pure=False)

    def spread(self, blocks: Iterator[Block], below: NDArray[np.float64]) -> Iterator[Result]:
        """`compute` of every block, in order of completion; a block is drawn only when there is a core for it."""
        import distributed
        from distributed.scheduler import KilledWorker

        floors = self._send(below)
        tries: dict[Block, int] = {}
        running: dict[Any, Block] = {}
        completed: Any = distributed.as_completed
        done = completed()

        def give(block: Block) -> None:
            future = self._client.submit(compute, self._job, block, floors, pure=False, retries=0)
            running[future] = block
            done.add(future)

        try:
            while True:
                while len(running) < AHEAD * self.cores and (block := next(blocks, None)) is not None:
                    give(block)
                if not running:
                    return
                future = next(done)
                block = running.pop(future)
                if future.status == "finished":
                    yield future.result()
                    continue
                if future.status == "error" and not isinstance(future.exception(), KilledWorker):
                    future.result()  # raises
                tries[block] = tries.get(block, 0) + 1
                if tries[block] > TRIES:
                    raise ClusterError(f"{TRIES} workers died at the same block; is their memory too small?")
                log.warning("a worker was lost; its block is given out again")
                self._client.wait_for_workers(1, timeout=PATIENCE)
                if floors.status not in ("finished", "pending"):
                    floors = self._send(below)
                if self._job.status not in ("finished", "pending"):
                    self._job = self._send(self._plain)
                give(block)
        finally:
            self._client.cancel(list(running))


def _client(distributed: Any, scheduler: str, jobs: int) -> Any:
    """A client of its own cluster, or of the scheduler at an address."""
    if scheduler == "local":
        cluster = distributed.LocalCluster(
            n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        )
        return _Owning(cluster, distributed.Client(cluster))
    if "://" not in scheduler:
        raise UnsupportedError(f"scheduler {scheduler!r}: expected local, or an address like tcp://host:8786")
    try:
        return distributed.Client(scheduler, timeout=PATIENCE / 4)
    except ValueError as error:
        raise UnsupportedError(f"scheduler {scheduler!r}: {error}") from None


class _Owning:
    """A client that takes its cluster with it."""

    def __init__(self, cluster: Any, client: Any) -> None:
        self._cluster, self._client = cluster, client

    def __enter__(self) -> Any:
        return self._client

    def __exit__(self, *_: object) -> None:
        self._client.close()
        self._cluster.close()
