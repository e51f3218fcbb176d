"""What auto should choose: single solvers and auto on tables made here, of many networks, sizes, scores and limits.

None of the instances by which the solvers are judged is among them; `front.auto` was set by this table. CPU seconds
of one run each, from the table to the answer; LIMIT stands for "not within LIMIT". The evidence of auto's answers is
checked too, outside these times.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import optbn
from optbn_solvers import Budget, ScoreTable, Status, load_solver
from optbn_solvers.front.checked import bound_of_proof
from optbn_solvers.verify import verify
from tests.benchmarks import Figure

LIMIT = 20.0
LARGEST = {"dp": 27, "astar": 34}  # variables

# network, rows, score, its settings, most parents; and how many of its variables, drawn at random, if not all
INSTANCES: tuple[tuple[Any, ...], ...] = (
    ("sachs", 300, "bdeu", {"ess": 1.0}, 4),
    ("sachs", 5000, "bic", {}, 3),
    ("child", 300, "bdeu", {"ess": 10.0}, 3),
    ("child", 5000, "bdeu", {"ess": 1.0}, 3),
    ("child", 500, "bic", {}, 4),
    ("child", 200, "bdeu", {"ess": 50.0}, 4),
    ("child", 2000, "aic", {}, 4),
    ("insurance", 300, "bdeu", {"ess": 1.0}, 3),
    ("insurance", 2000, "bdeu", {"ess": 10.0}, 3),
    ("insurance", 5000, "bic", {}, 3),
    ("insurance", 200, "bdeu", {"ess": 30.0}, 3),
    ("insurance", 3000, "aic", {}, 4),
    ("insurance", 100, "bdeu", {"ess": 50.0}, 4),
    ("water", 5000, "bdeu", {"ess": 1.0}, 3),
    ("water", 1000, "bdeu", {"ess": 5.0}, 2),
    ("mildew", 5000, "bic", {}, 3),
    ("barley", 2000, "bdeu", {"ess": 1.0}, 2),
    ("alarm", 300, "bdeu", {"ess": 1.0}, 3),
    ("alarm", 3000, "bdeu", {"ess": 1.0}, 3),
    ("alarm", 3000, "bic", {}, 3),
    ("alarm", 500, "bdeu", {"ess": 20.0}, 2),
    ("alarm", 2000, "aic", {}, 2),
    ("hepar2", 2000, "bdeu", {"ess": 1.0}, 3),
    ("hailfinder", 300, "bdeu", {"ess": 1.0}, 2),
    ("hailfinder", 2000, "bdeu", {"ess": 1.0}, 2),
    ("hailfinder", 3000, "bic", {}, 2),
    ("pathfinder", 500, "bic", {}, 2),
    ("andes", 1500, "aic", {}, 3, 29),
    ("hepar2", 3000, "aic", {}, 3, 29),
    ("alarm", 2500, "bdeu", {"ess": 10.0}, 3, 27),
    ("insurance", 8000, "bdeu", {"ess": 1.0}, 3),
    ("win95pts", 1500, "aic", {}, 3, 28),
)


def measure() -> Iterator[Figure]:
    """A line per instance and the sums."""
    warm = optbn.score_table(optbn.load_network("sachs").sample(100, 0), "bdeu", 4, ess=50.0)
    for name in ("ilp", "cp", "dp", "astar", "auto"):
        load_solver(name).solve(warm, Budget(cpu=5))
    best_sum = auto_sum = 0.0
    for seed, (network, rows, score, settings, parents, *some) in enumerate(INSTANCES):
        data = optbn.load_network(network).sample(rows, seed)
        for count in some:
            drawn = np.random.default_rng(seed).permutation(data.n_variables)[:count]
            data = data.select([data.names[v] for v in sorted(drawn)])
        table = optbn.score_table(data, score, parents, **settings)
        names = ["ilp", "cp", *LARGEST]
        names = [name for name in names if table.n <= LARGEST.get(name, table.n)]
        times = {name: seconds(table, name) for name in names}
        auto = seconds(table, "auto", told := [])
        best_sum, auto_sum = best_sum + min(times.values()), auto_sum + auto
        made = (
            f"{network}, {rows} rows, {score}{''.join(f' {k} {v:g}' for k, v in settings.items())}, {parents} parents"
        )
        size = f"n {table.n}, {len(table) / table.n:.0f} families each"
        singles = ", ".join(f"{name} {took:.2f}" for name, took in times.items())
        yield Figure(f"{made}: {size}", auto, note=f"{singles}; auto: {', '.join(told)}")
    yield Figure("auto, sum", auto_sum)
    yield Figure("the best single solver of each, sum", best_sum)
    yield Figure("auto against the best single solver of each", auto_sum / best_sum, 1.3, 1.05, unit="x")


def seconds(table: ScoreTable, name: str, told: list[str] | None = None) -> float:
    """CPU seconds, LIMIT at most; `told` gets the steps to the largest component, and whether the answer is proved."""
    begun = time.process_time()
    answer = load_solver(name).solve(table, Budget(cpu=LIMIT))
    took = time.process_time() - begun
    if told is not None:
        part = max(answer.statistics["parts"], key=lambda part: part["families"])
        told += [step["solver"] for step in part.get("steps", [part])]
        told += ["proved" if verify(table, answer, bound_of_proof).optimal else "claimed"]
    return took if answer.status is Status.OPTIMAL else LIMIT
