"""Distances, equivalence classes, and a cell of a learning curve."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import optbn
from optbn.evaluate.distances import compare
from optbn.experiments import curve, learning
from optbn.network.structure import Structure
from tests.benchmarks import Figure, cpu_seconds


def measure() -> Iterator[Figure]:
    yield from _distances()
    dag = _random_dag(1000, 3000)
    yield Figure(
        "CPDAG of a DAG of 1,000 nodes and 3,000 arcs",
        cpu_seconds(lambda: Structure(dag.names, dag.parent_sets).to_cpdag(), 9),
        0.2,
        0.05,
    )
    yield from _recovery()


def _distances() -> Iterator[Figure]:
    """link (724 nodes, 1,125 arcs) against itself with a tenth of its arcs turned or moved."""
    link = optbn.load_network("link").structure
    other = _perturbed(link)
    compare(link, other)

    def run(sid: bool) -> None:
        compare(*(Structure(s.names, s.parent_sets) for s in (link, other)), sid=sid)

    without = cpu_seconds(lambda: run(False), 5)
    yield Figure("`compare` of two graphs of 724 nodes, without SID", without, 0.5, 0.1)
    yield Figure("the same with SID", cpu_seconds(lambda: run(True), 5))


def _recovery() -> Iterator[Figure]:
    """Sample to SHD, nothing of an earlier cell at hand."""
    curve.cell("alarm", 100, 0, "pcartp", max_parents=2)
    found: dict[str, object] = {}

    def run() -> None:
        learning.plain_table.cache_clear()
        found.update(curve.cell("alarm", 1600, 0, "pcartp", max_parents=4, solve_seconds=600.0))

    seconds = cpu_seconds(run)
    proved = "proved optimal" if found["optimal"] else "not proved optimal"
    yield Figure(
        "a cell of recovery: alarm, N = 1,600, D = 4, PCARTp, sample to SHD", seconds, 40.0, 12.0,
        note=f"{proved}; phase II {found['solve_cpu']:.1f} s",
    )  # fmt: skip


def _perturbed(structure: Structure) -> Structure:
    """A tenth of the arcs go, and as many new ones come, none against the order."""
    random = np.random.default_rng(1)
    order = list(structure.order)
    arcs = {(structure.index(u), structure.index(v)) for u, v in structure.arcs}
    some = len(arcs) // 10
    gone = random.choice(sorted(arcs), size=some, replace=False).tolist()
    arcs -= {(u, v) for u, v in gone}
    while some:
        u, v = sorted(random.choice(len(order), size=2, replace=False).tolist())
        if (order[u], order[v]) not in arcs:
            arcs.add((order[u], order[v]))
            some -= 1
    sets = tuple(tuple(sorted(u for u, v in arcs if v == child)) for child in range(len(order)))
    return Structure(structure.names, sets)


def _random_dag(n: int, arcs: int) -> Structure:
    random = np.random.default_rng(1)
    order = random.permutation(n)
    chosen: set[tuple[int, int]] = set()
    while len(chosen) < arcs:
        u, v = sorted(random.choice(n, size=2, replace=False).tolist())
        chosen.add((int(order[u]), int(order[v])))
    parents: list[list[int]] = [[] for _ in range(n)]
    for u, v in sorted(chosen):
        parents[v].append(u)
    return Structure(tuple(f"v{i}" for i in range(n)), tuple(tuple(sorted(p)) for p in parents))
