"""What is known about the optimality of learned networks, kept in rows and counted in reports.

The words are those of optbn_solvers.base.standing: proved (by the checker), searched completely (the solver's word),
best found. Rows of older code say only that bound and score were equal (`optimal`), not who checked it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from optbn_solvers.base.standing import standing

if TYPE_CHECKING:
    from optbn_solvers import Solution

PROVED, COMPLETE, UNCHECKED, FOUND = "proved", "searched completely", "unchecked", "best found"


def evidence(solution: Solution) -> str:
    """The word for a solution."""
    return str(standing(solution))


def evidence_of(result: Mapping[str, Any]) -> str:
    """The word in a row's result; "unchecked" of an older row that says optimal and no more."""
    return str(result.get("evidence") or (UNCHECKED if result.get("optimal") else FOUND))


def tells_evidence(result: Mapping[str, Any]) -> bool:
    """Whether the row is of a method that says anything of optimality; other programs do not."""
    return "evidence" in result or "optimal" in result


IN_WORDS = {
    PROVED: "proved optimal",
    COMPLETE: "searched completely (claimed, not proved)",
    UNCHECKED: "said to be optimal by rows that do not say who checked it",
    FOUND: "the best found in the time",
}


def counted(results: Sequence[Mapping[str, Any]]) -> str:
    """ "10 of 12 networks are proved optimal, 2 the best found in the time"."""
    words = [evidence_of(result) for result in results]
    others = [f"{words.count(word)} {text}" for word, text in IN_WORDS.items() if word != PROVED and word in words]
    text = f"{words.count(PROVED)} of {len(words)} networks are proved optimal"
    return text + "".join(f", {other}" for other in others)
