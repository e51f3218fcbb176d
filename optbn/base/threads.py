"""Running blocks of work on several cores, in threads: the kernels release the interpreter and share the data.

Answers do not depend on the number of threads, because blocks do not depend on each other. When the caller stops
listening (an error, Ctrl-C) no new block is begun and those under way are waited for, so that what they finish is kept.
A block that waits for its kernel to be compiled has nothing to keep: Ctrl-C leaves it behind at once.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

from optbn.base.errors import UnsupportedError
from optbn_solvers.base.clock import compiling

Task = TypeVar("Task")
Result = TypeVar("Result")


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_jobs(jobs: int | None) -> int:
    """The number of threads to use; None: all cores."""
    if jobs is None:
        return cores()
    if jobs < 1:
        raise UnsupportedError(f"jobs is {jobs}, expected at least 1")
    return jobs


def spread(tasks: Iterable[Task], work: Callable[[Task], Result], jobs: int, ahead: int = 0) -> Iterator[Result]:
    """work(task) of every task, in order of completion; a task is drawn only when a thread is free for it, or `ahead`
    of that, so that no thread waits while the caller deals with a result and the next task is drawn.

    Of several tasks that fail the first in their order gives the error: tasks are drawn in order, so when one has
    failed, those before it are done or under way, and these are waited for.
    """
    if jobs == 1:
        yield from map(work, tasks)
        return
    waiting = enumerate(tasks)
    running: dict[Future[Result], int] = {}
    with _listening(jobs) as pool:
        while True:
            while len(running) < jobs + ahead:
                try:
                    place, task = next(waiting)
                except StopIteration:
                    break
                running[pool.submit(work, task)] = place
            if not running:
                return
            done = wait(running, return_when=FIRST_COMPLETED).done
            if any(future.exception() for future in done):
                wait(running)
                raise next(
                    error for future in sorted(running, key=running.__getitem__) if (error := future.exception())
                )
            for future in done:
                del running[future]
                yield future.result()


@contextmanager
def _listening(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """A pool of threads whose work is waited for at the end, but not after Ctrl-C while something is compiled."""
    pool, patient = ThreadPoolExecutor(jobs), True
    try:
        yield pool
    except KeyboardInterrupt:
        patient = not compiling.under_way
        raise
    finally:
        pool.shutdown(wait=patient, cancel_futures=True)


_BLAS = threading.Lock()


@cache
def _blas() -> Any:
    import scipy.optimize  # its BLAS must be there to be found  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """L-BFGS calls BLAS for vectors of a few numbers, and waking its threads costs twenty times the work.

    The number of threads belongs to the whole process: one at a time may change it and put it back.
    """
    with _BLAS, _blas().limit(limits=1, user_api="blas"):
        yield
