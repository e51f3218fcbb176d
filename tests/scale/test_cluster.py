"""Phase I on a cluster: the same bits, the same store, whoever dies on the way."""

from __future__ import annotations

import contextlib
import json
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
from optbn.base.cluster import ClusterError
from optbn.experiments import runner
from optbn.experiments.spec import Experiment
from optbn.scores import levels
from tests.faults.jobs import MEASURED
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
    monkeypatch.setattr(levels, "FIRST_BLOCK", 5)
    monkeypatch.setattr(levels, "BLOCK_SECONDS", 0.02)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


# Runs a module, and ends when its stdin does: also when these tests are killed.
WITH_ITS_PARENT = """
import os, runpy, sys, threading
threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(1)), daemon=True).start()
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


@contextlib.contextmanager
def program(*arguments):
    """A scheduler or a worker in a process of its own, which does not outlive the block."""
    process = subprocess.Popen(
        [sys.executable, "-c", WITH_ITS_PARENT, *arguments],
        cwd=ROOT,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
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


def scheduler(port):
    return program("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")


def test_the_command_line_with_local_processes(tmp_path):
    from optbn.data.write import write

    write(data(), tmp_path / "d.csv", "csv")
    for arguments in (["-o", "a.parquet"], ["-o", "b.parquet", "--scheduler", "local", "--jobs", "1"]):
        command = [sys.executable, "-m", "optbn", "score", "d.csv", "-D", "2", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_weights_of_rows_go_to_the_workers():
    """The same bits as here, and as of rows that are repeated."""
    weights = np.arange(300) % 3
    weighted = data().weighted(weights.astype(np.float64))
    here = optbn.score_table(weighted, "bdeu", 2)
    there = optbn.score_table(weighted, "bdeu", 2, scheduler="local", jobs=1)
    repeated = optbn.score_table(data().take(np.repeat(np.arange(300), weights)), "bdeu", 2)
    for table in (there, repeated):
        assert (table.masks == here.masks).all() and (table.units == here.units).all()


@pytest.mark.parametrize("moment", ["beginning", "at work"])
def test_a_request_to_end_local_processes_is_answered_in_one_line(tmp_path, moment):
    from optbn.data.write import write

    write(optbn.load_network("alarm").sample(1000, seed=1), tmp_path / "d.csv", "csv")
    command = [sys.executable, "-m", "optbn", "score", "d.csv", "--score", "pcart", "-D", "3", "-o", "s.jkl"]
    run = subprocess.Popen(
        [*command, "--store", "store", "--scheduler", "local", "--jobs", "2"],
        cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    begun = (lambda: len(descendants(run.pid)) > 2) if moment == "beginning" else lambda: len(files(tmp_path / "store"))
    until = time.monotonic() + 120
    while not ((tmp_path / "store" / "blocks").exists() and begun()) and time.monotonic() < until:
        time.sleep(0.02)
    run.terminate()
    said = run.communicate(timeout=120)[1]
    assert run.returncode in (0, 130) and said.count("\n") <= 1 and "Traceback" not in said, said


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
        stack.enter_context(scheduler(port))
        first = stack.enter_context(worker(address))
        stack.enter_context(worker(address))
        killed = []

        def kill():
            for _ in range(30_000):
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


SPEC = """task = "curve"
time_limit = 300
[fixed]
max_parents = 2
[[grid]]
network = ["asia"]
rows = [50, 100]
method = ["bdeu", "bic"]
repeat = { from = 0, to = 2 }
"""


def rows(folder):
    """The rows of an experiment without the seconds they took."""
    found = {}
    for line in (folder / "rows.jsonl").read_text().splitlines():
        row = json.loads(line)
        assert row["status"] == "done", row
        found[json.dumps(row["cell"])] = {name: value for name, value in row["result"].items() if name not in MEASURED}
    return found


def bench(folder, *arguments):
    """`optbn bench` in a process of its own."""
    folder.mkdir(exist_ok=True)
    (folder / "spec.toml").write_text(SPEC)
    command = [sys.executable, "-m", "optbn", "bench", str(folder / "spec.toml"), *arguments]
    return subprocess.Popen(
        command, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def wait_for_rows(folder, count, process):
    until = time.monotonic() + 120
    while len(list(folder.glob("runs/*.json"))) < count and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)


def test_experiments_on_a_cluster_whose_workers_die(tmp_path):
    """One run here; one elsewhere, of whose workers one dies at -9; one that is killed elsewhere and ends here."""
    here, there, both = (tmp_path / name for name in ("here", "there", "both"))
    plain = bench(here, "--jobs", "2")
    assert plain.wait() == 0, plain.stderr.read()
    expected = rows(here)
    assert len(expected) == 12
    port = str(free_port())
    address = f"tcp://127.0.0.1:{port}"
    with contextlib.ExitStack() as stack:
        stack.enter_context(scheduler(port))
        first = stack.enter_context(worker(address))
        stack.enter_context(worker(address))
        run = bench(there, "--scheduler", address)
        wait_for_rows(there, 3, run)
        os.kill(first.pid, signal.SIGKILL)
        assert run.poll() is None
        assert run.wait() == 0, run.stderr.read()
        assert rows(there) == expected
        run = bench(both, "--scheduler", address)
        wait_for_rows(both, 2, run)
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
    assert 2 <= len(list(both.glob("runs/*.json"))) < 12
    run = bench(both)
    assert run.wait() == 0, run.stderr.read()
    assert rows(both) == expected
    report = (here / "README.md").read_text()
    assert [line for line in report.splitlines() if "| 100 |" in line and "s |" not in line]


def test_cells_on_a_cluster_that_fail_die_or_overrun_are_rows(tmp_path, monkeypatch):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "task.py").write_text(BAD)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    experiment = Experiment("bad.task", ({"x": (0, 1, 2, 3, 4)},), time_limit=5)
    tally = runner.run(experiment, tmp_path / "r", scheduler="local", jobs=2)
    assert (tally.done, tally.failed) == (5, 3)
    found = {row["cell"]["x"]: row for row in runner.rows(experiment, tmp_path / "r")}
    assert found[0]["result"] == {"x": 0} and found[4]["status"] == "done"
    assert found[1]["error"] == "the process died (-9)"
    assert found[2]["error"] == "ValueError: two"
    assert found[3]["status"] == "timeout"


BAD = """
import os, time

