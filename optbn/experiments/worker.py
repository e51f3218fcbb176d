"""A process that does one cell after another: a JSON line in, a JSON line out.

A process, so that a cell that overruns can be killed and one that dies takes nobody with it; kept for many cells, so
that imports and compiled code are paid once; and a program of its own, which anybody may start (a worker of Dask may
not have children of `multiprocessing`). It ends when the pipe from its parent closes, however that came about.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
import time
from multiprocessing.connection import wait
from subprocess import PIPE, Popen
from typing import Any

from optbn.experiments.spec import Experiment

BEGIN = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from optbn.experiments.worker import serve; serve()"

Cell = dict[str, Any]
Row = dict[str, Any]


class Worker:
    """The parent's side; `cell` is what the process is working on, `deadline` when it must be done."""

    def __init__(self, experiment: Experiment, folder: str | None = None) -> None:
        """`folder` is where tasks of the user's own are found, and files of relative names."""
        self.experiment = experiment
        self.folder = folder or os.getcwd()
        self.cell: Cell | None = None
        self.deadline = float("inf")
        self._launch()

    def _launch(self) -> None:
        path = [os.path.abspath(each) for each in [*sys.path, self.folder]]
        folder = self.folder if os.path.isdir(self.folder) else None
        command = [sys.executable, "-P", "-c", BEGIN, json.dumps(path)]
        self._process = Popen(command, stdin=PIPE, stdout=PIPE, cwd=folder)
        self._send({"task": self.experiment.task, "fixed": dict(self.experiment.fixed)})

    @property
    def answer(self) -> int:
        """What to wait for, a file descriptor."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def start(self, cell: Cell) -> None:
        """Give it a cell; a process that died since its last one is replaced."""
        if self._process.poll() is not None:
            self.kill()
            self._launch()
        self.cell = cell
        self.deadline = time.monotonic() + self.experiment.time_limit
        self._send(cell)

    def collect(self) -> Row:
        """The row of the cell, when `answer` can be read or the deadline is over."""
        assert self.cell is not None
        cell, self.cell = self.cell, None
        if wait([self.answer], timeout=0):
            assert self._process.stdout is not None
            if (line := self._process.stdout.readline()).endswith(b"\n"):
                return {"cell": cell, **json.loads(line)}
            self.kill()
            return {"cell": cell, "status": "failed", "error": f"the process died ({self._process.returncode})"}
        self.kill()
        return {"cell": cell, "status": "timeout", "error": f"over {self.experiment.time_limit:g} s"}

    def run(self, cell: Cell) -> Row:
        """The row of a cell, waited for."""
        self.start(cell)
        while (left := self.deadline - time.monotonic()) > 0 and not wait([self.answer], timeout=min(left, 60.0)):
            pass
        return self.collect()

    def kill(self) -> None:
        """End the process; `start` would begin another."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # what a dead process has not read
                pipe.close()

    def _send(self, value: Any) -> None:
        """A process that has died shows when its answer is read."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write(json.dumps(value, default=str).encode() + b"\n")
            self._process.stdin.flush()


def serve() -> None:
    """The process's life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what a task prints is no answer
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen() -> None:
        for line in orders:
            waiting.put(line)
        os._exit(1)  # the parent is gone, or done with us: nobody waits for this cell

    threading.Thread(target=listen, daemon=True).start()
    experiment = Experiment(**json.loads(waiting.get()))
    task = experiment.module()
    while True:
        cell = json.loads(waiting.get())
        try:
            result = task.cell(**experiment.fixed, **cell)
            row = json.dumps({"status": "done", "result": result}, allow_nan=False)
        except Exception as error:
            row = json.dumps({"status": "failed", "error": f"{type(error).__name__}: {error}"})
        answers.write(row.encode() + b"\n")
        answers.flush()
