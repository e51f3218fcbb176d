"""Phase I on a cluster: the same bits, the same store, whoever dies on the way."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import optbn
from optbn.scores import pipeline
from optbn.scores.cluster import ClusterError
from tests.naive import phase1 as naive

distributed = pytest.importorskip("distributed", reason="Dask is not installed (the extra cluster)")

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "60s"}


def data(rows=300):
    return naive.random_categorical(np.random.default_rng(1), 8, rows)


def files(store):
    return {path.name: path.read_bytes() for path in (store / "blocks").iterdir()}


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(pipeline, "FIRST_BLOCK", 5)
    monkeypatch.setattr(pipeline, "BLOCK_SECONDS", 0.02)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextlib.contextmanager
def program(*arguments):
    """A scheduler or a worker in a process of its own, which does not outlive the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def worker(address):
    return program(
        "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1", "--no-dashboard",
        "--host", "127.0.0.1", "--death-timeout", "60",
    )  # fmt: skip


def test_the_command_line_with_local_processes(tmp_path):
    from optbn.data.write import write

    write(data(), tmp_path / "d.csv", "csv")
    for arguments in (["-o", "a.parquet"], ["-o", "b.parquet", "--scheduler", "local", "--jobs", "1"]):
        command = [sys.executable, "-m", "optbn", "score", "d.csv", "-D", "2", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_local_processes_give_the_same_bits_and_share_the_store(tmp_path, small_blocks):
    expected = optbn.score_table(data(), "bdeu", 3, store=tmp_path / "threads", jobs=1)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    ) as cluster, distributed.Client(cluster) as client:  # fmt: skip
        table = optbn.score_table(data(), "bdeu", 3, store=tmp_path / "cluster", scheduler=client)
        assert table == expected
        for number, path in enumerate(sorted((tmp_path / "threads" / "blocks").iterdir())):
            if number % 2:
                path.unlink()  # half done by threads, the rest by the cluster
        assert optbn.score_table(data(), "bdeu", 3, store=tmp_path / "threads", scheduler=client) == expected
        with pytest.raises(ValueError, match="non-negative"):  # an error of a worker is the error here
            optbn.score_table(data(), naive.Slow(-1.0), 1, scheduler=client)
    for number, path in enumerate(sorted((tmp_path / "cluster" / "blocks").iterdir())):
        if number % 3:
            path.unlink()
    assert optbn.score_table(data(), "bdeu", 3, store=tmp_path / "cluster", jobs=2) == expected


def test_workers_killed_in_mid_run(tmp_path, small_blocks):
    """A scheduler and two workers as programs; one dies at -9 with blocks in hand, another joins."""
    slow = naive.Slow(0.002)
    expected = optbn.score_table(data(), naive.Slow(0.0), 3)
    port = str(free_port())
    address = f"tcp://127.0.0.1:{port}"
    store = tmp_path / "store"
    with contextlib.ExitStack() as stack:
        stack.enter_context(
            program(
                "distributed.cli.dask_scheduler",
                "--host",
                "127.0.0.1",
                "--port",
                port,
                "--no-dashboard",
            )
        )
        first = stack.enter_context(worker(address))
        stack.enter_context(worker(address))
        killed = []

        def kill():
            for _ in range(6000):
                if store.exists() and len(files(store)) > 5:
                    os.kill(first.pid, signal.SIGKILL)
                    killed.append(len(files(store)))
                    stack.enter_context(worker(address))
                    return
                time.sleep(0.01)

        threading.Thread(target=kill, daemon=True).start()
        table = optbn.score_table(data(), slow, 3, store=store, scheduler=address)
        assert table == expected
        assert killed and killed[0] < len(files(store))
    assert optbn.score_table(data(), slow, 3, store=store) == expected


def test_what_is_refused(monkeypatch):
    from optbn.scores import cluster

    with pytest.raises(optbn.errors.UnsupportedError, match="expected local, or an address"):
        optbn.score_table(data(), "bdeu", 1, scheduler="somewhere")
    monkeypatch.setattr(cluster, "PATIENCE", 2.0)
    with pytest.raises(ClusterError, match="cannot be reached"):
        optbn.score_table(data(), "bdeu", 1, scheduler=f"tcp://127.0.0.1:{free_port()}")


def test_a_worker_of_another_version_is_refused():
    from optbn.scores.cluster import Job, compute
    from optbn.scores.constraints import Constraints
    from optbn.scores.store import Block

    job = Job(data(), naive.Slow(0.0), Constraints.build(data().names, 1), 8, 1 << 30, "0.0.0")
    with pytest.raises(ClusterError, match=r"expected 0\.0\.0"):
        compute(job, Block(0, 0, 0, 1), np.empty((0, 8)))
