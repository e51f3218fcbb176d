"""igraph: a directed Graph whose vertices have a `name`."""

from __future__ import annotations

from typing import Any

from optbn.base.errors import NetworkError
from optbn.network.interop import required
from optbn.network.structure import Structure


def structure_to_igraph(structure: Structure) -> Any:
    arcs = [(p, v) for v, parents in enumerate(structure.parent_sets) for p in parents]
    attributes = {"name": list(structure.names)}
    return required("igraph", "igraph").Graph(len(structure.names), arcs, directed=True, vertex_attrs=attributes)


def structure_from_igraph(graph: Any) -> Structure:
    if not graph.is_directed():
        raise NetworkError("an undirected graph is no structure; expected a directed igraph Graph without cycles")
    names = vertex_names(graph)
    return Structure.from_arcs(names, ((names[u], names[v]) for u, v in graph.get_edgelist()))


def vertex_names(graph: Any) -> list[str]:
    """What the vertices are called: their `name`, else their numbers."""
    named = "name" in graph.vs.attributes()
    return [str(vertex["name"]) if named else str(vertex.index) for vertex in graph.vs]
