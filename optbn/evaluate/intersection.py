"""Intersection-validation: which method needs the least data to find what all of them find with all of it.

Viinikka, Eggeling, Koivisto (AISTATS 2018). There is no true network for real data, so the methods under comparison
make one themselves: each learns from the whole data, and the agreement graph keeps the pairs of variables on which all
of them say the same (no edge, an arc this way or that, a line). Then each learns from random subsamples, and its loss
is the partial Hamming distance: the agreed pairs on which its graph differs. Graphs are read as their equivalence
classes (`level="cpdag"`) or as they are (`level="dag"`). `optbn intersect` runs it (optbn.experiments.intersection).

The agreement graph speaks for the methods' common ground only. When it is almost empty or when the methods disagree on
most of their edges, a small distance means little; `Agreement.caution` says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from optbn.base.errors import DataError
from optbn.data.dataset import Dataset
from optbn.evaluate.orientation import Matrix
from optbn.evaluate.sources import as_graph

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
