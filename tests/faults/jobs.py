"""The commands that are killed: how to run them, what their files must look like at any time, what must come out."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

PATIENCE = 900.0  # seconds; whoever takes longer hangs
MOMENTS = (0.0, 1.15)  # of the time that the undisturbed run took
STARTED = 1.0  # seconds: before that Python itself may hear a request to end, and says so in its own way
SIGNALS = [signal.SIGKILL] * 8 + [signal.SIGTERM, signal.SIGINT]
SPEC = """task = "curve"
[fixed]
max_parents = 2
[[grid]]
network = ["asia"]
rows = [50, 100]
method = ["bdeu", "bic"]
repeat = { from = 0, to = 1 }
"""
MEASURED = ("score_cpu", "solve_cpu", "cpu")  # the only fields of a row that differ from run to run


@dataclass(frozen=True)
class Job:
    """A command; `result` is what must come out of its folder; `whole` raises if a file there is not complete."""

    name: str
    arguments: tuple[str, ...]
    prepare: Callable[[Path], None]
    result: Callable[[Path], Any]
    whole: Callable[[Path], None]

    def start(self, folder: Path) -> subprocess.Popen[bytes]:
        """The program, in `folder`, hearing Ctrl-C."""
        return subprocess.Popen(
            [sys.executable, "-m", "optbn", *self.arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=open(folder / "stderr", "wb"),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def run(self, folder: Path) -> tuple[Any, float]:
        """(result, seconds) of a run that nobody disturbs."""
        begun = time.monotonic()
        code = self.start(folder).wait(timeout=PATIENCE)
        assert code == 0, f"{self.name} ended with {code}: {(folder / 'stderr').read_text()}"
        return self.result(folder), time.monotonic() - begun

    def disturb(self, folder: Path, seconds: float, rng: np.random.Generator) -> bool:
        """Run it and send it a signal at a random moment; whether it got through before that."""
        process = self.start(folder)
        try:
            moment = rng.uniform(*MOMENTS) * seconds
            code = process.wait(timeout=moment)
        except subprocess.TimeoutExpired:
            number = SIGNALS[int(rng.integers(len(SIGNALS)))] if moment > STARTED else signal.SIGKILL
            process.send_signal(number)
            code = process.wait(timeout=PATIENCE)
            if number != signal.SIGKILL:
                said = (folder / "stderr").read_text()
                assert code in (0, 3, 130, -number, -signal.SIGINT), (
                    f"{self.name} heard {number!s} and ended with {code}: {said}"
                )
                # Python drops an interrupt that falls into one of its own callbacks, and says that it ignored it
                assert "Traceback" not in said or code < 0 or "Exception ignored in" in said, (
                    f"{self.name} heard {number!s}: {said}"
                )
        else:
            assert code == 0, f"{self.name} ended with {code}: {(folder / 'stderr').read_text()}"
            return True
        self.whole(folder)
        return False


def _data(folder: Path) -> None:
    import optbn
    from optbn.data.write import write

    write(optbn.load_network("child").sample(400, seed=1), folder / "d.csv", "csv")


def _scored(folder: Path) -> None:
    import optbn
    from optbn_solvers.base.files import write_table

    data = optbn.load_network("alarm").sample(500, seed=2)
    write_table(optbn.score_table(data, "bdeu", 3, ess=5), folder / "s.parquet")


def _spec(folder: Path) -> None:
    (folder / "spec.toml").write_text(SPEC)


def _bytes(name: str) -> Callable[[Path], bytes]:
    return lambda folder: (folder / name).read_bytes()


def _solution(name: str) -> Callable[[Path], Any]:
    def read(folder: Path) -> Any:
        from optbn_solvers.base.files import read_table
        from optbn_solvers.base.solution_json import from_json
        from optbn_solvers.verify import verify

        table = read_table(folder / "s.parquet")
        solution = from_json(table, (folder / name).read_bytes())
        verify(table, solution)
        return solution.score, solution.bound

    return read


def _whole_solutions(folder: Path) -> None:
    for name in ("c.json", "a.json"):
        if (folder / name).exists():
            score, bound = _solution(name)(folder)
            assert score <= bound


def _whole_table(folder: Path) -> None:
    from optbn_solvers.base.files import read_table

    if (folder / "s.jkl").exists():
        read_table(folder / "s.jkl")


def _network(folder: Path) -> Any:
    from optbn.network.formats import read_network

    return read_network(folder / "n.json")


def _whole_learned(folder: Path) -> None:
    if (folder / "n.json").exists():
        _network(folder)
    if (folder / "p.html").exists():
        assert (folder / "p.html").read_text().rstrip().endswith("</html>")


def _rows(folder: Path) -> dict[str, Any]:
    rows = {}
    for line in (folder / "rows.jsonl").read_text().splitlines():
        row = json.loads(line)
        row["result"] = {key: value for key, value in row["result"].items() if key not in MEASURED}
        rows[json.dumps(row["cell"])] = row
    return rows


def _whole_rows(folder: Path) -> None:
    texts = [path.read_text() for path in (folder / "runs").glob("*.json")]
    for path in folder.glob("rows.jsonl"):
        texts += path.read_text().splitlines()
    for text in texts:
        json.loads(text)


JOBS = {
    job.name: job
    for job in (
        Job(
            "score",
            ("score", "d.csv", "--score", "pcart", "-D", "3", "--store", "store", "-o", "s.jkl", "--jobs", "1"),
            _data,
            _bytes("s.jkl"),
            _whole_table,
        ),
        Job(
            "solve",
            ("solve", "s.parquet", "--checkpoint", "c.json", "-o", "a.json"),
            _scored,
            _solution("a.json"),
            _whole_solutions,
        ),
        Job(
            "learn",
            ("learn", "d.csv", "-D", "2", "-o", "n.json", "--report", "p.html", "--seed", "1"),
            _data,
            _network,
            _whole_learned,
        ),
        Job("bench", ("bench", "spec.toml", "-o", "."), _spec, _rows, _whole_rows),
    )
}
