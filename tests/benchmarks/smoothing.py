"""The figures of parameter fitting."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import optbn
from optbn.data.dataset import Categorical, Dataset
from optbn.smoothing import SMOOTHERS
from optbn.smoothing.blocks import plan
from optbn.smoothing.counting import FamilyCounts
from optbn.smoothing.hdp import HDP
from optbn.smoothing.hierarchical import posterior
from optbn.smoothing.tree import CountTree
from tests.benchmarks import Figure, cpu_seconds


def skewed_tree() -> CountTree:
    """5 parents x 10 values, a child of 5, 25,000 rows in about 7,500 of the 100,000 configurations.

    The truth is a hierarchical Dirichlet tree itself, with concentration 5.
    """
    generator = np.random.default_rng(3)
    weights = 0.62 ** np.arange(10)
    columns = [generator.choice(10, 25_000, p=weights / weights.sum()) for _ in range(5)]
    known: dict[tuple[int, ...], np.ndarray] = {(): generator.dirichlet(np.ones(5))}

    def theta(path: tuple[int, ...]) -> np.ndarray:
        if path not in known:
            known[path] = generator.dirichlet(np.maximum(5 * theta(path[:-1]), 1e-3))
        return known[path]

    child = np.array([generator.choice(5, p=theta(path)) for path in zip(*(c.tolist() for c in columns), strict=True)])
    counts = FamilyCounts((10,) * 5, 5)
    counts.add(columns, child)
    return counts.tree(range(5))


def hdp_figures() -> Iterator[Figure]:
    """The sampler at its published benchmark."""
    tree = skewed_tree()
    run = HDP(sweeps=5_000, burn_in=0, chains=1)
    run.fit(tree, np.random.default_rng(0))
    leaves = int(tree.is_leaf.sum())
    yield Figure(
        f"HDP, 5 parents x 10 values, 5 levels, N = 25,000 ({leaves:,} leaves), LEVEL, 5,000 sweeps",
        cpu_seconds(lambda: run.fit(tree, np.random.default_rng(0))), 6.0, 2.0,
        note="published 18.3 s for 7,369 leaves",
    )  # fmt: skip
    found = HDP(sweeps=5_000, chains=2).fit(tree, np.random.default_rng(1)).diagnostics
    yield Figure(
        "its effective draws, the worst of all probabilities, 2 chains x 5,000 sweeps",
        found["effective_draws"],
        unit="draws",
        note=f"R-hat {found['r_hat']:.4f}",
    )
    size = sum(a.nbytes for a in plan(tree, "level") if isinstance(a, np.ndarray)) / 1e6
    yield Figure("memory of the sampler for that, in which no Stirling numbers are stored", size, 20.0, None, "MB")
    auto = HDP()
    yield Figure(
        "HDP, the same until converged (R-hat <= 1.01, 400 effective draws everywhere)",
        cpu_seconds(lambda: auto.fit(tree, np.random.default_rng(0)), repeats=1),
    )


def hierarchical_figures() -> Iterator[Figure]:
    """The variational posterior."""
    generator = np.random.default_rng(0)
    small = np.stack([generator.multinomial(80, generator.dirichlet(np.ones(8))) for _ in range(8)]).astype(float)
    mean = generator.dirichlet(np.ones(200))
    large = np.stack([generator.multinomial(1000, generator.dirichlet(200 * mean)) for _ in range(100)]).astype(float)
    posterior(small)

    def repeat() -> None:
        for _ in range(100):
            posterior(small)

    yield Figure(
        "hierarchical, 8 levels in 8 contexts, n = 640", 10 * cpu_seconds(repeat), 2.0, 0.5, "ms", "published 500 ms"
    )
    yield Figure("hierarchical, 100 domains, 200 joint states", cpu_seconds(lambda: posterior(large)), 0.5, 0.1)
    yield Figure(
        "hierarchical, 8 levels in 8 contexts, n = 640, exact",
        1000 * cpu_seconds(lambda: posterior(small, method="exact")), unit="ms",
    )  # fmt: skip


def speed_figures() -> Iterator[Figure]:
    """A small network with every smoother; a learned strength beside a fixed one; many domains."""
    network = optbn.load_network("alarm")
    data = network.sample(5_000, 1)
    for name in SMOOTHERS:
        optbn.fit(network, data, name)
        yield Figure(
            f"fit alarm, N = 5,000, {name}", cpu_seconds(lambda name=name: optbn.fit(network, data, name)), 0.3
        )
    learned, fixed = (
        cpu_seconds(lambda s=s: optbn.fit(network, data, "hierarchical", s=s, alpha0=1.0))
        for s in ("learned", "levels")
    )
    yield Figure("a learned strength over a fixed one, fit alarm, hierarchical", learned / fixed, 3.0, unit="times")
    weather = optbn.load_network("hailfinder")
    many, town = weather.sample(10_000, 1), np.arange(10_000) % 100
    names = many.names[:50]
    domains = [*(many.domain(name) for name in names), Categorical(tuple(map(str, range(100))))]
    rows = Dataset((*names, "town"), tuple(domains), (*(many.column(name) for name in names), town.astype(np.uint8)))
    structure = {name: tuple(p for p in weather.parents(name) if p in names) for name in names}
    optbn.fit_domains(structure, rows, "town")
    yield Figure(
        "fit_domains, 50 variables of hailfinder, 100 domains of 100 rows",
        cpu_seconds(lambda: optbn.fit_domains(structure, rows, "town"), repeats=1), 2.0,
    )  # fmt: skip


CHILD = """
import json, sys, time
from tests.benchmarks import peak_memory
import optbn
network = optbn.load_network("alarm")
times = []
for _ in range(int(sys.argv[2])):
    start = time.process_time()
    optbn.fit(network, sys.argv[1], "m_estimate")
    times.append(time.process_time() - start)
print(json.dumps([sorted(times)[len(times) // 2], peak_memory()]))
"""


def streaming_figures() -> Iterator[Figure]:
    """Counting from a file, in processes of their own so that their memory can be told."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "alarm.parquet")
        optbn.write(optbn.load_network("alarm").sample(1_000_000, 1), path)

        def child(fits: int) -> list[float]:
            command = [sys.executable, "-c", CHILD, path, str(fits)]
            found: list[float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            return found

        seconds, megabytes = child(5)[0], child(1)[1]
    yield Figure("fit alarm, N = 1,000,000, m-estimate, from parquet, streaming", seconds, 1.5, 0.5)
    yield Figure(
        "its largest resident memory, Python and its libraries included", megabytes, 300.0, None, "MB",
        "50 MB less where pandas is not installed: pyarrow imports it when it is",
    )  # fmt: skip


def link_figures() -> Iterator[Figure]:
    """A large network with the sampler."""
    network = optbn.load_network("link")
    data = network.sample(100_000, 1)
    optbn.fit(network, data.take(slice(0, 100)), "hdp", sweeps=10)
    yield Figure(
        "fit link (724 variables), N = 100,000, HDP, 2 chains x 1,000 sweeps",
        cpu_seconds(lambda: optbn.fit(network, data, "hdp", sweeps=1000), repeats=1), 120.0, 30.0,
    )  # fmt: skip
    yield Figure(
        "fit link, N = 100,000, hierarchical", cpu_seconds(lambda: optbn.fit(network, data, "hierarchical"), repeats=1)
    )


def measure() -> Iterator[Figure]:
    """All figures of the room."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    yield from hdp_figures()
    yield from hierarchical_figures()
    yield from speed_figures()
    yield from streaming_figures()
    yield from link_figures()
