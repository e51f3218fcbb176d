"""The losses of all arcs and adjacencies: warm variations of one table, every answer checked."""

from __future__ import annotations

import time
from collections.abc import Iterator

import optbn
from optbn.learning.constraints import all_families
from optbn.scores import load_score
from optbn.scores.scoring import Scoring
from optbn_solvers import ScoreTable
from optbn_solvers.front.edges import edges
from tests.benchmarks import Figure

NETWORKS = (("insurance", None, None), ("alarm", 60.0, 20.0))


def table_of(name: str) -> ScoreTable:
    """All families of 1,000 rows: BDeu, at most 3 parents."""
    data = optbn.load_network(name).sample(1000, 1)
    return all_families(Scoring.of(data, load_score("bdeu"), 3), 1)


def measure() -> Iterator[Figure]:
    """From the table of all families to the last checked loss, one thread."""
    edges(table_of("asia"))
    for name, limit, aim in NETWORKS:
        table = table_of(name)
        begun = time.process_time()
        found = edges(table)
        seconds = time.process_time() - begun
        pairs = table.n * (table.n - 1) // 2
        yield Figure(f"{name}, {pairs} pairs", seconds, limit, aim, note=f"proved: {found.proved}")
