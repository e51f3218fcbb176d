"""One vocabulary for how good an answer is known to be: what reports, tables of results, pages and exit codes say.

    proved                the checker re-derived, from the evidence, a bound that is the score
    searched completely   the solver says that nothing is better; its search is taken on trust
    best found            neither; the bound that the checker re-derived says how much better a graph might be
    no graph              nothing was found in the time given

Only `front.checked` (and `optbn verify`) put a checked bound into a solution; what a file says of it is not read.
"""

from __future__ import annotations

import math
from enum import StrEnum

from optbn_solvers.base.solution import Solution


class Standing(StrEnum):
    """See the module's header."""

    PROVED = "proved"
    COMPLETE = "searched completely"
    FOUND = "best found"
    NONE = "no graph"


def standing(solution: Solution) -> Standing:
    """What may be said of the solution."""
    if solution.score is None:
        return Standing.NONE
    if checked_bound(solution) <= solution.score:
        return Standing.PROVED
    return Standing.COMPLETE if solution.bound == solution.score else Standing.FOUND


def checked_bound(solution: Solution) -> float:
    """No acyclic graph (that obeys the constraints) scores more, says the checker; infinite if it did not look."""
    bound = solution.statistics.get("checked", {}).get("bound")
    return math.inf if bound is None else float(bound)


def checked_gap(solution: Solution) -> float:
    """How much better than this one a graph might be, as far as was checked."""
    return math.inf if solution.score is None else checked_bound(solution) - solution.score
