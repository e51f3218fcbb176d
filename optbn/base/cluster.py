"""Independent tasks on many machines, by Dask: who died is replaced, what was lost is given out again.

    local                    worker processes on this machine (a script needs its `if __name__ == "__main__":`)
    tcp://host:port, tls://  the scheduler of a cluster; its workers need this version of optbn, and nothing else

Workers may be slow, join, or die: a task whose worker is gone, or whose input was lost with one, is given out again.
Nothing is kept on them: what a task answers is kept here, by whoever asked for it.
Dask sends code and data by pickle: connect only to clusters that you trust, over networks that you trust.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from optbn.base.errors import OptbnError, UnsupportedError
from optbn.base.version import __version__

log = logging.getLogger(__name__)

PATIENCE = 60.0  # seconds for a worker to appear
TRIES = 20  # of one task, each on workers that then die
QUIET = "DASK_LOGGING__DISTRIBUTED"  # in the environment of a process of Dask: from which level on it speaks

Task = TypeVar("Task")
Result = TypeVar("Result")


class ClusterError(OptbnError, RuntimeError):
    """The cluster cannot be reached, has no workers, or loses them all the time."""


def check_version(version: str) -> None:
    """On a worker: refuse work of another version, whose bits may differ."""
    if __version__ != version:
        raise ClusterError(f"a worker has optbn {__version__}, expected {version}: install the same")


class Shared:
    """A value that the workers fetch from each other, and that is sent again when all who had it are gone."""

    def __init__(self, client: Any, value: Any) -> None:
        self._client, self._value = client, value
        self._future = self._send()

    def _send(self) -> Any:
        """As a task that returns it, and not `scatter`ed: then the scheduler makes it again (and scatter can hang while
        a worker dies)."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return self._client.submit(_the_same, self._value, pure=False)

    @property
    def future(self) -> Any:
        if self._future.status not in ("finished", "pending"):
            self._future = self._send()
        return self._future


def _the_same(value: Any) -> Any:
    return value


class Cluster:
    """Use it as `with Cluster.open(scheduler, jobs) as cluster`."""

    def __init__(self, client: Any) -> None:
        self.client = client
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
                stack.enter_context(_quiet())
                try:
                    scheduler = stack.enter_context(_client(distributed, scheduler, jobs))
                    scheduler.wait_for_workers(1, timeout=PATIENCE)
                except (OSError, TimeoutError) as error:
                    raise ClusterError(f"the cluster has no worker, or cannot be reached: {error}") from None
            yield cls(scheduler)

    @property
    def cores(self) -> int:
        """How many tasks can be worked on at the moment."""
        count, at = self._looked
        if time.monotonic() - at > 2.0:
            try:
                count = max(1, sum(self.client.nthreads().values()))
            except (OSError, TimeoutError) as error:  # its scheduler dies while it answers
                raise ClusterError(f"the cluster cannot be reached any more: {error}") from None
            self._looked = count, time.monotonic()
        return count

    def share(self, value: Any) -> Shared:
        """Send a value round, for many tasks."""
        return Shared(self.client, value)

    def spread(
        self,
        work: Callable[..., Result],
        tasks: Iterable[Task],
        *shared: Shared,
        ahead: int = 1,
        lost: Callable[[Task], Result] | None = None,
    ) -> Iterator[tuple[Task, Result]]:
        """work(task, *shared) of every task, in order of completion; a task is drawn only when there is a core for it.

        ahead  tasks per core that are given out, so that no worker waits for the next one
        lost   what to answer when one task has lost its worker TRIES times; without it that is an error
        """
        import distributed
        from distributed.scheduler import KilledWorker

        waiting = iter(tasks)
        running: dict[Any, tuple[Task, int]] = {}
        completed: Any = distributed.as_completed
        done = completed()

        def give(task: Task, tries: int) -> None:
            inputs = [each.future for each in shared]
            future = self.client.submit(work, task, *inputs, pure=False, retries=0)
            running[future] = task, tries
            done.add(future)

        nothing = object()
        try:
            while True:
                while len(running) < ahead * self.cores:
                    task: Any = next(waiting, nothing)
                    if task is nothing:
                        break
                    give(task, 1)
                if not running:
                    return
                future = next(done)
                task, tries = running.pop(future)
                if future.status == "finished":
                    yield task, future.result()
                    continue
                if future.status == "error" and not isinstance(future.exception(), KilledWorker):
                    future.result()  # raises
                if tries < TRIES:
                    log.warning("a worker was lost; its work is given out again")
                    self._wait_for_workers()
                    give(task, tries + 1)
                elif lost is None:
                    raise ClusterError(f"{TRIES} workers died at the same task; is their memory too small?")
                else:
                    yield task, lost(task)
        finally:
            if self.client.status == "running":  # one that is closed, or whose scheduler is gone, has none to forget
                with contextlib.suppress(OSError, TimeoutError):
                    self.client.cancel(list(running))

    def _wait_for_workers(self) -> None:
        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
        except (OSError, TimeoutError) as error:
            raise ClusterError(f"the cluster has lost all its workers, or cannot be reached: {error}") from None


def _client(distributed: Any, scheduler: str, jobs: int) -> Any:
    """A client of its own cluster, or of the scheduler at an address."""
    if scheduler == "local":
        import dask

        with _whole(), dask.config.set({f"distributed.nanny.pre-spawn-environ.{QUIET}": "critical"}):
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


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Turns what goes wrong in Dask into one line; its own words on it are tracebacks."""
    known = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] == "distributed"]
    levels = {name: logging.getLogger(name).level for name in known}
    for name in levels:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


@contextlib.contextmanager
def _whole() -> Iterator[None]:
    """Ctrl-C waits for the end of the block: a cluster that has half begun cannot be ended in order."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        raise KeyboardInterrupt


class _Owning:
    """A client that takes its cluster with it."""

    def __init__(self, cluster: Any, client: Any) -> None:
        self._cluster, self._client = cluster, client

    def __enter__(self) -> Any:
        return self._client

    def __exit__(self, *_: object) -> None:
        self._client.close()
        self._cluster.close()
