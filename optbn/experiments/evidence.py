"""What is known about the optimality of learned networks, kept in rows and counted in reports.

proved    the bound is the score, and the independent checker has proved that bound
claimed   searched completely: the solver says that nothing better is left; graph and score are checked, that is not
found     the best there was when the time was up

Rows of older code say only that bound and score were equal (`optimal`), not who checked it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optbn_solvers import Solution


def evidence(solution: Solution) -> str:
    """One of the three words."""
    checked = solution.statistics.get("checked")
    if solution.gap > 0:
        return "found"
    return "proved" if checked and checked.get("ended", True) and not checked.get("claimed") else "claimed"


def evidence_of(result: Mapping[str, Any]) -> str:
    """The word in a row's result; "unchecked" of an older row that says optimal and no more."""
    return str(result.get("evidence") or ("unchecked" if result.get("optimal") else "found"))


SAID = {
    "proved": "proved optimal",
    "claimed": "searched completely (claimed, not proved)",
    "unchecked": "said to be optimal by rows that do not say who checked it",
    "found": "the best found in the time",
}


def counted(results: Sequence[Mapping[str, Any]]) -> str:
    """ "10 of 12 networks are proved optimal, 2 the best found in the time"."""
    words = [evidence_of(result) for result in results]
    others = [f"{words.count(word)} {said}" for word, said in SAID.items() if word != "proved" and word in words]
    text = f"{words.count('proved')} of {len(words)} networks are proved optimal"
    return text + "".join(f", {other}" for other in others)
