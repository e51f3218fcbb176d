"""Limits of the machine: a full disk, a read-only folder, little memory, requests to end, a clock that jumps."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import optbn
from optbn.data.write import write
from tests.faults.jobs import JOBS

ROOT = Path(__file__).parents[2]
LINE = "import sys, resource\n{limit}\nfrom optbn.cli import main\nmain(sys.argv[1:])"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A data set, its scores and a network, to begin each phase from."""
    path = tmp_path_factory.mktemp("limits")
    write(optbn.load_network("child").sample(300, seed=1), path / "d.csv", "csv")
    for arguments in (
        ["score", "d.csv", "-D", "2", "-o", "s.parquet"],
        ["solve", "s.parquet", "-o", "a.json"],
    ):
        assert run(path, arguments)[0] == 0
    return path


def run(path, arguments, limit="pass"):
    """(exit code, stderr) of a command under a limit that is set before it begins."""
    done = subprocess.run(
        [sys.executable, "-c", LINE.format(limit=limit), *arguments],
        cwd=path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stderr


PHASES = {
    "describe": ["describe", "d.csv", "--save-schema", "OUT.json"],
    "score": ["score", "d.csv", "-D", "2", "-o", "OUT.jkl"],
    "solve": ["solve", "s.parquet", "-o", "OUT.json"],
    "fit": ["fit", "d.csv", "-S", "a.json", "-o", "OUT.bif"],
    "learn": ["learn", "d.csv", "-D", "1", "-o", "OUT.json", "--report", "OUT.html"],
    "sample": ["sample", "child", "-n", "200", "-o", "OUT.csv"],
    "convert": ["convert", "child", "OUT.xmlbif"],
}


def outputs(path):
    return sorted(each.name for each in path.iterdir() if "OUT" in each.name)


@pytest.mark.parametrize("phase", PHASES)
def test_a_full_disk_is_said_and_leaves_nothing_behind(folder, phase):
    """No file may grow beyond 100 bytes, and none of what could not be written stays."""
    limit = "import signal; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); sys.dont_write_bytecode = True"
    code, errors = run(folder, PHASES[phase], limit)
    assert code in (2, 3), errors
    assert "Traceback" not in errors and errors.count("\n") <= 2, errors
    assert outputs(folder) == []


def in_a_tiny_folder(command):
    """A command in a folder of its own on a disk of one page that is used; (exit code, what is there then, stderr)."""
    script = 'mount -t tmpfs -o size=4k tmpfs "$1" || exit 99; cd "$1"; shift; '
    script += 'head -c 4000 /dev/zero > full; "$@"; code=$?; ls -A; exit $code'
    place = tempfile.mkdtemp()
    try:
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", script, "sh", place, *command],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("needs unshare")
    finally:
        os.rmdir(place)
    if done.returncode in (1, 99) and "optbn" not in done.stderr:
        pytest.skip("needs the right to mount a disk")
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("phase", PHASES)
def test_a_real_full_disk(folder, phase):
    arguments = [each.replace("d.csv", f"{folder}/d.csv") for each in PHASES[phase]]
    arguments = [
        each.replace("s.parquet", f"{folder}/s.parquet").replace("a.json", f"{folder}/a.json") for each in arguments
    ]
    if phase == "score":
        arguments += ["--store", "store"]
    if phase == "solve":
        arguments += ["--checkpoint", "c.json"]
    code, output, errors = in_a_tiny_folder([sys.executable, "-m", "optbn", *arguments])
    assert code in (2, 3), errors
    assert "Traceback" not in errors and "No space left on device" in errors and errors.count("\n") <= 2, errors
    assert "OUT" not in output


@pytest.mark.skipif(not Path("/sys").is_dir() or os.access("/sys/x", os.W_OK), reason="needs a folder nobody may write")
@pytest.mark.parametrize("phase", ["score", "solve", "fit", "sample"])
def test_a_read_only_folder_is_named(folder, phase):
    arguments = [each.replace("OUT", "/sys/OUT") for each in PHASES[phase]]
    code, errors = run(folder, arguments)
    assert code == 2 and "Traceback" not in errors and "/sys" in errors, errors


LOADED = (
    "import optbn, optbn_solvers.base.table, pyarrow.csv, pyarrow.parquet, scipy.optimize, scipy.special, "
    "sklearn.base, highspy"
)


LITTLE = {
    **PHASES,
    "describe much": ["describe", "much.csv"],
    "convert much": ["convert", "munin", "OUT.json"],
    "classify": ["classify", "d.csv", "--target", "Disease", "--model", "skdb", "-o", "OUT.json"],
    "query": ["query", "barley", "P(*)"],
}


@pytest.fixture(scope="module")
def much(folder):
    write(optbn.load_network("alarm").sample(200_000, seed=1), folder / "much.csv", "csv")
    return folder


@pytest.mark.parametrize(("phase", "megabytes"), [*((name, 30) for name in LITTLE), *((name, 100) for name in PHASES)])
def test_little_memory_ends_in_one_line(much, phase, megabytes):
    """Address space for so much more than what is loaded: enough, or an error that says what is missing; never a wait
    for a thread that could not be started."""
    limit = (
        f"{LOADED}; size = int(open('/proc/self/statm').read().split()[0]) * 4096; "
        f"resource.setrlimit(resource.RLIMIT_AS, (size + {megabytes} * 2**20, -1))"
    )
    code, errors = run(much, LITTLE[phase], limit)
    for name in outputs(much):
        (much / name).unlink()
    assert code in (0, 2, 3) or code < 0, errors  # LLVM ends the process when it cannot have memory
    assert "Traceback" not in errors and "this is a bug" not in errors, errors


@pytest.mark.parametrize("megabytes", [60, 110, 324, 360, 423])
@pytest.mark.parametrize("phase", ["score", "sample"])
def test_memory_too_short_for_the_libraries_ends_in_one_line(folder, phase, megabytes):
    """Also where OpenBLAS would try for ever to get what it needs while it is loaded."""
    limit = f"resource.setrlimit(resource.RLIMIT_AS, ({megabytes} << 20, -1))"
    code, errors = run(folder, PHASES[phase], limit)
    for name in outputs(folder):
        (folder / name).unlink()
    assert code in (0, 2) or code < 0, errors
    assert "Traceback" not in errors and "this is a bug" not in errors and errors.count("\n") <= 1, errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_request_to_end_is_heard(tmp_path, number):
    job = JOBS["score"]
    job.prepare(tmp_path)
    process = job.start(tmp_path)
    for _ in range(3000):
        if list(tmp_path.glob("store/blocks/*.block")) or process.poll() is not None:
            break
        time.sleep(0.02)
    process.send_signal(number)
    code = process.wait(timeout=120)
    said = (tmp_path / "stderr").read_text()
    assert code == 0 or (code == 130 and "interrupted" in said), said
    assert "Traceback" not in said


def test_a_request_to_end_is_heard_in_the_background(tmp_path):
    """Where a shell has set Ctrl-C to be ignored, `kill` still ends the work in order."""
    job = JOBS["score"]
    job.prepare(tmp_path)
    code = (
        "import signal, os, threading, time, pathlib; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "def watch():\n"
        "    while not list(pathlib.Path('store').glob('blocks/*.block')): time.sleep(0.01)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "threading.Thread(target=watch, daemon=True).start()\n"
    )
    left, errors = run(tmp_path, list(job.arguments), code)
    assert (left == 0 or (left == 130 and "interrupted" in errors)) and "Traceback" not in errors, errors


def test_the_answer_is_kept_when_the_terminal_is_closed(tmp_path):
    """Nobody reads what is written to the terminal from then on, and writing there is an error."""
    JOBS["solve"].prepare(tmp_path)
    process, terminal = pty.fork()
    if not process:
        os.chdir(tmp_path)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where the tests were started by nohup
        arguments = ["solve", "s.parquet", "--solver", "astar", "--checkpoint", "c.json", "-o", "a.json"]
        os.execve(sys.executable, [sys.executable, "-m", "optbn", *arguments], {**os.environ, "PYTHONPATH": str(ROOT)})
    until = time.monotonic() + 120
    while not (tmp_path / "c.json").exists() and time.monotonic() < until:
        if select.select([terminal], [], [], 0.02)[0]:
            os.read(terminal, 1 << 16)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 3
    assert (tmp_path / "a.json").exists()


def test_two_processes_on_one_folder_of_an_experiment(tmp_path):
    job = JOBS["bench"]
    job.prepare(tmp_path)
    first = job.start(tmp_path)
    for _ in range(3000):
        if (tmp_path / "runs").exists() and list((tmp_path / "runs").iterdir()):
            break
        time.sleep(0.02)
    code, errors = run(tmp_path, list(job.arguments))
    assert first.wait(timeout=200) == 0
    assert code == 0 or (code == 2 and "another run" in errors)


def test_a_clock_that_jumps_does_no_harm(monkeypatch):
    """Budgets go by the monotonic clock; the wall clock of the machine may jump by years in either direction."""
    jumps = iter([0.0, 1e9, -1e9, 3e9] * 100_000)
    monkeypatch.setattr(time, "time", lambda: next(jumps))
    data = optbn.load_network("asia").sample(200, seed=1)
    found = optbn.solve(optbn.score_table(data, "bdeu", 2), time_limit=60)
    assert found.status == "optimal"


def test_budgets_do_not_go_by_the_wall_clock():
    """Nothing in the solvers or the learning asks what time it is."""
    asking = [
        str(path)
        for folder in ("solvers", "optbn")
        for path in (ROOT / folder).rglob("*.py")
        if "time.time()" in path.read_text() or "datetime.now" in path.read_text()
    ]
    assert asking == []


def test_a_file_of_many_row_groups_takes_the_memory_of_a_few(tmp_path):
    """Arrow's reader keeps something of every row group; a stream of batches must not."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from optbn.data.dataset import Dataset

    rng = np.random.default_rng(1)
    rows, groups = 20_000, 60
    names = [f"x{i}" for i in range(20)]
    table = pa.table({name: rng.integers(0, 4, rows, dtype=np.int8) for name in names})
    with pq.ParquetWriter(tmp_path / "d.parquet", table.schema) as writer:
        for _ in range(groups):
            writer.write_table(table)
    held = []
    seen = 0
    for batch in Dataset.batches(tmp_path / "d.parquet", schema={name: list("0123") for name in names}):
        seen += len(batch)
        held.append(pa.total_allocated_bytes())
    assert seen == rows * groups
    assert max(held[-4:]) < 1.2 * max(held[:4]), held
