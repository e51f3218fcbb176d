"""The figures of discriminative training; needs $OPTBN_DATA."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from optbn.classifiers.discriminative import DiscriminativeBN
from tests.benchmarks import Figure, cpu_seconds
from tests.paths import shared_neighbour

ROWS, COLUMNS, PASSES = 1_000_000, 30, 50


def fold(name: str) -> tuple[Any, Any]:
    """The first training fold, as the published experiments coded it."""
    import pandas as pd

    path = shared_neighbour("golden", "bnc", "ccbn", f"{name}_f0_train.csv")
    with path.open() as file:
        sizes = [int(size) for size in file.readline()[1:].split(",")]
        codes = np.loadtxt(file, delimiter=",", dtype=np.int64)
    levels = [[f"v{v}" for v in range(size)] for size in sizes]
    X = pd.DataFrame({f"a{j}": pd.Categorical.from_codes(codes[:, j], levels[j]) for j in range(len(sizes) - 1)})
    return X, codes[:, -1]


def training_figures() -> Iterator[Figure]:
    """To convergence without a penalty, from the data frame; then the default, with the penalty chosen."""
    path = shared_neighbour("golden", "bnc", "ccbn_ref.json")
    reference = json.loads(path.read_text())
    for name, structure, limit in (("magic", "nb", 0.15), ("nursery", "tan", 0.25)):
        X, y = fold(name)
        known = reference[f"{name}|{structure.upper()}"]["w(I)"]
        plain = DiscriminativeBN(structure, l2=0, tolerance=1e-8)
        loss = plain.fit(X, y).curve_.loss[-1]
        note = f"NLL {loss:.2f}, reference {known['nll_final_f0']:.2f} in {known['cpu_s_per_fold']:.2f} s"
        seconds = cpu_seconds(lambda X=X, y=y, m=plain: m.fit(X, y), 5)
        yield Figure(f"{name}, {structure.upper()}, w, to convergence", seconds, limit, None, "s", note)
        seconds = cpu_seconds(lambda X=X, y=y, s=structure: DiscriminativeBN(s).fit(X, y), 3)
        yield Figure(f"{name}, {structure.upper()}, w, penalty by cross-validation", seconds)


STREAMED = """
import json, sys, time
from tests.benchmarks import peak_memory
from optbn.classifiers.discriminative import DiscriminativeBN
start = time.process_time()
schema = json.load(open(sys.argv[2]))
made = DiscriminativeBN("nb", l2=0, tolerance=0.0, max_iterations=10_000)
from optbn.classifiers.discriminative import training
counted = training.Objective.loss
def counting(self, x, passes=[0]):
    passes[0] += 1
    if passes[0] > int(sys.argv[3]):
        raise StopIteration
    return counted(self, x)
training.Objective.loss = counting
try:
    made.fit_file(sys.argv[1], "y", schema=schema)
except StopIteration:
    pass
seconds = time.process_time() - start
print(json.dumps([seconds, peak_memory()]))
"""


def generate(path: Path) -> dict[str, Any]:
    """A parquet file of 4-level attributes that depend on the class, no two rows alike; its schema."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    levels = [f"v{i}" for i in range(4)]
    random = np.random.default_rng(0)
    names = ["y", *(f"x{j}" for j in range(COLUMNS))]
    kind = pa.dictionary(pa.int8(), pa.string())
    with pq.ParquetWriter(path, pa.schema([(name, kind) for name in names])) as writer:
        for _ in range(0, ROWS, 250_000):
            y = random.integers(0, 2, 250_000)
            columns = [y, *(np.minimum(random.integers(0, 4, len(y)) + y * (j % 2), 3) for j in range(COLUMNS))]
            arrays = [pa.DictionaryArray.from_arrays(pa.array(c.astype(np.int8)), pa.array(levels)) for c in columns]
            writer.write_table(pa.table(arrays, names=names))
    return {"y": levels[:2], **{name: levels for name in names[1:]}}


def streaming_figures() -> Iterator[Figure]:
    """From a file, in a process of its own, compiled code loaded from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        path, schema = Path(folder) / "rows.parquet", Path(folder) / "schema.json"
        schema.write_text(json.dumps(generate(path)))
        command = [sys.executable, "-c", STREAMED, str(path), str(schema), str(PASSES)]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        seconds, megabytes = json.loads(out)
    what = f"{ROWS:,} rows x {COLUMNS} attributes from parquet, NB, w, {PASSES} passes"
    yield Figure(what, seconds, 25.0)
    yield Figure("its largest memory", megabytes, 500.0, None, "MB")


def measure() -> Iterator[Figure]:
    """All figures of the room."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    yield from training_figures()
    yield from streaming_figures()
