"""What else the data would bear: the best networks after the best, and how probable each arc is over all networks.

Alternatives are the k best graphs of the score table, that is of those graphs in which no variable could lose a parent
without loss of score; each is told by how it differs from the best. Arc probabilities average over *all* graphs within
the constraints, weighted by the exponential of their scores (the exact posterior, with a uniform prior over graphs,
when the score is a marginal likelihood); for that every candidate set is scored again and none is pruned. Above
MOST_OF_ALL variables graphs are weighted by their topological orders instead (see solvers/posterior.py), as is said.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from optbn.data.dataset import Dataset
from optbn.errors import LimitError

if TYPE_CHECKING:
    from optbn.scores.constraints import Constraints
    from optbn.scores.protocol import LocalScore
    from solvers import ScoreTable, Solution

MOST = 20  # variables: 2^n subsets
MOST_OF_ALL = 14  # variables for sums over graphs, 3^n


def alternatives(table: ScoreTable, solution: Solution, k: int) -> tuple[str, ...]:
    """The k best networks after the best, a line each."""
    from solvers.near import best_graphs

    _check(table.n, "the next best networks")
    assert solution.choice is not None and solution.score is not None
    best = _arcs(table, solution.choice)
    lines: list[str] = []
    for choice in best_graphs(table, k + 1, constraints=solution.constraints).choices:
        arcs = _arcs(table, choice)
        if arcs != best and len(lines) < k:
            score = float(sum(table.scores[row] for row in choice))
            lines.append(f"{_lost(solution.score - score)}: {_difference(best, arcs)}")
    return tuple(lines)


def arc_posteriors(
    data: Dataset, score: LocalScore, size: int, constraints: Mapping[str, Any], jobs: int | None = None
) -> tuple[dict[tuple[str, str], float], str]:
    """{(parent, child): probability}, and over what it was taken."""
    from optbn.learning.constraints import all_families
    from solvers.posterior import posterior

    _check(data.n_variables, "arc probabilities")
    table = all_families(data, score, size, constraints, jobs)
    found = posterior(table, "graphs" if table.n <= MOST_OF_ALL else "orders")
    chances = {
        (parent, child): float(np.clip(found.arcs[u, v], 0.0, 1.0))
        for u, parent in enumerate(table.names)
        for v, child in enumerate(table.names)
        if u != v
    }
    return chances, "all networks" if found.over == "graphs" else "all networks, weighted by their orders"


def _check(n: int, what: str) -> None:
    if n > MOST:
        raise LimitError(f"{what} are computed for at most {MOST} variables, and there are {n}")


def candidate_families(rules: Constraints) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(child, parents) of every candidate set that the rules allow."""
    for child in range(rules.n):
        must = tuple(np.flatnonzero(rules.required[child]).tolist())
        free = np.flatnonzero(rules.allowed[child] & ~rules.required[child]).tolist()
        for k in range(int(rules.max_parents[child]) - len(must) + 1):
            for more in itertools.combinations(free, k):
                yield child, tuple(sorted((*must, *more)))


def _arcs(table: ScoreTable, choice: Any) -> set[tuple[str, str]]:
    return {(parent, child) for child, parents in table.graph(choice).items() for parent in parents}


def _lost(difference: float) -> str:
    return "equal score" if difference <= 0 else f"{difference:.3f} nat less"


def _difference(best: set[tuple[str, str]], other: set[tuple[str, str]]) -> str:
    turned = {(v, u) for u, v in best - other} & other
    lost = {arc for arc in best - other if (arc[1], arc[0]) not in turned}
    gained = other - best - turned
    parts = []
    for word, arcs in (("turned round", turned), ("without", lost), ("with", gained)):
        if arcs:
            parts.append(f"{word} {', '.join(f'{u} → {v}' for u, v in sorted(arcs))}")
    return "; ".join(parts)
