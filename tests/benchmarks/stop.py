"""How soon solvers stop: CPU seconds of the process from the end of the budget, or the request to stop, to the answer.

Each solver works on a table that it does not settle in that time; kernels and imports are warm. On an idle machine
seconds on the wall are the same; they are noted, and on a busy one say more about the others.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import optbn
from optbn_solvers import Budget, ScoreTable, load_solver
from tests.benchmarks import Figure

SECONDS = 3.0
LIMIT = 0.5
MOST = {"dp": 29}  # variables of the table: more do not fit into memory
# (network, rows, score, settings, most parents, candidate parents), and who works on it
HARD = [
    (("win95pts", 2000, "bic", {}, 3, None), ["ilp", "cp", "auto", "maxsat", "greedy"]),
    (("link", 1000, "bic", {}, 2, 20), ["ilp", "cp", "auto", "greedy"]),
    (("water", 300, "bdeu", {"ess": 10.0}, 3, None), ["astar"]),
    (("alarm", 300, "bdeu", {"ess": 10.0}, 3, None), ["dp"]),
]


def measure() -> Iterator[Figure]:
    """Two lines per table and solver."""
    for (network, rows, score, settings, parents, candidates), names in HARD:
        data = optbn.load_network(network).sample(rows, 0)
        data = data.select(data.names[: MOST.get(names[0], data.n_variables)])
        table = optbn.score_table(data, score, parents, candidates=candidates, **settings)
        for name in names:
            yield from _stopped(table, name)


def _stopped(table: ScoreTable, name: str) -> Iterator[Figure]:
    """By the limit, and by a request."""
    options = {"seconds": 1000.0} if name == "greedy" else {}
    load_solver(name, **options).solve(table, Budget(wall=SECONDS))
    size = f"n {table.n}, {len(table) / table.n:.0f} families each"
    for how in ("time limit", "Ctrl-C"):
        budget = Budget(wall=SECONDS if how == "time limit" else 1000.0)
        timer = threading.Timer(SECONDS, budget.stop if how == "Ctrl-C" else lambda: None)
        timer.start()
        began = [0.0]
        watch = threading.Timer(SECONDS, lambda at=began: at.__setitem__(0, time.process_time()))
        watch.start()
        load_solver(name, **options).solve(table, budget)
        ended = time.process_time()
        late, cpu = max(0.0, budget.elapsed() - SECONDS), ended - (began[0] or ended)
        timer.cancel()
        watch.cancel()
        done = budget.elapsed() < SECONDS
        note = "it was done before" if done else f"{late:.2f} s on the wall"
        yield Figure(f"{name}, {how} after {SECONDS:g} s: {size}", 0.0 if done else cpu, LIMIT, note=note)
