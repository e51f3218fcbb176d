"""The store: killed, resumed, refused, locked, damaged, full."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import optbn
from optbn.base.errors import StoppedEarly
from optbn.scores import levels, load_score
from optbn.scores.store import Block, Store, StoreError, Survivors
from optbn_solvers.base.whole import UNDOMINATED
from tests.naive import phase1 as naive
from tests.processes import interruptible

ROOT = Path(__file__).parents[2]

RUN = """
import resource, signal, sys
import numpy as np
import optbn
from optbn.scores import levels
from tests.naive import phase1 as naive
levels.FIRST_BLOCK, levels.BLOCK_SECONDS = 5, 0.01
data = naive.random_categorical(np.random.default_rng(1), 8, 400)
if len(sys.argv) > 2:  # large blocks, of which only the first ones fit
    levels.FIRST_BLOCK, levels.BLOCK_SECONDS = 100, 10.0
    optbn.score_table(data, naive.Slow(0.0), 3)  # whatever else is written by a first run
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
optbn.score_table(data, naive.Slow(), 3, store=sys.argv[1], jobs=1 if len(sys.argv) > 2 else 2)
print("done")
"""


def data():
    return naive.random_categorical(np.random.default_rng(1), 8, 400)


def start(store, *arguments):
    """The run above in a process of its own."""
    return interruptible(
        [sys.executable, "-c", RUN, str(store), *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def blocks(store):
    return sorted((store / "blocks").glob("*.block")) if (store / "blocks").exists() else []


def wait_for(process, condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_run_goes_on_where_it_was(tmp_path, monkeypatch, number):
    expected = optbn.score_table(data(), naive.Slow(0.0), 3, jobs=1)
    total = sum(1 for _ in naive.families(8, 3))
    for target in (4, 12):  # killed twice
        with start(tmp_path / "store") as process:
            wait_for(process, lambda: len(blocks(tmp_path / "store")) >= target)  # noqa: B023
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
        assert process.returncode != 0
        if number == signal.SIGINT:
            assert "KeyboardInterrupt" in errors
    before = {path.name: path.read_bytes() for path in blocks(tmp_path / "store")}
    kept = [Block(*map(int, name.removesuffix(".block").split("-"))) for name in before]
    stored = sum((b.last - b.first) * (8 - b.size) for b in kept)  # families of those sets
    monkeypatch.setattr(naive._SlowBound, "asked", 0)
    reports = []
    table = optbn.score_table(data(), naive.Slow(0.0), 3, store=tmp_path / "store", jobs=1, progress=reports.append)
    assert table == expected
    assert naive._SlowBound.asked == total - stored  # nothing finished is computed again
    assert reports[-1].done == total
    assert {path.name: path.read_bytes() for path in blocks(tmp_path / "store")}.items() >= before.items()
    monkeypatch.setattr(naive._SlowBound, "asked", 0)
    assert optbn.score_table(data(), naive.Slow(0.0), 3, store=tmp_path / "store") == expected
    assert naive._SlowBound.asked == 0


def test_two_processes_on_one_store(tmp_path):
    with start(tmp_path) as process:
        wait_for(process, lambda: blocks(tmp_path))
        with pytest.raises(StoreError, match=f"in use by process {process.pid}"):
            optbn.score_table(data(), naive.Slow(), 3, store=tmp_path)
    optbn.score_table(data(), naive.Slow(0.0), 3, store=tmp_path)  # the lock died with its process


def test_a_full_disk(tmp_path):
    """Files may not grow beyond a limit that some blocks pass and others do not."""
    with start(tmp_path, 430) as process:
        _, errors = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "StoppedEarly" in errors and "run the same command again to go on" in errors
    left = [path.name for path in (tmp_path / "blocks").iterdir()]
    assert left and all(name.endswith(".block") for name in left)
    expected = optbn.score_table(data(), naive.Slow(0.0), 3)
    assert optbn.score_table(data(), naive.Slow(0.0), 3, store=tmp_path) == expected
    assert json.loads((tmp_path / "run.json").read_text())["sets"] == UNDOMINATED


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": naive.random_categorical(np.random.default_rng(2), 8, 400)}, "differs in the data"),
        ({"score": "bic"}, r"differs in the score \(there BDeu\(ess=1.0\), here BIC\(\)\)"),
        ({"ess": 2.0}, r"here BDeu\(ess=2.0\)"),
        ({"max_parents": 1}, "differs in max_parents"),
        ({"forbidden": [("v0", "v1")]}, "the arcs allowed and required"),
    ],
)
def test_a_store_of_another_run_is_refused_by_name(tmp_path, change, message):
    run = {"data": data(), "score": "bdeu", "max_parents": 2, "store": tmp_path}
    table = optbn.score_table(**run)
    with pytest.raises(StoreError, match=message):
        optbn.score_table(**{**run, **change})
    assert optbn.score_table(**run) == table


def test_folders_that_are_no_stores(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="is a file"):
        optbn.score_table(data(), "bdeu", 1, store=tmp_path / "file")
    with pytest.raises(StoreError, match="holds other files"):
        optbn.score_table(data(), "bdeu", 1, store=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_a_damaged_block_is_computed_again(tmp_path, caplog):
    expected = optbn.score_table(data(), "bdeu", 2, store=tmp_path)
    first, second, *_ = blocks(tmp_path)
    first.write_bytes(first.read_bytes()[:100])
    second.write_bytes(b"")
    (tmp_path / "blocks" / ".left.1.part").write_bytes(b"half")
    assert optbn.score_table(data(), "bdeu", 2, store=tmp_path) == expected
    assert caplog.text.count("is damaged and will be computed again") == 2
    assert not (tmp_path / "blocks" / ".left.1.part").exists()
    assert optbn.score_table(data(), "bdeu", 2, store=tmp_path) == expected


def test_a_block_under_another_name_is_not_read(tmp_path):
    expected = optbn.score_table(data(), "bdeu", 2, store=tmp_path, jobs=1)
    found = blocks(tmp_path)[0]
    for name in ("0-0-0-1.block", "0000-00-000000000000-\u0663.block"):
        found.with_name(name).write_bytes(found.read_bytes())
    assert optbn.score_table(data(), "bdeu", 2, store=tmp_path, jobs=1) == expected


def test_groups_of_responses_resume_too(tmp_path, monkeypatch):
    monkeypatch.setattr(levels, "FIRST_BLOCK", 4)
    expected = optbn.score_table(data(), "bdeu", 3)
    small = 16 * (28 + 8) * 3
    assert optbn.score_table(data(), "bdeu", 3, store=tmp_path, memory=small) == expected
    for path in blocks(tmp_path)[::3]:
        path.unlink()
    assert optbn.score_table(data(), "bdeu", 3, store=tmp_path, memory=small) == expected


def test_a_failed_write_keeps_what_was_there(tmp_path, monkeypatch):
    block = Block(0, 1, 0, 2)
    empty = Survivors(np.array([0]), np.array([1]), np.array([-1.5]))
    with Store.open(tmp_path, {"the score": repr(load_score("bdeu"))}) as store:
        store.write(block, empty)

        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(StoppedEarly, match=r"No space left on device.*\(1 of this run\) are kept"):
            store.write(Block(0, 1, 2, 4), empty)
        assert store.finished(0, 1) == [block]
        assert store.read(block).scores.tolist() == [-1.5]
    assert json.loads((tmp_path / "run.json").read_text())["the score"] == "BDeu(ess=1.0)"
