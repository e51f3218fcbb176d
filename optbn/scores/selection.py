"""Phase I for hundreds of variables: per variable only the likeliest parents, and all sets of these.

The lattice of all parent sets of n = 500 variables has 20 million sets of three and 10^10 families. Here one pass
scores all families with one parent; each variable v keeps the k parents u with the largest gain score(v, {u}) -
score(v, {}), required parents in any case, and every set of up to max_parents of them is scored: binom(k, <= D)
families per variable, the same kernels and the same bits as everywhere.

This is a heuristic and says so: parents that help only together (an exclusive or) can be missed. Whatever is proved
later about the table is proved among these candidates, which `write_table` notes and `optbn solve` repeats.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from optbn.errors import LimitError, UnsupportedError
from optbn.scores.families import Families, score_families

if TYPE_CHECKING:
    from optbn.data.dataset import Dataset
    from optbn.scores.constraints import Constraints
    from optbn.scores.protocol import BoundScore, LocalScore
    from solvers.table import ScoreTable

SETS = 64  # scored at a time in the first pass
MOST_FAMILIES = 1 << 27


def score_candidates(
    data: Dataset,
    method: LocalScore,
    constraints: Constraints,
    k: int,
    bound: BoundScore,
    *,
    jobs: int,
    memory: int,
    progress: Callable[[int, int], None] | None = None,
) -> ScoreTable:
    """The table of all sets of the k likeliest parents of each variable."""
    from solvers.table import ScoreTable

    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise UnsupportedError(f"candidates is {k!r}, expected a whole number of at least 1")
    families = families_of(data.names, likeliest(bound, constraints, k), constraints)
    found = score_families(data, families, method, jobs=jobs, memory=memory, progress=progress)
    return ScoreTable.build(data.names, families.children, families.masks, found.scores)


def likeliest(bound: BoundScore, constraints: Constraints, k: int) -> NDArray[np.bool_]:
    """bool[n, n]: whether the column's variable is a candidate parent of the row's; at most k, or all required ones."""
    n = constraints.n
    alone = bound.block(np.empty((1, 0), dtype=np.int32), np.ones((1, n), dtype=np.bool_), None)[0]
    gains = np.full((n, n), -np.inf)  # of the column's variable as the only parent of the row's
    for start in range(0, n, SETS):
        parents = np.arange(start, min(n, start + SETS), dtype=np.int32)
        wanted = np.ascontiguousarray(constraints.allowed[:, parents].T)
        scores = bound.block(parents[:, None], wanted, None)
        gains[:, parents] = np.where(wanted, scores - alone, -np.inf).T
    gains[constraints.required] = np.inf
    chosen = np.zeros((n, n), dtype=np.bool_)
    for v, row in enumerate(gains):
        most = max(k, int(constraints.needs[v]))
        best = np.argsort(-row, kind="stable")[:most]
        chosen[v, best[row[best] > -np.inf]] = True
    return chosen


def families_of(names: tuple[str, ...], chosen: NDArray[np.bool_], constraints: Constraints) -> Families:
    """All parent sets within the chosen ones that the constraints allow."""
    children: list[int] = []
    sets: list[tuple[int, ...]] = []
    for v, row in enumerate(chosen):
        must = tuple(np.flatnonzero(constraints.required[v]).tolist())
        free = [u for u in np.flatnonzero(row).tolist() if u not in must]
        for size in range(int(constraints.max_parents[v]) - len(must) + 1):
            for some in combinations(free, size):
                children.append(v)
                sets.append((*must, *some))
        if len(sets) > MOST_FAMILIES:
            raise LimitError(f"more than {MOST_FAMILIES:,} families: lower candidates or max_parents")
    masks = np.zeros((len(sets), max(1, -(-len(names) // 64))), dtype=np.uint64)
    owner = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
    members = np.array([u for each in sets for u in each], dtype=np.int64)
    np.bitwise_or.at(masks, (owner, members // 64), np.uint64(1) << (members % 64).astype(np.uint64))
    return Families(names, np.array(children, dtype=np.int64), masks)


def among(about: dict[str, Any]) -> str | None:
    """What a score file says about its candidates, as the end of a sentence about an optimum; None if it has all."""
    given = about.get("constraints")
    k = given.get("candidates") if isinstance(given, dict) else None
    return f"among the {k} likeliest parents of each variable" if k else None
