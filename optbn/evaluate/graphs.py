"""Graphs over named variables as boolean matrices: the common ground of every distance.

`a[u, v]` says that there is an arc u -> v; a line u - v of a partially directed graph is both a[u, v] and a[v, u].
Graphs are aligned by the names of their variables, so the order in which two files list them does not matter. A graph
is one of

DAG         arcs only, without cycles
CPDAG       the class of a DAG: its arcs are those that every member has, its lines those whose direction is open
PDAG        arcs and lines otherwise: a class of which more is known, or the output of a method that went astray
undirected  lines only, which say nothing about directions (a skeleton)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any, Literal

import numpy as np

from optbn.base.errors import NetworkError
from optbn.base.registry import unknown
from optbn.evaluate.orientation import Matrix, consistent_extension, is_acyclic
from optbn.network.catalog import load_network
from optbn.network.structure import Structure
from optbn_solvers.base.errors import repeated

Kind = Literal["DAG", "CPDAG", "PDAG", "undirected"]


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph of any kind; `kind` follows from the matrix, but lines only may be meant as a skeleton."""

    names: tuple[str, ...]
    matrix: Matrix
    skeleton_only: bool = False

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            raise NetworkError(f"variable {repeated(self.names)!r} is named twice")
        if self.matrix.shape != (len(self.names),) * 2:
            raise NetworkError(f"{len(self.names)} names for a matrix of the shape {self.matrix.shape}")
        if loops := np.flatnonzero(np.diagonal(self.matrix)).tolist():
            raise NetworkError(f"variable {self.names[loops[0]]!r} has an arc to itself")
        if self.skeleton_only and (self.matrix != self.matrix.T).any():
            raise NetworkError("a graph with arcs is not undirected")

    @property
    def arcs(self) -> Matrix:
        """The directed ones."""
        return self.matrix & ~self.matrix.T

    @property
    def lines(self) -> Matrix:
        """The undirected ones, both ways."""
        return self.matrix & self.matrix.T

    @property
    def edges(self) -> int:
        """Adjacent pairs."""
        return int(np.triu(self.matrix | self.matrix.T, 1).sum())

    @cached_property
    def kind(self) -> Kind:
        """The strictest of the kinds that it is."""
        if self.skeleton_only:
            return "undirected"
        if not self.lines.any() and is_acyclic(self.matrix):
            return "DAG"
        member = consistent_extension(self.matrix)
        same = member is not None and (class_of(member) == self.matrix).all()
        return "CPDAG" if same else "PDAG"

    @cached_property
    def class_matrix(self) -> Matrix:
        """The matrix of its equivalence class; its own where there is none (no DAG has its skeleton and colliders)."""
        if self.kind == "CPDAG" or self.skeleton_only:
            return self.matrix
        member = self.matrix if self.kind == "DAG" else consistent_extension(self.matrix)
        return self.matrix if member is None else class_of(member)

    def aligned(self, names: Sequence[str]) -> Graph:
        """With the variables in the order of `names`; refuses a graph over other variables."""
        if set(self.names) != set(names):
            missing, extra = sorted(set(names) - set(self.names)), sorted(set(self.names) - set(names))
            parts = [f"without {', '.join(missing[:5])}"] if missing else []
            parts += [f"with an extra {', '.join(extra[:5])}"] if extra else []
            raise NetworkError(f"the graphs are over different variables: one is {' and '.join(parts)}")
        at = {name: i for i, name in enumerate(self.names)}
        place = [at[name] for name in names]
        return Graph(tuple(names), self.matrix[np.ix_(place, place)], self.skeleton_only)

    def structure(self) -> Structure:
        """The DAG, or a DAG of the class; a graph that is neither is refused."""
        member = self.matrix if self.kind == "DAG" else consistent_extension(self.matrix)
        if member is None or self.skeleton_only:
            raise NetworkError(f"no DAG belongs to this graph ({self.kind}), so it has no score and no parameters")
        return Structure(self.names, tuple(tuple(np.flatnonzero(column).tolist()) for column in member.T))


