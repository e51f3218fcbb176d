"""Data larger than the memory they may take: counts, parameters and classifiers from a generated parquet file.

141 attributes and a class, as in the largest published study of out-of-core network classifiers, generated on the fly;
$OPTBN_ROWS rows (default 5,000,000, a sample of the study's 50,000,000). Times are linear in the rows, as every pass
goes over them once in blocks; the extrapolation is that and nothing else. The file goes at the end.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.benchmarks import Figure

ROWS = int(os.environ.get("OPTBN_ROWS", "5000000"))
ATTRIBUTES = 141
STUDY = 50_000_000
BLOCK = 100_000

WORK = {
    "counts and parameters of a tree-shaped network (fit, hierarchical m-estimate)": (
        "import optbn; parents = {'y': [], **{f'x{i}': ['y', *([f'x{i-1}'] if i else [])] for i in range(141)}}; "
        "optbn.fit(parents, PATH, 'm_estimate', schema=SCHEMA)"
    ),
    "naive Bayes, one pass": (
        "from optbn.classifiers import load_classifier; load_classifier('nb').fit_file(PATH, 'y', schema=SCHEMA)"
    ),
    "KDB with k = 1, two passes": (
        "from optbn.classifiers import load_classifier; load_classifier('kdb', k=1).fit_file(PATH, 'y', schema=SCHEMA)"
    ),
}


def generate(path: Path, rows: int) -> None:
    """Attributes of 2 to 5 levels that depend on the class and on the attribute before them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    names = ["y", *(f"x{i}" for i in range(ATTRIBUTES))]
    writer = None
    for start in range(0, rows, BLOCK):
        count = min(BLOCK, rows - start)
        before = y = rng.integers(0, 3, count, dtype=np.int8)
        columns = [y]
        for i in range(ATTRIBUTES):
            noise = rng.integers(0, 2 + i % 4, count, dtype=np.int8)
            before = np.where(rng.integers(0, 4, count, dtype=np.int8) > 0, (before + y) % (2 + i % 4), noise)
            columns.append(before.astype(np.int8))
        table = pa.table([pa.array(column) for column in columns], names=names)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def measure() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.parquet"
        begun = time.process_time()
        generate(path, ROWS)
        made = time.process_time() - begun
        cells = ROWS * (ATTRIBUTES + 1)
        note = f"{path.stat().st_size / 1e9:.2f} GB on disk, {cells / 1e9:.2f} GB of codes, {made:.0f} s to generate"
        yield Figure(f"{ROWS:,} rows x {ATTRIBUTES} attributes", ROWS, unit="rows", note=note)
        for work, code in WORK.items():
            seconds, memory = _run(code, path)
            note = f"{ROWS / seconds:,.0f} rows/s, {memory:.0f} MB at most; "
            note += f"{STUDY:,} rows would take {seconds * STUDY / ROWS / 60:.0f} min"
            yield Figure(work, seconds, note=note)


def _run(code: str, path: Path) -> tuple[float, float]:
    """(CPU seconds, megabytes) of a process of its own."""
    schema = {"y": ["0", "1", "2"], **{f"x{i}": [str(k) for k in range(2 + i % 4)] for i in range(ATTRIBUTES)}}
    program = f"PATH, SCHEMA = {str(path)!r}, {schema!r}\n{code}\n"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    program += "from tests.benchmarks import peak_memory; print(peak_memory())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, float(done.stdout.split()[-1])
