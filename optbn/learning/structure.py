"""From data to the optimal structure: Phase I, then Phase II, with the time each took.

    data --score--> ScoreTable --solve--> checked Solution --> Structure

What studies and the learning command share; giving the structure parameters is `optbn.fit`'s.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn.base.errors import StoppedEarly
from optbn.data.dataset import Dataset
from optbn.learning.constraints import check_constraints
from optbn.learning.solving import constraints_of, solve, structure_of
from optbn.network.structure import Structure
from optbn.scores import load_score
from optbn.scores.pipeline import table_of_sets
from optbn.scores.scoring import Scoring
from optbn_solvers.base.clock import working

if TYPE_CHECKING:
    from optbn.scores.progress import ScoreProgress
    from optbn.scores.protocol import LocalScore
    from optbn_solvers import Constraints, Progress, ScoreTable, Solution


@dataclass
class Stopwatch:
    """Wall seconds (without what compiling took) and CPU seconds by phase, in the order the phases were entered."""

    phases: dict[str, tuple[float, float]] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time spent inside to the phase."""
        wall, cpu = working(), time.process_time()
        try:
            yield
        finally:
            before = self.phases.get(name, (0.0, 0.0))
            self.phases[name] = (
                before[0] + working() - wall,
                before[1] + time.process_time() - cpu,
            )


@dataclass(frozen=True, eq=False)
class LearnedStructure:
    """The optimal structure (or the best found: see the solution's status) and everything it came from.

    families  candidate parent sets that were scored, before pruning
    seconds   (wall, CPU) by phase: "score", "solve"
    """

    structure: Structure
    scores: ScoreTable
    solution: Solution
    families: int
    seconds: Mapping[str, tuple[float, float]]

    def strengths(self) -> dict[tuple[str, str], float]:
        """Per arc the score that is lost when the child does without that parent.

        The loss is to the best candidate set among the child's other parents: what the same network without the arc
        would score. It is positive, or the set with the arc would have been pruned.
        """
        assert self.solution.choice is not None
        table, lost = self.scores, {}
        for child, row in enumerate(self.solution.choice):
            own = slice(table.rows(child).start, table.rows(child).stop)
            for parent in table.parents(row):
                rest = table.masks[row].copy()
                rest[parent // 64] ^= np.uint64(1) << np.uint64(parent % 64)
                fits = ~((table.masks[own] & ~rest) != 0).any(axis=1)
                if fits.any():  # not where the arc is required
                    best = own.start + int(np.argmax(fits))
                    difference = float(table.scores[row] - table.scores[best])
                    lost[table.names[parent], table.names[child]] = difference
        return lost


def learn_structure(
    data: Dataset,
    score: str | LocalScore = "pcartp",
    max_parents: int | Mapping[str, int] = 3,
    *,
    solver: str = "auto",
    time_limit: float | None = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    on_score: Callable[[ScoreProgress], None] | None = None,
    on_solve: Callable[[Progress], None] | None = None,
    **running: Any,
) -> LearnedStructure:
    """Score every candidate set and solve for the best network.

    time_limit   seconds the search for the best network may take (scoring is not limited here; `affordable` is)
    constraints  optbn_solvers.Constraints, or a dictionary of its fields (forbidden, required, tiers, max_arcs...)
    settings     of the score, when the score is a name
    running      jobs, memory, store of `score_table`
    """
    words, memory = constraints_of(constraints), running.pop("memory", None)
    watch, families = Stopwatch(), 0

    def scored(report: ScoreProgress) -> None:
        nonlocal families
        families = report.total
        if on_score:
            on_score(report)

    with watch.phase("score"):
        scoring = Scoring.of(data, load_score(score, **(settings or {})), max_parents, words, memory=memory)
        check_constraints(words, data.names)
        table = table_of_sets(scoring, progress=scored, **running)
    return best_structure(
        table, families, watch, solver=solver, time_limit=time_limit, progress=on_solve, constraints=words
    )


def best_structure(
    table: ScoreTable,
    families: int,
    watch: Stopwatch,
    *,
    solver: str = "auto",
    time_limit: float | None = None,
    grace: float | None = None,
    progress: Callable[[Progress], None] | None = None,
    constraints: Constraints | None = None,
) -> LearnedStructure:
    """Phase II on a table that is there (time_limit, grace, constraints: see `optbn.solve`)."""
    with watch.phase("solve"):
        solution = solve(table, solver, time_limit=time_limit, grace=grace, progress=progress, constraints=constraints)
    if solution.choice is None:
        raise StoppedEarly("the search was stopped before it had found any network; give it more time")
    return LearnedStructure(structure_of(table, solution), table, solution, families, watch.phases)
