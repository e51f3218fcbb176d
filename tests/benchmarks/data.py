"""Reading, writing and describing data; what it costs to import optbn and to ask for help."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks import Figure

ROWS = 1_000_000

# A process of its own per figure: the CPU time of all its threads and the growth of its peak memory, past the imports.
PROBE = """
import io, logging, sys, time
from tests.benchmarks import peak_memory
import optbn
from optbn.data.write import write
logging.disable(logging.WARNING)
file = io.BytesIO()
write(optbn.read(io.BytesIO(b"a,b,c\\n" + b"x,1,2.5\\ny,2,3.5\\n" * 40)), file, sys.argv[1].rpartition(".")[2])
warm = io.BytesIO(file.getvalue())
optbn.read(warm, format=None if "csv" in sys.argv[1] else "parquet")
memory = peak_memory()
start = time.process_time()
{work}
print(time.process_time() - start, (peak_memory() - memory) * 2**20)
print(sum(column.nbytes for column in data.columns))
"""
READ = "data = optbn.read(sys.argv[1])"


def measure() -> Iterator[Figure]:
    yield from imports()
    with tempfile.TemporaryDirectory() as folder:
        csv, parquet, numbers = (Path(folder) / name for name in ("alarm.csv", "alarm.parquet", "numbers.csv"))
        _sample(csv, parquet)
        shape = f"{ROWS:,} x 37 alarm"
        cpu, memory, codes = _probe(READ, csv)
        yield Figure(f"read a csv, {shape}", cpu, 3.0, 1.5, note=f"{csv.stat().st_size / 1e6:.0f} MB of text")
        yield Figure("peak memory of that, in sizes of the codes", memory / codes, 3.0, 2.0, "x")
        cpu, memory, codes = _probe("data = optbn.read(open(sys.argv[1], 'rb'))", csv)
        yield Figure("the same as a stream of unknown length", cpu, 3.0, 1.5, note=f"{memory / codes:.1f} x memory")
        cpu, memory, _ = _probe(READ, parquet)
        yield Figure(f"read parquet, {shape}", cpu)
        _numbers(numbers)
        cpu, memory, codes = _probe(READ, numbers)
        yield Figure("read a csv, 300,000 x 12 real", cpu, note=f"{memory / codes:.1f} x memory")


def imports() -> Iterator[Figure]:
    yield Figure("import optbn", _cpu([sys.executable, "-c", "import optbn"]), 0.15, 0.05)
    yield Figure("optbn --help", _cpu([sys.executable, "-m", "optbn", "--help"]), 0.35, 0.25)


def _cpu(command: list[str], repeats: int = 7) -> float:
    """The median CPU time of a process, all of it."""
    times = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(times)


def _probe(work: str, path: Path, repeats: int = 3) -> tuple[float, float, float]:
    """(CPU seconds, bytes of memory taken at the peak, bytes of the columns): medians over processes of their own."""
    runs = []
    for _ in range(repeats):
        code = PROBE.replace("{work}", work)
        done = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
        runs.append([float(word) for word in done.stdout.split()])
    cpu, memory, size = (statistics.median(run[i] for run in runs) for i in range(3))
    return cpu, memory, size


def _sample(csv: Path, parquet: Path) -> None:
    command = [sys.executable, "-m", "optbn", "sample", "alarm", "-n", str(ROWS), "-o"]
    for path in (csv, parquet):
        subprocess.run([*command, os.fspath(path)], check=True)


def _numbers(path: Path) -> None:
    import numpy as np

    from optbn.data.dataset import Dataset
    from optbn.data.write import write

    rng = np.random.default_rng(1)
    write(Dataset.from_arrays({f"x{i}": rng.standard_normal(300_000) for i in range(12)}), path)
