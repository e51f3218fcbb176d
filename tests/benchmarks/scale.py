"""Many machines and many variables: block times as measured here, the run of W workers as they imply; hundreds of
variables with all parent sets but the provably needless ones, and with candidate parents.

The simulation is a list schedule per level of the lattice (no level begins before the one below is done): blocks of
one second (from the seconds per set measured at each size), plus per level the broadcast of the floors over log2(W)
hops at 100 MB/s, plus per block what the one client does for it (giving out, taking in, restoring `best`), which is
serial. Only measured times go in; that W workers are as fast as this one is the assumption.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np

import optbn
from optbn.scores import load_score, pipeline
from optbn.scores.candidates import Candidates
from optbn.scores.counting import CountScore
from optbn.scores.parent_sets import ParentSets
from optbn.scores.scoring import bind
from optbn.scores.store import Block
from optbn_solvers import ScoreTable
from optbn_solvers.base.standing import standing
from tests.benchmarks import Figure

SEARCH = 8.0  # CPU seconds of Phase II
BANDWIDTH = 1e8  # bytes per second between two machines
CASES = [("alarm", 37, "alarm", 1600, "pcart", 4), ("200 variables", 200, "pathfinder munin1", 1000, "bdeu", 3)]
ALL = [("munin1", 2), ("munin1", 3), ("andes", 2), ("pigs", 2), ("link", 2), ("munin", 2)]  # every parent set, BIC
SAMPLES = [("munin1", 2, 15), ("andes", 3, 10), ("pigs", 2, 12), ("pigs", 3, 8), ("link", 2, 6), ("link", 3, 6)]
ROWS = 1000


def measure() -> Iterator[Figure]:
    overhead = _overhead()
    yield Figure("the client's work per block (give out, take in)", 1000 * overhead, unit="ms")
    for name, n, networks, rows, score, largest in CASES:
        data = _data(networks, n, rows)
        work = Candidates(data.names, bind(load_score(score), data, 4 << 30), ParentSets.of(data.names, largest), n)
        levels = list(_levels(work, largest))
        total = sum(seconds * work.sets(size) for size, (seconds, _, _) in enumerate(levels))
        families = sum(work.constraints.count(size) for size in range(largest + 1))
        size_bytes = levels[-1][2]
        what = f"{name}, N = {rows:,}, {score}, D = {largest}"
        yield Figure(f"{what}: families/s of one core", families / total, unit="", note=f"{families:,} families")
        note = f"{8 * math.comb(n, largest - 1) * n / 1e6:.1f} MB of floors at the last level"
        yield Figure(f"{what}: answer per block of a second", size_bytes / 1e3, unit="kB", note=note)
        one = _simulated(work, levels, 1, overhead)
        for workers in (10, 100, 1000):
            wall = _simulated(work, levels, workers, overhead)
            yield Figure(
                f"{what}: {workers:,} workers", wall, note=f"{one / wall:.0f} times as fast as one ({one:.0f} s)"
            )
    yield from _whole()
    for name, largest, k in SAMPLES:
        data = optbn.load_network(name).sample(ROWS, seed=1)
        pipeline.score_table(data, "bdeu", 1, candidates=2, jobs=1)  # compiles
        begun = time.process_time()
        table = pipeline.score_table(data, "bdeu", largest, candidates=k, jobs=1)
        scored = time.process_time() - begun
        note = f"{table.n} variables, {len(table):,} sets kept; {_searched(table)} among the candidates"
        yield Figure(f"{name}, N = {ROWS:,}, bdeu, D = {largest}, {k} candidates", scored, note=note)


def _whole() -> Iterator[Figure]:
    """Every parent set, but for those that provably cannot beat a subset (optbn/scores/counting.py)."""
    small = pipeline.score_table(optbn.load_network("munin1").sample(ROWS, seed=1), "bic", 2, jobs=1)
    for solver in ("auto", "cp"):  # compiles all that the chooser may come to
        optbn.solve(small, solver, cpu_limit=SEARCH)
    for name, largest in ALL:
        data = optbn.load_network(name).sample(ROWS, seed=1)
        told = _Telling(load_score("bic").bind(data))
        with patch.object(pipeline, "bind", lambda *_, told=told: told):
            begun = time.process_time()
            table = pipeline.score_table(data, "bic", largest, jobs=1)
            scored = time.process_time() - begun
        note = f"{table.n} variables; {told.discarded / told.asked:.1%} of {told.asked:,} families proved needless and "
        note += f"not counted; {len(table):,} sets kept; {_searched(table)}"
        yield Figure(f"{name}, N = {ROWS:,}, bic, D = {largest}, all parent sets", scored, note=note)


def _searched(table: ScoreTable) -> str:
    begun = time.process_time()
    solution = optbn.solve(table, cpu_limit=SEARCH)
    spent = time.process_time() - begun
    return f"searched {spent:.0f} s: " + (f"{standing(solution)}, gap {solution.gap:.3g}")


class _Telling:
    """A bound score that counts what it is asked for and what it discards."""

    def __init__(self, bound: CountScore) -> None:
        self.bound = bound
        self.asked = self.discarded = 0

    def block(self, sets: Any, wanted: Any, floor: Any = None) -> Any:
        scores = self.bound.block(sets, wanted, floor)
        if sets.shape[1]:
            self.asked += int(wanted.sum())
            self.discarded += int((wanted & (scores == -np.inf)).sum())
        return scores


def _data(networks: str, n: int, rows: int) -> optbn.Dataset:
    """A sample of these networks side by side, cut to n variables."""
    parts = [optbn.load_network(name).sample(rows, seed=1) for name in networks.split()]
    names = [f"v{i}" for i in range(n)]
    domains = [domain for part in parts for domain in part.domains][:n]
    columns = [column for part in parts for column in part.columns][:n]
    return optbn.Dataset(tuple(names), tuple(domains), tuple(columns))


def _levels(work: Candidates, largest: int) -> Iterator[tuple[float, float, float]]:
    """Per size: seconds per set, seconds to restore a set, bytes of survivors per second of work."""
    below = np.full((1, work.n), -np.inf)[:0]
    for size in range(largest + 1):
        sets = work.sets(size)
        count = min(sets, 2048)
        places = sorted({0, max(0, sets // 2 - count // 2)})
        best = np.empty((sets, work.n)) if sets * work.n < 1 << 26 else None
        spent = back = kept = done = 0.0
        for at in places:
            block = Block(0, size, at, min(sets, at + count))
            work.compute(block, below, None)
            begun = time.process_time()
            survivors = work.compute(block, below, None)
            spent += time.process_time() - begun
            begun = time.process_time()
            work.restore(block, survivors, below, best)
            back += time.process_time() - begun
            kept += 24 * len(survivors.rows)
            done += block.last - block.first
        yield spent / done, back / done, kept / spent
        below = np.full((sets, work.n), -np.inf) if size < largest else below


def _simulated(work: Candidates, levels: list[tuple[float, float, float]], workers: int, overhead: float) -> float:
    """Seconds from beginning to end."""
    clock = 0.0
    for size, (seconds, restoring, _) in enumerate(levels):
        if workers > 1 and size:
            hops = math.ceil(math.log2(workers + 1))
            clock += hops * 8 * work.sets(size - 1) * work.n / BANDWIDTH
        left, given, back = float(work.sets(size)), clock, clock
        free = [clock] * workers
        most = max(1.0, pipeline.LARGEST_BLOCK / (levels.BYTES_PER_FAMILY * work.n))
        while left > 0:
            shortest = levels.SHORTEST_SECONDS / seconds
            count = min(levels.BLOCK_SECONDS / seconds, most, max(shortest, left / (2 * workers)), left)
            given += overhead / 2 if workers > 1 else 0.0
            end = max(heapq.heappop(free), given) + count * seconds
            heapq.heappush(free, end)
            back = max(back, end) if workers == 1 else max(back, end) + overhead / 2 + count * restoring
            left -= count
        clock = max(back, max(free))
    return clock


def _overhead(tasks: int = 300) -> float:
    """CPU seconds of the client per task of a cluster of one process (the floors are there already)."""
    try:
        import distributed
    except ImportError:
        return 0.002
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    ) as cluster, distributed.Client(cluster) as client:  # fmt: skip
        client.submit(int, 1).result()
        begun = time.process_time()
        for future in distributed.as_completed([client.submit(_nothing, i, pure=False) for i in range(tasks)]):
            future.result()
        return (time.process_time() - begun) / tasks


def _nothing(i: int) -> int:
    return i
