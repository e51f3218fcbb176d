"""Phase I for hundreds of variables: per variable only the likeliest parents, and all sets of these.

The lattice of all parent sets of n = 500 variables has 20 million sets of three and 10^10 families. Here one pass
scores all families with one parent; each variable v keeps the k parents u with the largest gain score(v, {u}) -
score(v, {}), required parents in any case, and every set of up to max_parents of them is scored: binom(k, <= D)
families per variable, the same kernels and the same bits as everywhere.

This is a heuristic and says so: parents that help only together (an exclusive or) can be missed. Whatever is proved
later about the table is proved among these candidates, which `write_table` notes and `optbn solve` repeats.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import UnsupportedError
from optbn.scores.parent_sets import ParentSets

if TYPE_CHECKING:
    from optbn.scores.protocol import BoundScore
    from optbn_solvers import Solution

SETS = 64  # scored at a time in the first pass


def likeliest(bound: BoundScore, sets: ParentSets, k: int) -> NDArray[np.bool_]:
    """bool[n, n]: whether the column's variable is a candidate parent of the row's; at most k, or all required ones."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise UnsupportedError(f"candidates is {k!r}, expected a whole number of at least 1")
    n = sets.n
    alone = bound.block(np.empty((1, 0), dtype=np.int32), np.ones((1, n), dtype=np.bool_), None)[0]
    gains = np.full((n, n), -np.inf)  # of the column's variable as the only parent of the row's
    for start in range(0, n, SETS):
        parents = np.arange(start, min(n, start + SETS), dtype=np.int32)
        wanted = np.ascontiguousarray(sets.allowed[:, parents].T)
        scores = bound.block(parents[:, None], wanted, None)
        gains[:, parents] = np.where(wanted, scores - alone, -np.inf).T
    gains[sets.required] = np.inf
    chosen = np.zeros((n, n), dtype=np.bool_)
    for v, row in enumerate(gains):
        most = max(k, int(sets.needs[v]))
        best = np.argsort(-row, kind="stable")[:most]
        chosen[v, best[row[best] > -np.inf]] = True
    return chosen


def noted(about: dict[str, Any]) -> str | None:
    """What a score file says about its candidates, as the end of a sentence about an optimum; None if it has all."""
    constraints = about.get("constraints")
    k = constraints.get("candidates") if isinstance(constraints, dict) else None
    return among(k) if k else None


def limited(solution: Solution, k: int) -> Solution:
    """The solution of such a table, saying so."""
    return replace(solution, statistics={**solution.statistics, "candidates": among(k)})


def among(k: Any) -> str:
    return f"among the {k} likeliest parents of each variable"
