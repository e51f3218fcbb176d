"""What each arc and each adjacency is worth: the score that the best graph loses without it, or with it.

Every number is the difference of two optima. For two variables that are adjacent in the optimum, the best graph in
which they are not, and the best with the arc turned; for two that are not, the best graph with the arc in either
direction. All else follows: without an arc the best graph has it turned or has no arc there; with an adjacency it has
the better of its two directions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from optbn_solvers.base.protocol import Budget
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.front.warm import Answer, Warm

Losses = NDArray[np.float64]
EdgeProgress = Callable[[int, int], None]
"""Called as progress(pairs done, pairs in all)."""


@dataclass(frozen=True, eq=False)
class Edges:
    """Losses in units of the score; inf where no graph of the table will do, nan where there was no time.

    choice    rows of an optimal graph, all losses are against its score
    forced    float64[n, n]: [u, v] is the loss of the best graph with the arc u -> v, 0 for arcs of the optimum
    apart     float64[n, n], symmetric: the loss of the best graph in which u and v are not adjacent
    forced_at_least, apart_at_least   the same as lower bounds that the checker proved
    """

    table: ScoreTable
    choice: tuple[int, ...]
    forced: Losses
    apart: Losses
    forced_at_least: Losses
    apart_at_least: Losses

    @property
    def without(self) -> Losses:
        """[u, v]: the loss of the best graph without the arc u -> v (turned or away)."""
        return np.minimum(self.forced.T, self.apart)

    @property
    def adjacent(self) -> Losses:
        """[u, v], symmetric: the loss of the best graph in which u and v are adjacent."""
        return np.minimum(self.forced, self.forced.T)

    @property
    def proved(self) -> bool:
        """Every loss is known and every one was proved."""
        return bool((self.forced == self.forced_at_least).all() and (self.apart == self.apart_at_least).all())


def edges(
    table: ScoreTable,
    warm: Warm | None = None,
    budget: Budget | None = None,
    progress: EdgeProgress | None = None,
    only_adjacent: bool = False,
) -> Edges:
    """The losses of all arcs and adjacencies of a table, best one with all families (`keep_dominated`).

    Pairs that the budget leaves no time for are nan, and with `only_adjacent` those that are not adjacent in the
    optimum. StoppedError when not even the optimum was reached in time.
    """
    budget = (budget or Budget()).started()
    warm = warm or Warm.of(table, budget)
    n = table.n
    best = table.total_units(warm.optimum)
    forced, apart = np.zeros((n, n)), np.zeros((n, n))
    forced_least, apart_least = np.zeros((n, n)), np.zeros((n, n))
    variations = list(_variations(table, warm.optimum, only_adjacent))
    if only_adjacent:
        touched = {(u, v) for u, v, _ in variations} | {(v, u) for u, v, _ in variations}
        unknown = [[(u, v) not in touched for v in range(n)] for u in range(n)]
        forced[unknown], apart[unknown] = math.nan, math.nan
    holds = _holds(table)
    for done, (u, v, together) in enumerate(variations):
        if progress is not None:
            progress(done, len(variations))
        places = [(forced, forced_least, (u, v))] if together else [
            (apart, apart_least, (u, v)), (apart, apart_least, (v, u))
        ]  # fmt: skip
        loss, least = math.nan, 0.0
        if not budget.exhausted():
            of_v, of_u = table.children == v, table.children == u
            keep = ~(of_u & holds[v]) & ~(of_v & (~holds[u] if together else holds[u]))
            answer = warm.best(keep, budget)
            loss, least = _losses(table, best, answer)
        for losses, bounds, at in places:
            losses[at], bounds[at] = loss, least
    if progress is not None:
        progress(len(variations), len(variations))
    return Edges(table, warm.optimum, forced, apart, forced_least, apart_least)


def _losses(table: ScoreTable, best: int, answer: Answer | None) -> tuple[float, float]:
    """The loss of a variation, and what is proved of it; without any graph both are infinite."""
    if answer is None:
        return math.inf, math.inf
    loss = table.score_of(best - answer.units) if answer.units == answer.claim else math.nan
    return loss, table.score_of(max(0, best - answer.bound))


def _variations(table: ScoreTable, optimum: tuple[int, ...], only_adjacent: bool) -> Iterator[tuple[int, int, bool]]:
    """(u, v, True): the arc u -> v is forced; (u, v, False): u and v are kept apart."""
    arcs = {(u, v) for v, row in enumerate(optimum) for u in table.parents(row)}
    for u in range(table.n):
        for v in range(u + 1, table.n):
            present = [arc for arc in ((u, v), (v, u)) if arc in arcs]
            if present:
                yield u, v, False
            elif only_adjacent:
                continue
            yield from ((a, b, True) for a, b in ((u, v), (v, u)) if (a, b) not in present)


def _holds(table: ScoreTable) -> NDArray[np.bool_]:
    """bool[n, m]: [u, row], the row's parents include u."""
    bits = np.arange(table.n)
    return np.stack([(table.masks[:, u // 64] >> np.uint64(u % 64) & np.uint64(1)).astype(np.bool_) for u in bits])
