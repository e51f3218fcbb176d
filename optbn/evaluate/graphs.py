"""Two graphs over the same variables as boolean matrices: the common ground of every distance.

`a[u, v]` says that there is an arc u -> v; a line u - v of a partially directed graph is both a[u, v] and a[v, u].
Graphs are aligned by the names of their variables, so the order in which two files list them does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optbn.errors import NetworkError

Matrix = NDArray[np.bool_]


def names_of(graph: Any) -> tuple[str, ...]:
    """The variables of a network, a structure or a networkx graph."""
    names = getattr(graph, "names", None)
    if names is not None:
        return tuple(names)
    nodes = getattr(graph, "nodes", None)
    if nodes is None:
        raise NetworkError(f"expected a network, a structure or a networkx graph, got {type(graph).__name__}")
    return tuple(str(node) for node in nodes)


def adjacency(graph: Any, names: Sequence[str]) -> Matrix:
    """bool[n, n] with the variables in the order of `names`; refuses graphs over other variables."""
    own = names_of(graph)
    if set(own) != set(names):
        missing, extra = sorted(set(names) - set(own)), sorted(set(own) - set(names))
        said = [f"without {', '.join(missing[:5])}"] if missing else []
        said += [f"with an extra {', '.join(extra[:5])}"] if extra else []
        raise NetworkError(f"the graphs are over different variables: one is {' and '.join(said)}")
    at = {name: i for i, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)), dtype=np.bool_)
    for tail, head in arcs_of(graph):
        matrix[at[tail], at[head]] = True
    return matrix


def arcs_of(graph: Any) -> list[tuple[str, str]]:
    """The arcs (tail, head) by name."""
    if hasattr(graph, "edges"):
        return [(str(tail), str(head)) for tail, head in graph.edges()]
    parents = graph.parents
    if callable(parents):
        return [(parent, child) for child in graph.names for parent in parents(child)]
    return [(graph.names[u], child) for child, us in zip(graph.names, parents, strict=True) for u in us]


def topological_order(dag: Matrix) -> list[int] | None:
    """Parents before children, smallest index first, or None when the graph has a cycle."""
    waiting = dag.sum(axis=0)
    ready = sorted(np.flatnonzero(waiting == 0).tolist(), reverse=True)
    order: list[int] = []
    while ready:
        u = ready.pop()
        order.append(u)
        for v in np.flatnonzero(dag[u])[::-1].tolist():
            waiting[v] -= 1
            if waiting[v] == 0:
                ready.append(v)
    return order if len(order) == len(dag) else None


def reachability(dag: Matrix) -> Matrix:
    """bool[n, n]: v is u or a descendant of u. The graph must be acyclic."""
    order = topological_order(dag)
    if order is None:
        raise NetworkError("the graph has a cycle")
    reach = np.eye(len(dag), dtype=np.bool_)
    for u in reversed(order):
        for v in np.flatnonzero(dag[u]):
            reach[u] |= reach[v]
    return reach
