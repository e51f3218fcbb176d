"""Where graphs come from: objects of ours and of other programs, files, names of bundled networks.

`as_graph` takes a Graph, Structure, Cpdag or network of ours; graphs of networkx (pgmpy's models and PDAGs are such;
two arcs u -> v, v -> u are a line, an undirected Graph is a skeleton), igraph, pyAgrum (BayesNet, DAG, PDAG,
MixedGraph, EssentialGraph, UndiGraph), causal-learn (GeneralGraph, or what its search returns); a square matrix (an
array or a data frame, not zero at [u, v] for u -> v); and a path (see `files`) or the name of a bundled network.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from optbn.base.errors import NetworkError
from optbn.evaluate.files import read_graph
from optbn.evaluate.graphs import Graph, from_edges, from_matrix
from optbn.network.equivalence import Cpdag
from optbn.network.interop.igraph import vertex_names
from optbn.network.structure import Structure


def as_graph(source: Any) -> Graph:
    """The graph behind anything that is one."""
    if isinstance(source, Graph):
        return source
    if isinstance(source, str | PathLike):
        return read_graph(source)
    if isinstance(structure := getattr(source, "structure", source), Structure):
        return Graph(structure.names, structure.to_adjacency())
    if isinstance(source, Cpdag):
        arcs, lines = ([(source.names[u], source.names[v]) for u, v in pairs] for pairs in (source.arcs, source.edges))
        return from_edges(source.names, arcs, lines)
    package = type(source).__module__.partition(".")[0]
    if package == "igraph":
        return _of_igraph(source)
    if package == "pyagrum" or hasattr(source, "variableFromName"):
        return _of_pyagrum(source)
    if hasattr(source, "get_graph_edges") or hasattr(source, "G") or (isinstance(source, dict) and "G" in source):
        return _of_causallearn(source)
    if hasattr(source, "nodes") and hasattr(source, "edges"):
        return _of_networkx(source)
    if getattr(np.asarray(source), "ndim", 0) == 2:
        return from_matrix(source)
    raise NetworkError(f"expected a network, a structure, a graph or its file, got {type(source).__name__}")


def _of_networkx(graph: Any) -> Graph:
    """pgmpy's PDAG keeps its lines apart from its arcs, and has both arcs of a line among its edges."""
    names = [str(node) for node in graph.nodes()]
    edges = [(str(u), str(v)) for u, v in graph.edges()]
    if not graph.is_directed():
        return from_edges(names, (), edges, skeleton=True)
    lines = [(str(u), str(v)) for u, v in getattr(graph, "undirected_edges", ())]
    return from_edges(names, edges, lines)


def _of_igraph(graph: Any) -> Graph:
    names = vertex_names(graph)
    edges = [(names[u], names[v]) for u, v in graph.get_edgelist()]
    return from_edges(names, edges) if graph.is_directed() else from_edges(names, (), edges, skeleton=True)


def _of_pyagrum(graph: Any) -> Graph:
    """A graph of numbered nodes (DAG, PDAG) has no names: its nodes are called by their numbers."""
    mixed = graph.mixedGraph() if hasattr(graph, "mixedGraph") else graph
    nodes = sorted(graph.nodes() if hasattr(graph, "nodes") else mixed.nodes())
    name_of = {node: graph.variable(node).name() if hasattr(graph, "variable") else str(node) for node in nodes}
    arcs = [(name_of[u], name_of[v]) for u, v in (mixed.arcs() if hasattr(mixed, "arcs") else ())]
    lines = [(name_of[u], name_of[v]) for u, v in (mixed.edges() if hasattr(mixed, "edges") else ())]
    return from_edges([name_of[node] for node in nodes], arcs, lines, skeleton=not hasattr(mixed, "arcs"))


def _of_causallearn(source: Any) -> Graph:
    graph = source["G"] if isinstance(source, dict) else getattr(source, "G", source)
    names, arcs, lines = [node.get_name() for node in graph.get_nodes()], [], []
    for edge in graph.get_graph_edges():
        pair = edge.get_node1().get_name(), edge.get_node2().get_name()
        marks = edge.get_endpoint1().name, edge.get_endpoint2().name
        if marks == ("TAIL", "ARROW"):
            arcs.append(pair)
        elif marks == ("ARROW", "TAIL"):
            arcs.append(pair[::-1])
        elif marks == ("TAIL", "TAIL"):
            lines.append(pair)
        else:
            raise NetworkError(
                f"the edge between {pair[0]!r} and {pair[1]!r} ({marks[0]} - {marks[1]}) is neither an arc nor a line"
            )
    return from_edges(names, arcs, lines)
