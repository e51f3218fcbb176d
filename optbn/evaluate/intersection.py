"""Intersection-validation: which method needs the least data to find what all of them find with all of it.

Viinikka, Eggeling, Koivisto (AISTATS 2018). There is no true network for real data, so the methods under comparison
make one themselves: each learns from the whole data, and the agreement graph keeps the pairs of variables on which all
of them say the same (no edge, an arc this way or that, a line). Then each learns from random subsamples, and its loss
is the partial Hamming distance: the agreed pairs on which its graph differs. Graphs are read as their equivalence
classes (`level="cpdag"`) or as they are (`level="dag"`).

The agreement graph speaks for the methods' common ground only. When it is almost empty or when the methods disagree on
most of their edges, a small distance means little; `Agreement.caution` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from optbn.base.errors import DataError
from optbn.data.dataset import Dataset
from optbn.evaluate.distances import partial_hamming
from optbn.evaluate.orientation import Matrix
from optbn.evaluate.significance import holm, wilcoxon
from optbn.evaluate.sources import as_graph

Learner = Callable[[Dataset], Any]
"""Gives a graph: whatever `as_graph` takes."""
Level = Literal["cpdag", "dag"]

FEW_EDGES = 5


@dataclass(frozen=True, eq=False)
class Agreement:
    """What all methods say of the whole data.

    known      the agreed arcs and lines
    specified  symmetric: the pairs on which all agree (that there is nothing is something to agree on)
    edges      per method, how many adjacencies it found in the whole data
    """

    names: tuple[str, ...]
    known: Matrix
    specified: Matrix
    edges: Mapping[str, int]

    @property
    def agreed_edges(self) -> int:
        """Pairs agreed to be adjacent."""
        return int(np.triu(self.known | self.known.T, 1).sum())

    @property
    def caution(self) -> str | None:
        """Why the agreement graph may be too small to mean anything, or None."""
        fewest = min(self.edges.values())
        if self.agreed_edges < FEW_EDGES:
            return f"the methods agree on only {self.agreed_edges} edges; distances to so small a graph mean little"
        if self.agreed_edges < 0.25 * fewest:
            return (
                f"the methods agree on {self.agreed_edges} edges, less than a quarter of what each finds "
                f"({fewest} or more); the agreement graph is not representative"
            )
        return None


@dataclass(frozen=True)
class Trial:
    """One method on one subsample."""

    method: str
    rows: int
    repeat: int
    distance: int


@dataclass(frozen=True)
class Point:
    """A learning curve at one sample size: mean and spread over repeats."""

    method: str
    rows: int
    mean: float
    deviation: float
    repeats: int


@dataclass(frozen=True, eq=False)
class Validation:
    """The outcome: the agreement graph and every trial."""

    agreement: Agreement
    trials: tuple[Trial, ...]

    @property
    def curves(self) -> list[Point]:
        """Mean partial Hamming distance by method and number of rows, largest sample first."""
        points = []
        for method in self.agreement.edges:
            for rows in sorted({t.rows for t in self.trials}, reverse=True):
                values = [t.distance for t in self.trials if (t.method, t.rows) == (method, rows)]
                spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
                points.append(Point(method, rows, float(np.mean(values)), spread, len(values)))
        return points

    def tests(self, first: str) -> dict[str, float]:
        """Wilcoxon p, Holm-corrected, of `first` against each other method at each size: "other, rows" -> p."""
        raw = {}
        for rows in sorted({t.rows for t in self.trials}, reverse=True):
            mine = self._distances(first, rows)
            for other in self.agreement.edges:
                if other != first:
                    raw[f"{other}, {rows}"] = wilcoxon(mine, self._distances(other, rows))
        return holm(raw)

    def _distances(self, method: str, rows: int) -> list[int]:
        chosen = [t for t in self.trials if (t.method, t.rows) == (method, rows)]
        return [t.distance for t in sorted(chosen, key=lambda t: t.repeat)]


def matrix(graph: Any, names: Sequence[str], level: Level) -> Matrix:
    """The graph as the chosen level reads it."""
    aligned = as_graph(graph).aligned(names)
    return aligned.class_matrix if level == "cpdag" else aligned.matrix


def agreement(learned: Mapping[str, Any], level: Level = "cpdag") -> Agreement:
    """The agreement graph of what each method learned from the whole data."""
    if len(learned) < 2:
        raise DataError("intersection-validation compares two or more methods")
    names = as_graph(next(iter(learned.values()))).names
    graphs = {method: matrix(graph, names, level) for method, graph in learned.items()}
    first = next(iter(graphs.values()))
    same = np.logical_and.reduce([graph == first for graph in graphs.values()])
    specified = same & same.T
    np.fill_diagonal(specified, False)
    edges = {method: int(np.triu(graph | graph.T, 1).sum()) for method, graph in graphs.items()}
    return Agreement(names, first & specified, specified, edges)


def subsample(data: Dataset, rows: int, seed: int, repeat: int) -> Dataset:
    """`rows` of the data without replacement; every method sees the same ones at the same (seed, repeat)."""
    rng = np.random.default_rng([seed, repeat, rows])
    return data.take(np.sort(rng.choice(data.n_rows, size=rows, replace=False)))


def intersection_validation(
    data: Dataset,
    methods: Mapping[str, Learner],
    fractions: Sequence[float] = (1 / 2, 1 / 4, 1 / 8, 1 / 16),
    repeats: int = 10,
    *,
    level: Level = "cpdag",
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Validation:
    """Learn from all of the data, then from `repeats` subsamples of each fraction, with every method."""
    sizes = [int(data.n_rows * fraction) for fraction in fractions]
    if not all(0 < fraction < 1 for fraction in fractions) or min(sizes, default=0) < 1:
        raise DataError(f"fractions must lie between 0 and 1 and leave a row of {data.n_rows}; got {list(fractions)}")
    total, done = len(methods) * (1 + repeats * len(sizes)), 0

    def learned(method: str, rows: Dataset) -> Any:
        nonlocal done
        graph = methods[method](rows)
        done += 1
        if progress:
            progress(done, total)
        return graph

    whole = agreement({method: learned(method, data) for method in methods}, level)
    trials = []
    for size in sizes:
        for repeat in range(repeats):
            sample = subsample(data, size, seed, repeat)
            for method in methods:
                graph = matrix(learned(method, sample), whole.names, level)
                trials.append(Trial(method, size, repeat, partial_hamming(whole.known, whole.specified, graph)))
    return Validation(whole, tuple(trials))
