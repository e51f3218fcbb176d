"""Phase II: each instance from reading the file to the checked answer; CPU seconds, the median of three seeds.

The kernels are warm and imports are done: a small instance of the same width is solved first by each solver.
"""

from __future__ import annotations

import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from optbn_solvers import SOLVERS, Budget, Solution, solve
from optbn_solvers.base.files import read_table
from optbn_solvers.base.standing import Standing, standing
from optbn_solvers.front.components import restrict
from optbn_solvers.front.posterior import posterior
from tests.benchmarks import Figure, peak_memory
from tests.kbest import k_best
from tests.paths import shared_neighbour

SEEDS = (1, 2, 3)

# instance, at most, to aim for, the reference ILP's seconds
CUTS = (
    ("insurance_1000_bdeu1_p3", 0.8, 0.4, 1.0),
    ("alarm_1000_bdeu1_p3", 1.2, 0.4, 3.3),
    ("water_1000_bdeu1_p3", 0.9, 0.4, 3.7),
    ("hailfinder_1000_bdeu10_p3", 2, 1, 5.7),
    ("flag_bdeu1_p3", 1.2, 0.6, 5.9),
    ("autos_bic_p5", 4, 1.5, 10.6),
    ("carpo100_bdeu1_p2", 4, 2, 21.9),
    ("sponge_bdeu1_p3", 5, 2, 25.2),
    ("alarm_1000_bdeu10_p3", 12, 5, 60.1),
    ("alarm_10000_bdeu1_p3", 11, 4, 106.4),
)
SUBSETS = (("zoo_bdeu10_p4", 0.3, 0.05), ("letter_bic_p4", 1, 0.3), ("autos_bdeu1_p4", 20, 6))
ORDERS = (("zoo_bdeu10_p4", None, None), ("autos_bic_p5", None, None), ("autos_bdeu1_p4", 20, 5))
REFERENCE = {name: f"{seconds} s" for name, _, _, seconds in CUTS} | {
    "zoo_bdeu10_p4": "not in 90 s",
    "autos_bdeu1_p4": "not in 150 s",
}
OPEN = ("win95pts_1000_bic_p2", "steel_bic_p4")
OPEN_SECONDS = 600


def measure() -> Iterator[Figure]:
    """The figures, one after another."""
    folder = shared_neighbour("golden", "solver")
    optima = {name: entry["optimum"] for name, entry in json.loads((folder / "optima.json").read_text()).items()}
    _warm(folder)
    yield from _greedy(folder, optima)
    before = peak_memory()
    for name, limit, aim in SUBSETS:
        seconds, note = _solve(folder, name, "dp", optima[name], threads=1)
        yield Figure(f"dp: {name}", seconds, limit, aim, note=note)
    yield Figure("dp: autos_bdeu1_p4, memory beyond the start", peak_memory() - before, 700, unit="MB")
    for name, limit, aim in ORDERS:
        seconds, note = _solve(folder, name, "astar", optima[name])
        yield Figure(f"astar: {name}", seconds, limit, aim, note=note)
    for name, limit, aim, reference in CUTS:
        seconds, note = _solve(folder, name, "ilp", optima[name])
        yield Figure(f"ilp: {name}", seconds, limit, aim, note=f"reference {reference} s; {note}")
    everything = []
    for name, optimum in optima.items():
        if optimum is not None:
            seconds, note = _solve(folder, name, "auto", optimum)
            everything.append(seconds)
            reference = f"reference {REFERENCE[name]}; " if name in REFERENCE else ""
            yield Figure(f"auto: {name}", seconds, note=reference + note)
    yield Figure(f"auto: the sum over {len(everything)} instances with a known optimum", sum(everything), 65, 25)
    for name in OPEN:
        yield _open(folder, name)
    yield from _averages(folder)


def _warm(folder: Path) -> None:
    for name in sorted(SOLVERS):
        table = read_table(
            folder / "insurance_1000_bdeu1_p3.jkl" if name != "dp" else folder / "asia_1000_bdeu1_p3.jkl"
        )
        solve(table, name, Budget(wall=5))


def _solve(folder: Path, name: str, solver: str, optimum: float, **options: object) -> tuple[float, str]:
    """(median CPU seconds, what came out)."""
    import dataclasses

    from optbn_solvers.front.registry import solver_class

    seeded = any(field.name == "seed" for field in dataclasses.fields(solver_class(solver)))  # type: ignore[arg-type]
    times, answers = [], []
    for seed in SEEDS:
        begun = time.process_time()
        answer = solve(read_table(folder / f"{name}.jkl"), solver, **({"seed": seed} if seeded else {}), **options)
        times.append(time.process_time() - begun)
        answers.append(answer)
        assert answer.score is not None and answer.score <= optimum + 1e-5 <= answer.bound + 2e-5
    return statistics.median(times), f"{_words(answers)}; {min(times):.2g}-{max(times):.2g} s"


def _words(answers: list[Solution]) -> str:
    counts = Counter(standing(answer) for answer in answers)
    return ", ".join(f"{what} {counts[what]}" for what in Standing if counts[what]) + f" of {len(answers)}"


def _greedy(folder: Path, optima: dict[str, float | None]) -> Iterator[Figure]:
    hits, worst, known = [], 0.0, [name for name, optimum in optima.items() if optimum is not None]
    for seed in SEEDS:
        found = 0
        for name in known:
            optimum = optima[name]
            assert optimum is not None
            score = solve(read_table(folder / f"{name}.jkl"), "greedy", seed=seed, seconds=0.95).score
            assert score is not None
            missed = max(0.0, (optimum - score) / abs(optimum))
            worst = max(worst, missed)
            found += missed < 1e-9
        hits.append(found)
    yield Figure(
        f"greedy: instances of {len(known)} not solved within 1 s",
        len(known) - statistics.median(hits),
        len(known) - 10,
        unit="",
    )
    yield Figure("greedy: furthest from an optimum", 100 * worst, 0.2, unit="%")


def _averages(folder: Path) -> Iterator[Figure]:
    """What dynamic programming gives besides the optimum."""
    table = read_table(folder / "zoo_bdeu10_p4.jkl")
    small = read_table(folder / "asia_1000_bdeu1_p3.jkl")
    work = {
        "the 10 best graphs": lambda table: k_best(table, 10, only_listed=True),
        "posterior over orders": lambda table: posterior(table, "orders", only_listed=True),
        "posterior over graphs": lambda table: posterior(table, "graphs", only_listed=True),
    }
    for what, run in work.items():
        run(small)
        begun = time.process_time()
        run(table)
        yield Figure(f"{what}: zoo_bdeu10_p4 (17)", time.process_time() - begun)
    large = restrict(read_table(folder / "autos_bdeu1_p4.jkl"), range(25)).table
    before, begun = peak_memory(), time.process_time()
    posterior(large, "orders", only_listed=True)
    yield Figure("posterior over orders: 25 variables of autos_bdeu1_p4", time.process_time() - begun)
    yield Figure("the same, memory beyond the peak before", peak_memory() - before, unit="MB")


def _open(folder: Path, name: str) -> Figure:
    begun = time.process_time()
    answer = solve(read_table(folder / f"{name}.jkl"), "auto", Budget(cpu=OPEN_SECONDS))
    seconds = time.process_time() - begun
    assert answer.score is not None
    gap = f"score {answer.score:.6f}, bound {answer.bound:.6f}, gap {100 * answer.gap / abs(answer.score):.3f} %"
    return Figure(f"auto: {name}, optimum unknown before", seconds, OPEN_SECONDS, note=f"{standing(answer)}: {gap}")
