"""All solvers on random tables, constraints or not: `python -m tests.agree [--minutes M] [--seed S] [--write]`.

Every answer must be optimal to the last unit: that of enumeration up to five variables, of the subset recurrence (case
by case under constraints) beyond, up to twelve; and its evidence must pass the checker. Ends with 1 at the first
difference, and says how to get it again. --write adds what was compared to results/agree.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from optbn_solvers import SOLVERS, Budget, Constraints, ScoreTable, Status, solve
from optbn_solvers.base.errors import ConstraintError, InfeasibleError
from optbn_solvers.base.protocol import capabilities
from optbn_solvers.front.near import best_graphs
from optbn_solvers.front.registry import solver_class
from tests.kbest import k_best
from tests.naive.constraints import best_obeying, random_constraints
from tests.naive.solvers import KINDS, random_table, random_unpruned_table

NO_MEMORY = 8  # bytes: not even one variable for the recurrence
# what is compared: solver, its settings, bytes of memory; every exact solver as it is, and some in other ways
WAYS: dict[str, tuple[str, dict[str, Any], int | None]] = {
    **{name: (name, {}, None) for name in SOLVERS if capabilities(solver_class(name)).exact},
    "auto without the recurrence": ("auto", {}, NO_MEMORY),
    "auto as a race": ("auto", {"jobs": 2}, NO_MEMORY),
    "cp": ("cp", {"carried": 10**6}, None),
    "cp without a first graph": ("cp", {"greedy": False}, None),
    "astar with a poor bound": ("astar", {"greedy": False, "rounds": 1}, NO_MEMORY << 10),
}
SLOW = {"maxsat": 8}  # variables beyond which it takes too long
FOLDER = Path("results/agree")
PATIENCE = 5.0  # CPU seconds for one answer; what takes longer is counted and not judged


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


def answer(
    table: ScoreTable,
    name: str,
    constraints: Constraints | None,
    options: dict[str, Any] | None = None,
    memory: int | None = None,
) -> tuple[int | str, bool]:
    """(units of the optimum, or what kept it from being found; whether the checker could prove it)."""
    try:
        budget = Budget(cpu=PATIENCE, memory=memory)
        found = solve(table, name, budget, constraints=constraints, only_listed=True, **(options or {}))
    except (InfeasibleError, ConstraintError):
        return "there is none", False
    if found.status is not Status.OPTIMAL:
        return "not in time", False
    return table.units_of(found.score), not found.statistics["checked"]["claimed"]


def wrong(seed: int, counts: Counter[str]) -> str | None:
    """What is wrong with the answers to the instance of a seed."""
    table, constraints = instance(seed)
    if table.n <= 5 and constraints is not None:
        best = best_obeying(table, constraints)
        expected: int | str = "there is none" if best is None else best
    else:
        expected, _ = answer(table, "dp", constraints)
    counts["instances"] += 1
    counts["with constraints"] += constraints is not None
    counts["without a graph"] += expected == "there is none"
    if expected == "not in time":
        counts["not judged"] += 1
        return None
    for way, (name, options, memory) in WAYS.items():
        if table.n > min(SLOW.get(way, table.n), capabilities(solver_class(name)).largest):
            continue
        found, proved = answer(table, name, constraints, options, memory)
        if found == "not in time":
            counts[f"{way}: not in time"] += 1
        elif found != expected:
            return f"{way}: {found}, expected {expected}; constraints {constraints}"
        else:
            counts[f"{way}: the same"] += 1
            counts[f"{way}: proved"] += proved
    if isinstance(expected, int) and constraints is None:
        ten = [table.total_units(choice) for choice in k_best(table, 10, only_listed=True)]
        if [table.units_of(score) for score in best_graphs(table, 10, only_listed=True).scores] != ten:
            return "the ten best graphs are not those by subsets"
        counts["ten best graphs"] += 1
    return None


def run(seeds: range, seconds: float, counts: Counter[str] | None = None) -> int:
    """Until the seeds or the seconds are used up; the exit code."""
    counts = Counter() if counts is None else counts
    begun = time.monotonic()
    for seed in seeds:
        if time.monotonic() - begun > seconds:
            break
        problem = wrong(seed, counts)
        if problem is not None:
            print(f"seed {seed}: {problem}", file=sys.stderr)
            return 1
    return 0


def keep(counts: Counter[str], first: int, minutes: float) -> None:
    """Add a run, in place of an earlier one from the same seed, and write the sum of all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "runs.json"
    runs = json.loads(path.read_text()) if path.exists() else []
    runs = [run for run in runs if run["first seed"] != first]
    runs.append({"first seed": first, "minutes": round(minutes), "counts": dict(sorted(counts.items()))})
    path.write_text(json.dumps(runs, indent=1) + "\n")
    (FOLDER / "README.md").write_text(written(runs))


def written(runs: list[dict[str, Any]]) -> str:
    """What was compared, as markdown."""
    counts: Counter[str] = Counter()
    for run in runs:
        counts.update(run["counts"])
    told = ", ".join(f"{run['minutes']} minutes from seed {run['first seed']}" for run in runs)
    lines = [
        "# agree",
        "",
        f"Written by `python -m tests.agree --write`: {told}.",
        "",
        f"{counts['instances']:,} random tables of 2 to 12 variables, {counts['with constraints']:,} of them with "
        f"constraints ({counts['without a graph']:,} that no graph obeys; {counts['not judged']:,} not judged, as the "
        "recurrence case by case takes too long): no difference from enumeration (up to five variables) or the subset "
        "recurrence, to the last unit. Of "
        f"{counts['ten best graphs']:,} tables the ten best graphs of cluster search and recurrence are the same too.",
        "",
        "| | the same answer | of them proved, and the proof checked | not within 5 s |",
        "|---|---|---|---|",
    ]
    for way in WAYS:
        same, proved, late = (counts[f"{way}: {what}"] for what in ("the same", "proved", "not in time"))
        lines.append(f"| {way} | {same:,} | {proved:,} | {late:,} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.agree", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="add what was compared to results/agree")
    arguments = parser.parse_args()
    compared: Counter[str] = Counter()
    code = run(range(arguments.seed, arguments.seed + 10**9), 60 * arguments.minutes, compared)
    if code == 0:
        print(written([{"first seed": arguments.seed, "minutes": arguments.minutes, "counts": compared}]), end="")
        if arguments.write:
            keep(compared, arguments.seed, arguments.minutes)
    raise SystemExit(code)
