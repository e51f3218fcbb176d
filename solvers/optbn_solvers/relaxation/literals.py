"""What constraints on a whole graph leave of the families: a literal that is true or false, a limit on arcs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.kernels.masks import pack_sets
from optbn_solvers.base.residual import ArcLimit, ChildLimit, Clause, Residual
from optbn_solvers.base.solution import Literal
from optbn_solvers.base.table import ScoreTable

Mask = NDArray[np.bool_]


def parents_of(table: ScoreTable, rows: NDArray[np.int64] | Sequence[int]) -> list[int]:
    """A graph as masks of parents."""
    return [sum(word << 64 * i for i, word in enumerate(table.masks[row].tolist())) for row in rows]


def shortest_clause(parents: Sequence[int], residual: Sequence[Residual]) -> Clause | None:
    """Of the clauses that a graph breaks one with the fewest literals."""
    clauses = [clause for each in residual if (clause := each.broken(parents)) is not None]
    return min(clauses, key=len, default=None)


def holds(table: ScoreTable, literal: Literal) -> Mask:
    """bool[m]: the rows that a graph for which the literal is true may have."""
    return ~_own(table, literal) | (_says(table, literal))


def false_of(table: ScoreTable, literal: Literal, true: Mask) -> Mask:
    """bool[m]: the same for a graph for which it is false."""
    return ~_own(table, literal) | ~true


def _own(table: ScoreTable, literal: Literal) -> Mask:
    own: Mask = table.children == literal.child
    return own


def _says(table: ScoreTable, literal: Literal) -> Mask:
    others = pack_sets([literal.others], table.n)[0]
    says: Mask = ((table.masks & others) != 0).any(axis=1)
    return says if literal.meets else ((table.masks & others) != others).any(axis=1)


def tighten(table: ScoreTable, keep: Mask, residual: Sequence[Residual]) -> bool:
    """Drop families that the limits leave no room for, in place; False when a child has none left."""
    limits = [each for each in residual if isinstance(each, ArcLimit | ChildLimit)]
    counts = [_arcs(table, each) for each in limits]
    changed = True
    while changed:
        changed = False
        if (np.add.reduceat(keep, table.offsets[:-1], dtype=np.int64) == 0).any():
            return False
        for each, count in zip(limits, counts, strict=True):
            least = np.minimum.reduceat(np.where(keep, count, table.n), table.offsets[:-1])
            room = each.limit - int(least.sum())
            over = keep & (count - least[table.children] > room)
            if over.any():
                keep &= ~over
                changed = True
    return True


def _arcs(table: ScoreTable, limit: ArcLimit | ChildLimit) -> NDArray[np.int64]:
    """int64[m]: how many of the arcs that the limit is about each family has."""
    if isinstance(limit, ArcLimit):
        return np.bitwise_count(table.masks).sum(axis=1, dtype=np.int64)
    return (table.masks[:, limit.u >> 6] >> np.uint64(limit.u & 63) & np.uint64(1)).astype(np.int64)
