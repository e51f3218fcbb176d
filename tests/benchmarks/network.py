"""Networks: sampling, parsing, writing, essential graphs, and what the first command after an install compiles."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import optbn
from optbn.network.catalog import catalog
from optbn.network.formats import decode, encode, read_network
from optbn.network.structure import Structure
from tests.benchmarks import Figure, cpu_seconds


def measure() -> Iterator[Figure]:
    alarm = optbn.load_network("alarm")
    alarm.sample(10, 1)
    yield Figure("sample 1,000,000 rows of alarm", cpu_seconds(lambda: alarm.sample(1_000_000, 1)), 1.5, 0.5)
    data = alarm.sample(1_000_000, 1)
    yield Figure("their log-likelihood", cpu_seconds(lambda: alarm.log_likelihood(data)))
    predict = cpu_seconds(lambda: alarm.predict_proba("LVFAILURE", data))
    yield Figure("their predict_proba of LVFAILURE", predict)
    yield from _formats()
    dag = _random_dag(1000, 3000)
    yield Figure(
        "essential graph, 1,000 nodes, 3,000 arcs",
        cpu_seconds(lambda: Structure(dag.names, dag.parent_sets).to_cpdag(), 9),
        0.2,
        0.05,
    )
    link = optbn.load_network("link").structure
    yield Figure("essential graph of link (724 nodes)", cpu_seconds(lambda: link.to_cpdag(), 9))
    yield Figure(
        "`optbn sample alarm -n 1000`, first ever", _first_command(), 15.0, 3.0, note="with an empty numba cache"
    )
    yield Figure("`optbn sample alarm -n 1000`, later", _command(dict(os.environ)))


def _formats() -> Iterator[Figure]:
    """All published networks; without $OPTBN_DATA the bundled ones, which hold the same numbers."""
    root = os.environ.get("OPTBN_DATA")
    files = sorted(Path(root, "networks").glob("*.bif")) if root else []
    networks = [optbn.load_network(name) for name in catalog()]
    texts = [encode(network, "bif") for network in networks]
    if files:
        size = sum(f.stat().st_size for f in files) / 1e6
        parse = cpu_seconds(lambda: [read_network(f) for f in files])
    else:
        size = sum(map(len, texts)) / 1e6
        parse = cpu_seconds(lambda: [decode(text, "bif") for text in texts])
    yield Figure("parse every published network (BIF)", parse, 10.0, 2.0, note=f"{size:.1f} MB")
    for format in ("bif", "xmlbif", "net", "json"):
        texts = [encode(network, format) for network in networks]
        size = sum(map(len, texts)) / 1e6
        yield Figure(f"write them as {format}", cpu_seconds(lambda f=format: [encode(n, f) for n in networks]))
        read = cpu_seconds(lambda f=format, t=texts: [decode(text, f) for text in t])
        yield Figure(f"read them as {format}", read, note=f"{size:.1f} MB")


def _random_dag(nodes: int, arcs: int) -> Structure:
    rng = np.random.default_rng(1)
    order = rng.permutation(nodes)
    chosen: set[tuple[int, int]] = set()
    while len(chosen) < arcs:
        a, b = sorted(rng.integers(0, nodes, 2).tolist())
        if a != b:
            chosen.add((int(order[a]), int(order[b])))
    parents: list[list[int]] = [[] for _ in range(nodes)]
    for u, v in sorted(chosen):
        parents[v].append(u)
    return Structure(tuple(map(str, range(nodes))), tuple(map(tuple, parents)))


def _first_command() -> float:
    with tempfile.TemporaryDirectory() as cache:
        return _command(os.environ | {"NUMBA_CACHE_DIR": cache})


def _command(environment: dict[str, str]) -> float:
    """CPU seconds of the command in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "optbn", "sample", "alarm", "-n", "1000"]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
