"""Constraints on the network: what scoring can respect, and what the search for the best network must.

Scoring never looks at parent sets that constraints on single arcs rule out; the search respects all constraints, and
the answer is checked for all of them. Scoring also drops the sets that one of their subsets beats: no best network
needs them, unless adjacencies or paths are required. Then all sets are scored once more and kept.

Candidate parents (scores/selection.py) are a constraint on scoring only, not on the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from optbn.base.threads import check_jobs
from optbn.scores.families import Families
from optbn.scores.listed import FamilyScores, scores_of
from optbn_solvers.front.filtering import Numbered

if TYPE_CHECKING:
    from optbn.scores.scoring import Scoring
    from optbn_solvers import Constraints, ScoreTable

SCORING = ("forbidden", "required", "tiers", "roots", "leaves")


def check_constraints(constraints: Constraints | None, names: tuple[str, ...]) -> None:
    """Refuse names that do not exist, and constraints that contradict each other."""
    if constraints:
        Numbered.of(constraints, names).arcs()


def demanding(constraints: Constraints | None) -> bool:
    """Whether the best network may need families that one of their subsets beats."""
    return constraints is not None and bool(constraints.required_edges or constraints.ancestors)


def all_families(scoring: Scoring, jobs: int | None, progress: Callable[[int, int], None] | None = None) -> ScoreTable:
    """The table of every candidate set, none left out."""
    families = Families.allowed(scoring.data.names, scoring.sets, scoring.memory).without_dear(scoring.bound)
    scores = scores_of(scoring.bound, families, check_jobs(jobs), scoring.memory, progress)
    rows = FamilyScores(families, scores, scoring.bound).rows()
    return replace(rows, about={"sets": "all"}).table(keep_dominated=True)
