"""PCART and FT alone: the blocks of all predictor sets level by level with their floors, without candidates or pruning.

Data as in `phase1`, which measures the whole of Phase I. Also what the kernels cost to compile, the first time ever.
"""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np

from optbn.data.dataset import Dataset
from optbn.scores import load_score
from tests.benchmarks import Figure
from tests.benchmarks.phase1 import load

BLOCK = 4096

ROWS = [  # data, rows, score, parents, at most, to aim for
    ("alarm", 1600, "pcart", 4, 6.0, 3.5),
    ("alarm", 25_600, "pcart", 4, 14.0, 9.0),
    ("insurance", 1600, "pcart", 4, 5.5, 3.5),
    ("water", 1600, "pcart", 4, 6.0, 3.0),
    ("mixed12", 1600, "pcart", 4, 0.4, None),
    ("mixed12", 1600, "ft", 4, 1.0, None),
    ("parkinsons", 5875, "pcart", 4, 5.0, 3.0),
    ("alarm", 5000, "ft", 4, 5.0, 2.0),
]


def measure() -> Iterator[Figure]:
    for name, rows, score, parents, limit, aim in ROWS:
        if name == "parkinsons" and not os.environ.get("OPTBN_DATA"):
            continue
        data = load(name, rows)
        blocks(data, score, 1)
        seconds, families, skipped = blocks(data, score, parents)
        note = f"{families:,} families, {1e6 * seconds / families:.2f} us each, {skipped / families:.0%} by bounds"
        yield Figure(f"{name}, N = {rows:,}, {score}, D = {parents}", seconds, limit, aim, note=note)
    for score in ("pcart", "ft"):
        yield Figure(f"first ever {score} of mixed12: compilation", _compilation("mixed12", score), 6.0)


def blocks(data: Dataset, score: str, parents: int) -> tuple[float, int, int]:
    """CPU seconds of all block calls, and how many families there were and were discarded by bounds."""
    n = data.n_variables
    bound = load_score(score, real_prior="paper").bind(data)  # with the published three halvings
    seconds, families, skipped = 0.0, 0, 0
    below, number = np.zeros((0, n)), np.zeros(1, np.int64)
    for k in range(parents + 1):
        sets = np.array(list(itertools.combinations(range(n), k)), np.int32).reshape(math.comb(n, k), k)
        wanted = np.ones((len(sets), n), dtype=bool)
        wanted[np.arange(len(sets))[:, None], sets] = False
        floor = np.full(wanted.shape, -np.inf)
        for j in range(k):
            floor = np.maximum(floor, below[np.searchsorted(number, _number(np.delete(sets, j, axis=1), n))])
        start = time.process_time()
        parts = [slice(i, i + BLOCK) for i in range(0, len(sets), BLOCK)]
        scores = np.concatenate([bound.block(sets[at], wanted[at], floor[at]) for at in parts])
        seconds += time.process_time() - start
        families += int(wanted.sum())
        skipped += int((wanted & np.isneginf(scores)).sum())
        below, number = np.maximum(scores, floor), _number(sets, n)
    return seconds, families, skipped


def _number(sets: np.ndarray, n: int) -> np.ndarray:
    """A number per set, increasing in lexicographic order."""
    return sets.astype(np.int64) @ (n ** np.arange(sets.shape[1])[::-1])


def _compilation(name: str, score: str) -> float:
    """CPU seconds from nothing to the first scores, with an empty cache, less the imports."""
    code = f"""
import time
from tests.benchmarks.phase1 import load
from tests.benchmarks.pcart import blocks
data = load({name!r}, 100)
import numba, scipy.special
start = time.process_time()
blocks(data, {score!r}, 2)
print(time.process_time() - start)
"""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout)