def class_of(dag: Matrix) -> Matrix:
    """The CPDAG of a DAG, as a matrix."""
    names = tuple(map(str, range(len(dag))))
    return class_matrix(Structure(names, tuple(tuple(np.flatnonzero(c).tolist()) for c in dag.T)), names)


def structure_of(graph: Any) -> Structure:
    """The DAG of a network, a structure or a networkx graph, or of the network of that name or path."""
    if isinstance(graph, Structure):
        return graph
    if isinstance(structure := getattr(graph, "structure", None), Structure):
        return structure
    if hasattr(graph, "nodes") and hasattr(graph, "edges"):
        return Structure.from_networkx(graph)
    if isinstance(graph, str | PathLike):
        return load_network(graph).structure
    raise NetworkError(f"expected a network, a structure or a networkx graph, got {type(graph).__name__}")


def class_matrix(structure: Structure, names: Sequence[str]) -> Matrix:
    """bool[n, n], the CPDAG of the structure with the variables in the order of `names`."""
    at = {name: i for i, name in enumerate(names)}
    place = [at[name] for name in structure.names]
    cpdag = structure.to_cpdag()
    lines = [(v, u) for u, v in cpdag.edges]
    return _matrix(len(names), ((place[u], place[v]) for u, v in (*cpdag.arcs, *cpdag.edges, *lines)))


def pairs_matrix(pairs: Iterable[tuple[str, str]], names: Sequence[str]) -> Matrix:
    """The symmetric matrix of unordered pairs of variables."""
    at = {name: i for i, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)), dtype=np.bool_)
    for u, v in pairs:
        for name in (u, v):
            if name not in at:
                raise unknown("variable", name, names)
        if u == v:
            raise NetworkError(f"{u!r} makes no pair with itself")
        matrix[at[u], at[v]] = matrix[at[v], at[u]] = True
    return matrix


def reachability(dag: Matrix) -> Matrix:
    """bool[n, n]: v is u or a descendant of u. The graph must be acyclic."""
    waiting = dag.sum(axis=1)
    ready = np.flatnonzero(waiting == 0).tolist()
    reach = np.eye(len(dag), dtype=np.bool_)
    while ready:  # children before parents
        v = ready.pop()
        for u in np.flatnonzero(dag[:, v]).tolist():
            reach[u] |= reach[v]
            waiting[u] -= 1
            if waiting[u] == 0:
                ready.append(u)
    return reach


def _matrix(n: int, pairs: Iterable[tuple[int, int]]) -> Matrix:
    matrix = np.zeros((n, n), dtype=np.bool_)
    for u, v in pairs:
        matrix[u, v] = True
    return matrix


def from_edges(
    names: Iterable[str], arcs: Iterable[tuple[str, str]], lines: Iterable[tuple[str, str]] = (), skeleton: bool = False
) -> Graph:
    """From names of variables, (parent, child) pairs and undirected pairs."""
    names = tuple(names)
    at = {name: i for i, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)), dtype=np.bool_)
    for pairs, both in ((arcs, False), (lines, True)):
        for u, v in pairs:
            for name in (u, v):
                if name not in at:
                    raise NetworkError(f"an edge ends in {name!r}, which is not a variable")
            matrix[at[u], at[v]] = True
            if both:
                matrix[at[v], at[u]] = True
    return Graph(names, matrix, skeleton)


def from_matrix(matrix: Any, names: Sequence[str] | None = None) -> Graph:
    """From a square matrix, not zero at [u, v] where there is an arc u -> v, nor at both where there is a line."""
    array = np.asarray(matrix)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise NetworkError(f"an adjacency matrix is square, this one has the shape {array.shape}")
    if names is None:
        names = [str(name) for name in getattr(matrix, "columns", ())] or [f"X{i + 1}" for i in range(len(array))]
    return Graph(tuple(names), array.astype(float) != 0)
