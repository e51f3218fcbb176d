"""Constraints in branch and cut: what a graph broke becomes a row, at once or in a later round.

Limits on numbers of arcs are rows from the beginning; all others are separated lazily, by the graphs that are met: each
graph better than the incumbent is looked at, and if it breaks a constraint, that constraint's clause joins `rows`, from
which the root, the nodes and SCIP take those that their point violates. A repaired graph may be a new incumbent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.residual import ArcLimit, ChildLimit, Graph, Independence, NoAncestor, Order, Residual
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.relaxation.literals import parents_of
from optbn_solvers.relaxation.repair import repaired
from optbn_solvers.relaxation.rows import Limit, Rule

STEP = 1e-3  # what an arc costs at least, so that walks are short


class Rules:
    """The residual constraints of a table; `rows` only grows."""

    def __init__(self, table: ScoreTable, residual: Sequence[Residual], budget: Budget) -> None:
        self.table, self.residual, self.budget = table, residual, budget
        self.rows: dict[Rule | Limit, None] = {}
        self._repaired: set[bytes] = set()
        for each in residual:
            if isinstance(each, ArcLimit):
                self.rows[Limit(tuple(range(table.n)), each.limit)] = None
            elif isinstance(each, ChildLimit):
                self.rows[Limit((each.u,), each.limit)] = None

    def broken(self, rows: Sequence[int] | NDArray[np.int64]) -> list[Rule]:
        """The rows that a graph violates; they are kept."""
        parents = parents_of(self.table, rows)
        clauses = [clause for each in self.residual if (clause := each.broken(parents)) is not None]
        found = [Rule(clause) for clause in clauses]
        self.rows |= dict.fromkeys(found)
        return found

    def separate(self, weight: NDArray[np.float64]) -> None:
        """Clauses that a fractional point may violate, from its arc weights [u, v]; they are kept.

        Arcs of weight w cost 1 - w: where a clause's arcs cost less than 1 together, it is violated if each child has
        only one of them (or always has them together).
        """
        cost = {(u, v): 1.0 - min(1.0, float(weight[u, v])) + STEP for u, v in np.argwhere(weight > STEP).tolist()}
        graph = Graph(self.table.n, cost)
        for each in self.residual:
            if isinstance(each, NoAncestor | Order | Independence):
                clause = each.cheapest(graph, 1.0)
                if clause is not None:
                    self.rows[Rule(clause)] = None

    def obeying(self, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The graph itself if it obeys, else one that does and is not far from it, or None (also the second time)."""
        if not self.broken(rows):
            return rows
        if (name := rows.tobytes()) in self._repaired:
            return None
        self._repaired.add(name)
        return repaired(self.table, rows, self.residual, self.budget)
