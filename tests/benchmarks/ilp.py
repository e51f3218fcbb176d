"""Branch and cut on shared instances: CPU seconds from reading the file to the checked answer, median of 3 seeds."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator

from optbn_solvers.base.files import read_table
from optbn_solvers.base.protocol import Budget
from optbn_solvers.methods.ilp import Ilp
from optbn_solvers.verify import verify
from tests.benchmarks import Figure
from tests.paths import shared_neighbour

FIGURES = {  # at most, to aim for
    "insurance_1000_bdeu1_p3": (0.8, 0.4),
    "alarm_1000_bdeu1_p3": (1.2, 0.4),
    "water_1000_bdeu1_p3": (0.9, 0.4),
    "hailfinder_1000_bdeu10_p3": (2.0, 1.0),
    "flag_bdeu1_p3": (1.2, 0.6),
    "autos_bic_p5": (4.0, 1.5),
    "carpo100_bdeu1_p2": (4.0, 2.0),
    "sponge_bdeu1_p3": (5.0, 2.0),
    "alarm_1000_bdeu10_p3": (12.0, 5.0),
    "alarm_10000_bdeu1_p3": (11.0, 4.0),
}
OPEN = {"win95pts_1000_bic_p2": 3, "steel_bic_p4": 1}  # optimum not known before; seeds
LIMIT = 300.0


def measure() -> Iterator[Figure]:
    """A line per instance; a wrong score is an error, not a figure."""
    folder = shared_neighbour("golden", "solver")
    optima = json.loads((folder / "optima.json").read_text())
    for name in ("asia_1000_bdeu1_p3", "flag_bdeu1_p3", "autos_bic_p5"):  # compile and import everything
        Ilp().solve(read_table(folder / f"{name}.jkl"), Budget(cpu=30))
    for name in (*FIGURES, *OPEN):
        times, notes = [], set()
        for seed in range(OPEN.get(name, 3)):
            start = time.process_time()
            table = read_table(folder / f"{name}.jkl")
            solution = Ilp(seed=seed).solve(table, Budget(wall=LIMIT))
            verdict = verify(table, solution)
            times.append(time.process_time() - start)
            best = optima.get(name, {}).get("optimum")
            if name in FIGURES and (solution.status != "optimal" or abs(solution.score - best) > 1e-6):
                raise AssertionError(f"{name}: {solution.status} {solution.score}, optimum {best}")
            how = "proved" if verdict.optimal else f"{solution.status}, bound {solution.bound:.3f}"
            if verdict.claimed and solution.status == "optimal":
                how = f"exact tree of {solution.statistics.get('nodes')} nodes"
            notes.add(f"{solution.score:.6f} {how}, gap {solution.gap:.4g}")
        limit, aim = FIGURES.get(name, (LIMIT, None))
        spread = f"seeds {' '.join(f'{t:.2f}' for t in times)}"
        yield Figure(name, statistics.median(times), limit, aim, note=f"{spread}; {'; '.join(sorted(notes))}")
