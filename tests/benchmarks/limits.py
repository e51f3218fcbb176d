"""Whether limits hold where they are hard: `optbn learn` on a dozen tables, with two limits of time and one of memory.

Wall seconds of the whole process, its start included, may be 1.1 times the limit and a second; memory may be the limit
and 200 MB. Kernels are compiled before. The notes have CPU seconds, memory, parents reached and how the answer stands,
for what is left of a limit is lost.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import optbn
from optbn.data.dataset import Categorical, Dataset, Real, code_dtype
from tests.benchmarks import Figure

SECONDS = (5, 20)
MEGABYTES = 600


def measure(*names: str) -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        optbn.write(optbn.load_network("asia").sample(500, 1), folder / "asia.csv")
        optbn.write(_mixed(500, 6), folder / "mixed.parquet")
        for small in ("asia.csv", "mixed.parquet"):
            _learn(folder / small, [])  # compiles
        for case, (make, options) in CASES.items():
            if names and case not in names:
                continue
            path = folder / f"{case}.parquet"
            optbn.write(make(), path)
            for seconds in SECONDS:
                wall, _, note = _learn(path, [*options, "--time-limit", str(seconds)])
                yield Figure(f"{case}, --time-limit {seconds}", wall, 1.1 * seconds + 1, note=note)
            limits = ["--time-limit", str(SECONDS[0]), "--memory", f"{MEGABYTES}M"]
            _, memory, note = _learn(path, [*options, *limits])
            yield Figure(f"{case}, --memory {MEGABYTES}M", memory, MEGABYTES + 200, unit="MB", note=note)
            path.unlink()


def _learn(path: Path, options: list[str]) -> tuple[float, float, str]:
    """Wall seconds, MB at most, and what else there is to say."""
    command = [sys.executable, "-m", "optbn", "learn", str(path), *options, "--json"]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        out.seek(0)
        err.seek(0)
        text = out.read()
        if text:
            report = json.loads(text)
            phases = ", ".join(f"{phase['name']} {phase['wall']:.1f}" for phase in report["phases"])
            standing, reached = report["outcome"]["standing"], report["settings"].get("max parents")
            answer = f"{standing}, {reached} parents; {phases}"
        else:
            answer = f"exit {os.waitstatus_to_exitcode(status)}: {err.read().decode()[-160:].strip()}"
    memory = usage.ru_maxrss / 1024
    return wall, memory, f"{usage.ru_utime + usage.ru_stime:.1f} CPU s, {memory:,.0f} MB, {answer}"


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


CASES: dict[str, tuple[Callable[[], Dataset], list[str]]] = {
    "14 columns of 7 levels": (lambda: _levels(5_000, [7] * 14), []),
    "wide columns": (lambda: _levels(10_000, [2, 12, 30, 3, 70, 12, 5, 200, 2, 40, 9, 12]), []),
    "adult": (_shared("datasets/adult.parquet"), []),
    "letter": (_shared("datasets/letter.parquet"), []),
    "100 x 5,000": (lambda: _levels(5_000, [2, 3] * 50), []),
    "jester, 2 parents": (_shared("density/jester.valid.parquet"), ["-D", "2", "--score", "bic"]),
    "jester, 3 parents": (_shared("density/jester.valid.parquet"), ["-D", "3", "--score", "bic"]),
    "plants, 2 parents": (_shared("density/plants.test.parquet"), ["-D", "2", "--score", "bdeu"]),
    "plants, 3 parents": (_shared("density/plants.test.parquet"), ["-D", "3", "--score", "bdeu"]),
    "10,000,000 rows": (lambda: _levels(10_000_000, [2, 3, 4, 5, 2, 3]), []),
    "dense: 20 columns, AIC": (lambda: _levels(20_000, [3] * 20), ["--score", "aic", "-D", "5"]),
    "60 mixed columns": (lambda: _mixed(20_000, 60), []),
}
