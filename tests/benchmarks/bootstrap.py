"""The best networks of 500 resamples of alarm, each proved: drawn rows, and random weights."""

from __future__ import annotations

import time
from collections.abc import Iterator

import optbn
from optbn.learning.resampling import Resampling
from tests.benchmarks import Figure

RESAMPLES = 500


def measure() -> Iterator[Figure]:
    """1,000 rows, BDeu, at most 3 parents, one thread; scoring included."""
    data = optbn.load_network("alarm").sample(1000, 1)
    for kind in ("rows", "bayesian"):
        how = Resampling(kind)  # type: ignore[arg-type]
        optbn.bootstrap(data, "bdeu", 3, 2, resampling=how, jobs=1)
        begun = time.process_time()
        found = optbn.bootstrap(data, "bdeu", 3, RESAMPLES, resampling=how, jobs=1)
        seconds = time.process_time() - begun
        proved = f"proved: {int(found.proved.sum())} of {len(found)}"
        yield Figure(f"alarm, {RESAMPLES} resamples by {kind}", seconds, 300.0, 120.0, note=proved)
