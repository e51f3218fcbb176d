"""Whether limits hold where they are hard: `optbn learn` on a dozen tables with two limits of time and one of memory,
`optbn solve` on three score tables with limits of wall time, CPU time and memory.

Wall seconds of the whole process, its start included, may be 1.1 times the limit and a second; so may CPU seconds where
they are limited; memory may be the limit and 200 MB. What the main thread waited for a core because others had them all
is taken off the wall time: on an idle machine that is nothing. Kernels are compiled before. The notes have what was on
the wall, CPU seconds, memory, load, and how the answer stands, for what is left of a limit is lost.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import optbn
from optbn.data.arrays import code_dtype
from optbn.data.dataset import Categorical, Dataset, Real
from tests.benchmarks import Figure

SECONDS = (5, 20)
MEGABYTES = 600


def measure(*names: str) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        optbn.write(optbn.load_network("asia").sample(500, 1), folder / "asia.csv")
        optbn.write(_mixed(500, 6), folder / "mixed.parquet")
        for small in ("asia.csv", "mixed.parquet"):
            _run(["learn", str(folder / small), "--json"])  # compiles
        for case, (_, options) in CASES.items():
            if names and case not in names:
                continue
            path = folder / f"{case}.parquet"
            _elsewhere(_make, case, path)
            command = ["learn", str(path), *options, "--json"]
            for seconds in SECONDS:
                wall, _, _, note = _run([*command, "--time-limit", str(seconds)])
                yield Figure(f"learn, {case}, --time-limit {seconds}", wall, 1.1 * seconds + 1, note=note)
            limits = ["--time-limit", str(SECONDS[0]), "--memory", f"{MEGABYTES}M"]
            _, _, memory, note = _run([*command, *limits])
            yield Figure(f"learn, {case}, --memory {MEGABYTES}M", memory, MEGABYTES + 200, unit="MB", note=note)
            path.unlink()
        for case in TABLES:
            if not names or case in names:
                yield from _solved(case, folder)


def _solved(case: str, folder: Path) -> Iterator[Figure]:
    """The three limits of `solve`."""
    path, seconds = folder / "scores.parquet", SECONDS[0]
    _elsewhere(_score, case, path)
    command = ["solve", str(path), "-o", str(folder / "answer.json")]
    wall, _, _, note = _run([*command, "--time-limit", str(seconds)])
    yield Figure(f"solve, {case}, --time-limit {seconds}", wall, 1.1 * seconds + 1, note=note)
    _, cpu, _, note = _run([*command, "--cpu-limit", str(seconds)])
    yield Figure(f"solve, {case}, --cpu-limit {seconds}", cpu, 1.1 * seconds + 1, note=note)
    _, _, memory, note = _run([*command, "--time-limit", str(seconds), "--memory", f"{MEGABYTES}M"])
    yield Figure(f"solve, {case}, --memory {MEGABYTES}M", memory, MEGABYTES + 200, unit="MB", note=note)
    path.unlink()


def _elsewhere(work: Callable[[str, Path], None], case: str, path: Path) -> None:
    """Do it in a process of its own: what this one holds would count as memory of those it starts."""
    process = multiprocessing.get_context("spawn").Process(target=work, args=(case, path))
    process.start()
    process.join()
    assert process.exitcode == 0


def _make(case: str, path: Path) -> None:
    optbn.write(CASES[case][0](), path)


def _score(case: str, path: Path) -> None:
    make, settings = TABLES[case]
    optbn.write(make(), path.with_suffix(".data.parquet"))
    subprocess.run(
        [sys.executable, "-m", "optbn", "score", path.with_suffix(".data.parquet"), *settings, "-o", path], check=True
    )


def _run(arguments: list[str]) -> tuple[float, float, float, str]:
    """Wall seconds, CPU seconds, MB at most, and what else there is to say."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "optbn", *arguments], stdout=out, stderr=err)
        waited = 0.0
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            waited = _waited(process.pid, waited)
            time.sleep(0.02)
        _, status, usage = ended
        wall = time.perf_counter() - start
        out.seek(0)
        err.seek(0)
        answer = _answer(arguments, out.read().decode(), err.read().decode(), os.waitstatus_to_exitcode(status))
    cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    times = f"{wall:.1f} s on the wall, of which {waited:.1f} waiting for a core, {cpu:.1f} CPU s"
    return wall - waited, cpu, memory, f"{times}, {memory:,.0f} MB, load {load:.1f}; {answer}"


