"""The small shared instances, by branch and cut alone and as `auto` solves them: CPU seconds from reading the file to
the checked answer, the median of three runs (of branch and cut with three seeds)."""

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

FIGURES = {  # seconds by branch and cut, at most
    "insurance_1000_bdeu1_p3": 0.8,
    "alarm_1000_bdeu1_p3": 1.2,
    "water_1000_bdeu1_p3": 0.9,
    "hailfinder_1000_bdeu10_p3": 2.0,
    "flag_bdeu1_p3": 1.2,
    "autos_bic_p5": 4.0,
    "carpo100_bdeu1_p2": 1.0,
    "sponge_bdeu1_p3": 1.0,
    "alarm_1000_bdeu10_p3": 3.0,
    "alarm_10000_bdeu1_p3": 3.5,
}
NEW = {"win95pts_1000_bic_p2": None, "steel_bic_p4": 5.0}
"""Seconds by `auto`, at most, of instances that the notes have no optimum for."""
SUM, AIM = 17.0, 12.0
"""Seconds by `auto` for all the others together."""
WARM = ("asia_1000_bdeu1_p3", "flag_bdeu1_p3", "autos_bic_p5", "carpo100_bdeu1_p2")
SEEDS, LIMIT = (1, 2, 3), 300.0


def measure() -> Iterator[Figure]:
    """A line per instance; a wrong score is an error, not a figure."""
    folder = shared_neighbour("golden", "solver")
    optima = {name: known["optimum"] for name, known in json.loads((folder / "optima.json").read_text()).items()}
    for name in WARM:  # compile and import everything
        for solver in ("ilp", "auto"):
            _timed(folder / f"{name}.jkl", solver, 1)
    for name, limit in FIGURES.items():
        yield _figure(folder / f"{name}.jkl", "ilp", optima[name], limit)
    known = [_figure(folder / f"{name}.jkl", "auto", best) for name, best in optima.items() if best is not None]
    yield from known
    yield Figure(f"these {len(known)} together, auto", sum(figure.value for figure in known), SUM, AIM)
    for name, most in NEW.items():
        yield _figure(folder / f"{name}.jkl", "auto", None, most)


def _figure(path: Path, solver: str, best: float | None, limit: float | None = None) -> Figure:
    times, notes = [], set()
    for seed in SEEDS:
        seconds, solution = _timed(path, solver, seed)
        times.append(seconds)
        if best is not None and (solution.status != "optimal" or abs((solution.score or 0.0) - best) > 1e-6):
            raise AssertionError(f"{path.stem}: {solution.status} {solution.score}, optimum {best}")
        notes.add(f"{solution.score:.6f} {standing(solution)}, gap {solution.gap:.4g}")
    spread = (
        f"seeds {' '.join(f'{each:.2f}' for each in times)}"
        if solver == "ilp"
        else f"{min(times):.2f} to {max(times):.2f}"
    )
    return Figure(f"{path.stem}, {solver}", statistics.median(times), limit, note=f"{spread}; {'; '.join(notes)}")


def _timed(path: Path, solver: str, seed: int) -> tuple[float, Solution]:
    """CPU seconds, and the checked answer."""
    begin = time.process_time()
    own = {"seed": seed} if solver == "ilp" else {}
    solution = solve(read_table(path), solver, Budget(wall=LIMIT), **own)
    return time.process_time() - begin, solution
