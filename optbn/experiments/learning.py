"""The learning inside a study's cell, without doing twice what two scores share.

PCARTP is PCART, and FTP is FT, with log pi(|P|) = -log binom(n-1, |P|) added to every score. While that falls with |P|,
the penalised table follows from the plain one: with Q a proper subset of P,

    s(P) + log pi(P) > s(Q) + log pi(Q) >= s(Q) + log pi(P)     implies     s(P) > s(Q)

so what survives the penalised pruning survived the plain one, and a set that the plain pruning dropped cannot have been
the only one to dominate another: the set that dominates it scores as much and is smaller. A worker keeps the last
plain table, so that the cells of PCART and of PCARTP on one sample pay for the trees once when they come one after the
other. The time of Phase I that a cell reports is that of the plain table in either case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn.base.errors import DataError
from optbn.data.dataset import Dataset
from optbn.learning.structure import LearnedStructure, Stopwatch, best_structure, learn_structure
from optbn.scores import load_score
from optbn.scores.pipeline import score_table
from optbn_solvers import ScoreTable

if TYPE_CHECKING:
    from optbn.scores.progress import ScoreProgress

PLAIN = {"pcartp": "pcart", "ftp": "ft"}


def method(score: str) -> tuple[str, dict[str, Any]]:
    """A score's name and settings from its name, which may carry an equivalent sample size as in "bdeu:10"."""
    name, colon, ess = score.partition(":")
    try:
        settings: dict[str, Any] = {"ess": float(ess)} if colon else {}
    except ValueError:
        raise DataError(
            f"method {score!r}: expected an equivalent sample size after the colon, as in bdeu:10"
        ) from None
    load_score(name, **settings)
    return name, settings


def learn(
    data: Dataset, score: str, max_parents: int, solver: str, solve_seconds: float, settings: Mapping[str, Any]
) -> LearnedStructure:
    """The optimal structure under a score, written as in `method`."""
    name, own = method(score)
    settings = {**settings, **own}
    plain = PLAIN.get(name, name)
    if plain not in PLAIN.values() or (plain != name and not falls(data.n_variables, max_parents)):
        return learn_structure(
            data, name, max_parents, solver=solver, time_limit=solve_seconds, settings=settings, jobs=1
        )
    table, families, seconds = plain_table(data, plain, max_parents, tuple(sorted(settings.items())))
    watch = Stopwatch({"score": seconds})
    if plain != name:
        with watch.phase("score"):
            table = penalised(table, lambda k: math.log(math.comb(table.n - 1, k)))
    return best_structure(table, families, watch, solver=solver, time_limit=solve_seconds)


def falls(n: int, max_parents: int) -> bool:
    """Whether log pi falls with the number of parents, up to the most there may be."""
    return 2 * max_parents <= n


def penalised(table: ScoreTable, cost: Callable[[int], float]) -> ScoreTable:
    """The table of plain scores with cost(|P|), which must not fall, taken from each."""
    sizes = np.bitwise_count(table.masks).sum(axis=1, dtype=np.int64)
    costs = np.array([cost(k) for k in range(int(sizes.max()) + 1)])
    return ScoreTable.build(table.names, table.children, table.masks, table.scores - costs[sizes])


@lru_cache(maxsize=1)
def plain_table(
    data: Dataset, name: str, max_parents: int, settings: tuple[tuple[str, Any], ...]
) -> tuple[ScoreTable, int, tuple[float, float]]:
    """Phase I: the table, how many families were scored for it, and the (wall, CPU) seconds that took."""
    reports: list[ScoreProgress] = []
    watch = Stopwatch()
    with watch.phase("score"):
        table = score_table(data, name, max_parents, jobs=1, progress=reports.append, **dict(settings))
    return table, reports[-1].total, watch.phases["score"]
