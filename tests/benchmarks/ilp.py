"""The small shared instances by branch and cut alone and as `auto` solves them: CPU seconds from reading the file to
the checked answer, medians of three seeds, and their sums."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from optbn_solvers import Solution, solve
from optbn_solvers.base.files import read_table
from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.standing import standing
from tests.benchmarks import Figure
from tests.paths import shared_neighbour

FIGURES = {  # seconds by branch and cut: at most, to aim for
    "alarm_1000_bdeu10_p3": (3.0, None),
    "alarm_10000_bdeu1_p3": (3.5, None),
    "carpo100_bdeu1_p2": (1.0, None),
    "sponge_bdeu1_p3": (1.0, None),
}
SUM, AIM = 17.0, 12.0
"""Of all instances whose optimum was known before."""
NEW = {"win95pts_1000_bic_p2": None, "steel_bic_p4": 5.0}
"""Instances that the notes have no optimum for, with the seconds that `auto` may take."""
WARM = ("asia_1000_bdeu1_p3", "flag_bdeu1_p3", "autos_bic_p5", "carpo100_bdeu1_p2")
SEEDS, LIMIT = (1, 2, 3), 300.0


def measure() -> Iterator[Figure]:
    """A line per instance and solver; a wrong score is an error, not a figure."""
    folder = shared_neighbour("golden", "solver")
    optima = json.loads((folder / "optima.json").read_text())
    small = sorted(name for name, known in optima.items() if known["optimum"] is not None)
    for solver in ("ilp", "auto"):
        for name in WARM:  # compile and import everything
            _timed(folder / f"{name}.jkl", solver, 1, LIMIT)
        total = 0.0
        for name in small:
            figure = _figure(folder / f"{name}.jkl", solver, optima[name]["optimum"])
            total += figure.value
            yield figure
        yield Figure(f"all {len(small)} together, {solver}", total, SUM, AIM)
    for name in NEW:
        yield _figure(folder / f"{name}.jkl", "auto", None)


def _figure(path: Path, solver: str, best: float | None) -> Figure:
    times, notes = [], set()
    for seed in SEEDS:
        seconds, solution = _timed(path, solver, seed, LIMIT)
        times.append(seconds)
        if best is not None and (solution.status != "optimal" or abs((solution.score or 0.0) - best) > 1e-6):
            raise AssertionError(f"{path.stem}: {solution.status} {solution.score}, optimum {best}")
        notes.add(f"{solution.score:.6f} {standing(solution)}, gap {solution.gap:.4g}")
    limit, aim = FIGURES.get(path.stem, (LIMIT, None)) if solver == "ilp" else (NEW.get(path.stem) or LIMIT, None)
    spread = f"seeds {' '.join(f'{each:.2f}' for each in times)}"
    return Figure(f"{path.stem}, {solver}", statistics.median(times), limit, aim, note=f"{spread}; {'; '.join(notes)}")


def _timed(path: Path, solver: str, seed: int, limit: float) -> tuple[float, Solution]:
    """CPU seconds, and the checked answer."""
    begin = time.process_time()
    own = {"seed": seed} if solver == "ilp" else {}
    solution = solve(read_table(path), solver, Budget(wall=limit), **own)
    return time.process_time() - begin, solution
