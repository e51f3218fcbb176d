"""Ten million rows of mixed columns, learned whole: one process, one thread, two parents."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import optbn
from optbn.data.dataset import Categorical, Dataset, Real
from tests.benchmarks import Figure, cpu_seconds, peak_memory

ROWS = 10**7


def measure() -> Iterator[Figure]:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, ROWS).astype(np.uint8)
    x = rng.normal(size=ROWS) + group
    z = 2 * x + rng.normal(size=ROWS)
    above = (x > 0.5).astype(np.uint8)
    domains = (
        Categorical(tuple("abc")), Real(x.min(), x.max()), Categorical(("no", "yes")), Real(z.min(), z.max()),
    )  # fmt: skip
    data = Dataset(("group", "x", "above", "z"), domains, (group, x, above, z))
    few = data.take(slice(0, 1000))
    for score in ("pcartp", "ftp", "pcart-avg"):

        def learn(rows, score=score):
            return optbn.learn(rows, score=score, max_parents=2, smoother="m_estimate", jobs=1)

        learn(few)
        seconds = cpu_seconds(lambda learn=learn: learn(data), repeats=1)
        yield Figure(f"4 columns, N = 10,000,000, {score}, D = 2", seconds, note=f"{peak_memory():,.0f} MB at most")
