"""All solvers on random tables, with and without constraints: `python -m tests.agree [--minutes M] [--seed S]`.

Every answer must be optimal to the last unit: that of enumeration up to five variables, of the subset recurrence (case
by case under constraints) beyond, up to twelve. Ends with 1 at the first difference, and says how to get it again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

import numpy as np

from solvers import Budget, Constraints, ScoreTable, Status, solve
from solvers.errors import ConstraintError, InfeasibleError
from solvers.kbest import k_best
from solvers.near import best_graphs
from tests.naive.constraints import best_obeying, random_constraints
from tests.naive.solvers import KINDS, random_table, random_unpruned_table

SOLVERS = ("auto", "cp", "ilp", "maxsat")
PATIENCE = 20.0  # CPU seconds for one answer; what takes longer is counted and not judged


def instance(seed: int) -> tuple[ScoreTable, Constraints | None]:
    """The table and the constraints of a seed."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 13))
    if rng.random() < 0.4:
        table = random_unpruned_table(rng, n)
    else:
        table = random_table(rng, n, str(rng.choice(KINDS)), rows=int(rng.integers(4, 25)))
    try:
        return table, random_constraints(rng, table.names, most=2) if n > 2 and rng.random() < 0.5 else None
    except ConstraintError:
        return table, None


def answer(table: ScoreTable, name: str, constraints: Constraints | None, greedy: bool = True) -> int | str:
    """Units of the optimum, or what kept it from being found."""
    options = {} if greedy or name != "cp" else {"greedy": False}
    try:
        found = solve(table, name, Budget(cpu=PATIENCE), constraints=constraints, **options)
    except (InfeasibleError, ConstraintError):
        return "there is none"
    if found.status is not Status.OPTIMAL:
        return "not in time"
    return table.units_of(found.score)


def wrong(seed: int, counts: Counter[str]) -> str | None:
    """What is wrong with the answers to the instance of a seed."""
    table, constraints = instance(seed)
    if table.n <= 5 and constraints is not None:
        best = best_obeying(table, constraints)
        expected: int | str = "there is none" if best is None else best
    else:
        expected = answer(table, "dp", constraints)
    counts["instances"] += 1
    counts["with constraints"] += constraints is not None
    for name in SOLVERS if table.n < 9 else SOLVERS[:-1]:
        for greedy in (True, False) if name == "cp" else (True,):
            found = answer(table, name, constraints, greedy)
            if "not in time" in (found, expected):
                counts["not in time"] += 1
            elif found != expected:
                return f"{name}: {found}, expected {expected}; constraints {constraints}"
    if isinstance(expected, int) and constraints is None:
        ten = [table.total_units(choice) for choice in k_best(table, 10)]
        if [table.units_of(score) for score in best_graphs(table, 10).scores] != ten:
            return "the ten best graphs are not those by subsets"
    return None


def run(seeds: range, seconds: float) -> int:
    """Until the seeds or the seconds are used up; the exit code."""
    counts: Counter[str] = Counter()
    begun = time.monotonic()
    for seed in seeds:
        if time.monotonic() - begun > seconds:
            break
        problem = wrong(seed, counts)
        if problem is not None:
            print(f"seed {seed}: {problem}", file=sys.stderr)
            return 1
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.agree", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    raise SystemExit(run(range(arguments.seed, arguments.seed + 10**9), 60 * arguments.minutes))
