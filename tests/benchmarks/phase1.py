"""Phase I end to end: `optbn.score_table` on whole data sets, each in a process of its own so that memory is its own.

A process first scores a few rows (that compiles or loads the kernels), then runs once for the clock. Data: samples of
bundled networks (seed 1); mixed12 is a smoothed bootstrap of golden/pcart/mixed12_400; parkinsons is below $OPTBN_DATA.
PCART and FT are as published (real_prior="paper": real columns halved three times). With names of data or scores only
their rows: `python -m tests.benchmarks phase1 pcart ft`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import optbn
from optbn.data.dataset import Dataset, Real
from optbn.scores.parent_sets import Limit
from optbn.scores.progress import ScoreProgress
from tests.benchmarks import Figure, peak_memory
from tests.paths import shared_data

MIXED = Path(__file__).parents[1] / "golden" / "pcart" / "mixed12_400.csv"

ROWS = [  # data, rows, score, parents, threads, at most, to aim for, runs
    ("alarm", 1600, "pcart", 4, 1, 6.0, 3.5, 1),
    ("alarm", 1600, "pcart", 4, 2, None, None, 1),
    ("alarm", 25_600, "pcart", 4, 1, 14.0, 9.0, 1),
    ("insurance", 1600, "pcart", 4, 1, 5.5, 3.5, 1),
    ("water", 1600, "pcart", 4, 1, 6.0, 3.0, 1),
    ("mixed12", 1600, "pcart", 4, 1, 0.4, None, 3),
    ("mixed12", 1600, "ft", 4, 1, 1.0, None, 3),
    ("parkinsons", 5875, "pcart", 4, 1, 5.0, 3.0, 1),
    ("hailfinder", 1600, "pcart", 3, 1, 30.0, 12.0, 1),
    ("alarm", 1600, "pcart", 5, 1, 90.0, 45.0, 1),
    ("alarm", 5000, "bdeu", 3, 1, 0.6, 0.25, 5),
    ("alarm", 5000, "bic", 3, 1, 0.6, 0.25, 5),
    ("alarm", 5000, "bdeu", 3, 2, None, None, 5),
    ("alarm", 5000, "ft", 4, 1, 5.0, 2.0, 1),
    ("alarm", 5000, "bdeu", 4, 1, None, None, 3),
    ("alarm", 200_000, "bdeu", 3, 1, None, None, 1),
    *(
        (name, 1000, score, "all", 1, 60.0, None, 1)
        for score in ("bic", "aic", "bdeu")
        for name in ("child", "insurance", "alarm")
    ),
]


def measure(*names: str) -> Iterator[Figure]:
    one_thread = {}
    for data, rows, score, parents, threads, limit, aim, runs in ROWS:
        if (names and not {data, score} & set(names)) or (data == "parkinsons" and not os.environ.get("OPTBN_DATA")):
            continue
        found = [_in_a_process(data, rows, score, parents, threads) for _ in range(runs)]
        cpu, wall = (statistics.median(f[key] for f in found) for key in ("cpu", "wall"))
        note = f"{found[0]['families']:,} families, {found[0]['families'] / cpu:,.0f}/s, {found[0]['kept']:,} kept, "
        note += f"{found[0]['memory']:.0f} MB"
        note += f", {found[0]['needless']:,} needless" if parents == "all" else ""
        work = f"{data}, N = {rows:,}, {score}, D = {parents}"
        if threads > 1:
            yield Figure(f"{work}, {threads} threads, wall", wall, limit, aim, note=f"{note}, {cpu:.3g} s CPU")
            part = wall / one_thread[work]
            yield Figure(
                f"{work}, {threads} threads, wall of one thread's",
                part,
                1 / 1.9 if score == "pcart" else None,
                unit="parts",
            )
        else:
            one_thread[work] = wall
            yield Figure(work, cpu, limit, aim, note=note)
        if (data, rows, score, threads) == ("alarm", 1600, "pcart", 1):
            yield Figure(f"{work}, memory", found[0]["memory"], 1024.0, unit="MB")
    if not names:
        yield from _batch()


def load(name: str, rows: int) -> Dataset:
    """A data set of the table."""
    if name == "mixed12":
        return _smoothed(optbn.read(MIXED), rows)
    if name == "parkinsons":
        return optbn.read(shared_data("datasets", "parkinsons-telemonitoring.parquet"))
    return optbn.load_network(name).sample(rows, seed=1)


def _smoothed(data: Dataset, rows: int) -> Dataset:
    """More rows of the same kind: drawn with replacement, reals jittered, so that there are no ties."""
    rng = np.random.default_rng(1)
    drawn = data.take(rng.integers(0, data.n_rows, rows))
    columns, domains = [], []
    for column, domain in zip(drawn.columns, drawn.domains, strict=True):
        if isinstance(domain, Real):
            column = column + rng.normal(0, 0.3 * column.std(), rows)
            domain = Real(float(column.min()), float(column.max()))
        columns.append(column)
        domains.append(domain)
    return Dataset(data.names, tuple(domains), tuple(columns))


def _in_a_process(data: str, rows: int, score: str, parents: int | str, threads: int) -> dict[str, float]:
    code = f"from tests.benchmarks.phase1 import run; run({data!r}, {rows}, {score!r}, {parents!r}, {threads})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def run(name: str, rows: int, score: str, parents: Limit, threads: int) -> None:
    """One run, reported as JSON on stdout."""
    data = load(name, rows)
    settings = {"real_prior": "paper"} if score in ("pcart", "ft") else {}
    first = data.take(slice(0, 100))
    optbn.score_table(first, score, 2, jobs=threads, **settings)
    if parents == "all":
        optbn.score_table(first.select(data.names[:5]), score, "all", jobs=threads)
    reports: list[ScoreProgress] = []
    wall, cpu = time.perf_counter(), time.process_time()
    table = optbn.score_table(data, score, parents, jobs=threads, progress=reports.append, **settings)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    last = reports[-1]
    found = {"families": last.done, "needless": last.needless, "kept": len(table)}
    print(json.dumps({"cpu": cpu, "wall": wall, "memory": peak_memory(), **found}))


def _batch() -> Iterator[Figure]:
    """A million listed families in random order."""
    from optbn.scores.families import Families
    from optbn.scores.listed import score_families

    data = load("alarm", 5000)
    rng = np.random.default_rng(1)
    m, n = 1_000_000, data.n_variables
    members = np.argsort(rng.random((m, n)), axis=1)[:, :4]
    size = rng.integers(0, 4, m)
    masks = np.zeros((m, 1), dtype=np.uint64)
    for j in range(3):
        masks[:, 0] |= np.where(j < size, np.uint64(1) << members[:, j].astype(np.uint64), np.uint64(0))
    families = Families(data.names, members[:, 3].astype(np.int64), masks)
    score_families(data, families, "bdeu", jobs=1)
    start = time.process_time()
    score_families(data, families, "bdeu", jobs=1)
    yield Figure("alarm, N = 5,000, bdeu of a million listed families, D = 3", time.process_time() - start)
