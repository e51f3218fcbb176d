"""The check of an answer of several graphs: the k best, one of each equivalence class, or all in a window of score.

Each graph is checked as a single one is; then that they are as many different ones (or classes), in order, and that
the shares of arcs are counted right. That no graph is left out is shown by the checker's own enumeration
(optbn_solvers.verify.every) where that is not too much work, and counts as claimed otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise

from optbn_solvers.base.constraints import Constraints
from optbn_solvers.base.errors import CheckFailed, OutOfTime, TooMuch
from optbn_solvers.base.memory import half_of_memory
from optbn_solvers.base.table import ScoreTable
from optbn_solvers.verify.every import graphs_from
from optbn_solvers.verify.families import members_of
from optbn_solvers.verify.layers import MANY, Work
from optbn_solvers.verify.reading import Reading

NEAR = 1e-9  # by which a share of graphs may be off


@dataclass(frozen=True)
class Several:
    """Graphs as they are said to be, best first.

    choices, scores  the rows of each graph in the table, and its score
    per_class        no two are equivalent, and each is the best of its class
    window           all are at most this far below the best; None: these are the k best
    complete         no other graph is better than the last (or: is in the window)
    shares           (parent, child): the part of the graphs that has the arc
    """

    choices: tuple[tuple[int, ...], ...]
    scores: tuple[float, ...]
    per_class: bool
    window: float | None
    complete: bool
    shares: Mapping[tuple[int, int], float]
    constraints: Constraints | None = None


def verify_several(
    table: ScoreTable,
    several: Several,
    out_of_time: Callable[[], bool] = lambda: False,
    work: float = MANY,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(what is proved, what is only claimed) in sentences; CheckFailed names the first thing that is false."""
    if not several.choices or len(several.scores) != len(several.choices):
        raise CheckFailed("the answer lists no graphs, or has no score for some of them")
    reading = Reading(table, several.constraints)
    units = [_units(reading, i, *pair) for i, pair in enumerate(zip(several.choices, several.scores, strict=True))]
    if any(one < two for one, two in pairwise(units)):
        raise CheckFailed("the graphs are not in the order of their scores")
    graphs = [reading.parents(choice) for choice in several.choices]
    names = [class_of(graph) for graph in graphs] if several.per_class else graphs
    if len(set(names)) < len(names):
        raise CheckFailed("two of the graphs are equivalent" if several.per_class else "a graph is listed twice")
    _check_shares(reading, graphs, several.shares)
    obeying = ", obeys the constraints" if several.constraints else ""
    kind = "no two are equivalent" if several.per_class else "all are different"
    proved = [
        f"each of the {len(graphs)} graphs is acyclic{obeying}, its families exist and add up to its score",
        f"they are in order of score, {kind}; the shares of arcs are counted right",
    ]
    least = units[-1] + 1
    best = "no other graph scores more than the last of these"
    if several.window is not None:
        best = "every graph in the window is one of these"
        least = math.ceil(units[0] - Fraction(several.window) * Fraction(2) ** table.exponent)
        if units[-1] < least:
            raise CheckFailed("the last of the graphs is below the window")
    if several.per_class:
        best += ", or equivalent to one and no better"
    if not several.complete:
        return tuple(proved), ()
    known = dict(zip(names, units, strict=True))
    try:
        _check_nothing_is_left_out(reading, several, known, least, Work(work, half_of_memory(), out_of_time))
    except (TooMuch, OutOfTime):
        return tuple(proved), (f"{best}: the search was not repeated",)
    return (*proved, best), ()


def class_of(graph: Sequence[int]) -> tuple[int, ...]:
    """The same for equivalent graphs only (masks of parents): neighbours, and pairs of parents that are none."""
    n = len(graph)
    near = [mask | sum(1 << w for w in range(n) if graph[w] >> v & 1) for v, mask in enumerate(graph)]
    pairs = [(a, v, b) for v in range(n) for a, b in combinations(members_of(graph[v]), 2) if not near[a] >> b & 1]
    return (*near, *(number for triple in pairs for number in triple))


def _units(reading: Reading, place: int, choice: Sequence[int], score: float) -> int:
    try:
        return reading.graph(choice, score)
    except CheckFailed as error:
        raise CheckFailed(f"graph {place + 1} of the answer: {error}") from None


def _check_shares(reading: Reading, graphs: Sequence[Sequence[int]], shares: Mapping[tuple[int, int], float]) -> None:
    counts: dict[tuple[int, int], int] = {}
    for graph in graphs:
        for v, mask in enumerate(graph):
            for u in members_of(mask):
                counts[u, v] = counts.get((u, v), 0) + 1
    for u, v in {**counts, **shares}:
        share = counts.get((u, v), 0) / len(graphs)
        if not abs(shares.get((u, v), 0.0) - share) <= NEAR:
            raise CheckFailed(
                f"the arc {reading.names[u]} -> {reading.names[v]} is in {share!r} of the graphs, and not as many as "
                "the answer says"
            )


def _check_nothing_is_left_out(
    reading: Reading, several: Several, known: Mapping[tuple[int, ...], int], least: int, work: Work
) -> None:
    """CheckFailed if a graph of at least that many units is not known, or is better than what is known of its class."""
    for graph in graphs_from(reading.allowed, least, work):
        arcs = {(u, v) for v, mask in enumerate(graph) for u in members_of(mask)}
        if reading.rules is not None and reading.rules.wrong(arcs) is not None:
            continue
        units = sum(dict(own)[mask] for own, mask in zip(reading.families, graph, strict=True))
        if known.get(class_of(graph) if several.per_class else graph, -math.inf) < units:
            listed = ", ".join(f"{reading.names[u]} -> {reading.names[v]}" for u, v in sorted(arcs)) or "no arcs"
            raise CheckFailed(f"a graph of score {reading.score(units)!r} is missing from the answer: {listed}")
