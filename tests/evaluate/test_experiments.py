"""The runner: the same tables whether or not it was killed, and failures that are rows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from optbn.base.errors import DataError, UnknownNameError
from optbn.experiments import code, runner
from optbn.experiments.spec import Experiment, cell_name, read

TASK = '''
"""A task for tests."""
import time

def cell(x, y, pause=0.0, offset=0):
    time.sleep(pause)
    if x == 13:
        raise ValueError("thirteen")
    if x == 14:
        time.sleep(60)
    return {"value": offset + 10 * x + y}

def report(rows, folder):
    done = [row for row in rows if row["status"] == "done"]
    return "\\n".join(f"| {row['cell']['x']} | {row['result']['value']} |" for row in done)
'''


@pytest.fixture
def task(tmp_path, monkeypatch) -> str:
    package = tmp_path / "mine"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "task.py").write_text(TASK)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for name in ("mine", "mine.task"):  # of another test
        sys.modules.pop(name, None)
    return "mine.task"


def write_spec(folder: Path, task: str, **grid: object) -> Path:
    lines = [f'task = "{task}"', "time_limit = 20", "[fixed]", "offset = 100", "[[grid]]"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in grid.items()]
    path = folder / "spec.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_cells_run_once_and_the_report_is_made_of_them(task, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    experiment = read(write_spec(folder, task, x=[1, 2], y=[3]))
    assert runner.run(experiment, folder) == runner.Tally(2, 0, 2, 0)
    assert runner.run(experiment, folder) == runner.Tally(2, 2, 0, 0)
    assert [row["result"]["value"] for row in runner.rows(experiment, folder)] == [113, 123]
    assert "| 2 | 123 |" in runner.report(experiment, folder).read_text()


def test_rows_of_other_fixed_parameters_are_refused_by_name(task, tmp_path):
    spec = write_spec(tmp_path, task, x=[1], y=[3])
    runner.run(read(spec), tmp_path)
    spec.write_text(spec.read_text().replace("offset = 100", "offset = 7"))
    for verb in (runner.run, runner.rows, runner.report):
        with pytest.raises(DataError, match=r"was done with offset 100, and the experiment has offset 7; run it in an"):
            verb(read(spec), tmp_path)
    path = tmp_path / "rows.jsonl"
    before = {key: value for key, value in json.loads(path.read_text()).items() if key != "fixed"}
    path.write_text(json.dumps(before))  # as it was written before rows said so
    assert runner.rows(read(spec), tmp_path)[0]["result"] == {"value": 113}


def test_rows_know_their_code_and_are_redone_on_request(task, tmp_path):
    experiment = Experiment(task, ({"x": (1, 2), "y": (0,)},))
    runner.run(experiment, tmp_path)
    row = runner.rows(experiment, tmp_path)[0]
    assert len(row["code"]) == 12 and "numpy" in row["versions"]
    file = tmp_path / "mine" / "task.py"
    words = TASK.replace("A task for tests.", "Other words.").replace('"done"]', '"done" ]  # a comment')
    for text, older in ((words, 0), (TASK + "\nEXTRA = 1\n", 0), (TASK.replace("10 * x", "20 * x"), 2)):
        file.write_text(text)
        clear_caches()
        assert runner.run(experiment, tmp_path) == runner.Tally(2, 2, 0, 0, older)
    assert runner.rows(experiment, tmp_path)[0] == row
    assert runner.run(experiment, tmp_path, refresh=True) == runner.Tally(2, 0, 2, 0)
    new = runner.rows(experiment, tmp_path)
    assert new[0]["result"] == {"value": 20} and new[0]["code"] != row["code"]
    assert runner.run(experiment, tmp_path, refresh=True) == runner.Tally(2, 2, 0, 0)
    assert f"2 of code {new[0]['code']}" in runner.report(experiment, tmp_path).read_text()


def test_a_failing_refresh_keeps_the_finished_row(task, tmp_path, caplog):
    experiment = Experiment(task, ({"x": (1, 2), "y": (0,)},))
    runner.run(experiment, tmp_path)
    before = runner.rows(experiment, tmp_path)
    (tmp_path / "mine" / "task.py").write_text(TASK.replace("10 * x", "10 * x / (x - 1)"))  # x = 1 fails now
    clear_caches()
    assert runner.run(experiment, tmp_path, refresh=True) == runner.Tally(2, 0, 2, 1, 1)
    after = runner.rows(experiment, tmp_path)
    assert after[0] == before[0] and after[1]["code"] != before[1]["code"]
    assert "ZeroDivisionError" in caplog.text and "its finished row stays" in caplog.text


def clear_caches() -> None:
    """As in a new process."""
    for function in (code.code_digest, code._syntax, code._file, code._homes, code._exports):
        function.cache_clear()


def test_code_is_followed_through_imports_and_registries(tmp_path, monkeypatch):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "helper.py").write_text("from . import deeper\n")
    (tmp_path / "own" / "deeper.py").write_text("import json\n")
    (tmp_path / "study.py").write_text(
        "from own import helper\nfrom optbn.scores import SCORES\nimport optbn.report.tables as tables\n"
        "def cell(): return helper, SCORES\ndef report(rows, folder): return tables\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    clear_caches()
    found = code._reached(str(tmp_path / "study.py"))
    assert {"own.helper", "own.deeper", "optbn.scores", "optbn.scores.bic", "optbn.scores.pcart"} <= found.keys()
    assert not found.keys() & {"json", "numpy", "optbn.cli", "optbn.report.tables", "optbn.classifiers"}


@pytest.mark.parametrize(
    "text", ["import optbn\ndef cell(): return optbn.fit", "import optbn as ob\ndef cell(): return ob.fit",
             "from optbn import fit\ndef cell(): return fit", "def cell():\n    from optbn import fit\n    return fit"],
)  # fmt: skip
def test_code_is_followed_through_the_front_door(tmp_path, text):
    (tmp_path / "study.py").write_text(text)
    found = code._reached(str(tmp_path / "study.py"))
    assert {"optbn.smoothing.fitting", "optbn.smoothing.hdp"} <= found.keys() and "optbn.learning.learn" not in found


def test_failures_and_timeouts_are_rows_and_can_be_retried(task, tmp_path):
    experiment = Experiment(task, ({"x": (13, 14, 1), "y": (0,)},), time_limit=4.0)
    tally = runner.run(experiment, tmp_path / "r", jobs=2)
    assert (tally.done, tally.failed) == (3, 2)
    by_x = {row["cell"]["x"]: row for row in runner.rows(experiment, tmp_path / "r")}
    assert by_x[13]["error"] == "ValueError: thirteen"
    assert by_x[14]["status"] == "timeout"
    assert by_x[1]["status"] == "done"
    without_slow = Experiment(task, ({"x": (13, 1), "y": (0,)},), time_limit=4.0)
    assert runner.run(without_slow, tmp_path / "r", retry=True) == runner.Tally(2, 1, 1, 1)


def test_killed_and_resumed_gives_identical_tables(task, tmp_path):
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    for folder in (straight, killed):
        folder.mkdir()
        spec = write_spec(folder, task, x=[1, 2, 3, 4], y=[0, 1], pause=[0.1])
    experiment = read(spec)
    runner.run(experiment, straight)
    command = [sys.executable, "-m", "optbn", "bench", str(killed / "spec.toml")]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    until = time.monotonic() + 30
    while len(list((killed / "runs").glob("*.json"))) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert 2 <= len(list((killed / "runs").glob("*.json"))) < 8
    runner.run(experiment, killed)
    assert not (killed / "runs").exists()
    assert (killed / "rows.jsonl").read_bytes() == (straight / "rows.jsonl").read_bytes()
    assert runner.rows(experiment, killed) == runner.rows(experiment, straight)
    assert runner.report(experiment, killed).read_text() == runner.report(experiment, straight).read_text()


def test_a_killed_run_leaves_no_worker_behind(task, tmp_path):
    spec = write_spec(tmp_path, task, x=[14], y=[0])  # a cell of a minute
    command = [sys.executable, "-m", "optbn", "bench", str(spec)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    if not children.exists():
        process.kill()
        process.wait()
        pytest.skip("needs Linux's /proc")
    until, workers = time.monotonic() + 30, []
    while not workers and time.monotonic() < until:
        time.sleep(0.05)
        workers = children.read_text().split()
    time.sleep(0.5)
    process.kill()
    process.wait()
    assert len(workers) == 1
    while any(_alive(int(pid)) for pid in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(_alive(int(pid)) for pid in workers)


DYING = """
import os, threading, time

