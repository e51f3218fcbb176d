"""Probabilities of arcs: exact sums over orders as far as they go, sampled orders beyond."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

import optbn
from optbn.learning.constraints import all_families
from optbn.scores import load_score
from optbn.scores.scoring import Scoring
from optbn_solvers import ScoreTable
from optbn_solvers.front.posterior import posterior
from optbn_solvers.front.sampled import sampled_posterior
from tests.benchmarks import Figure


def table_of(n: int) -> ScoreTable:
    """The first n variables of alarm, 1,000 rows: BDeu, at most 3 parents, all families."""
    data = optbn.load_network("alarm").sample(1000, 1)
    return all_families(Scoring.of(data.select(data.names[:n]), load_score("bdeu"), 3), 1)


def measure() -> Iterator[Figure]:
    """One thread; scoring apart."""
    posterior(table_of(8), over="orders")
    sampled_posterior(table_of(8), sweeps=8)
    twenty, all_of_it = table_of(20), table_of(37)
    begun = time.process_time()
    exact = posterior(twenty, over="orders").arcs
    yield Figure("20 variables, exactly", time.process_time() - begun)
    for name, table, truth in (("20 variables, sampled", twenty, exact), ("37 variables, sampled", all_of_it, None)):
        begun = time.process_time()
        found = sampled_posterior(table)
        seconds = time.process_time() - begun
        note = f"R-hat {found.r_hat:.3f}, {found.effective:.0f} effective of {found.draws} draws"
        if truth is not None:
            note += f"; furthest from exact: {np.abs(found.arcs - truth).max():.3f}"
        yield Figure(name, seconds, note=note)
    begun = time.process_time()
    posterior(table_of(25), over="orders")
    yield Figure("25 variables, exactly", time.process_time() - begun, 60.0, note="memory: 16 bytes x 2^25, twice")