def _waited(process: int, before: float) -> float:
    """Seconds that the main thread of a process has been ready to run without a core; where the system tells."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / 1e9
    return before


def _answer(arguments: list[str], text: str, errors: str, code: int) -> str:
    """How the answer stands."""
    if text and "--json" in arguments:
        report = json.loads(text)
        phases = ", ".join(f"{phase['name']} {phase['wall']:.1f}" for phase in report["phases"])
        restricted = ", ".join(report["outcome"]["restrictions"])
        return f"{report['outcome']['standing']}, {restricted}; {phases}"
    return text.partition(";")[2].strip() if text else f"exit {code}: {errors[-160:].strip()}"


def _levels(rows: int, sizes: list[int], seed: int = 1) -> Dataset:
    """Columns with this many levels, each mostly a copy of the one before."""
    rng = np.random.default_rng(seed)
    columns, before = [], np.zeros(rows, np.int64)
    for size in sizes:
        before = np.where(rng.random(rows) < 0.5, before, rng.integers(size, size=rows)) % size
        columns.append(before.astype(code_dtype(size)))
    domains = tuple(Categorical(tuple(f"l{i}" for i in range(size))) for size in sizes)
    return Dataset(tuple(f"v{i}" for i in range(len(sizes))), domains, tuple(columns))


def _mixed(rows: int, columns: int) -> Dataset:
    """Numbers and levels by turns, in a chain."""
    rng = np.random.default_rng(1)
    names, domains, values = [], [], []
    x = rng.normal(size=rows)
    for i in range(columns):
        x = 0.7 * x + rng.normal(size=rows)
        names.append(f"v{i}")
        if i % 2:
            domains.append(Categorical(("a", "b", "c")))
            values.append((1 + (x > 0.8) - (x < -0.8)).astype(np.uint8))
        else:
            domains.append(Real(float(x.min()), float(x.max())))
            values.append(x.copy())
    return Dataset(tuple(names), tuple(domains), tuple(values))


def _shared(path: str) -> Callable[[], Dataset]:
    """A data set of the folder in OPTBN_DATA."""
    return lambda: optbn.read(Path(os.environ["OPTBN_DATA"]) / path, missing="value")


def _mildew() -> Dataset:
    return optbn.read_network(Path(os.environ["OPTBN_DATA"]) / "networks/mildew.bif").sample(2_000, 1)


DIABETES = [6, 3, 10, 9, 8, 26, 17, 18, 73, 700, 720, 750, 4, 4, *[4] * 20, 2, 2, 3]
"""Levels of the columns of a table of hospital stays, those of three codes of diagnoses among them."""

CASES: dict[str, tuple[Callable[[], Dataset], list[str]]] = {
    "14 columns of 7 levels": (lambda: _levels(5_000, [7] * 14), []),
    "wide columns": (lambda: _levels(10_000, [2, 12, 30, 3, 70, 12, 5, 200, 2, 40, 9, 12]), []),
    "mildew": (_mildew, []),
    "diabetes-like": (lambda: _levels(20_000, DIABETES), []),
    "letter": (_shared("datasets/letter.parquet"), []),
    "100 x 5,000": (lambda: _levels(5_000, [2, 3] * 50), []),
    "jester, 2 parents": (_shared("density/jester.valid.parquet"), ["-D", "2", "--score", "bic"]),
    "jester, 3 parents": (_shared("density/jester.valid.parquet"), ["-D", "3", "--score", "bic"]),
    "plants, 2 parents": (_shared("density/plants.test.parquet"), ["-D", "2", "--score", "bdeu"]),
    "plants, 3 parents": (_shared("density/plants.test.parquet"), ["-D", "3", "--score", "bdeu"]),
    "10,000,000 rows": (lambda: _levels(10_000_000, [2, 3, 4, 5, 2, 3]), []),
    "60 mixed columns": (lambda: _mixed(20_000, 60), []),
}

TABLES: dict[str, tuple[Callable[[], Dataset], list[str]]] = {
    "dense: 20 columns, AIC": (lambda: _levels(20_000, [3] * 20), ["--score", "aic", "-D", "4"]),
    "table of jester": (_shared("density/jester.valid.parquet"), ["--score", "bic", "-D", "2"]),
    "table of plants": (_shared("density/plants.test.parquet"), ["--score", "bdeu", "-D", "2"]),
}