def cell(x):
    print("this is no answer")
    if x == 1:
        os.kill(os.getpid(), 9)
    if x == 2:
        raise ValueError("two")
    if x == 3:
        time.sleep(60)
    return {"x": x}

def report(rows, folder):
    return ""
"""


def test_local_workers_and_their_cells_end_with_whoever_started_them(tmp_path):
    run = bench(tmp_path / "r", "--scheduler", "local", "--jobs", "2")
    wait_for_rows(tmp_path / "r", 1, run)
    family = descendants(run.pid)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    assert len(family) >= 4, "two workers and a process each"
    until = time.monotonic() + 30
    while any(map(alive, family)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(alive, family))


def descendants(pid):
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in path.read_text().split():
            found += [int(child), *descendants(int(child))]
    return found


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_scheduler_that_dies_is_said(tmp_path, monkeypatch):
    port = str(free_port())
    with contextlib.ExitStack() as stack:
        boss = stack.enter_context(scheduler(port))
        stack.enter_context(worker(f"tcp://127.0.0.1:{port}"))
        run = bench(tmp_path / "r", "--scheduler", f"tcp://127.0.0.1:{port}")
        wait_for_rows(tmp_path / "r", 1, run)
        os.kill(boss.pid, signal.SIGKILL)
        assert run.wait() == 2
    said = run.stderr.read()
    assert "Traceback" not in said and "cluster" in said, said


def test_what_is_refused(monkeypatch):
    from optbn.base import cluster

    with pytest.raises(optbn.base.errors.UnsupportedError, match="expected local, or an address"):
        optbn.score_table(data(), "bdeu", 1, scheduler="somewhere")
    monkeypatch.setattr(cluster, "PATIENCE", 2.0)
    with pytest.raises(ClusterError, match="cannot be reached"):
        optbn.score_table(data(), "bdeu", 1, scheduler=f"tcp://127.0.0.1:{free_port()}")


def test_a_worker_of_another_version_is_refused():
    from optbn.scores.cluster import Job, compute
    from optbn.scores.parent_sets import ParentSets
    from optbn.scores.store import Block

    job = Job(data(), naive.Slow(0.0), ParentSets.of(data().names, 1), 8, 1 << 30, "0.0.0")
    with pytest.raises(ClusterError, match=r"expected 0\.0\.0"):
        compute(Block(0, 0, 0, 1), job, np.empty((0, 8)))
