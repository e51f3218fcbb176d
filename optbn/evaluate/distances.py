"""How far one graph is from another, each measure with its level said.

A graph is a boolean matrix (see `graphs`). Per unordered pair of variables it says one of: nothing, an arc one way, an
arc the other way, a line (an arc whose direction the equivalence class leaves open).

shd             pairs on which the graphs say different things; a reversed arc counts once
                (Tsamardinos, Brown, Aliferis 2006); on DAGs, or on CPDAGs where the level is named so
skeleton        precision, recall and F1 of adjacency, directions ignored
v_structures    the same of the triples u -> w <- v with u, v not adjacent
confusion       arcs by what became of them: correct, reversed, undirected, missing, extra
partial_hamming pairs that a partially known graph specifies and on which the other differs (Viinikka, Eggeling,
                Koivisto 2018)
The structural intervention distance has a module of its own, `intervention`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.evaluate.graphs import Matrix, class_matrix, dag_matrix, pairs_matrix, structure_of


@dataclass(frozen=True)
class Retrieval:
    """How well a set of things was found: counts, and rates made of them (1.0 with nothing to find)."""

    found: int  # in both
    spurious: int  # only in the estimate
    missed: int  # only in the truth

    @property
    def precision(self) -> float:
        return self.found / (self.found + self.spurious) if self.found + self.spurious else 1.0

    @property
    def recall(self) -> float:
        return self.found / (self.found + self.missed) if self.found + self.missed else 1.0

    @property
    def f1(self) -> float:
        relevant = 2 * self.found + self.spurious + self.missed
        return 2 * self.found / relevant if relevant else 1.0


@dataclass(frozen=True)
class Confusion:
    """The fate of the arcs: of the truth's (correct, reversed, undirected, missing), and the estimate's extra ones."""

    correct: int
    reversed: int
    undirected: int  # one graph has an arc where the other has a line
    missing: int
    extra: int

    @property
    def total(self) -> int:
        """Everything but the correct: the structural Hamming distance."""
        return self.reversed + self.undirected + self.missing + self.extra


@dataclass(frozen=True)
class Comparison:
    """Every distance between a true graph and an estimate; None is what was not asked for.

    partial_dag, partial_cpdag   the Hamming distances over the pairs of variables that are known
    """

    variables: int
    true_arcs: int
    estimated_arcs: int
    shd_dag: int
    shd_cpdag: int
    skeleton: Retrieval
    v_structures: Retrieval
    arcs: Confusion
    cpdag_arcs: Confusion
    sid: int | None
    partial_dag: int | None = None
    partial_cpdag: int | None = None


def compare(
    truth: Any, estimate: Any, *, sid: bool = True, known: Iterable[tuple[str, str]] | None = None
) -> Comparison:
    """All distances between two DAGs (networks, structures or networkx graphs over the same variables).

    known   pairs of variables of which the truth is known (an arc or that there is none), when not all of it is
    """
    from optbn.evaluate.intervention import intervention_distance

    first, second = structure_of(truth), structure_of(estimate)
    names = first.names
    true, estimated = dag_matrix(first, names), dag_matrix(second, names)
    true_class, estimated_class = class_matrix(first, names), class_matrix(second, names)
    specified = None if known is None else pairs_matrix(known, names)
    return Comparison(
        variables=len(names),
        true_arcs=int(true.sum()),
        estimated_arcs=int(estimated.sum()),
        shd_dag=shd(true, estimated),
        shd_cpdag=shd(true_class, estimated_class),
        skeleton=skeleton(true, estimated),
        v_structures=v_structures(true, estimated),
        arcs=confusion(true, estimated),
        cpdag_arcs=confusion(true_class, estimated_class),
        sid=intervention_distance(true, estimated) if sid else None,
        partial_dag=None if specified is None else partial_hamming(true, specified, estimated),
        partial_cpdag=None if specified is None else partial_hamming(true_class, specified, estimated_class),
    )


def shd(a: Matrix, b: Matrix) -> int:
    """The number of unordered pairs on which the graphs differ."""
    differ = (a != b) | (a != b).T
    return int(np.triu(differ, 1).sum())


def partial_hamming(known: Matrix, specified: Matrix, other: Matrix) -> int:
    """Differing pairs among those where `specified` (symmetric) says that the graph `known` knows."""
    differ = (known != other) | (known != other).T
    return int(np.triu(differ & specified, 1).sum())


def skeleton(true: Matrix, estimated: Matrix) -> Retrieval:
    """Adjacencies found, spurious and missed."""
    a, b = np.triu(true | true.T, 1), np.triu(estimated | estimated.T, 1)
    return Retrieval(int((a & b).sum()), int((b & ~a).sum()), int((a & ~b).sum()))


def v_structures(true: Matrix, estimated: Matrix) -> Retrieval:
    """Unshielded colliders found, spurious and missed."""
    a, b = _colliders(true), _colliders(estimated)
    return Retrieval(len(a & b), len(b - a), len(a - b))


def confusion(true: Matrix, estimated: Matrix) -> Confusion:
    """The fate of every arc and line, counted once per pair."""
    pair = np.triu(np.ones_like(true), 1)
    in_true, in_estimated = (true | true.T) & pair, (estimated | estimated.T) & pair
    both = in_true & in_estimated
    line_true, line_estimated = true & true.T, estimated & estimated.T
    same = both & (true == estimated) & (true.T == estimated.T)
    half = both & (line_true != line_estimated)
    return Confusion(
        correct=int(same.sum()),
        reversed=int((both & ~same & ~half).sum()),
        undirected=int(half.sum()),
        missing=int((in_true & ~in_estimated).sum()),
        extra=int((in_estimated & ~in_true).sum()),
    )


def _colliders(graph: NDArray[np.bool_]) -> set[tuple[int, int, int]]:
    """The triples (u, w, v), u < v, with u -> w <- v and no adjacency between u and v."""
    arcs = graph & ~graph.T
    adjacent = graph | graph.T
    found = set()
    for w in range(len(graph)):
        parents = np.flatnonzero(arcs[:, w])
        apart = ~adjacent[np.ix_(parents, parents)]
        for i, j in zip(*np.nonzero(np.triu(apart, 1)), strict=True):
            found.add((int(parents[i]), w, int(parents[j])))
    return found
