"""How far one graph is from another, each measure with its level.

A graph is a boolean matrix (see `graphs`). Per unordered pair of variables it says one of: nothing, an arc one way, an
arc the other way, a line (an arc whose direction is left open).

shd             pairs on which the graphs say different things: a reversed arc counts once, and so does an arc where the
                other graph has a line (Tsamardinos, Brown, Aliferis 2006). On DAGs, or on CPDAGs where the level is
                named so, or on skeletons
entries         the entries in which the adjacency matrices differ: a reversed arc counts twice (what some programs
                call SHD)
skeleton        precision, recall and F1 of adjacency, directions ignored
arrowheads      the same of the pairs (u, v) with u -> v
v_structures    the same of the triples u -> w <- v with u, v not adjacent
confusion       arcs by what became of them: correct, reversed, undirected, missing, extra
balanced_score  Constantinou's balanced scoring function: 1 for the truth, 0 for knowing nothing (the empty graph, the
                full one), -1 for the opposite of the skeleton; a wrong or open direction is half an edge
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

from optbn.evaluate.graphs import pairs_matrix
from optbn.evaluate.intervention import Bounds, intervention_bounds, intervention_distance
from optbn.evaluate.orientation import Matrix
from optbn.evaluate.sources import as_graph


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
    """Every distance between a true graph and an estimate; None where nobody wanted it, or where such graphs lack it.

    kinds                        of both graphs: DAG, CPDAG, PDAG, undirected
    shd_dag, arcs, arrowheads    between two DAGs
    shd_cpdag, cpdag_...         between their equivalence classes, where both say directions
    shd_skeleton, skeleton       directions ignored
    entries                      between the graphs as they are
    v_structures                 of the graphs, where both say directions
    sid                          the structural intervention distance of a DAG from a true DAG
    sid_bounds                   its least and largest value over the DAGs of the estimate's class
    partial_dag, partial_cpdag   the Hamming distances over the pairs of variables that are known
    """

    variables: int
    true_arcs: int
    estimated_arcs: int
    shd_dag: int | None
    shd_cpdag: int | None
    skeleton: Retrieval
    v_structures: Retrieval | None
    arcs: Confusion | None
    cpdag_arcs: Confusion | None
    sid: int | None
    partial_dag: int | None = None
    partial_cpdag: int | None = None
    kinds: tuple[str, str] = ("DAG", "DAG")
    shd_skeleton: int = 0
    entries: int = 0
    arrowheads: Retrieval | None = None
    cpdag_arrowheads: Retrieval | None = None
    balanced_score: float = 0.0
    sid_bounds: Bounds | None = None


def compare(
    truth: Any, estimate: Any, *, sid: bool = True, known: Iterable[tuple[str, str]] | None = None
) -> Comparison:
    """All distances between two graphs over the same variables, whatever `as_graph` takes: networks, structures,
    CPDAGs, graphs of networkx, pgmpy, pyAgrum and causal-learn, files, names of bundled networks.

    truth, estimate   the two graphs: precision and recall are the estimate's
    sid     whether to count wrong effects of interventions, which takes the longest
    known   pairs of variables of which the truth is known (an arc or that there is none), when not all of it is
    """
    first = as_graph(truth)
    second = as_graph(estimate).aligned(first.names)
    true, estimated = first.matrix, second.matrix
    dags = first.kind == second.kind == "DAG"
    directed = "undirected" not in (first.kind, second.kind)
    classes = (first.class_matrix, second.class_matrix) if directed else None
    adjacencies = skeleton(true, estimated)
    specified = pairs_matrix(known if known is not None else (), first.names)
    level = classes if known is not None else None
    effects = sid and directed and first.kind == "DAG"
    return Comparison(
        variables=len(first.names),
        true_arcs=first.edges,
        estimated_arcs=second.edges,
        shd_dag=shd(true, estimated) if dags else None,
        shd_cpdag=shd(*classes) if classes else None,
        skeleton=adjacencies,
        v_structures=v_structures(true, estimated) if directed else None,
        arcs=confusion(true, estimated) if dags else None,
        cpdag_arcs=confusion(*classes) if classes else None,
        sid=intervention_distance(true, estimated) if effects and dags else None,
        partial_dag=partial_hamming(true, specified, estimated) if known is not None and dags else None,
        partial_cpdag=partial_hamming(level[0], specified, level[1]) if level else None,
        kinds=(first.kind, second.kind),
        shd_skeleton=adjacencies.spurious + adjacencies.missed,
        entries=int((true != estimated).sum()),
        arrowheads=arrowheads(true, estimated) if dags else None,
        cpdag_arrowheads=arrowheads(*classes) if classes else None,
        balanced_score=balanced_score(true, estimated, directed),
        sid_bounds=intervention_bounds(true, second.class_matrix if dags else estimated) if effects else None,
    )


def arrowheads(true: Matrix, estimated: Matrix) -> Retrieval:
    """Arcs u -> v found with their direction, spurious and missed."""
    a, b = true & ~true.T, estimated & ~estimated.T
    return Retrieval(int((a & b).sum()), int((b & ~a).sum()), int((a & ~b).sum()))


def balanced_score(true: Matrix, estimated: Matrix, directed: bool = True) -> float:
    """Constantinou (2019): half of  TP / a + TN / i - FP / i - FN / a, of a edges and i pairs without one.

    An edge found with another direction counts half for it and half against. Where one of the two kinds does not occur,
    the other has all the weight.
    """
    pairs = len(true) * (len(true) - 1) // 2
    fate = confusion(true, estimated)
    turned = fate.reversed + fate.undirected
    edges = fate.correct + turned + fate.missing
    hits = fate.correct + (turned / 2 if directed else turned)
    apart = pairs - edges
    parts = []
    if edges:
        parts.append((2 * hits - edges) / edges)
    if apart:
        parts.append((apart - 2 * fate.extra) / apart)
    return float(np.mean(parts)) if parts else 1.0


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
