"""Constraints on the network: what scoring can respect, and what the search for the best network must.

Scoring never looks at parent sets that constraints on single arcs rule out; all that was asked is asked again of the
answer, and checked. Scoring also drops the sets that one of their subsets beats: no best network needs them, unless
adjacencies or paths are required. Then all sets are scored once more and kept.

Candidate parents (scores/selection.py) are a constraint on scoring only: nobody asked that the answer obey them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from optbn.data.dataset import Dataset

if TYPE_CHECKING:
    from optbn.scores.protocol import LocalScore
    from optbn_solvers import Constraints, ScoreTable

SCORING = ("forbidden", "required", "tiers", "roots", "leaves")


def divided(given: Mapping[str, Any] | None, names: tuple[str, ...]) -> tuple[dict[str, Any], Constraints | None]:
    """(what `score_table` takes, all that was asked); contradictions and unknown names are refused at once."""
    from optbn.learning.solving import constraints_of
    from optbn.scores.constraints import Constraints as Rules
    from optbn_solvers.front.filtering import Numbered

    asked = constraints_of(given)
    if asked is None:
        return {}, None
    said = asked.given()
    scoring = {name: said[name] for name in SCORING if name in said}
    Rules.build(names, len(names) - 1, **scoring)  # says more of a wrong name or a cycle than what comes next
    Numbered.of(asked, names).arcs()
    apart = [*asked.forbidden_edges, *((v, u) for u, v in asked.forbidden_edges)]
    if apart:
        scoring["forbidden"] = [*scoring.get("forbidden", ()), *apart]
    return scoring, asked


def demanding(asked: Constraints | None) -> bool:
    """Whether the best network may need families that one of their subsets beats."""
    return asked is not None and bool(asked.required_edges or asked.ancestors)


def all_families(
    data: Dataset,
    score: LocalScore,
    size: int,
    scoring: Mapping[str, Any],
    jobs: int | None,
    progress: Callable[[int, int], None] | None = None,
) -> ScoreTable:
    """The table of every candidate set of at most `size` parents, none left out."""
    from optbn.base.memory import parse_memory
    from optbn.scores.families import Families, score_families
    from optbn.scores.pipeline import bind
    from optbn.scores.selection import rules_of

    memory = parse_memory(None)
    rules = rules_of(data.names, size, scoring, bind(score, data, memory))
    listed = Families.allowed(data.names, rules, memory)
    return score_families(data, listed, score, jobs=jobs, progress=progress).rows().table(keep_dominated=True)
