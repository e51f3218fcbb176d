"""Data larger than the memory they may take: counts, parameters and classifiers from a generated parquet file.

141 attributes and a class, as in the largest published study of out-of-core network classifiers, generated on the fly;
$OPTBN_ROWS rows (default 5,000,000, a sample of the study's 50,000,000). Times are linear in the rows, as every pass
goes over them once in blocks; the extrapolation is that and nothing else. The file goes at the end.

Soft networks learn from a file of a fifth as many rows of 20 numbers, whose class depends on products and steps of
them; their log loss is that of 50,000 further rows, beside that of a fit in memory to a sample and of the truth.
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


NUMBERS = 20
SAMPLE = 50_000

SOFT = {
    "SoftKDB": f"load_classifier('soft').fit_file(PATH, 'y', schema=SCHEMA, sample_size={SAMPLE})",
    "SoftESKDB": f"load_classifier('softeskdb').fit_file(PATH, 'y', schema=SCHEMA, sample_size={SAMPLE})",
    f"SoftESKDB in memory, a sample of {SAMPLE:,}": "load_classifier('softeskdb').fit(*rows(SAMPLE, 1)[:2])",
}


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of several shapes, classes "0" and "1", and the probability of "1"."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, NUMBERS))
    X[:, ::3] = np.exp(X[:, ::3])
    z = np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 4] + (X[:, 5] > 0.7) * X[:, 7] - np.log(X[:, 0]) * np.tanh(X[:, 8])
    z += 0.7 * np.sign(X[:, 10] * X[:, 11]) + 0.3 * X[:, 13] - 0.2 * np.abs(X[:, 14]) * X[:, 16]
    p = 1.0 / (1.0 + np.exp(-z))
    return X, (rng.random(n) < p).astype(int).astype(str), p


def generate_numbers(path: Path, n: int) -> None:
    """A file of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [*(f"x{j}" for j in range(NUMBERS)), "y"]
    writer = None
    for block in range(n // BLOCK):
        X, y, _ = rows(BLOCK, 1000 + block)
        table = pa.table([*X.T, pa.array(y)], names=names)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def soft_figures(folder: Path) -> Iterator[Figure]:
    """Time, memory and the loss of further rows."""
    path, n = folder / "numbers.parquet", max(ROWS // 5, BLOCK)
    generate_numbers(path, n)
    _, y, p = rows(50_000, 0)
    yield Figure(f"{n:,} rows x {NUMBERS} numbers", n, unit="rows", note=f"log loss of the truth {_nats(p, y):.4f}")
    for work, code in SOFT.items():
        program = (
            "from optbn.classifiers import load_classifier; from tests.benchmarks import peak_memory; "
            "from tests.benchmarks.outofcore import SAMPLE, _nats, rows; "
            f"load_classifier('softeskdb').fit(*rows(100, 2)[:2]); found = {code}; made = peak_memory(); "
            "X, y, _ = rows(50_000, 0); print(_nats(found.predict_proba(X)[:, 1], y), made)"
        )
        seconds, (loss, memory) = _run(program, path, {"y": ["0", "1"]})
        yield Figure(work, seconds, note=f"{memory:.0f} MB at most; log loss {loss:.4f}")


def _nats(p: np.ndarray, y: np.ndarray) -> float:
    """The mean log loss of probabilities of "1"."""
    return float(-np.log(np.where(y == "1", p, 1.0 - p)).mean())


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
        schema = {"y": ["0", "1", "2"], **{f"x{i}": [str(k) for k in range(2 + i % 4)] for i in range(ATTRIBUTES)}}
        for work, code in WORK.items():
            seconds, (memory,) = _run(
                f"{code}; from tests.benchmarks import peak_memory; print(peak_memory())", path, schema
            )
            note = f"{ROWS / seconds:,.0f} rows/s, {memory:.0f} MB at most; "
            note += f"{STUDY:,} rows would take {seconds * STUDY / ROWS / 60:.0f} min"
            yield Figure(work, seconds, note=note)
        path.unlink()
        yield from soft_figures(Path(folder))


def _run(code: str, path: Path, schema: dict[str, list[str]]) -> tuple[float, list[float]]:
    """CPU seconds of a process of its own, and the numbers that it prints."""
    program = f"PATH, SCHEMA = {str(path)!r}, {schema!r}\n{code}\n"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, [float(number) for number in done.stdout.split()]