def cell(x):
    if x == 1:
        os.kill(os.getpid(), 9)
    if x == 2:
        threading.Thread(target=lambda: (time.sleep(0.3), os._exit(3))).start()
    return {"value": x}
"""


def test_a_worker_that_dies_is_a_row_or_is_replaced(tmp_path, monkeypatch):
    """In a cell, between two cells, and before the first."""
    (tmp_path / "dying").mkdir()
    (tmp_path / "dying" / "task.py").write_text(DYING)
    (tmp_path / "dying" / "unborn.py").write_text("import os\nos._exit(7)\n")
    monkeypatch.chdir(tmp_path)
    rows = []
    for cell, row in runner._here(Experiment("dying.task"), [{"x": x} for x in range(4)], jobs=1):
        rows.append(row)
        if cell["x"] == 2:
            time.sleep(1)
    assert [row["status"] for row in rows] == ["done", "failed", "done", "done"]
    assert rows[1]["error"] == "the process died (-9)"
    unborn = list(runner._here(Experiment("dying.unborn"), [{"x": x} for x in range(3)], jobs=2))
    assert {row["error"] for _, row in unborn} == {"the process died (7)"} and len(unborn) == 3


def _alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_cell_names_are_safe_and_different():
    a, b = cell_name({"x": "../../etc", "y": 1}), cell_name({"x": "../../etc", "y": "1"})
    assert a != b
    assert "/" not in a and not a.startswith(".")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task = 3 =", "spec.toml"),
        ('task = "recovery"', "at least one"),
        ('task = "a.b"\nof = "one"', "expected a list of the spec files"),
        ('task = "a.b"\nof = ["../x/spec.toml", "spec.toml"]', "own rows"),
        ('task = "a.b"\nspeed = 1\n[[grid]]\nx = 1', "unknown key 'speed'"),
        ('task = "a.b"\n[[grid]]\nx = {low = 1}', "expected a list"),
        (f'task = "a.b"\ntime_limit = 1{"0" * 400}\n[[grid]]\nx = 1', "too many digits"),
    ],
)
def test_a_bad_spec_is_named(tmp_path, text, message):
    path = tmp_path / "spec.toml"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read(path)


def test_an_unknown_task_lists_what_exists(tmp_path):
    with pytest.raises(UnknownNameError, match="no task"):
        runner.run(Experiment("nothing", ({"x": (1,)},)), tmp_path)


def test_a_damaged_row_counts_as_not_done(task, tmp_path, caplog):
    experiment = Experiment(task, ({"x": (1, 2, 3), "y": (0,)},))
    runner.run(experiment, tmp_path)
    whole = runner.rows(experiment, tmp_path)
    (tmp_path / "runs").mkdir()
    for cell, row in zip(experiment.cells(), whole, strict=True):  # as if the run had not ended
        (tmp_path / "runs" / f"{cell_name(cell)}.json").write_text(json.dumps(row))
    (tmp_path / "rows.jsonl").write_bytes(b"\xff{\n[]\n")
    first, second, third = sorted((tmp_path / "runs").glob("*.json"))
    first.write_bytes(b"\xff{")
    second.write_bytes(third.read_bytes())
    assert len(runner.rows(experiment, tmp_path)) == 1 and "damaged" in caplog.text
    assert runner.run(experiment, tmp_path) == runner.Tally(3, 1, 2, 0)
    assert runner.rows(experiment, tmp_path) == whole
    nonsense = {"cell": {"x": 3, "y": 0}, "status": "done", "result": "nonsense"}
    (tmp_path / "rows.jsonl").write_text(json.dumps(nonsense))
    with pytest.raises(DataError, match="cannot report on these rows: TypeError"):
        runner.report(experiment, tmp_path)
