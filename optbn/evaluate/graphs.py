"""Two graphs over the same variables as boolean matrices: the common ground of every distance.

`a[u, v]` says that there is an arc u -> v; a line u - v of a partially directed graph is both a[u, v] and a[v, u].
Graphs are aligned by the names of their variables, so the order in which two files list them does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.base.errors import NetworkError
from optbn.base.registry import unknown
from optbn.network.structure import Structure

Matrix = NDArray[np.bool_]


def structure_of(graph: Any) -> Structure:
    """The DAG of a network, a structure or a networkx graph, or of the network of that name or path."""
    if isinstance(graph, Structure):
        return graph
    if isinstance(structure := getattr(graph, "structure", None), Structure):
        return structure
    if hasattr(graph, "nodes") and hasattr(graph, "edges"):
        return Structure.from_networkx(graph)
    if isinstance(graph, str | PathLike):
        from optbn.network.catalog import load_network

        return load_network(graph).structure
    raise NetworkError(f"expected a network, a structure or a networkx graph, got {type(graph).__name__}")


def dag_matrix(structure: Structure, names: Sequence[str]) -> Matrix:
    """bool[n, n] with the variables in the order of `names`; refuses a graph over other variables."""
    if set(structure.names) != set(names):
        missing, extra = sorted(set(names) - set(structure.names)), sorted(set(structure.names) - set(names))
        said = [f"without {', '.join(missing[:5])}"] if missing else []
        said += [f"with an extra {', '.join(extra[:5])}"] if extra else []
        raise NetworkError(f"the graphs are over different variables: one is {' and '.join(said)}")
    at = {name: i for i, name in enumerate(names)}
    return _matrix(len(names), ((at[tail], at[head]) for tail, head in structure.arcs))


def class_matrix(structure: Structure, names: Sequence[str]) -> Matrix:
    """The same for the CPDAG of the structure."""
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
